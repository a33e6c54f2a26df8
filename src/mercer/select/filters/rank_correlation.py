"""Spearman's correlation of every column with the target: both ranked, ties at the middle of their ranks."""

from __future__ import annotations

import numpy as np

from mercer._runtime.pool import ordered_map
from mercer.select.filters.association import Association, from_correlations, from_group_sums, from_ratios


def average_ranks(x, weight=None) -> np.ndarray:
    """The rank of each entry, ties sharing the middle of theirs; a weight counts as that many equal entries.

    >>> average_ranks(np.array([10.0, 30.0, 30.0, 20.0]))
    array([1. , 3.5, 3.5, 2. ])
    """
    order, middle = _middles(x, weight)
    ranks = np.empty(len(x))
    ranks[order] = middle
    return ranks


def _middles(x, weight=None):
    """The order of the entries, and the ranks along it."""
    order = np.argsort(x)
    ordered = x[order]
    new = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    if weight is None:
        if len(new) == len(x) - 1:
            return order, np.arange(1.0, len(x) + 1.0)
        ends = np.append(new, len(x))
        starts = np.append(0, new)
        return order, np.repeat(0.5 * (starts + ends + 1), ends - starts)
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    starts, ends = np.append(0, new), np.append(new, len(x))
    return order, np.repeat(0.5 * (total[starts] + total[ends] + 1), ends - starts)


def rank_association(X, y, weight, labels: bool) -> Association:
    """|rho| of each column with numbers y, or the correlation ratio of its ranks within the classes of y.

    Centered ranks are halves of whole numbers, so (up to some 190,000 rows) all sums are exact, whatever their order.
    """
    w = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    n = float(w.sum())
    T = np.eye(int(y.max()) + 1)[y] if labels else (2.0 * average_ranks(y, weight) - (n + 1.0))[:, None]
    scale = w @ (T if labels else T**2)
    W = w[:, None] * T

    def chunk(columns):
        part = X[:, columns.start : columns.stop]
        part = np.asarray(part.toarray() if hasattr(part, "tocsr") else part, dtype=np.float64)
        return [_products(np.ascontiguousarray(x), W, weight, n) for x in part.T]

    chunks = [range(start, min(start + 16, X.shape[1])) for start in range(0, X.shape[1], 16)]
    found = [pair for pairs in ordered_map(chunk, chunks) for pair in pairs]
    square = np.array([s for s, _ in found])
    product = np.array([p for _, p in found])
    safe = np.where(square > 0, square, 1.0)
    if not labels:
        length = np.sqrt(safe) * np.sqrt(scale[0] if scale[0] > 0 else np.inf)
        return from_correlations(np.where(square > 0, product[:, 0] / length, 0.0), n)
    present = scale > 0
    eta2 = np.where(square > 0, np.sum(product[:, present] ** 2 / scale[present], axis=1) / safe, 0.0)
    ratio = from_ratios(eta2, np.full(len(eta2), float(present.sum())), n)
    return ratio._replace(signed=np.sign(product[:, 1]) * ratio.score) if len(scale) == 2 else ratio


def _products(x, W, weight, n):
    """Sum of squares of the centered ranks of x, doubled, and their products with the columns of W."""
    order, middle = _middles(x, weight)
    if middle[0] == middle[-1]:
        return 0.0, np.zeros(W.shape[1])
    centered = 2.0 * middle - (n + 1.0)  # weighted ranks average to (n + 1) / 2, ties or not
    square = centered @ centered if weight is None else np.asarray(weight)[order] @ centered**2
    return square, centered @ W[order]


def rank_ratio(column, y, weight) -> Association:
    """The correlation ratio of the ranks of y within the levels of a categorical column."""
    w = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    ranks = average_ranks(y, weight)
    ranks = ranks - w @ ranks / w.sum()
    codes = np.unique(column, return_inverse=True)[1]
    return from_group_sums(*(np.bincount(codes, w * ranks**p) for p in range(3)))
