"""Columns as bytes: the bin of each value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer import _numeric
from mercer._runtime.pool import ordered_map
from mercer.learn.trees.categories import rank_codes
from mercer.normalize.cuts import balanced_cuts, cuts_of_columns

#: Cuts come from at most this many rows, at equal distances.
SAMPLE_ROWS = 50_000
#: Up to this many rows, this many columns are cut together.
_FEW_ROWS, _COLUMNS = 2048, 256


@dataclass
class BinnedColumns:
    """Columns as bins, and the cuts above each bin: bin b holds cuts[b-1] < x <= cuts[b]."""

    bins: np.ndarray
    cuts: list[np.ndarray]

    @classmethod
    def of(cls, X: np.ndarray, max_bins: int) -> BinnedColumns:
        cuts = column_cuts(X, max_bins)
        ends = np.cumsum([len(each) for each in cuts], dtype=np.int64)
        return cls(_numeric.column_bins(X, np.concatenate([np.zeros(0), *cuts]), ends), cuts)

    def reordered(self, rows: np.ndarray, X: np.ndarray, ranks: dict[int, np.ndarray], max_bins: int) -> BinnedColumns:
        """Rows in a given order, with columns of category codes binned anew by the ranks of their codes."""
        bins, cuts = self.bins[rows], list(self.cuts)
        if ranks:
            ranked = [rank_codes(rank, X[rows, column]) for column, rank in ranks.items()]
            again = BinnedColumns.of(np.column_stack(ranked), max_bins)
            bins[:, list(ranks)] = again.bins
            for column, found in zip(ranks, again.cuts, strict=True):
                cuts[column] = found
        return BinnedColumns(bins, cuts)

    @cached_property
    def widths(self) -> np.ndarray:
        """The number of bins of each column."""
        return np.array([len(cuts) + 1 for cuts in self.cuts], dtype=np.int64)

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.cumsum(self.widths - 1) - (self.widths - 1)

    @cached_property
    def _joined(self) -> np.ndarray:
        return np.concatenate([*self.cuts, [0.0]])

    def thresholds(self, column: np.ndarray, cut: np.ndarray) -> np.ndarray:
        """The values at which bins are cut; 0 where there is no column (-1)."""
        return self._joined[np.where(column >= 0, self._starts[column] + cut, -1)]


def column_cuts(X: np.ndarray, max_bins: int) -> list[np.ndarray]:
    """The cuts of each column into at most `max_bins` bins of about equally many values."""
    if len(X) <= _FEW_ROWS:
        parts = (X[:, start : start + _COLUMNS] for start in range(0, X.shape[1], _COLUMNS))
        found = ordered_map(lambda part: cuts_of_columns(part, max_bins), parts)
        return [cuts for part in found for cuts in part]
    step = max(1, -(-len(X) // SAMPLE_ROWS))
    return list(ordered_map(lambda column: balanced_cuts(column, max_bins), X[::step].T))
