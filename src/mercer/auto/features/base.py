"""A block of features: a kind, a fitted public transformer of encoded rows, and what the search asks of it.

Every default goes through the transformer, so a new kind of block is a class that names its kind. Kinds override what
they can do faster (`write`, `score_changes`) or in ONNX (`onnx_nodes`).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone

from mercer._runtime.errors import MercerError
from mercer.auto.explain.perturb import RecomputedChanges, ScoreChanges
from mercer.base import StreamingTransformer
from mercer.io.registry import id_of

if TYPE_CHECKING:
    from mercer.auto.rows.training import TrainingRows
    from mercer.io.onnx import Graph


@dataclass(frozen=True)
class Refit:
    """What a block may need to be fitted again to other rows.

    `positions[j]` is the former index of encoded column j, -1 for a new column; None if no column has moved. `trees`
    fits the boosted trees again and returns their block and its out-of-fold scores.
    """

    rows: TrainingRows
    positions: np.ndarray | None
    trees: Callable[[], tuple[FeatureBlock, np.ndarray]]


class FeatureBlock:
    """Features of encoded rows, computed by a public transformer.

    Attributes
    ----------
    kind : str, the key of the block in reports
    transformer : the fitted public transformer of encoded rows
    width : int, the number of features
    note : str, what a report should add
    """

    kind: str = "features"
    transformer: Any
    width: int
    note: str = ""

    def __init__(self, transformer: Any):
        self.transformer = transformer
        self.width = len(transformer.get_feature_names_out())

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        """Write the features into an array of float32, which may be some columns of a wider one."""
        write_features(self.transformer, X, out)

    def features(self, X: np.ndarray) -> np.ndarray:
        """The features of encoded rows in float32."""
        out = np.empty((len(X), self.width), dtype=np.float32)
        self.write(X, out)
        return out

    def names(self, columns: list[str]) -> list[str]:
        """Names of the features, from those of the encoded columns, which themselves name the linear block."""
        made = [str(name) for name in self.transformer.get_feature_names_out(columns)]
        return [f"{self.kind}_{name}" if name in columns else name for name in made]

    @property
    def title(self) -> str:
        """The block in words, for reports."""
        return f"{self.width:,} features of kind {self.kind!r}"

    def without_fold(self, fold: int) -> FeatureBlock:
        """The block fitted without the targets of a fold: the block itself unless it is supervised."""
        return self

    def for_new_rows(self) -> FeatureBlock:
        """The block without what only training rows need.

        A class that model files do not know becomes a plain block of its kind: new rows need its transformer alone.
        """
        if id_of(type(self)) is not None:
            return self
        return FeatureBlock._made(kind=self.kind, transformer=self.transformer, width=self.width, note=self.note)

    def refit(self, other: Refit) -> FeatureBlock | None:
        """The same kind of block fitted to other rows; None if nothing is left of it."""
        weight = {} if other.rows.weight is None else {"sample_weight": other.rows.weight}
        made = copy(self)
        made.transformer = clone(self.transformer).fit(other.rows.X, **weight)
        made.width = len(made.transformer.get_feature_names_out())
        return made

    def leading(self, max_pairs: int) -> np.ndarray:
        """Indices of the features that a quick comparison of penalties uses: all of them unless they are many."""
        return np.arange(self.width)

    def weight_signs(self, signs: np.ndarray) -> np.ndarray:
        """The sign that the weight of each feature must have (0: any) for scores that rise or fall along columns.

        signs : of each encoded column, +1 or -1 where scores must rise or fall along it, else 0
        """
        raise MercerError(
            f"Features of kind {self.kind!r} have no monotone form.", remedy="Leave monotone out, or that kind."
        )

    def score_changes(self, X: np.ndarray, coef: np.ndarray) -> ScoreChanges:
        """How the scores features(X) @ coef change as columns of X take other values."""
        return RecomputedChanges(self, np.arange(X.shape[1]), X, coef)

    def onnx_nodes(self, graph: Graph, x: str) -> str:
        """Append the nodes that compute the features of encoded rows `x` in float32; the name of the result."""
        raise ValueError(f"The model has a block of kind {self.kind!r}, which has no translation to ONNX yet.")

    def onnx_rounding(self, X: np.ndarray, features: np.ndarray, size: np.ndarray) -> np.ndarray:
        """Bound on the change of the scores by rounding features in float32, in units of eps; `size` is |coef|."""
        return 4 * np.sum(size, axis=0)

    def set_n_columns(self, n_columns: int) -> None:
        """State the number of encoded columns, which model files of format 1 do not say for every block."""

    @classmethod
    def _made(cls, **attributes: Any) -> Self:
        """A block from its attributes, as model files of format 1 state them."""
        made = object.__new__(cls)
        vars(made).update(attributes)
        return made


def write_features(transformer: Any, X: np.ndarray, out: np.ndarray) -> None:
    """Write what a transformer makes of valid rows; Mercer's own need no second check of them."""
    if isinstance(transformer, StreamingTransformer):
        transformer.write(X, out)
    else:
        out[:] = transformer.transform(X)


def moved_positions(columns: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Where columns are now that column j is what was column positions[j]; -1 for one that is gone."""
    where = np.full(1 + max(int(columns.max(initial=0)), int(positions.max(initial=0))), -1)
    where[positions[positions >= 0]] = np.flatnonzero(positions >= 0)
    return np.where(columns < 0, -1, where[columns])


def moved_rows(matrix: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The rows of a matrix, one for each column, now that column j is what was column positions[j]; 0 for new ones."""
    known = positions >= 0
    moved = np.zeros((len(known), *matrix.shape[1:]))
    moved[known] = matrix[positions[known]]
    return moved
