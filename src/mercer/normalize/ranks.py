"""Ranks and quantiles of weighted values, and monotone interpolation between them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def columns_of(X) -> Iterator[np.ndarray]:
    """Each column of a dense or sparse matrix as a float64 vector."""
    X = X.tocsc() if hasattr(X, "tocsc") else X
    for j in range(X.shape[1]):
        column = X[:, [j]].toarray().ravel() if hasattr(X, "tocsc") else X[:, j]
        yield np.asarray(column, dtype=np.float64)


def quantiles(values: np.ndarray, weight: np.ndarray, levels) -> np.ndarray:
    """The smallest value with at least a share p of the weight at or below it, for each level p.

    Where a share of exactly p lies at or below a value, it is averaged with the next value (Hyndman and Fan
    1996, type 2: the usual median). A weight of k counts like k equal values, and doubling all weights
    changes nothing.

    >>> quantiles(np.array([4.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), [0.5, 0.75])
    array([2., 3.])
    """
    if are_repetitions(weight):
        return quantiles_of_rows(values[None], weight, levels)[0]
    order = np.argsort(values, kind="stable")
    return _at_levels(values[None, order], weight[order], levels)[0]


def quantiles_of_rows(values: np.ndarray, weight: np.ndarray, levels) -> np.ndarray:
    """`quantiles` of each row of an array, where all weights are equal or `are_repetitions`."""
    if not np.all(weight == weight[0]):
        values = np.repeat(values, weight.astype(np.intp), axis=1)
        weight = np.ones(values.shape[1])
    return _at_levels(np.sort(values, axis=1), weight, levels)


def are_repetitions(weight: np.ndarray) -> bool:
    """Whether weights are whole numbers, on average at most two: values may then be repeated instead of weighed."""
    return bool(np.all(weight == np.rint(weight)) and 0 < weight.sum() <= 2 * len(weight))


def _at_levels(values: np.ndarray, weight: np.ndarray, levels) -> np.ndarray:
    """The quantiles of rows of sorted values of these weights."""
    total = np.cumsum(weight)
    target = np.asarray(levels) * total[-1]
    first = values[:, np.searchsorted(total, target)]
    last = values[:, np.minimum(np.searchsorted(total, target, side="right"), values.shape[1] - 1)]
    return np.where(first == last, first, 0.5 * first + 0.5 * last)


def mid_ranks(values: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct values v_1 < ... < v_m, their mid-ranks u_i and their shares s_i of the weight.

    u_i = s_1 + ... + s_(i-1) + s_i / 2: the average of P(V < v_i) and P(V <= v_i).

    >>> mid_ranks(np.array([3.0, 1.0, 3.0, 2.0]), np.ones(4))
    (array([1., 2., 3.]), array([0.125, 0.375, 0.75 ]), array([0.25, 0.25, 0.5 ]))
    """
    distinct, codes = np.unique(values, return_inverse=True)
    share = np.bincount(codes, weight)
    upper = np.cumsum(share)
    return distinct + 0.0, (upper - 0.5 * share) / upper[-1], share / upper[-1]


def knots(share: np.ndarray, n_quantiles: int) -> np.ndarray:
    """Which of m sorted values to keep so that no gap holds more than a share 1/(n_quantiles - 1).

    These are the values at n_quantiles equidistant levels, and the neighbors of any value with a larger
    share, for the cumulative distribution jumps there.
    """
    m = len(share)
    if m <= n_quantiles:
        return np.arange(m)
    upper = np.cumsum(share)
    levels = np.searchsorted(upper, np.linspace(0.0, 1.0, n_quantiles) * upper[-1])
    heavy = np.flatnonzero(share > 1.0 / (n_quantiles - 1))
    return np.unique(np.clip(np.concatenate([levels, heavy - 1, heavy, heavy + 1]), 0, m - 1))


def interpolate(x: np.ndarray, start: np.ndarray, image: np.ndarray) -> np.ndarray:
    """Piecewise linear from start_i to image_i, constant beyond the ends; never decreasing, even rounded.

    Both must be strictly increasing. Differences are formed from halves where they could exceed float64.
    """
    if len(start) == 1:
        return np.full_like(x, image[0])
    x = np.clip(x, start[0], start[-1])
    i = np.clip(np.searchsorted(start, x, side="right") - 1, 0, len(start) - 2)
    unit = _units(start[i], start[i + 1])
    part = (unit * x - unit * start[i]) / (unit * start[i + 1] - unit * start[i])
    unit = _units(image[i], image[i + 1])
    low, high = unit * image[i], unit * image[i + 1]
    inside = np.minimum(low + part * (high - low), high)
    return np.where(part >= 1.0, image[i + 1], inside / unit)


def _units(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """1/2 where the difference of two values may exceed float64, else 1, which spares subnormal numbers."""
    return np.where(np.maximum(-low, high) > 0.25 * np.finfo(np.float64).max, 0.5, 1.0)


def balanced_edges(values: np.ndarray, weight: np.ndarray, n_bins: int) -> np.ndarray:
    """Edges of at most n_bins bins of equal weight, at values, the first and the last of which are edges too.

    A value that weighs more than a bin counts as one bin; a constant has one edge.

    >>> balanced_edges(np.array([1.0, 2.0, 2.0, 2.0, 3.0, 4.0]), np.ones(6), 2)
    array([1., 2., 4.])
    """
    distinct, codes = np.unique(values + 0.0, return_inverse=True)
    if len(distinct) <= n_bins + 1:
        return distinct
    share = np.bincount(codes, weight)
    upper = np.cumsum(np.minimum(share, _bin_weight(share, n_bins)))
    places = np.searchsorted(upper, np.linspace(0.0, 1.0, n_bins + 1)[1:-1] * upper[-1])
    return distinct[np.unique(np.concatenate([[0], places, [len(distinct) - 1]]))]


def _bin_weight(share: np.ndarray, n_bins: int) -> float:
    """The weight c of a bin when no value counts for more than one: n_bins c = sum of min(share, c)."""
    weight = np.inf
    while (smaller := np.minimum(share, weight).sum() / n_bins) < weight * (1 - 1e-6):
        weight = smaller
    return weight
