"""Least squares on badly conditioned columns, where Gram matrices lose twice as many digits as the columns themselves.

Rows in memory are solved again by QR with column pivoting. Rows in a stream are corrected by the semi-normal equations

    G d = X'(y - X w),   w <- w + d,

one pass for each correction (Bjorck 1987): each gains as many digits as the Gram matrix has left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr, solve_triangular

from mercer.source import MemorySource, Source
from mercer.stats.gram import Normal

#: Condition numbers of Gram matrices from which on fewer than six digits would be left.
MAX_CONDITION = 1e10
_CORRECTIONS = 6
_MAX_ENTRIES = 20_000_000  # of rows that are copied to extended precision


class Refined(NamedTuple):
    """Weights (columns, targets) and their accuracy, the relative size of the last correction."""

    coef: np.ndarray
    intercept: np.ndarray
    accuracy: float


def condition(normal: Normal) -> float:
    """The condition number of the centered Gram matrix, infinite if its columns depend on one another.

    It is 1 if columns are constant, which no solution needs.
    """
    G, length = _equilibrated(normal)
    if len(G) == 0 or np.any(length == 0):
        return 1.0
    values = np.linalg.eigvalsh(np.outer(length, length) * G)
    return float(values[-1] / values[0]) if values[0] > np.finfo(float).eps ** 2 * values[-1] else np.inf


def refine(
    source: Source, normal: Normal, coef: np.ndarray, center: np.ndarray, y_center: np.ndarray
) -> Refined | None:
    """Better weights than those of the normal equations, or None if the columns depend on one another."""
    if isinstance(source, MemorySource) and not hasattr(source.X, "tocsr") and source.X.size <= _MAX_ENTRIES:
        return _by_rows(source.read(0, source.n_rows))
    return _by_corrections(source, normal, coef, center, y_center)


def _equilibrated(normal: Normal) -> tuple[np.ndarray, np.ndarray]:
    """The centered Gram matrix of columns divided by their lengths, and the lengths."""
    z_mean, _ = normal.means()
    G = normal.G - np.outer(normal.z, z_mean)
    length = np.sqrt(np.maximum(G.diagonal(), 0.0))
    safe = np.where(length > 0, length, 1.0)
    return G / np.outer(safe, safe), length


def _by_rows(block: Any) -> Refined | None:
    """QR of the centered columns, with residuals in extended precision."""
    X, Y = np.asarray(block.X, dtype=np.longdouble), np.asarray(block.y, dtype=np.longdouble).reshape(len(block), -1)
    weight = np.ones(len(X)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    total = weight.sum(dtype=np.longdouble)
    center, y_center = weight @ X / total, weight @ Y / total
    root = np.sqrt(weight)[:, None]
    X, Y = root * (X - center), root * (Y - y_center)
    scale = np.ldexp(1.0, -np.frexp(np.sqrt(np.sum(X * X, axis=0)).astype(np.float64))[1])
    Q, R, order = qr((X * scale).astype(np.float64), mode="economic", pivoting=True)
    pivots = np.abs(R.diagonal())
    if len(X) <= X.shape[1] or pivots[-1] <= 8 * np.finfo(float).eps * np.sqrt(len(X)) * pivots[0]:
        return None
    coef, step = np.zeros((X.shape[1], Y.shape[1]), dtype=np.longdouble), np.zeros(0)
    for _ in range(3):
        found = np.empty(coef.shape)
        found[order] = solve_triangular(R, Q.T @ (Y - X @ coef).astype(np.float64))
        step = found * scale[:, None]
        coef = coef + step
    return Refined(coef.astype(np.float64), (y_center - center @ coef).astype(np.float64), _relative(step, coef))


def _by_corrections(
    source: Source, normal: Normal, coef: np.ndarray, center: np.ndarray, y_center: np.ndarray
) -> Refined | None:
    """Corrected semi-normal equations; a correction that does not shrink is the last."""
    G, length = _equilibrated(normal)
    try:
        factor = cho_factor(G)
    except np.linalg.LinAlgError:
        return None
    mean, last = np.zeros(coef.shape[1]), np.inf
    for _ in range(_CORRECTIONS):
        gradient, mean = _gradient(source, coef, center, y_center)
        step = cho_solve(factor, gradient / length[:, None]) / length[:, None]
        size = _relative(step, coef)
        if not size < 0.5 * last:
            break
        coef, last = coef + step, size
        if size < 4 * np.finfo(float).eps:
            break
    return Refined(coef, y_center + mean - center @ coef, last)


def _gradient(
    source: Source, coef: np.ndarray, center: np.ndarray, y_center: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """X'(y - X w) of centered rows, and the mean of the residuals, in one pass."""
    gradient, columns, residuals, total = np.zeros(coef.shape), np.zeros(len(coef)), np.zeros(coef.shape[1]), 0.0
    for block in source.blocks():
        X = block.X.toarray() if hasattr(block.X, "toarray") else np.asarray(block.X, dtype=np.float64)
        X = X - center
        r = np.asarray(block.y, dtype=np.float64).reshape(len(X), -1) - y_center - X @ coef
        weight = np.ones(len(X)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        gradient += X.T @ (weight[:, None] * r)
        columns, residuals, total = columns + weight @ X, residuals + weight @ r, total + weight.sum()
    mean = residuals / total
    return gradient - np.outer(columns, mean), mean


def _relative(step: np.ndarray, coef: np.ndarray) -> float:
    size = np.abs(coef).max(axis=0, initial=0.0)
    return float(np.max(np.abs(step).max(axis=0, initial=0.0) / np.where(size > 0, size, 1.0), initial=0.0))
