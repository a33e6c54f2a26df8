"""Conditional mutual information of a column and the target given one other column, from binned tables of all pairs.

The tables of all pairs form one matrix per class: with H the indicators of the bins of all columns, over the rows of
that class, H'H holds the counts of every pair of bins. They come from matrix products and add up over blocks of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import special

from mercer._numeric.block import Block
from mercer.select.filters.association import Association
from mercer.select.filters.histograms import column_chunks, dense_columns
from mercer.source import Source
from mercer.stats import Statistic

#: Entries of the indicators and of the tables in memory at a time.
_INDICATORS, _TABLES = 2**23, 2**25


class PairInformation(NamedTuple):
    """Scores and p-values of columns, and the conditioning column with the largest information (-1: none)."""

    association: Association
    partners: np.ndarray


def pair_information(source: Source, edges: list, n_classes: int) -> PairInformation:
    """Return max(I(v; y), max_j I(v; y | x_j)) over all other columns j, bias-corrected, with p-values.

    One pass over the source counts as many tables as fit in memory: those of all pairs of some 700 columns with four
    bins each and a target with four.
    """
    starts = np.concatenate([[0], np.cumsum([len(each.values) + 1 for each in edges])])
    score, pvalue = np.zeros(len(edges)), np.ones(len(edges))
    partners = np.full(len(edges), -1)
    for first, last in _column_ranges(starts, n_classes):
        tables = source.fold(PairTables(tuple(edges), n_classes, first, last)).finish()
        information, p = tables.conditional()
        best = information.argmax(axis=1)
        score[first:last] = information[np.arange(last - first), best]
        unconditional = (best == np.arange(first, last)) | (score[first:last] <= 0)
        partners[first:last] = np.where(unconditional, -1, best)
        pvalue[first:last] = np.minimum(1.0, tables.n_tests() * p.min(axis=1))
    score = np.maximum(score, 0.0)
    return PairInformation(Association(score, pvalue, score), partners)


def _column_ranges(starts: np.ndarray, n_classes: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of columns whose tables with all columns fit in memory together."""
    room = max(1, _TABLES // (n_classes * int(starts[-1])))
    first = 0
    while first < len(starts) - 1:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + room, side="right")) - 1)
        yield first, last
        first = last


