"""Columns as bytes: the bin of each value."""

from __future__ import annotations

import numpy as np

from mercer._numeric.pool import ordered_map
from mercer.normalize.cuts import balanced_cuts

_SAMPLE_ROWS = 50_000


class Binning:
    """The cuts of each column, learned from (some of) its rows, and the bin of each value as a byte."""

    def __init__(self, X: np.ndarray, n_bins: int = 256):
        step = max(1, -(-len(X) // _SAMPLE_ROWS))
        self.cuts = list(ordered_map(lambda column: balanced_cuts(column, n_bins), X[::step].T))

    def __call__(self, X: np.ndarray) -> np.ndarray:
        bins = np.empty(X.shape, dtype=np.uint8)
        for j, cuts in enumerate(self.cuts):
            bins[:, j] = np.searchsorted(cuts, X[:, j], side="left")
        return bins

    @property
    def widths(self) -> np.ndarray:
        """The number of bins of each column."""
        return np.array([len(cuts) + 1 for cuts in self.cuts], dtype=np.int64)
