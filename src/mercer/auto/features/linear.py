"""The encoded columns as they are, all of them or selected ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.auto.explain.perturb import AdditiveChanges, RecomputedChanges, ScoreChanges
from mercer.auto.features.base import FeatureBlock, Refit, moved_positions
from mercer.expand import ColumnPicker

if TYPE_CHECKING:
    from mercer.io.onnx import Graph


class LinearBlock(FeatureBlock):
    """All encoded columns."""

    kind = "linear"

    def __init__(self, n_columns: int):
        self.width = n_columns

    @property
    def transformer(self) -> ColumnPicker:
        return fitted_picker(np.arange(self.width), self.width)

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        out[:] = X

    def names(self, columns: list[str]) -> list[str]:
        return list(columns)

    @property
    def title(self) -> str:
        return f"the columns themselves ({self.width:,} encoded)"

    def weight_signs(self, signs: np.ndarray) -> np.ndarray:
        return signs

    def refit(self, other: Refit) -> LinearBlock:
        return LinearBlock(other.rows.X.shape[1])

    def score_changes(self, X: np.ndarray, coef: np.ndarray) -> ScoreChanges:
        return LinearChanges(X, coef)

    def onnx_nodes(self, graph: Graph, x: str) -> str:
        return graph.cast(x, np.float32)


class LinearChanges(AdditiveChanges):
    """(new value - old value) times the weight of each changed column."""

    def __init__(self, X: np.ndarray, coef: np.ndarray):
        self.X, self.coef = X.astype(np.float32), coef

    def changed(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        return (values.astype(np.float32) - self.X[:, columns]) @ self.coef[columns]


class SelectedBlock(FeatureBlock):
    """Encoded columns that forward selection chose, once more, with a penalty of their own."""

    kind = "selected"
    transformer: ColumnPicker

    def __init__(self, columns: np.ndarray, n_columns: int):
        self.transformer, self.width = fitted_picker(np.asarray(columns), n_columns), len(columns)

    @property
    def columns(self) -> np.ndarray:
        return np.asarray(self.transformer.columns, dtype=np.int64)

    def names(self, columns: list[str]) -> list[str]:
        return [f"{columns[j]}_selected" for j in self.columns]

    @property
    def title(self) -> str:
        return f"{self.width:,} selected columns, with a penalty of their own"

    def weight_signs(self, signs: np.ndarray) -> np.ndarray:
        return signs[self.columns]

    def refit(self, other: Refit) -> SelectedBlock | None:
        """The same columns wherever they are now."""
        if other.positions is None:
            return self
        moved = moved_positions(self.columns, other.positions)
        moved = moved[moved >= 0]
        return SelectedBlock(moved, len(other.positions)) if len(moved) else None

    def score_changes(self, X: np.ndarray, coef: np.ndarray) -> ScoreChanges:
        return RecomputedChanges(SelectedBlock(np.arange(self.width), self.width), self.columns, X, coef)

    def onnx_nodes(self, graph: Graph, x: str) -> str:
        return graph.cast(graph.columns(x, self.columns), np.float32)

    def set_n_columns(self, n_columns: int) -> None:
        self.transformer.n_features_in_ = n_columns

    @classmethod
    def _from_former(cls, state: dict[str, Any]) -> SelectedBlock:
        columns = state["columns"]  # -1 stood for a column that is always zero
        return cls(np.maximum(columns, 0), int(columns.max(initial=0)) + 1)


def fitted_picker(columns: np.ndarray, n_columns: int) -> ColumnPicker:
    """A `ColumnPicker` fitted to rows of `n_columns` columns."""
    return ColumnPicker(columns.tolist()).fit(np.zeros((1, n_columns)))
