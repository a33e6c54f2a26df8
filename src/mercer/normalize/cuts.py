"""Cut points of quantile bins."""

from __future__ import annotations

import numpy as np


def balanced_cuts(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Cut points of at most n_bins bins of about equal counts; bin b holds cuts[b-1] < x <= cuts[b].

    With at most n_bins distinct values each has its own bin. With more, every value as frequent as two bins has its
    own, and the others divide the remaining bins. Cuts lie halfway between neighboring values.

    >>> balanced_cuts(np.array([1.0, 2.0, 2.0, 5.0]), 4)
    array([1.5, 3.5])
    >>> balanced_cuts(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0]), 4)
    array([0.5, 2.5])
    """
    distinct, counts = np.unique(np.asarray(values, dtype=np.float64) + 0.0, return_counts=True)
    if len(distinct) <= n_bins:
        return _between(distinct[:-1], distinct[1:])
    heavy = np.flatnonzero(counts * n_bins >= 2 * len(values))
    counts[heavy] = 0
    n_cuts = n_bins - 1 - 2 * len(heavy)
    upper = np.cumsum(counts)
    targets = np.arange(1, n_cuts + 1) / (n_cuts + 1) * upper[-1]
    positions = np.concatenate([np.searchsorted(upper, targets), heavy, heavy - 1])
    positions = np.unique(positions[(positions >= 0) & (positions < len(distinct) - 1)])
    return _between(distinct[positions], distinct[positions + 1])


def cuts_of_columns(X: np.ndarray, n_bins: int) -> list[np.ndarray]:
    """`balanced_cuts` of each column of X; columns without ties are cut together, at the same ranks."""
    ordered = np.sort(np.ascontiguousarray(X.T, dtype=np.float64) + 0.0, axis=1)
    n = ordered.shape[1]
    positions = np.arange(n - 1)
    if n > n_bins:
        positions = np.unique(np.searchsorted(np.arange(1, n + 1), np.arange(1, n_bins) / n_bins * n))
        positions = positions[positions < n - 1]
    middles = _between(ordered[:, positions], ordered[:, positions + 1])
    untied = np.all(ordered[:, 1:] > ordered[:, :-1], axis=1)
    columns = zip(middles, untied, X.T, strict=True)
    return [cuts if simple else balanced_cuts(x, n_bins) for cuts, simple, x in columns]


def _between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The midpoint; the lower value where no float lies between two neighbors."""
    middle = 0.5 * low + 0.5 * high
    return np.where((low <= middle) & (middle < high), middle, low)
