"""Kernel ridge regression on all rows and without each fold, all of them at once.

With m_k the weights' roots of the rows outside fold k, 0 inside, the coefficients of the fit without it are M_k b,

    (M_k K M_k + alpha) b = M_k y,    M_k = diag(m_k).

All folds share K, of which the lower triangle is kept in float32. Conjugate gradients multiply it by the vectors of
all folds at a time, n^2 operations for each; with K ~ FF' of some pivots, (M_k FF' M_k + alpha)^-1 is the
preconditioner (Woodbury), which leaves a few dozen steps where penalties are small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._numeric.linalg import dense
from mercer._runtime.pool import ordered_map
from mercer.kernels import Kernel

#: Rows of a tile: fixed, so that sums do not depend on the number of threads.
_ROWS = 1024
#: Pivots of the preconditioner, and rows for each of them at least.
_MAX_PIVOTS, _ROWS_PER_PIVOT = 1000, 10
#: Conjugate gradients stop after so many steps, or at this relative residual: scores need few digits.
_MAX_ITER, _TOL = 60, 1e-2
#: Rows up to which each system is solved by a factorization in float64.
_EXACT_ROWS = 600


@dataclass(frozen=True)
class FoldRidge:
    """Coefficients (fits, rows, outputs) of all rows and of those outside each fold; the out-of-fold predictions."""

    coef: np.ndarray
    out_of_fold: np.ndarray


def fold_ridge(
    kernel: Kernel, X: np.ndarray, Y: np.ndarray, folds: np.ndarray, alpha: float, weight: np.ndarray | None = None
) -> FoldRidge:
    """Fit on all rows, and without each of the folds 0, 1, ...: `folds` is that of each row."""
    roots = np.ones(len(X)) if weight is None else np.sqrt(weight)
    inside = folds == np.arange(folds.max() + 1)[:, None]
    masks = np.concatenate([roots[None], np.where(inside, 0.0, roots)])
    K = LowerTriangle(kernel, X)
    solve = _exact if len(X) <= _EXACT_ROWS else _iterated
    coef = solve(K, masks, np.asarray(Y, dtype=np.float64), alpha)
    predicted = K.products(coef[1:])
    found = np.zeros(Y.shape)
    for part, rows in zip(predicted, inside, strict=True):
        found[rows] = part[rows]
    return FoldRidge(coef, found)


class LowerTriangle:
    """The lower triangle of a kernel matrix by tiles of rows."""

    def __init__(self, kernel: Kernel, X: np.ndarray):
        self.kernel, self.X = kernel, np.asarray(X, dtype=np.float32 if len(X) > _EXACT_ROWS else np.float64)
        spans = [slice(start, min(start + _ROWS, len(X))) for start in range(0, len(X), _ROWS)]
        self.tiles = list(ordered_map(lambda rows: (rows, self._tile(rows)), spans))

    def _tile(self, rows: slice) -> np.ndarray:
        tile = self.kernel(self.X[rows], self.X[: rows.stop])
        own = np.arange(rows.start, rows.stop)
        tile[own - rows.start, own] = self.kernel.diag(self.X[rows])
        return tile

    def products(self, vectors: np.ndarray) -> np.ndarray:
        """K v for the vectors v of all fits: an array (fits, rows, outputs), as they are."""
        n_fits, n, n_outputs = vectors.shape
        V = np.ascontiguousarray(vectors.transpose(1, 0, 2).reshape(n, -1), dtype=self.X.dtype)
        out = np.zeros_like(V)

        def part(item: tuple[slice, np.ndarray]) -> tuple[slice, np.ndarray, np.ndarray]:
            rows, tile = item
            return rows, tile @ V[: rows.stop], tile[:, : rows.start].T @ V[rows]

        for rows, own, above in ordered_map(part, self.tiles):
            out[rows] += own
            out[: rows.start] += above
        return out.reshape(n, n_fits, n_outputs).transpose(1, 0, 2)

    def whole(self) -> np.ndarray:
        """The whole matrix, for few rows."""
        K = np.zeros((len(self.X), len(self.X)))
        for rows, tile in self.tiles:
            K[rows, : rows.stop] = tile
        return np.tril(K) + np.tril(K, -1).T


def _exact(K: LowerTriangle, masks: np.ndarray, Y: np.ndarray, alpha: float) -> np.ndarray:
    whole = K.whole()
    found = []
    for m in masks:
        system = m[:, None] * whole * m
        system.flat[:: len(system) + 1] += alpha
        upper = dense.cholesky(system, check_finite=False)
        half = dense.solve_triangular(upper, m[:, None] * Y, trans=1, check_finite=False)
        found.append(m[:, None] * dense.solve_triangular(upper, half, check_finite=False))
    return np.stack(found)


def _iterated(K: LowerTriangle, masks: np.ndarray, Y: np.ndarray, alpha: float) -> np.ndarray:
    """Preconditioned conjugate gradients on all fits and outputs at once."""
    M, precondition = masks[:, :, None], NystromPreconditioner(K, masks, alpha)
    residual = M * Y
    b = np.zeros_like(residual)
    z = precondition(residual)
    p, product, first = z, _inner(residual, z), np.maximum(_inner(residual, residual), np.finfo(float).tiny)
    for _ in range(_MAX_ITER):
        q = M * K.products(M * p) + alpha * p
        curvature = _inner(p, q)
        step = np.where(curvature > 0, product / np.where(curvature > 0, curvature, 1.0), 0.0)
        b += step * p
        residual -= step * q
        if np.max(_inner(residual, residual) / first) <= _TOL**2:
            break
        z = precondition(residual)
        before, product = product, _inner(residual, z)
        p = z + np.where(before > 0, product / np.where(before > 0, before, 1.0), 0.0) * p
    return M * b


def _inner(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("kno,kno->ko", a, b)[:, None, :]


class NystromPreconditioner:
    """(M_k FF' M_k + alpha)^-1 for each fit, where FF' approximates K by evenly spaced pivots."""

    def __init__(self, K: LowerTriangle, masks: np.ndarray, alpha: float):
        n = len(K.X)
        m = max(1, min(_MAX_PIVOTS, n // _ROWS_PER_PIVOT))
        pivots = K.X[np.linspace(0, n - 1, m).astype(np.int64)]
        own = K.kernel(pivots, pivots).astype(np.float64)
        own.flat[:: m + 1] += 1e-5 * float(np.trace(own)) / m
        upper = dense.cholesky(own, check_finite=False)

        def factor(rows: slice) -> np.ndarray:
            similar = K.kernel(pivots, K.X[rows]).astype(np.float64)
            return dense.solve_triangular(upper, similar, trans=1, check_finite=False).T.astype(np.float32)

        self.spans = [rows for rows, _ in K.tiles]
        self.parts = list(ordered_map(factor, self.spans))
        self.masks, self.alpha = masks, alpha
        self.factors = self._factors()

    def _factors(self) -> list[np.ndarray]:
        """The Cholesky factors of F' M_k^2 F + alpha: each row is in one fold, and in the sums of all others."""
        weight, inside = self.masks[0] ** 2, self.masks[1:] == 0.0

        def parts(item: tuple[slice, np.ndarray]) -> list[np.ndarray]:
            rows, F = item
            scaled = F * np.sqrt(weight[rows])[:, None].astype(np.float32)
            some = [scaled[each] for each in inside[:, rows]]
            return [each.T @ each for each in some]

        m = self.parts[0].shape[1]
        per_fold = np.zeros((len(inside), m, m))
        for each in ordered_map(parts, zip(self.spans, self.parts, strict=True)):
            for total, part in zip(per_fold, each, strict=True):
                total += part
        whole = per_fold.sum(axis=0)
        found = []
        for system in (whole, *(whole - part for part in per_fold)):
            system = system.copy()
            system.flat[:: m + 1] += self.alpha
            found.append(dense.cholesky(system, check_finite=False))
        return found

    def __call__(self, residual: np.ndarray) -> np.ndarray:
        n_fits, n, n_outputs = residual.shape
        R = (self.masks[:, :, None] * residual).transpose(1, 0, 2).reshape(n, -1).astype(np.float32)
        pairs = list(zip(self.spans, self.parts, strict=True))
        inner = np.zeros((self.parts[0].shape[1], R.shape[1]))
        for each in ordered_map(lambda item: item[1].T @ R[item[0]], pairs):
            inner += each
        for k, upper in enumerate(self.factors):
            own = slice(k * n_outputs, (k + 1) * n_outputs)
            half = dense.solve_triangular(upper, inner[:, own], trans=1, check_finite=False)
            inner[:, own] = dense.solve_triangular(upper, half, check_finite=False)
        inner = inner.astype(np.float32)
        back = np.concatenate(list(ordered_map(lambda item: item[1] @ inner, pairs)))
        back = back.reshape(n, n_fits, n_outputs).transpose(1, 0, 2)
        return (residual - self.masks[:, :, None] * back) / self.alpha
