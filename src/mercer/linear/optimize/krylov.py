"""Every ridge penalty from a few products with G, where a few are enough.

Adding alpha to the diagonal of G does not change the Krylov space of G and b, so one basis V of it, in which G is
tridiagonal (Lanczos 1950), serves all penalties: w = V (T + alpha)^{-1} V' b leaves the residual e |y_k|, where e is
the next off-diagonal of T and y_k the last entry of V' w. Features of like strength need a dozen steps; features
whose strengths fall over decades need nearly all of them, which is a reduction done the slow way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.linear.ridge.factor import Centered, Tridiagonal, shifted_solutions
from mercer.stats.gram import Normal

_EPS = np.finfo(float).eps
#: Steps before the speed of convergence is judged.
_TRIAL = 16
#: How often the search for the largest eigenvalue starts anew, some twenty products each.
_RESTARTS = 20


@dataclass(frozen=True)
class Krylov(Centered):
    """G = V T V' on the Krylov space of each target: `basis` (targets, steps, features) and the entries of each T."""

    basis: np.ndarray
    diagonal: np.ndarray
    off_diagonal: np.ndarray
    norms: np.ndarray

    @classmethod
    def of(cls, normal: Normal, least: float) -> Centered:
        """Equations that solve all penalties from `least` on to rounding, by a reduction of G if that is cheaper."""
        z_mean, y_mean = normal.means()
        G, B, Y = normal.about(z_mean, y_mean)
        grown = _grown(G, B, least)
        if grown is None:
            return Tridiagonal.reduced(z_mean, y_mean, normal.weight, G, B, Y)
        return cls(z_mean, y_mean, normal.weight, Y, *grown)

    def solutions(self, alphas):
        c, _, D = self.basis.shape
        W = np.empty((len(alphas), D, c))
        for t in range(c):
            W[:, :, t] = _rotated(self.diagonal[t], self.off_diagonal[t], self.norms[t], alphas).T @ self.basis[t]
        return W


@dataclass(frozen=True)
class KrylovWithEnds(Krylov):
    """Also the ends of the spectrum of G as `values`: zero, once G is proved positive, and the largest eigenvalue."""

    values: np.ndarray

    @classmethod
    def of(cls, normal, least):
        """As of `Krylov`; whatever is returned knows `values`."""
        ready = Krylov.of(normal, least)
        if not isinstance(ready, Krylov):
            return ready
        G, _, _ = normal.about(*normal.means())
        largest = _largest(G)
        if largest is None or not _is_positive(G):
            return Tridiagonal.of(normal)
        return cls(**vars(ready), values=np.array([0.0, largest]))


def _largest(G: np.ndarray) -> float | None:
    """The largest eigenvalue, or None if it stands too close to the next ones to be found in a few steps."""
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    start = np.cos(np.arange(len(G)))  # any fixed vector that no feature is likely to be orthogonal to
    try:
        # The error of a symmetric eigenvalue goes with the square of the residual.
        return float(eigsh(G, 1, which="LA", v0=start, maxiter=_RESTARTS, tol=1e-9, return_eigenvectors=False)[0])
    except ArpackNoConvergence:
        return None


def _is_positive(G: np.ndarray) -> bool:
    """Whether all eigenvalues are positive beyond the rounding of a Cholesky factorization."""
    from scipy.linalg import lapack

    shifted = G - 4 * len(G) * _EPS * np.max(np.diagonal(G)) * np.eye(len(G))
    return lapack.dpotrf(shifted.T, overwrite_a=True)[1] == 0


def _grown(G: np.ndarray, B: np.ndarray, least: float):
    """Basis, diagonals, off-diagonals and norms when every target is solved; None if that takes too many steps."""
    D, c = B.shape
    most = D // (8 + 2 * c)  # the steps that cost no more than a reduction
    if most < _TRIAL:
        return None
    norms = np.linalg.norm(B, axis=0)
    V, d, e = np.zeros((c, most + 1, D)), np.zeros((c, most)), np.zeros((c, most))
    V[:, 0] = B.T / np.where(norms > 0, norms, 1.0)[:, None]
    left = np.ones(most + 1)
    for k in range(most):
        d[:, k], e[:, k], V[:, k + 1] = _step(G, V[:, : k + 1], d[:, :k])
        steps = k + 1
        if steps > 1:
            left[steps] = _residual(d[:, :steps], e[:, :steps], norms, least)
        if left[steps] <= _EPS:
            return V[:, :steps], d[:, :steps], e[:, : steps - 1], norms
        if steps >= _TRIAL and not _predicted(left[: steps + 1]) <= most:
            return None
    return None


def _step(G, V, d):
    """Diagonal, off-diagonal and direction of one step; a direction lost to rounding is zero, and the last."""
    following = (G @ V[:, -1].T).T
    diagonal = np.sum(following * V[:, -1], axis=1)
    for _ in range(2):  # once is not enough for orthogonality to rounding, twice is (Kahan)
        following -= np.matmul(np.matmul(V, following[:, :, None]).transpose(0, 2, 1), V)[:, 0]
    length = np.linalg.norm(following, axis=1)
    lost = length <= len(G) * _EPS * np.max(np.abs(np.column_stack([d, diagonal])), axis=1)
    length[lost] = 0.0
    return diagonal, length, np.where(lost[:, None], 0.0, following / np.where(lost, 1.0, length)[:, None])


def _residual(d, e, norms, alpha) -> float:
    """The largest residual over all targets, relative to the target; NaN where T + alpha is not positive definite."""
    last = np.array([_rotated(*entries, 1.0, [alpha])[-1, 0] for entries in zip(d, e[:, :-1], strict=True)])
    return float(np.max(np.where(norms > 0, e[:, -1] * np.abs(last), 0.0)))


def _rotated(diagonal, off_diagonal, norm, alphas) -> np.ndarray:
    """(T + alpha)^{-1} (norm, 0, 0, ...), a column for each penalty."""
    first = np.zeros((len(diagonal), 1))
    first[0] = norm
    return shifted_solutions(diagonal, off_diagonal, first, alphas)[:, :, 0]


def _predicted(left: np.ndarray) -> float:
    """The step at which the residual reaches rounding, at the speed of the later half of the steps so far."""
    steps = len(left) - 1
    half = steps // 2
    speed = np.log(left[half] / left[steps]) / (steps - half)
    return steps + np.log(left[steps] / _EPS) / speed if speed > 0 else np.inf
