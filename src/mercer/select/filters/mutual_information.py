"""Mutual information of a column and a target: from a contingency table, or from nearest neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import digamma

from mercer._runtime.checks import check_whole, refuse_missing
from mercer.select.filters.association import from_table

#: Shrinks a radius just below the distance of its neighbor, so that rounding of positions cannot count that neighbor.
_SHRINK = 1.0 - 1e-12


def table_information(table: np.ndarray) -> tuple[float, float]:
    """Return the bias-corrected mutual information of rows and columns in nats, and the p-value of independence.

    The plug-in value sum p(v, y) log(p(v, y) / (p(v) p(y))) exceeds the truth by about (r - 1)(c - 1) / (2n) for r
    nonempty rows and c nonempty columns (Miller 1955); the bias is subtracted, down to zero. The test is Pearson's
    chi-squared: for large n it agrees with that of 2n times the plug-in value, and it keeps its level for smaller n.

    >>> information, pvalue = table_information(np.array([[50.0, 0.0], [0.0, 50.0]]))
    >>> round(information, 3), pvalue < 1e-9
    (0.688, True)
    """
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    n, freedom = table.sum(), (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1)
    used = table > 0
    expected = np.outer(rows, columns)[used] / n
    plug_in = max(float(np.sum(table[used] * np.log(table[used] / expected))) / n, 0.0)
    return max(float(plug_in - freedom / (2 * n)), 0.0), float(from_table(table).pvalue[0])


def knn_mutual_information(X: Any, y: Any, n_neighbors: int = 3, classes: bool | None = None) -> np.ndarray:
    """Estimate the mutual information of each column with y in nats from distances to the nearest neighbors.

    There are no bins, hence no binning bias, at a cost of O(n log n) per column: a reference for small data. For a
    continuous y this is the first estimator of Kraskov, Stoegbauer and Grassberger (2004), for classes that of Ross
    (2014). Both assume columns without ties; for repeated values use contingency tables.

    Use it for a few continuous columns of up to some thousands of rows; for many columns or rows use
    `FilterSelector("mutual_information")`, which counts in bins.

    Parameters
    ----------
    X : array of n rows
    y : array of n targets
    n_neighbors : int, default=3
    classes : bool, default=None
        Whether y holds classes; None decides by whether its values are numbers.

    Returns
    -------
    array, one estimate per column

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> knn_mutual_information(X, X[:, 0] ** 2).round(1)
    array([3.8, 0.1])
    """
    check_whole("n_neighbors", n_neighbors)
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    refuse_missing(X)
    if X.ndim != 2 or len(X) != len(y):
        raise ValueError(f"X must have two dimensions and a row for each of {len(y)} targets, not shape {X.shape}.")
    if len(y) <= n_neighbors:
        raise ValueError(f"n_neighbors={n_neighbors} needs more than {len(y)} rows.")
    classes = y.dtype.kind not in "iuf" if classes is None else classes
    estimate = _ross if classes else _kraskov
    return np.array([max(estimate(_unit_variance(x), y, n_neighbors), 0.0) for x in X.T])


def _unit_variance(x: np.ndarray) -> np.ndarray:
    std = x.std()
    return x / std if std > 0 else x


def _count_within(values: np.ndarray, centers: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Count the values within each center's radius, the center itself included."""
    values = np.sort(values)
    low = np.searchsorted(values, centers - radius, side="left")
    return np.searchsorted(values, centers + radius, side="right") - low


def _kraskov(x: np.ndarray, y: np.ndarray, k: int) -> float:
    y = _unit_variance(y.astype(np.float64))
    points = np.column_stack([x, y])
    radius = _SHRINK * cKDTree(points).query(points, k + 1, p=np.inf)[0][:, -1]
    counts = digamma(_count_within(x, x, radius)) + digamma(_count_within(y, y, radius))
    return digamma(len(x)) + digamma(k) - counts.mean()


def _ross(x: np.ndarray, y: np.ndarray, k: int) -> float:
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    kept = counts[codes] > 1  # a class of one row has no neighbor
    radius, neighbors = np.zeros(len(x)), np.ones(len(x))
    for label in np.flatnonzero(counts > 1):
        rows = np.flatnonzero(codes == label)
        n_near = min(k, len(rows) - 1)
        distance = cKDTree(x[rows, None]).query(x[rows, None], n_near + 1)[0][:, -1]
        radius[rows], neighbors[rows] = _SHRINK * distance, n_near
    x, codes, radius, neighbors = x[kept], codes[kept], radius[kept], neighbors[kept]
    if len(x) == 0:
        return 0.0
    near = digamma(_count_within(x, x, radius))
    return digamma(len(x)) + np.mean(digamma(neighbors)) - np.mean(digamma(counts[codes])) - np.mean(near)
