"""Piecewise-linear bins of the encoded columns."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from mercer import _numeric
from mercer.auto.explain.perturb import AdditiveChanges, ScoreChanges
from mercer.auto.features.base import FeatureBlock, Refit
from mercer.auto.features.linear import fitted_picker
from mercer.learn import PiecewiseLinear

if TYPE_CHECKING:
    from mercer.io.onnx import Graph


class PiecewiseBlock(FeatureBlock):
    """`PiecewiseLinear` of those encoded columns that have more than two values."""

    kind = "piecewise"

    def __init__(self, columns: np.ndarray, bins: PiecewiseLinear, n_columns: int):
        self.columns, self.bins, self.n_columns = columns, bins, n_columns
        ramps = [(j, low, high - low) for j, e in zip(columns, bins.bins_, strict=True) for low, high in pairwise(e)]
        self.width = len(ramps)
        self._column = np.array([j for j, _, _ in ramps], dtype=np.int64)
        self._low, self._length = (np.array([ramp[k] for ramp in ramps], dtype=np.float64) for k in (1, 2))

    @classmethod
    def fitted(cls, X: np.ndarray, n_bins: int, weight: np.ndarray | None = None) -> PiecewiseBlock | None:
        """The block of at most `n_bins` bins per column; None if no column has more than two values."""
        columns = np.array([j for j in range(X.shape[1]) if _has_three_values(X[:, j])], dtype=np.int64)
        if len(columns) == 0:
            return None
        bins = PiecewiseLinear(n_bins=n_bins).fit(np.ascontiguousarray(X[:, columns]), None, weight)
        made = cls(columns, bins, X.shape[1])
        return made if made.width else None

    @property
    def transformer(self) -> Pipeline:
        return Pipeline([("columns", fitted_picker(self.columns, self.n_columns)), ("bins", self.bins)])

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        _numeric.write_piecewise_linear(X, self._column, self._low, self._length, out)

    def names(self, columns: list[str]) -> list[str]:
        return list(self.bins.get_feature_names_out([str(columns[j]) for j in self.columns]))

    @property
    def title(self) -> str:
        return f"piecewise-linear curves of {len(self.columns):,} columns ({self.width:,} bins)"

    def weight_signs(self, signs: np.ndarray) -> np.ndarray:
        """A weight is the height of the score over a bin."""
        return signs[self._column]

    def refit(self, other: Refit) -> PiecewiseBlock:
        return PiecewiseBlock.fitted(other.rows.X, int(self.bins.n_bins), other.rows.weight) or self

    def score_changes(self, X: np.ndarray, coef: np.ndarray) -> ScoreChanges:
        return RampChanges(self, X, coef)

    def ramps(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Column, lower edge and length of the bin of each feature."""
        return self._column, self._low, self._length

    def onnx_nodes(self, graph: Graph, x: str) -> str:
        """clip((x - low) / (high - low), 0, 1) for each bin."""
        edges = [pair for e in self.bins.bins_ for pair in pairwise(e)]
        low, high = (np.array(part) for part in zip(*edges, strict=True))
        part = graph.add("Div", graph.add("Sub", graph.columns(x, self._column), low), high - low)
        return graph.cast(graph.add("Clip", part, np.float64(0.0), np.float64(1.0)), np.float32)

    def set_n_columns(self, n_columns: int) -> None:
        self.n_columns = n_columns

    @classmethod
    def _from_former(cls, state: dict[str, Any]) -> Self:
        return cls._made(**state, n_columns=int(state["columns"].max(initial=-1)) + 1)


class RampChanges(AdditiveChanges):
    """Only the bins of the changed columns are computed again."""

    def __init__(self, block: PiecewiseBlock, X: np.ndarray, coef: np.ndarray):
        self.before, self.coef = block.features(X), coef
        column, self.low, self.length = block.ramps()
        self.order = np.argsort(column, kind="stable")
        self.starts = np.searchsorted(column[self.order], np.arange(X.shape[1] + 1))

    def changed(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        parts = [self.order[self.starts[j] : self.starts[j + 1]] for j in columns]
        ramps = np.concatenate(parts)
        source = np.repeat(np.arange(len(columns)), [len(part) for part in parts])
        bins = np.empty((len(values), len(ramps)), dtype=np.float32)
        values = np.ascontiguousarray(values, dtype=np.float64)
        _numeric.write_piecewise_linear(values, source, self.low[ramps], self.length[ramps], bins)
        return (bins - self.before[:, ramps]) @ self.coef[ramps]


def _has_three_values(x: np.ndarray) -> bool:
    """True if a column has more than two values."""
    first = x[0]
    other = x[np.argmax(x != first)]
    return bool(np.any((x != first) & (x != other)))
