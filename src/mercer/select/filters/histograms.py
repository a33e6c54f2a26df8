"""Two-pass statistics: quantile bins of each column from a sample, then joint histograms of bins and target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from mercer._numeric.block import Block
from mercer._runtime.pool import ordered_map
from mercer.select.base import dense
from mercer.stats import Statistic

#: Columns made dense at a time.
CHUNK_COLUMNS = 256


@dataclass(frozen=True)
class BinEdges:
    """Smallest value of each bin but the first; `exact` if every distinct value has its own bin."""

    values: np.ndarray
    exact: bool

    def codes(self, x: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.values, x, side="right")


@dataclass(frozen=True)
class FrequentCategories:
    """Bins of a categorical column: one per frequent category, the last for all others."""

    values: np.ndarray

    def codes(self, x: np.ndarray) -> np.ndarray:
        index = np.minimum(np.searchsorted(self.values, x), len(self.values) - 1)
        return np.where(self.values[index] == x, index, len(self.values))


Bins = BinEdges | FrequentCategories


def category_bins(categories: np.ndarray, counts: np.ndarray, max_bins: int) -> Bins:
    """Bin by category; of more than `max_bins` categories the rarest share the last bin."""
    if len(categories) <= max_bins:
        return BinEdges(categories[1:], True)
    return FrequentCategories(np.sort(categories[np.argsort(-counts, kind="stable")[: max_bins - 1]]))


def quantile_edges(x: np.ndarray, weight: np.ndarray, n_bins: int) -> BinEdges:
    """Cut x into at most `n_bins` bins of about equal weight; one per distinct value if there are no more."""
    order = np.argsort(x, kind="stable")
    x = x[order]
    first = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]])) if len(x) else np.zeros(0, dtype=np.intp)
    if len(first) <= n_bins:
        return BinEdges(x[first[1:]].astype(np.float64), True)
    before = np.concatenate([[0.0], np.cumsum(weight[order])])
    wanted = before[-1] * np.arange(1, n_bins) / n_bins
    # A bin can start only at a new value: the first at or after each quantile.
    starts = np.unique(np.searchsorted(before[first], wanted))
    starts = starts[(starts > 0) & (starts < len(first))]
    return BinEdges(x[first[starts]].astype(np.float64), False)


def column_edges(X: Any, weight: np.ndarray, n_bins: int) -> list[Bins]:
    """Return quantile bins of every column of a sample."""

    def edges_of(columns: range) -> list[BinEdges]:
        return [quantile_edges(x, weight, n_bins) for x in dense_columns(X, columns).T]

    return [edges for found in ordered_map(edges_of, column_chunks(X.shape[1])) for edges in found]


@dataclass(frozen=True)
class ColumnHistograms:
    """Per column: weights by bin and class, and the mean of the column in each bin."""

    counts: list[np.ndarray]
    means: list[np.ndarray]


@dataclass(frozen=True)
class JointHistogram(Statistic):
    """Weights of (bin of a column, class of the target) and sums of the column per bin, for given bin edges.

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
        for columns in column_chunks(len(self.edges)):
            edges = self.edges[columns.start : columns.stop]
            for x, bins in zip(dense_columns(block.X, columns).T, edges, strict=True):
                table, total = self._of_column(np.ascontiguousarray(x), bins, y, weight)
                counts.append(table)
                sums.append(total)
        return replace(self, n=len(block), counts=counts, sums=sums)

    def _of_column(
        self, x: np.ndarray, bins: Bins, y: np.ndarray, weight: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        n_bins = len(bins.values) + 1
        code = bins.codes(x)
        table = np.bincount(code * self.n_classes + y, weight, minlength=n_bins * self.n_classes)
        total = np.bincount(code, x if weight is None else weight * x, minlength=n_bins)
        return table.reshape(n_bins, self.n_classes).astype(np.float64), total

    def _merge(self, other: Self) -> Self:
        counts = [a + b for a, b in zip(self.counts, other.counts, strict=True)]
        sums = [a + b for a, b in zip(self.sums, other.sums, strict=True)]
        return replace(self, n=self.n + other.n, counts=counts, sums=sums)

    def finish(self) -> ColumnHistograms:
        if self.n == 0:
            raise ValueError("No rows: a histogram needs at least one.")
        weights = [np.maximum(table.sum(axis=1), 1e-300) for table in self.counts]
        return ColumnHistograms(self.counts, [total / weight for total, weight in zip(self.sums, weights, strict=True)])


def column_chunks(n_columns: int, size: int = CHUNK_COLUMNS) -> list[range]:
    """Split the columns into consecutive ranges of at most `size`."""
    return [range(start, min(start + size, n_columns)) for start in range(0, n_columns, size)]


def dense_columns(X: Any, columns: range) -> np.ndarray:
    """Return a range of columns of an array or CSR matrix as a float64 array."""
    return dense(X[:, columns.start : columns.stop])
