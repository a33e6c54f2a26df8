"""Where to cut a column into bins."""

from __future__ import annotations

import numpy as np


def balanced_cuts(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Cuts into at most n_bins bins of about equally many values; bin b holds cuts[b-1] < x <= cuts[b].

    Each distinct value has a bin of its own where these are no more than n_bins, and so has, where there are more, a
    value as frequent as two bins; the others share what is left. Cuts lie halfway between neighboring values.

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
    levels = np.arange(1, n_cuts + 1) / (n_cuts + 1) * upper[-1]
    places = np.concatenate([np.searchsorted(upper, levels), heavy, heavy - 1])
    places = np.unique(places[(places >= 0) & (places < len(distinct) - 1)])
    return _between(distinct[places], distinct[places + 1])


def cuts_of_columns(X: np.ndarray, n_bins: int) -> list[np.ndarray]:
    """`balanced_cuts` of each column of X, those without equal values together: their cuts are at the same ranks."""
    ordered = np.sort(np.ascontiguousarray(X.T, dtype=np.float64) + 0.0, axis=1)
    n = ordered.shape[1]
    places = np.arange(n - 1)
    if n > n_bins:
        places = np.unique(np.searchsorted(np.arange(1, n + 1), np.arange(1, n_bins) / n_bins * n))
        places = places[places < n - 1]
    middles = _between(ordered[:, places], ordered[:, places + 1])
    simple = np.all(ordered[:, 1:] > ordered[:, :-1], axis=1)
    return [cuts if alike else balanced_cuts(x, n_bins) for cuts, alike, x in zip(middles, simple, X.T, strict=True)]


def _between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The middle; where there is no number between two neighbors, the lower one."""
    middle = 0.5 * low + 0.5 * high
    return np.where((low <= middle) & (middle < high), middle, low)
