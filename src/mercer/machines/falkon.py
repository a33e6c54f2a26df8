"""Kernel ridge regression on centers, out of core: Falkon (Rudi, Carratino and Rosasco 2017).

f = sum_j a_j k(., c_j) over m centers minimizes sum_i w_i (y_i - f(x_i))^2 + alpha ||f||^2, that is

    (K_nm' W K_nm + alpha K_mm) a = K_nm' W y.

With T'T = K_mm and A'A = T^{-T} (n/s) K_ms K_sm T^{-1} + alpha for a sample of s rows, the change of variable
a = T^{-1} A^{-1} b makes the system nearly the identity, and a few steps of conjugate gradients solve it. Each step is
one pass over the rows; K_nm exists only a block at a time. The paper samples the centers themselves, s = m; several
times as many rows cost no pass more and keep the number of steps small for small penalties too.

A pass costs n m similarities, the normal equations K_nm' W K_nm cost n m^2 multiplications once. Where these are
cheaper than the steps, all rows take the place of the sample: the preconditioned system is the identity up to rounding,
and one step solves it, whose residual certifies the solution.

The centers are the pivots of a randomly pivoted Cholesky factorization of K_ss (Chen, Epperly, Tropp and Webber 2023),
which span more of it than as many rows drawn uniformly (for one target the gain is within sampling noise), and
whose factor is T^{-T} K_ms already.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from mercer._numeric.block import Block, take_rows
from mercer._numeric.linalg import dense
from mercer._numeric.solvers.rpcholesky import rounding_tolerance, rp_cholesky
from mercer.kernels import Kernel
from mercer.machines.similarity import cross, gram, is_mercer_by_construction, symmetric_part
from mercer.source import Source
from mercer.stats import Sample
from mercer.stats.base import Statistic

#: Entries of K_nm that exist at a time, on each core: they stay in the cache for both products.
ENTRIES = 2**19
#: Centers up to which normal equations are formed: m^2 numbers for each part of the rows that is processed.
MAX_NORMAL_CENTERS = 2048
#: Rows of a block of the normal equations.
NORMAL_ROWS = 1024
#: Multiplications of a product K'K in float64 that one similarity costs, beside one (float32) or two for each column.
#: Measured for a Gaussian kernel with 20 columns and 1,000 centers on one core: 7.8 ns and 4.5 ns against 0.022 ns.
SIMILARITY_COST = {np.dtype(np.float64): 310, np.dtype(np.float32): 185}
#: Conjugate gradients reduce the error by this factor in a step, where the eigenvalues lie between 0.4 and 2.5.
REDUCTION = (np.sqrt(2.5) - np.sqrt(0.4)) / (np.sqrt(2.5) + np.sqrt(0.4))
#: Rows of the preconditioner: eight for each center while that many similarities fit, four beyond.
MIN_SAMPLED_ROWS, SAMPLED_ENTRIES = 4096, 2**25


@dataclass(frozen=True)
class Centers:
    """The centers, the upper T with T'T = K_mm, and the mean of T^{-T} k_m(x) k_m(x)' T^{-1} over a sample of rows."""

    centers: Any
    T: np.ndarray
    moment: np.ndarray

    def with_products(self, products: np.ndarray) -> Centers:
        """The same centers with the mean over other rows, of which the mean of k_m(x) k_m(x)' is given."""
        half = _solve(self.T, products, transposed=True)
        moment = _solve(self.T, np.ascontiguousarray(half.T), transposed=True)
        return replace(self, moment=(moment + moment.T) / 2)


@dataclass(frozen=True)
class FalkonPreconditioner:
    """The triangular factors T and A, and products with the inverses of both."""

    T: np.ndarray
    A: np.ndarray

    @classmethod
    def of(cls, chosen: Centers, total: float, alpha: float) -> FalkonPreconditioner:
        """For all rows together, `total` being the sum of their weights."""
        C: np.ndarray = total * chosen.moment
        C.flat[:: len(C) + 1] += alpha
        return cls(chosen.T, _cholesky(C))

    def out(self, b: np.ndarray) -> np.ndarray:
        """T^{-1} A^{-1} b."""
        return _solve(self.T, _solve(self.A, b))

    def back(self, v: np.ndarray) -> np.ndarray:
        """A^{-T} T^{-T} v."""
        return _solve(self.A, _solve(self.T, v, transposed=True), transposed=True)

    def penalty(self, b: np.ndarray) -> np.ndarray:
        """A^{-T} A^{-1} b."""
        return _solve(self.A, _solve(self.A, b), transposed=True)


