"""Ridge solutions for all penalties from a few products with G.

Adding alpha to the diagonal of G does not change the Krylov space of G and b, so one basis V of it, in which G is
tridiagonal (Lanczos 1950), serves all penalties: w = V (T + alpha)^{-1} V' b leaves the residual e |y_k|, where e is
the next off-diagonal of T and y_k the last entry of V' w. Eigenvalues of similar size need a dozen steps; a spectrum
over many decades needs nearly all of them, and a direct tridiagonal reduction is faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer.linear.ridge.factor import Centered, Tridiagonal, shifted_solutions
from mercer.stats.gram import Normal

_EPS = np.finfo(float).eps
#: Steps before the convergence rate is estimated.
_MIN_STEPS = 16
#: Restarts of the search for the largest eigenvalue, about twenty products each.
_MAX_RESTARTS = 20


@dataclass(frozen=True)
class Krylov(Centered):
    """G = V T V' on the Krylov space of each target: `basis` (targets, steps, features) and the entries of each T."""

    basis: np.ndarray
    diagonal: np.ndarray
    off_diagonal: np.ndarray
    norms: np.ndarray

    @classmethod
    def of(cls, normal: Normal, min_alpha: float) -> Centered:
        """Prepare solutions for all penalties from `min_alpha` on; by a reduction of G if that is cheaper."""
        z_mean, y_mean = normal.means()
        G, B, Y = normal.about(z_mean, y_mean)
        basis = _krylov_basis(G, B, min_alpha)
        if basis is None:
            return Tridiagonal.reduced(z_mean, y_mean, normal.weight, G, B, Y)
        return cls(z_mean, y_mean, normal.weight, Y, *basis)

    def solutions(self, alphas: np.ndarray) -> np.ndarray:
        c, _, D = self.basis.shape
        W = np.empty((len(alphas), D, c))
        for t in range(c):
            W[:, :, t] = _rotated(self.diagonal[t], self.off_diagonal[t], self.norms[t], alphas).T @ self.basis[t]
        return W


@dataclass(frozen=True)
class KrylovWithBounds(Krylov):
    """`Krylov` with bounds of the spectrum of G as `values`: zero, if G is positive, and the largest eigenvalue."""

    values: np.ndarray

    @classmethod
    def of(cls, normal: Normal, min_alpha: float) -> Any:
        """As `Krylov.of`; the result has `values`."""
        system = Krylov.of(normal, min_alpha)
        if not isinstance(system, Krylov):
            return system
        G, _, _ = normal.about(*normal.means())
        largest = _largest(G)
        if largest is None or not _is_positive(G):
            return Tridiagonal.of(normal)
        return cls(**vars(system), values=np.array([0.0, largest]))


def _largest(G: np.ndarray) -> float | None:
    """Return the largest eigenvalue, None if it is too close to the next ones to be found in a few steps."""
    from scipy.sparse.linalg import ArpackNoConvergence

    start = np.cos(np.arange(len(G)))  # fixed, and unlikely to be orthogonal to the eigenvector
    try:
        # The error of a symmetric eigenvalue is of the order of the squared residual.
        return float(
            dense.eigsh(G, 1, which="LA", v0=start, maxiter=_MAX_RESTARTS, tol=1e-9, return_eigenvectors=False)[0]
        )
    except ArpackNoConvergence:
        return None


def _is_positive(G: np.ndarray) -> bool:
    """Return whether all eigenvalues are positive beyond the rounding of a Cholesky factorization."""
    shifted = G - 4 * len(G) * _EPS * np.max(np.diagonal(G)) * np.eye(len(G))
    return dense.lapack("dpotrf", shifted.T, overwrite_a=True)[1] == 0


def _krylov_basis(G: np.ndarray, B: np.ndarray, min_alpha: float) -> tuple[np.ndarray, ...] | None:
    """Return basis, diagonals, off-diagonals and norms that solve every target; None if that takes too many steps."""
    D, c = B.shape
    max_steps = D // (8 + 2 * c)  # these cost no more than a reduction
    if max_steps < _MIN_STEPS:
        return None
    norms = dense.norm(B, axis=0)
    V, d, e = np.zeros((c, max_steps + 1, D)), np.zeros((c, max_steps)), np.zeros((c, max_steps))
    V[:, 0] = B.T / np.where(norms > 0, norms, 1.0)[:, None]
    residuals = np.ones(max_steps + 1)
    for k in range(max_steps):
        d[:, k], e[:, k], V[:, k + 1] = _step(G, V[:, : k + 1], d[:, :k])
        steps = k + 1
        if steps > 1:
            residuals[steps] = _residual(d[:, :steps], e[:, :steps], norms, min_alpha)
        if residuals[steps] <= _EPS:
            return V[:, :steps], d[:, :steps], e[:, : steps - 1], norms
        if steps >= _MIN_STEPS and not _predicted_steps(residuals[: steps + 1]) <= max_steps:
            return None
    return None


def _step(G: np.ndarray, V: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return diagonal, off-diagonal and direction of one Lanczos step; a direction within rounding is set to zero."""
    following = (G @ V[:, -1].T).T
    diagonal = np.sum(following * V[:, -1], axis=1)
    for _ in range(2):  # orthogonality to rounding takes two rounds (Kahan)
        following -= np.matmul(np.matmul(V, following[:, :, None]).transpose(0, 2, 1), V)[:, 0]
    length = dense.norm(following, axis=1)
    lost = length <= len(G) * _EPS * np.max(np.abs(np.column_stack([d, diagonal])), axis=1)
    length[lost] = 0.0
    return diagonal, length, np.where(lost[:, None], 0.0, following / np.where(lost, 1.0, length)[:, None])


def _residual(d: np.ndarray, e: np.ndarray, norms: np.ndarray, alpha: float) -> float:
    """Return the largest relative residual over all targets; NaN where T + alpha is not positive definite."""
    last = np.array([_rotated(*entries, 1.0, [alpha])[-1, 0] for entries in zip(d, e[:, :-1], strict=True)])
    return float(np.max(np.where(norms > 0, e[:, -1] * np.abs(last), 0.0)))


def _rotated(diagonal: np.ndarray, off_diagonal: np.ndarray, norm: float, alphas: Any) -> np.ndarray:
    """Return (T + alpha)^{-1} (norm, 0, 0, ...), a column for each penalty."""
    first = np.zeros((len(diagonal), 1))
    first[0] = norm
    return shifted_solutions(diagonal, off_diagonal, first, alphas)[:, :, 0]


def _predicted_steps(residuals: np.ndarray) -> float:
    """Return the step at which the residual reaches rounding, at the rate of the later half of the steps so far."""
    steps = len(residuals) - 1
    half = steps // 2
    rate = np.log(residuals[half] / residuals[steps]) / (steps - half)
    return steps + np.log(residuals[steps] / _EPS) / rate if rate > 0 else np.inf