@dataclass(frozen=True)
class PairTables(Statistic):
    """Weights of (class, bin of a column among first ... last - 1, bin of any column), for given bin edges.

    The target comes as codes 0, 1, ..., n_classes - 1.
    """

    edges: Any
    n_classes: int
    first: int
    last: int
    n: int = 0
    counts: Any = None

    @property
    def starts(self) -> np.ndarray:
        """The first bin of each column among all bins, and the number of bins."""
        return np.concatenate([[0], np.cumsum([len(each.values) + 1 for each in self.edges])])

    def of(self, block: Block) -> Self:
        if len(block) == 0:
            return replace(self, n=0, counts=None)
        starts = self.starts
        codes = self._codes(block.X) + starts[:-1]
        part = slice(starts[self.first], starts[self.last])
        counts = np.zeros((self.n_classes, part.stop - part.start, starts[-1]))
        step = max(256, _INDICATORS // int(starts[-1]))
        for c in range(self.n_classes):
            rows = np.flatnonzero(np.asarray(block.y) == c)
            for chunk in (rows[i : i + step] for i in range(0, len(rows), step)):
                counts[c] += _pair_counts(codes[chunk], part, starts[-1], block.weight, chunk)
        return replace(self, n=len(block), counts=counts)

    def _codes(self, X: Any) -> np.ndarray:
        codes = np.empty((X.shape[0], len(self.edges)), dtype=np.int64)
        for columns in column_chunks(len(self.edges)):
            for j, x in zip(columns, dense_columns(X, columns).T, strict=True):
                codes[:, j] = self.edges[j].codes(np.ascontiguousarray(x))
        return codes

    def _merge(self, other: Self) -> Self:
        return replace(self, n=self.n + other.n, counts=self.counts + other.counts)

    def finish(self) -> Self:
        if self.n == 0:
            raise ValueError("No rows: tables of pairs need at least one.")
        return self

    def n_tests(self) -> int:
        """Return the number of tests per column: unconditional, and given each other column that is not constant."""
        starts, bins = self.starts, self._margins()[1]
        return max(1, int(np.count_nonzero(np.add.reduceat((bins > 0).astype(int), starts[:-1]) > 1)))

    def conditional(self) -> tuple[np.ndarray, np.ndarray]:
        """Return I(v_i; y | x_j), bias-corrected, and p-values for i = first ... last - 1 (rows) and all j.

        The entry j = i is I(v_i; y). The plug-in value exceeds the truth by f / (2n) on average, where f is the sum of
        (r - 1)(c - 1) over the bins of x_j, r bins of v_i and c classes occurring there. P-values are those of
        Pearson's chi-squared, summed in the same way.
        """
        starts, (classes, bins) = self.starts, self._margins()
        n = bins[: starts[1]].sum()
        rows = starts[self.first : self.last + 1] - starts[self.first]
        cells = self.counts.sum(axis=0)
        occupied = _by_column(cells > 0, rows)
        freedom = np.maximum(occupied - 1.0, 0) * np.maximum(np.count_nonzero(classes, axis=0) - 1, 0)
        gain = _entropy(bins) - _by_column(_entropy(cells), rows)
        chi2 = np.zeros_like(gain)
        safe = np.where(cells > 0, cells, 1.0)
        for table, sizes in zip(self.counts, classes, strict=True):
            gain += _by_column(_entropy(table), rows) - _entropy(sizes)
            chi2 += _by_column(table * table / safe, rows) * _ratio(bins, sizes)
        chi2 = np.where(freedom > 0, chi2 - bins, 0.0)
        gain, chi2, freedom = (_by_column(each.T, starts).T.copy() for each in (gain, chi2, freedom))
        self._set_unconditional(gain, chi2, freedom)
        p = np.where(freedom > 0, special.gammaincc(np.maximum(freedom, 1) / 2, np.maximum(chi2, 0.0) / 2), 1.0)
        return np.where(freedom > 0, gain - freedom / 2, 0.0) / n, p

    def _set_unconditional(self, gain: np.ndarray, chi2: np.ndarray, freedom: np.ndarray) -> None:
        """Write the unconditional information of each column where it would condition on itself."""
        starts, (classes, bins) = self.starts, self._margins()
        total = classes[:, : starts[1]].sum(axis=1)
        for row, j in enumerate(range(self.first, self.last)):
            part = slice(starts[j], starts[j + 1])
            table, sizes = classes[:, part], bins[part]
            n_bins, n_classes = int(np.count_nonzero(sizes)), int(np.count_nonzero(total))
            freedom[row, j] = max(n_bins - 1, 0) * max(n_classes - 1, 0)
            within = _entropy(table).sum() - _entropy(sizes).sum()
            gain[row, j] = within - _entropy(total).sum() + float(_entropy(sizes.sum()))
            expected = np.outer(total, sizes) / sizes.sum()
            chi2[row, j] = np.sum(_ratio((table - expected) ** 2, expected))

    def _margins(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights of (class, bin of any column), and of the bins, summed over the bins of one column."""
        starts = self.starts
        classes = self.counts[:, : starts[self.first + 1] - starts[self.first]].sum(axis=1)
        return classes, classes.sum(axis=0)


def _pair_counts(codes: np.ndarray, part: slice, width: int, weight: np.ndarray | None, rows: np.ndarray) -> np.ndarray:
    """Return H[:, part]' W H for the indicators H of the codes of some rows; counts in float32 are exact."""
    H = np.zeros((len(codes), width), dtype=np.float32 if weight is None else np.float64)
    H[np.arange(len(codes))[:, None], codes] = 1
    if weight is not None:
        return (H[:, part] * weight[rows, None]).T @ H
    return H.T @ H if part.stop - part.start == width else H[:, part].T @ H


def _by_column(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Sum over the bins of each column, which are consecutive rows from one start to the next."""
    widths = np.diff(starts)
    if np.all(widths == widths[0]):
        return values.reshape(len(widths), widths[0], -1).sum(axis=1)
    return np.add.reduceat(values, starts[:-1], axis=0, dtype=None if values.dtype != bool else np.int64)


def _entropy(counts: np.ndarray) -> np.ndarray:
    """Return counts * log(counts), 0 where a count is 0."""
    return counts * np.log(np.where(counts > 0, counts, 1.0))


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    out = np.zeros(np.broadcast(numerator, denominator).shape)
    return np.divide(numerator, denominator, out=out, where=denominator > 0)
