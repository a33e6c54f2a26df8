"""Bin indices of the values of columns among sorted cuts."""

import numpy as np

__all__ = ["column_bins"]

_MAX_CUTS = 255


def column_bins(X: np.ndarray, cuts: np.ndarray, ends: np.ndarray, right: bool = False) -> np.ndarray:
    """Count the cuts below each value of X, as bytes; with `right`, the cuts at or below it. NaN is above all cuts.

    X : (n, d) float64; cuts : the cuts of all columns, concatenated, float64, sorted within each column; ends : (d,)
    int64, where the cuts of each column end. A column has at most 255 cuts.

    >>> column_bins(np.array([[1.0, 5.0], [2.0, 7.0]]), np.array([1.0, 6.0]), np.array([1, 2])).tolist()
    [[0, 0], [1, 1]]
    """
    X, ends = np.asarray(X), np.asarray(ends)
    if len(ends) != X.shape[1]:
        raise ValueError("ends must have an entry per column of X")
    sizes = np.diff(ends, prepend=0)
    if np.any(sizes < 0) or np.any(sizes > _MAX_CUTS):
        raise ValueError("ends must rise by at most 255, the cuts of a column")
    if (ends[-1] if len(ends) else 0) != len(cuts):
        raise ValueError("the last of ends must be the number of cuts")
    bins = np.empty(X.shape, dtype=np.uint8)
    for j, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        bins[:, j] = np.searchsorted(cuts[end - size : end], X[:, j], side="right" if right else "left")
    return bins
