"""Mutual information of a column and a target: from a table of counts, or from nearest neighbors."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import digamma

from mercer._runtime.checks import check_whole, refuse_missing
from mercer.select.filters.association import from_table

#: A radius just short of the neighbor that sets it, whatever rounding does to the sums of places and radii.
_SHORT = 1.0 - 1e-12


def table_information(table) -> tuple[float, float]:
    """Mutual information of rows and columns in nats, less its bias, and the p-value of independence.

    The plug-in value sum p(v, y) log(p(v, y) / (p(v) p(y))) over the values v and y exceeds the truth by about
    (r - 1)(c - 1) / (2n) for r rows and c columns in use (Miller 1955), which is taken off (down to zero). The test is
    Pearson's chi-squared: it agrees with that of 2n times the plug-in value for large n, and keeps its level for
    smaller ones.

    >>> information, pvalue = table_information(np.array([[50.0, 0.0], [0.0, 50.0]]))
    >>> round(information, 3), pvalue < 1e-9
    (0.688, True)
    """
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    n, freedom = table.sum(), (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1)
    used = table > 0
    expected = np.outer(rows, columns)[used] / n
    plain = max(float(np.sum(table[used] * np.log(table[used] / expected))) / n, 0.0)
    return max(float(plain - freedom / (2 * n)), 0.0), float(from_table(table).pvalue[0])


def knn_mutual_information(X, y, n_neighbors=3, classes=None) -> np.ndarray:
    """Mutual information of each column with y, from the distances to the nearest neighbors, in nats.

    No bins, hence no bias from them, at the cost of n log n searches: a reference for small data. For a numeric y the
    first estimate of Kraskov, Stoegbauer and Grassberger (2004); for classes that of Ross (2014). Both assume columns
    without ties: values that repeat exactly call for tables of counts.

    Parameters
    ----------
    X : array of n rows
    y : array of n targets
    n_neighbors : int, default=3
    classes : bool, default: whether y is not of numbers

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
        raise ValueError(f"{n_neighbors} neighbors need more than {len(y)} rows.")
    classes = y.dtype.kind not in "iuf" if classes is None else classes
    estimate = _ross if classes else _kraskov
    return np.array([max(estimate(_unit(x), y, n_neighbors), 0.0) for x in X.T])


def _unit(x):
    spread = x.std()
    return x / spread if spread > 0 else x


def _inside(values, centers, radius):
    """How many of `values` are nearer to each center than its radius, the center itself included."""
    values = np.sort(values)
    low = np.searchsorted(values, centers - radius, side="left")
    return np.searchsorted(values, centers + radius, side="right") - low


def _kraskov(x, y, k):
    y = _unit(y.astype(np.float64))
    points = np.column_stack([x, y])
    radius = _SHORT * cKDTree(points).query(points, k + 1, p=np.inf)[0][:, -1]
    counts = digamma(_inside(x, x, radius)) + digamma(_inside(y, y, radius))
    return digamma(len(x)) + digamma(k) - counts.mean()


def _ross(x, y, k):
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    kept = counts[codes] > 1  # a class of one row has no neighbor
    radius, neighbors = np.zeros(len(x)), np.ones(len(x))
    for label in np.flatnonzero(counts > 1):
        rows = np.flatnonzero(codes == label)
        near = min(k, len(rows) - 1)
        distance = cKDTree(x[rows, None]).query(x[rows, None], near + 1)[0][:, -1]
        radius[rows], neighbors[rows] = _SHORT * distance, near
    x, codes, radius, neighbors = x[kept], codes[kept], radius[kept], neighbors[kept]
    if len(x) == 0:
        return 0.0
    near = digamma(_inside(x, x, radius))
    return digamma(len(x)) + np.mean(digamma(neighbors)) - np.mean(digamma(counts[codes])) - np.mean(near)
