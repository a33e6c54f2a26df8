"""Kernel least squares from the whole Gram matrix: minimum norm, one penalty, or a path scored by leave-one-out.

Here K may be indefinite too: every solver then returns the stationary point of its formula.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer._numeric.linalg import dense
from mercer._numeric.linalg.cholesky import solve_upper, upper_cholesky
from mercer.machines.similarity import BLOCK

N_ALPHAS = 60


class LeaveOneOutPath(NamedTuple):
    """Coefficients at the best penalty; penalties, their mean squared leave-one-out errors, index of the best."""

    coef: np.ndarray
    alphas: np.ndarray
    loo: np.ndarray
    best: int


def minimum_norm(K: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, int]:
    """a = K^+ Y and the rank of K; eigenvalues below n eps lambda_max count as zero.

    K a = Y need not have a solution; K^2 a = K Y, the normal equations of least squares, always does, and K^+ Y is
    the solution of minimum norm.
    """
    values, vectors = _eigen(K)
    eps = np.finfo(K.dtype).eps
    reached = np.abs(values) > len(K) * eps * np.abs(values).max()
    inverse = np.where(reached, 1.0 / np.where(reached, values, 1.0), 0.0)
    return vectors @ (inverse[:, None] * (vectors.T @ Y)), int(reached.sum())


def ridge(K: np.ndarray, Y: np.ndarray, alpha: float) -> np.ndarray:
    """a = (K + alpha)^{-1} Y by Cholesky, by eigenvalues where rounding or an indefinite K forbid that.

    K is overwritten: the factor takes its upper triangle. The lower one stays, for the eigenvalues or, in float32, for
    two refinements with residuals in float64: float64 accuracy up to a condition number of about 1e6.
    """
    diagonal = K.diagonal().astype(np.float64) + alpha
    np.fill_diagonal(K, diagonal)
    if not upper_cholesky(K):
        np.fill_diagonal(K, diagonal)
        return _ridge_by_eigenvalues(K, Y)
    a = solve_upper(K, Y).astype(np.float64)
    for _ in range(2 if K.dtype == np.float32 else 0):
        a += solve_upper(K, Y - _lower_product(K, diagonal, a))
    return a


def loo_path(K: np.ndarray, Y: np.ndarray, alphas: np.ndarray | None, weight: np.ndarray) -> LeaveOneOutPath:
    """Every penalty from one eigendecomposition, scored by the exact leave-one-out error.

    With G = (K + alpha)^{-1} and a = G Y, the error at row i of the fit without row i is a_i / G_ii. K and Y are
    scaled by the roots of the weights. Of a weight above 1 only one unit is left out, as if the row were repeated.
    """
    values, vectors = _eigen(K)
    if alphas is None:
        top = max(float(np.abs(values).max()), np.finfo(float).tiny)
        smallest = max(1e-10, 10 * len(K) * float(np.finfo(K.dtype).eps))
        alphas = np.geomspace(10.0 * top, smallest * top, N_ALPHAS)
    rotated = vectors.T @ Y
    inverse = 1.0 / (np.maximum(values, 0.0)[:, None] + alphas)
    left_out = (1.0 / np.maximum(weight, 1.0))[:, None]
    diagonal = left_out * ((vectors * vectors) @ inverse) + (1.0 - left_out) / alphas
    loo = np.empty(len(alphas))
    for i in range(len(alphas)):
        a = vectors @ (inverse[:, i, None] * rotated)
        loo[i] = np.sum((a / diagonal[:, i, None]) ** 2) / (weight.sum() * Y.shape[1])
    # Among penalties that predict equally well, the largest: they come in no particular order.
    best = int(max(np.flatnonzero(loo <= loo.min()), key=lambda i: alphas[i]))
    return LeaveOneOutPath(vectors @ (inverse[:, best, None] * rotated), alphas, loo, best)


def _eigen(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # Lower for us is upper for LAPACK. Small eigenvalues need the digits of float64.
    return dense.eigh(
        K.astype(np.float64, copy=False).T, lower=False, overwrite_a=True, check_finite=False, driver="evd"
    )


def _ridge_by_eigenvalues(K: np.ndarray, Y: np.ndarray) -> np.ndarray:
    values, vectors = _eigen(K)
    small = np.abs(values) <= len(K) * np.finfo(K.dtype).eps * np.abs(values).max()
    inverse = np.where(small, 0.0, 1.0 / np.where(small, 1.0, values))
    return vectors @ (inverse[:, None] * (vectors.T @ Y))


def _lower_product(K: np.ndarray, diagonal: np.ndarray, a: np.ndarray) -> np.ndarray:
    """S a in float64 for the symmetric S with the strict lower triangle of K and the given diagonal."""
    out = diagonal[:, None] * a
    for start in range(0, len(K), BLOCK):
        stop = min(start + BLOCK, len(K))
        own = np.tril(K[start:stop, start:stop].astype(np.float64), -1)
        left = K[start:stop, :start].astype(np.float64)
        out[start:stop] += own @ a[start:stop] + own.T @ a[start:stop] + left @ a[:start]
        out[:start] += left.T @ a[start:stop]
    return out
