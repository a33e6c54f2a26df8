"""Kernel ridge regression on a few centers, beyond memory: Falkon (Rudi, Carratino and Rosasco 2017).

f = sum_j a_j k(., c_j) over m centers minimizes sum_i w_i (y_i - f(x_i))^2 + alpha ||f||^2, that is

    (K_nm' W K_nm + alpha K_mm) a = K_nm' W y.

With T'T = K_mm and A'A = T^{-T} (n/s) K_sm'K_sm T^{-1} + alpha for a sample of s rows, the change of variable
a = T^{-1} A^{-1} b makes the system nearly the identity, and a few steps of conjugate gradients solve it. Each step is
one pass over the rows; K_nm exists only a block at a time. The paper samples the centers themselves, s = m; several
times as many rows cost no pass more and keep the number of steps small for small penalties too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._numeric.block import Block, take_rows
from mercer._numeric.pool import ordered_map
from mercer.kernels import Kernel
from mercer.machines.similarity import cross, is_vouched_for
from mercer.source import Source
from mercer.stats import Sample

#: Rows of K_nm that exist at a time, on each core.
ROWS = 2048
#: Rows of the preconditioner, or four times the centers.
SAMPLED = 4096


@dataclass(frozen=True)
class Chosen:
    """The centers, and a larger sample of rows with the weight of each."""

    centers: Any
    rows: Any
    weight: np.ndarray

    def scaled(self, kernel: Kernel, total: float) -> np.ndarray:
        """K_sm with rows scaled such that K_sm'K_sm estimates K_nm' W K_nm, `total` being the sum of all weights."""
        root = np.sqrt(self.weight * (total / self.weight.sum()))
        return root[:, None] * cross(kernel, self.centers, self.rows).T.astype(np.float64)


@dataclass(frozen=True)
class Preconditioner:
    """The triangular factors T and A, and products with the inverses of both."""

    T: np.ndarray
    A: np.ndarray

    @classmethod
    def of(cls, K: np.ndarray, sampled: np.ndarray, alpha: float) -> Preconditioner:
        """From the Gram matrix of the centers and a K_sm whose rows are scaled to stand for all."""
        T = _cholesky(K)
        B = _solve(T, sampled.T, transposed=True)
        C = B @ B.T
        C.flat[:: len(C) + 1] += alpha
        return cls(T, _cholesky(C))

    def out(self, b):
        """T^{-1} A^{-1} b."""
        return _solve(self.T, _solve(self.A, b))

    def back(self, v):
        """A^{-T} T^{-T} v."""
        return _solve(self.A, _solve(self.T, v, transposed=True), transposed=True)

    def penalty(self, b):
        """A^{-T} A^{-1} b."""
        return _solve(self.A, _solve(self.A, b), transposed=True)


@dataclass(frozen=True)
class Solution:
    """Coefficients of the centers, how many steps it took, and the relative residual after each."""

    coef: np.ndarray
    n_iter: int
    residuals: np.ndarray


@dataclass(frozen=True)
class Passes:
    """Sums over all rows, a block of similarities at a time; float64 totals of blocks in the rows' own precision."""

    source: Source
    kernel: Kernel
    chosen: Chosen

    def target_products(self) -> tuple[np.ndarray, float, np.ndarray]:
        """K_nm' W y, the total weight, and the weighted sum of squares of each target."""
        return self._sum(lambda K, y, w: (K.T @ (w[:, None] * y).astype(K.dtype), w.sum(), (w[:, None] * y * y).sum(0)))

    def normal_products(self, a: np.ndarray) -> np.ndarray:
        """K_nm' W K_nm a."""
        return self._sum(lambda K, y, w: (K.T @ (w[:, None].astype(K.dtype) * (K @ a.astype(K.dtype))),))[0]

    def _sum(self, terms):
        total = None
        for parts in self._in_order(lambda task: self._of_block(task.read(), terms)):
            if parts is not None:
                total = parts if total is None else [t + p for t, p in zip(total, parts, strict=True)]
        if total is None:
            raise ValueError("The source has no rows.")
        return total

    def _in_order(self, work):
        # The user's own function may not expect to be called from several threads.
        tasks = self.source.tasks()
        return ordered_map(work, tasks) if is_vouched_for(self.kernel) else map(work, tasks)

    def _of_block(self, block: Block, terms):
        total = None
        for start in range(0, len(block), ROWS):
            rows = block.rows(slice(start, start + ROWS))
            y = np.reshape(rows.y, (len(rows), -1))  # type: ignore[arg-type]
            w = np.ones(len(rows)) if rows.weight is None else rows.weight
            parts = [np.asarray(p, dtype=np.float64) for p in terms(self.kernel(rows.X, self.chosen.centers), y, w)]
            total = parts if total is None else [t + p for t, p in zip(total, parts, strict=True)]
        return total


def solve(passes: Passes, K: np.ndarray, alpha: float, max_iter: int, tol: float) -> Solution:
    """Conjugate gradients on all targets at once; K is the Gram matrix of the centers."""
    right, n, _ = passes.target_products()
    M = Preconditioner.of(K.astype(np.float64), passes.chosen.scaled(passes.kernel, float(n)), alpha)
    b = np.zeros_like(right)
    r = M.back(right)
    p, square = r.copy(), np.sum(r * r, axis=0)
    start, residuals = np.maximum(square, np.finfo(float).tiny), [1.0]
    while len(residuals) <= max_iter and residuals[-1] > tol:
        q = M.back(passes.normal_products(M.out(p))) + alpha * M.penalty(p)
        curvature = np.sum(p * q, axis=0)
        step = np.where(curvature > 0, square / np.where(curvature > 0, curvature, 1.0), 0.0)
        b += step * p
        r -= step * q
        before, square = square, np.sum(r * r, axis=0)
        p = r + (square / np.maximum(before, np.finfo(float).tiny)) * p
        residuals.append(float(np.sqrt(np.max(square / start))))
    return Solution(M.out(b), len(residuals) - 1, np.array(residuals[1:]))


def choose(source: Source, n_centers: int, seed: int) -> Chosen:
    """Centers drawn uniformly from the distinct rows: the same for any cut of the data into blocks."""
    sample = source.fold(Sample(max(4 * n_centers, SAMPLED), seed)).finish()
    # The rows come in the order of their hashes: any first few are a uniform sample too.
    return Chosen(take_rows(sample.X, slice(0, n_centers)), sample.X, sample.weight)


def choose_objects(X, n_centers: int, seed: int) -> Chosen:
    """Centers drawn uniformly from rows that are not numbers."""
    n = X.shape[0]
    order = np.random.default_rng(seed).permutation(n)[: max(4 * n_centers, SAMPLED)]
    rows = take_rows(X, order)
    return Chosen(take_rows(rows, slice(0, n_centers)), rows, np.ones(len(order)))


def _cholesky(K):
    """Upper T with T'T = K, after adding as little to the diagonal as makes that possible."""
    from scipy.linalg import cholesky

    jitter = np.finfo(float).eps * max(float(np.trace(K)), np.finfo(float).tiny)
    for _ in range(16):
        try:
            return cholesky(K + jitter * np.eye(len(K)), check_finite=False, overwrite_a=True)
        except np.linalg.LinAlgError:
            jitter *= 10.0
    raise ValueError("The centers' similarities are far from positive semidefinite: use solver='exact'.")


def _solve(T, b, transposed=False):
    from scipy.linalg import solve_triangular

    return solve_triangular(T, b, trans=1 if transposed else 0, check_finite=False)
