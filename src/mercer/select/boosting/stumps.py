"""Decision stumps over all columns at once: h(x) = +1 if x_j > t, else -1.

Values are binned once, into at most 256 bins. The edge sum_i v_i h(x_i) of every stump then follows from one histogram
of v per column: if the bins up to t sum to P_t and all bins to V, the edge is V - 2 P_t.
"""

from __future__ import annotations

from typing import Any

import numpy as np

N_BINS = 256


class Stumps:
    """The stumps of rows in memory; stump j * 255 + b is column j at its threshold b."""

    def __init__(self, X: Any):
        sparse = hasattr(X, "tocsr")
        self.n, self.n_columns = X.shape
        self.thresholds, self.codes = [], np.empty((self.n_columns, self.n), dtype=np.uint8)
        for j in range(self.n_columns):
            x = X[:, [j]].toarray()[:, 0] if sparse else X[:, j]
            cuts = thresholds_of(x)
            self.thresholds.append(cuts)
            self.codes[j] = np.searchsorted(cuts, x, side="left")
        self.counts = np.array([len(cuts) for cuts in self.thresholds])
        self.real = np.arange(N_BINS - 1) < self.counts[:, None]

    def edges(self, v: np.ndarray) -> np.ndarray:
        """Return sum_i v_i h(x_i) of every stump, zero for unused indices."""
        totals = np.empty((self.n_columns, N_BINS))
        for j, codes in enumerate(self.codes):
            totals[j] = np.bincount(codes, weights=v, minlength=N_BINS)
        below = np.cumsum(totals, axis=1)
        return np.where(self.real, below[:, -1:] - 2.0 * below[:, :-1], 0.0).ravel()

    def describe(self, index: int) -> tuple[int, float]:
        """Return the column and threshold of a stump."""
        j, b = divmod(index, N_BINS - 1)
        return j, float(self.thresholds[j][b])

    def values(self, index: int) -> np.ndarray:
        """Return h(x_i) for every row."""
        j, b = divmod(index, N_BINS - 1)
        return np.where(self.codes[j] > b, 1.0, -1.0)


def thresholds_of(x: np.ndarray) -> np.ndarray:
    """Return midpoints between neighboring values; of more than 256 values, of those at evenly spaced ranks.

    They are rounded to the precision of x, and stay below the next larger value.
    """
    values = np.unique(x)
    if len(values) > N_BINS:
        order = np.sort(x)
        values = np.unique(order[np.linspace(0, len(order) - 1, N_BINS).astype(np.intp)])
    low, high = values[:-1], values[1:]
    middle = low + (high - low) / 2
    return np.where(middle < high, middle, low)


class SignColumns:
    """Columns of -1 and +1 as weak classifiers."""

    def __init__(self, X: Any):
        self.X = X.toarray() if hasattr(X, "tocsr") else X
        refuse_other_signs(self.X)

    def edges(self, v: np.ndarray) -> np.ndarray:
        """Return sum_i v_i x_i of every column."""
        return np.asarray(self.X.T @ v.astype(self.X.dtype), dtype=np.float64)

    def values(self, index: int) -> np.ndarray:
        """Return a column."""
        return self.X[:, index].astype(np.float64)


def refuse_other_signs(X: np.ndarray, start: int = 0) -> None:
    """Raise ValueError for entries that are not -1 or +1; `start` is the index of the first row."""
    other = np.argwhere(np.abs(X) != 1)
    if len(other):
        row, column = other[0]
        raise ValueError(
            f"learner='columns' needs columns of -1 and +1; row {start + row} of column {column} holds "
            f"{X[row, column]}. Use learner='stumps' for numbers."
        )
