"""Spearman's rank correlation of every column with the target; ties get the average of their ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._runtime.pool import ordered_map
from mercer.select.filters.association import Association, from_correlations, from_group_sums, from_ratios
from mercer.select.filters.histograms import column_chunks, dense_columns


def average_ranks(x: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Return the rank of each entry, ties averaged; a weight counts as that many equal entries.

    >>> average_ranks(np.array([10.0, 30.0, 30.0, 20.0]))
    array([1. , 3.5, 3.5, 2. ])
    """
    order, sorted_ranks = _sorted_ranks(x, weight)
    ranks = np.empty(len(x))
    ranks[order] = sorted_ranks
    return ranks


def _sorted_ranks(x: np.ndarray, weight: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorting order of the entries, and their ranks in that order."""
    order = np.argsort(x)
    ordered = x[order]
    new = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    if weight is None and len(new) == len(x) - 1:
        return order, np.arange(1.0, len(x) + 1.0)
    starts, ends = np.append(0, new), np.append(new, len(x))
    if weight is None:
        return order, np.repeat(0.5 * (starts + ends + 1), ends - starts)
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    return order, np.repeat(0.5 * (total[starts] + total[ends] + 1), ends - starts)


def rank_association(X: Any, y: np.ndarray, weight: np.ndarray | None, classification: bool) -> Association:
    """Score by |rho| of each column with a continuous y, or by the correlation ratio of its ranks within classes.

    Centered ranks are halves of integers, so up to some 190,000 rows all sums are exact in any order.
    """
    w = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    n = float(w.sum())
    T = np.eye(int(y.max()) + 1)[y] if classification else (2.0 * average_ranks(y, weight) - (n + 1.0))[:, None]
    scale = w @ (T if classification else T**2)
    W = w[:, None] * T

    def sums_of(columns: range) -> list[tuple[float, np.ndarray]]:
        return [_rank_sums(np.ascontiguousarray(x), W, weight, n) for x in dense_columns(X, columns).T]

    found = [pair for pairs in ordered_map(sums_of, column_chunks(X.shape[1], 16)) for pair in pairs]
    square = np.array([s for s, _ in found])
    product = np.array([p for _, p in found])
    safe = np.where(square > 0, square, 1.0)
    if not classification:
        norm = np.sqrt(safe) * np.sqrt(scale[0] if scale[0] > 0 else np.inf)
        return from_correlations(np.where(square > 0, product[:, 0] / norm, 0.0), n)
    present = scale > 0
    eta2 = np.where(square > 0, np.sum(product[:, present] ** 2 / scale[present], axis=1) / safe, 0.0)
    ratio = from_ratios(eta2, np.full(len(eta2), float(present.sum())), n)
    return ratio._replace(signed=np.sign(product[:, 1]) * ratio.score) if len(scale) == 2 else ratio


def _rank_sums(x: np.ndarray, W: np.ndarray, weight: np.ndarray | None, n: float) -> tuple[float, np.ndarray]:
    """Return the sum of squares of the centered ranks of x, doubled, and their products with the columns of W."""
    order, ranks = _sorted_ranks(x, weight)
    if ranks[0] == ranks[-1]:
        return 0.0, np.zeros(W.shape[1])
    centered = 2.0 * ranks - (n + 1.0)  # weighted ranks average to (n + 1) / 2, ties or not
    square = centered @ centered if weight is None else np.asarray(weight)[order] @ centered**2
    return float(square), centered @ W[order]


def rank_ratio(column: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Association:
    """Score by the correlation ratio of the ranks of y within the categories of a column."""
    w = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    ranks = average_ranks(y, weight)
    ranks = ranks - w @ ranks / w.sum()
    codes = np.unique(column, return_inverse=True)[1]
    return from_group_sums(*(np.bincount(codes, w * ranks**p) for p in range(3)))
