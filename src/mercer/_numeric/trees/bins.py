"""Where the values of columns lie among sorted cuts."""

import numpy as np

__all__ = ["column_bins"]

_MOST_CUTS = 255


def column_bins(X, cuts, ends, right=False):
    """The number of cuts below each value of X, as bytes; with `right`, of cuts at or below it. NaN is beyond them all.

    X (n, d) float64; cuts : those of all columns in a row, float64, sorted for each column; ends (d,) int64 : where
    those of each column end. A column has at most 255.

    >>> column_bins(np.array([[1.0, 5.0], [2.0, 7.0]]), np.array([1.0, 6.0]), np.array([1, 2])).tolist()
    [[0, 0], [1, 1]]
    """
    X, ends = np.asarray(X), np.asarray(ends)
    if len(ends) != X.shape[1]:
        raise ValueError("ends must have an entry per column of X")
    sizes = np.diff(ends, prepend=0)
    if np.any(sizes < 0) or np.any(sizes > _MOST_CUTS):
        raise ValueError("ends must rise by at most 255, the cuts of a column")
    if (ends[-1] if len(ends) else 0) != len(cuts):
        raise ValueError("the last of ends must be the number of cuts")
    bins = np.empty(X.shape, dtype=np.uint8)
    for j, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        bins[:, j] = np.searchsorted(cuts[end - size : end], X[:, j], side="right" if right else "left")
    return bins
