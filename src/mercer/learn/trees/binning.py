"""Columns as bytes: the bin of each value."""

from __future__ import annotations

import numpy as np

from mercer import _numeric
from mercer._runtime.pool import ordered_map
from mercer.normalize.cuts import balanced_cuts, cuts_of_columns

_SAMPLE_ROWS = 50_000
#: Up to so many rows, so many columns are cut together.
_FEW_ROWS, _COLUMNS = 2048, 256


class Binning:
    """The cuts of each column, learned from (some of) its rows, and the bin of each value as a byte."""

    def __init__(self, X: np.ndarray, n_bins: int = 256):
        step = max(1, -(-len(X) // _SAMPLE_ROWS))
        if len(X) <= _FEW_ROWS:
            parts = (X[:, start : start + _COLUMNS] for start in range(0, X.shape[1], _COLUMNS))
            self.cuts = [
                cuts for part in ordered_map(lambda part: cuts_of_columns(part, n_bins), parts) for cuts in part
            ]
        else:
            self.cuts = list(ordered_map(lambda column: balanced_cuts(column, n_bins), X[::step].T))

    def __call__(self, X: np.ndarray) -> np.ndarray:
        ends = np.cumsum([len(cuts) for cuts in self.cuts], dtype=np.int64)
        return _numeric.column_bins(X, np.concatenate([np.zeros(0), *self.cuts]), ends)

    @property
    def widths(self) -> np.ndarray:
        """The number of bins of each column."""
        return np.array([len(cuts) + 1 for cuts in self.cuts], dtype=np.int64)
