"""Ranks and quantiles of weighted values, and monotone interpolation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def columns_of(X: Any) -> Iterator[np.ndarray]:
    """Yield each column of a dense or sparse matrix as a float64 vector."""
    X = X.tocsc() if hasattr(X, "tocsc") else X
    for j in range(X.shape[1]):
        column = X[:, [j]].toarray().ravel() if hasattr(X, "tocsc") else X[:, j]
        yield np.asarray(column, dtype=np.float64)


def quantiles(values: np.ndarray, weight: np.ndarray, probabilities: Any) -> np.ndarray:
    """Weighted quantiles: for each p the smallest value with at least a fraction p of the weight at or below it.

    Where the fraction is exactly p, the value is averaged with the next one (Hyndman and Fan 1996, type 2: the usual
    median). A weight of k counts like k equal values, and doubling all weights changes nothing.

    >>> quantiles(np.array([4.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), [0.5, 0.75])
    array([2., 3.])
    """
    if are_repetitions(weight):
        return quantiles_of_rows(values[None], weight, probabilities)[0]
    order = np.argsort(values, kind="stable")
    return sorted_quantiles(values[None, order], weight[order], probabilities)[0]


def quantiles_of_rows(values: np.ndarray, weight: np.ndarray, probabilities: Any) -> np.ndarray:
    """`quantiles` of each row of an array, where all weights are equal or `are_repetitions`."""
    if not np.all(weight == weight[0]):
        values = np.repeat(values, weight.astype(np.intp), axis=1)
        weight = np.ones(values.shape[1])
    return sorted_quantiles(np.sort(values, axis=1), weight, probabilities)


def are_repetitions(weight: np.ndarray) -> bool:
    """Whether weights are whole numbers, on average at most two, so that values can be repeated instead."""
    return bool(np.all(weight == np.rint(weight)) and 0 < weight.sum() <= 2 * len(weight))


def sorted_quantiles(values: np.ndarray, weight: np.ndarray, probabilities: Any) -> np.ndarray:
    """The quantiles of each row of sorted values."""
    total = np.cumsum(weight)
    target = np.asarray(probabilities) * total[-1]
    first = values[:, np.searchsorted(total, target)]
    last = values[:, np.minimum(np.searchsorted(total, target, side="right"), values.shape[1] - 1)]
    return np.where(first == last, first, 0.5 * first + 0.5 * last)


def mid_ranks(values: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct values v_1 < ... < v_m, their mid-ranks u_i and their fractions s_i of the weight.

    u_i = s_1 + ... + s_(i-1) + s_i / 2: the average of P(V < v_i) and P(V <= v_i).

    >>> mid_ranks(np.array([3.0, 1.0, 3.0, 2.0]), np.ones(4))
    (array([1., 2., 3.]), array([0.125, 0.375, 0.75 ]), array([0.25, 0.25, 0.5 ]))
    """
    distinct, codes = np.unique(values, return_inverse=True)
    mass = np.bincount(codes, weight)
    upper = np.cumsum(mass)
    return distinct + 0.0, (upper - 0.5 * mass) / upper[-1], mass / upper[-1]


def knots(fraction: np.ndarray, n_quantiles: int) -> np.ndarray:
    """Indices of the sorted values to keep so that no gap holds more than a fraction 1/(n_quantiles - 1).

    These are the quantiles at n_quantiles equidistant probabilities, and the neighbors of any value with a larger
    fraction, where the cumulative distribution jumps.
    """
    m = len(fraction)
    if m <= n_quantiles:
        return np.arange(m)
    upper = np.cumsum(fraction)
    even = np.searchsorted(upper, np.linspace(0.0, 1.0, n_quantiles) * upper[-1])
    heavy = np.flatnonzero(fraction > 1.0 / (n_quantiles - 1))
    return np.unique(np.clip(np.concatenate([even, heavy - 1, heavy, heavy + 1]), 0, m - 1))


def interpolate(x: np.ndarray, start: np.ndarray, image: np.ndarray) -> np.ndarray:
    """Piecewise-linear interpolation from start_i to image_i, constant beyond the ends, monotone even when rounded.

    Both must be strictly increasing. Differences are computed from halves where they could overflow float64.
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
    """1/2 where the difference of two values may overflow float64, else 1, which preserves subnormal numbers."""
    return np.where(np.maximum(-low, high) > 0.25 * np.finfo(np.float64).max, 0.5, 1.0)


def balanced_edges(values: np.ndarray, weight: np.ndarray, n_bins: int) -> np.ndarray:
    """Edges of at most n_bins bins of equal weight, at data values, including the smallest and the largest.

    A value heavier than a bin counts as one bin; a constant has one edge.

    >>> balanced_edges(np.array([1.0, 2.0, 2.0, 2.0, 3.0, 4.0]), np.ones(6), 2)
    array([1., 2., 4.])
    """
    distinct, codes = np.unique(values + 0.0, return_inverse=True)
    if len(distinct) <= n_bins + 1:
        return distinct
    mass = np.bincount(codes, weight)
    upper = np.cumsum(np.minimum(mass, _bin_weight(mass, n_bins)))
    inner = np.searchsorted(upper, np.linspace(0.0, 1.0, n_bins + 1)[1:-1] * upper[-1])
    return distinct[np.unique(np.concatenate([[0], inner, [len(distinct) - 1]]))]


def _bin_weight(mass: np.ndarray, n_bins: int) -> float:
    """The weight c of a bin if no value counts for more than one: n_bins c = sum of min(mass, c)."""
    weight = np.inf
    while (smaller := np.minimum(mass, weight).sum() / n_bins) < weight * (1 - 1e-6):
        weight = smaller
    return weight