@dataclass(frozen=True)
class FalkonSolution:
    """Coefficients of the centers, how many steps it took, and the relative residual after each."""

    coef: np.ndarray
    n_iter: int
    residuals: np.ndarray


@dataclass(frozen=True)
class CenterProducts(Statistic):
    """Sums of products with the similarities of rows to centers, a block of them at a time.

    Without `coef`, K_nm' W y, the total weight and the weighted sum of squares of each target, and K_nm' W K_nm if
    `normal`; with it, K_nm' W K_nm a. Blocks are computed in the rows' own precision and summed in float64, in which
    K_nm' W K_nm is multiplied as well: rounded products would not be positive semidefinite.
    """

    kernel: Kernel
    centers: Any
    coef: np.ndarray | None = None
    n: int = 0
    sums: tuple[np.ndarray, ...] = ()
    normal: bool = False

    @property
    def parallel_inside(self) -> bool:  # type: ignore[override]
        """Whether blocks come one after the other: a user-defined function may not be thread-safe."""
        return not is_mercer_by_construction(self.kernel)

    def of(self, block: Block) -> Self:
        total, step = None, NORMAL_ROWS if self.normal else max(64, ENTRIES // self.centers.shape[0])
        for start in range(0, len(block), step):
            rows = block.rows(slice(start, start + step))
            w = np.ones(len(rows)) if rows.weight is None else rows.weight
            parts = [np.asarray(part, dtype=np.float64) for part in self._terms(rows, w)]
            total = parts if total is None else [t + p for t, p in zip(total, parts, strict=True)]
        return replace(self, n=len(block), sums=() if total is None else tuple(total))

    def _terms(self, rows: Block, w: np.ndarray) -> tuple[Any, ...]:
        K = self.kernel(rows.X, self.centers)
        if self.coef is not None:
            return (K.T @ (w[:, None].astype(K.dtype) * (K @ self.coef.astype(K.dtype))),)
        y = np.reshape(rows.y, (len(rows), -1))  # type: ignore[arg-type]
        sums = K.T @ (w[:, None] * y).astype(K.dtype), w.sum(), (w[:, None] * y * y).sum(0)
        if not self.normal:
            return sums
        weighted = K.astype(np.float64) if rows.weight is None else np.sqrt(w)[:, None] * K
        return (*sums, weighted.T @ weighted)

    def _merge(self, other: Self) -> Self:
        sums = tuple(mine + theirs for mine, theirs in zip(self.sums, other.sums, strict=True))
        return replace(self, n=self.n + other.n, sums=sums)

    def finish(self) -> tuple[np.ndarray, ...]:
        if self.n == 0:
            raise ValueError("The source has no rows.")
        return self.sums


@dataclass(frozen=True)
class FalkonPasses:
    """Sums over all rows of a source, on its engine."""

    source: Source
    kernel: Kernel
    chosen: Centers

    def target_products(self, normal: bool = False) -> tuple[np.ndarray, ...]:
        """K_nm' W y, the total weight, the weighted sum of squares of each target, and K_nm' W K_nm if `normal`."""
        return self.source.fold(CenterProducts(self.kernel, self.chosen.centers, normal=normal)).finish()

    def normal_products(self, a: np.ndarray) -> np.ndarray:
        """K_nm' W K_nm a."""
        return self.source.fold(CenterProducts(self.kernel, self.chosen.centers, a)).finish()[0]


def solve(passes: FalkonPasses, alpha: float, max_iter: int, tol: float) -> FalkonSolution:
    """Conjugate gradients on all targets at once, preconditioned by all rows where that costs less than the steps."""
    chosen, n_steps = passes.chosen, min(max_iter, expected_steps(tol))
    normal = normal_equations_pay(chosen.centers, n_steps)
    right, n, _, *products = passes.target_products(normal)
    if normal:
        chosen = chosen.with_products(products[0] / n)
    M = FalkonPreconditioner.of(chosen, float(n), alpha)
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
    return FalkonSolution(M.out(b), len(residuals) - 1, np.array(residuals[1:]))


def expected_steps(tol: float) -> int:
    """Steps of conjugate gradients to a relative residual, with the eigenvalues that the preconditioner leaves.

    >>> expected_steps(1e-6), expected_steps(1e-3)
    (18, 9)
    """
    return max(1, int(np.ceil(np.log(2.0 / tol) / -np.log(REDUCTION))))


def normal_equations_pay(centers: Any, n_steps: int) -> bool:
    """Whether normal equations and one step cost less than `n_steps` steps.

    A step costs c similarities of each row to m centers, the normal equations m multiplications for each of these.

    >>> bool(normal_equations_pay(np.zeros((1500, 20)), 18)), bool(normal_equations_pay(np.zeros((1500, 20)), 3))
    (True, False)
    """
    m, dtype = centers.shape[0], np.dtype(getattr(centers, "dtype", np.float64))
    if m > MAX_NORMAL_CENTERS:
        return False
    columns = centers.shape[1] if len(centers.shape) > 1 else 0
    cost = SIMILARITY_COST.get(dtype, SIMILARITY_COST[np.dtype(np.float64)])
    return m < (n_steps - 1) * (cost + (1 if dtype == np.float32 else 2) * columns)


def sample(source: Source, n_centers: int, seed: int) -> tuple[Any, np.ndarray]:
    """Distinct rows, the same for any cut of the data into blocks, and the weight of each."""
    drawn = source.fold(Sample(_sample_size(n_centers), seed)).finish()
    return drawn.X, drawn.weight


def sample_objects(X: Any, n_centers: int, seed: int) -> tuple[Any, np.ndarray]:
    """Rows that are not numbers, drawn uniformly."""
    order = np.random.default_rng(seed).permutation(X.shape[0])[: _sample_size(n_centers)]
    return take_rows(X, order), np.ones(len(order))


def choose(kernel: Kernel, rows: Any, weight: np.ndarray, n_centers: int, seed: int) -> Centers:
    """Centers among the sampled rows, fewer than requested if the others are linear combinations of these.

    By pivots where the kernel is known to be Mercer. For a user-defined similarity, the first of the rows,
    which come in random order.
    """
    if is_mercer_by_construction(kernel):
        found = _pivots(kernel, rows, weight, n_centers, seed)
        if len(found.chosen):
            T = np.triu(found.factor[:, found.chosen])
            return Centers(take_rows(rows, found.chosen), T, _moment(found.factor, weight))
    centers = take_rows(rows, slice(0, n_centers))
    T = _cholesky(symmetric_part(gram(kernel, centers).astype(np.float64)))
    factor = _solve(T, cross(kernel, centers, rows).astype(np.float64), transposed=True)
    return Centers(centers, T, _moment(factor, weight))


def _pivots(kernel: Kernel, rows: Any, weight: np.ndarray, n_centers: int, seed: int) -> Any:
    dtype = getattr(rows, "dtype", None)
    X = rows.astype(np.float64) if dtype == np.float32 else rows

    def similarities(i: Any, j: Any) -> np.ndarray:
        return kernel(take_rows(X, i), take_rows(X, j)).astype(np.float64, copy=False)

    rng = np.random.default_rng([seed, 3])
    return rp_cholesky(similarities, kernel.diag(X), n_centers, rng, weight, rounding=rounding_tolerance(dtype))


def _moment(factor: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The mean of f f' over the columns f of the factor, which is overwritten."""
    factor *= np.sqrt(weight / weight.sum())
    return factor @ factor.T


def _sample_size(n_centers: int) -> int:
    return max(4 * n_centers, min(8 * n_centers, SAMPLED_ENTRIES // n_centers), MIN_SAMPLED_ROWS)


def _cholesky(K: np.ndarray) -> np.ndarray:
    """Upper T with T'T = K, after adding as little to the diagonal as makes that possible."""
    jitter = np.finfo(float).eps * max(float(np.trace(K)), np.finfo(float).tiny)
    for _ in range(16):
        try:
            return dense.cholesky(K + jitter * np.eye(len(K)), check_finite=False, overwrite_a=True)
        except np.linalg.LinAlgError:
            jitter *= 10.0
    raise ValueError("The centers' similarities are far from positive semidefinite: use solver='exact'.")


def _solve(T: np.ndarray, b: np.ndarray, transposed: bool = False) -> np.ndarray:
    return dense.solve_triangular(T, b, trans=1 if transposed else 0, check_finite=False)
