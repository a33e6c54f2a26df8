"""Two passes: quantile bins of each column from a sample, then the joint histogram of bins and target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from mercer._numeric.block import Block
from mercer._runtime.pool import ordered_map
from mercer.stats import Statistic

#: Columns made dense at a time.
_CHUNK = 256


@dataclass(frozen=True)
class Edges:
    """The least value of each bin but the first; `exact` if every distinct value has a bin of its own."""

    values: np.ndarray
    exact: bool

    def codes(self, x) -> np.ndarray:
        return np.searchsorted(self.values, x, side="right")


@dataclass(frozen=True)
class CommonLevels:
    """Bins of a categorical column: one for each of some levels, the last for all others."""

    values: np.ndarray

    def codes(self, x) -> np.ndarray:
        place = np.minimum(np.searchsorted(self.values, x), len(self.values) - 1)
        return np.where(self.values[place] == x, place, len(self.values))


def common_levels(levels, counts, most: int) -> Edges | CommonLevels:
    """A bin for each level, or where there are more than `most` for the most frequent, and one for all others."""
    if len(levels) <= most:
        return Edges(levels[1:], True)
    return CommonLevels(np.sort(levels[np.argsort(-counts, kind="stable")[: most - 1]]))


def quantile_edges(x, weight, n_bins, apart=False) -> Edges:
    """At most `n_bins` bins of about equal weight; one for each distinct value if there are no more, or if `apart`."""
    order = np.argsort(x, kind="stable")
    x = x[order]
    first = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]])) if len(x) else np.zeros(0, dtype=np.intp)
    if apart or len(first) <= n_bins:
        return Edges(x[first[1:]].astype(np.float64), True)
    before = np.concatenate([[0.0], np.cumsum(weight[order])])
    wanted = before[-1] * np.arange(1, n_bins) / n_bins
    # A bin may start only where a new value does: the first at or after each quantile.
    starts = np.unique(np.searchsorted(before[first], wanted))
    starts = starts[(starts > 0) & (starts < len(first))]
    return Edges(x[first[starts]].astype(np.float64), False)


def column_edges(X, weight, n_bins, apart=()) -> list[Edges]:
    """Bins of every column of a sample; columns in `apart` get a bin for each of their values."""
    separate = set(apart)

    def of(columns):
        part = dense_columns(X, columns)
        return [quantile_edges(part[:, i], weight, n_bins, j in separate) for i, j in enumerate(columns)]

    chunks = [range(start, min(start + _CHUNK, X.shape[1])) for start in range(0, X.shape[1], _CHUNK)]
    return [edges for found in ordered_map(of, chunks) for edges in found]


@dataclass(frozen=True)
class Histogram:
    """Per column: weights by bin and class, and the mean of the column in each bin."""

    counts: list[np.ndarray]
    means: list[np.ndarray]


@dataclass(frozen=True)
class JointHistogram(Statistic):
    """Weights of (bin of a column, class of the target) and sums of the column per bin, for given edges.

    The target comes as codes 0, 1, ..., n_classes - 1.
    """

    edges: Any
    n_classes: int
    n: int = 0
    counts: Any = None
    sums: Any = None

    def of(self, block: Block) -> Self:
        if len(block) == 0:
            return replace(self, n=0, counts=None, sums=None)
        y = np.asarray(block.y, dtype=np.intp)
        weight = None if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        counts, sums = [], []
        for start in range(0, len(self.edges), _CHUNK):
            columns = range(start, min(start + _CHUNK, len(self.edges)))
            for x, edges in zip(dense_columns(block.X, columns).T, self.edges[start : columns.stop], strict=True):
                table, total = self._column(np.ascontiguousarray(x), edges, y, weight)
                counts.append(table)
                sums.append(total)
        return replace(self, n=len(block), counts=counts, sums=sums)

    def _column(self, x, edges, y, weight):
        bins = len(edges.values) + 1
        code = edges.codes(x)
        table = np.bincount(code * self.n_classes + y, weight, minlength=bins * self.n_classes)
        total = np.bincount(code, x if weight is None else weight * x, minlength=bins)
        return table.reshape(bins, self.n_classes).astype(np.float64), total

    def _merge(self, other: Self) -> Self:
        counts = [a + b for a, b in zip(self.counts, other.counts, strict=True)]
        sums = [a + b for a, b in zip(self.sums, other.sums, strict=True)]
        return replace(self, n=self.n + other.n, counts=counts, sums=sums)

    def finish(self) -> Histogram:
        if self.n == 0:
            raise ValueError("No rows: there is nothing to count.")
        weights = [np.maximum(table.sum(axis=1), 1e-300) for table in self.counts]
        return Histogram(self.counts, [total / weight for total, weight in zip(self.sums, weights, strict=True)])


def dense_columns(X, columns: range) -> np.ndarray:
    """A range of columns of an array or CSR matrix, as a float64 array."""
    part = X[:, columns.start : columns.stop]
    return np.asarray(part.toarray() if hasattr(part, "tocsr") else part, dtype=np.float64)
