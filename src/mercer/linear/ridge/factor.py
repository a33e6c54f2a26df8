"""Centered normal equations in a basis in which every penalty is solved cheaply.

The minimizer of sum of (y - <w, z> - b)^2 + alpha ||w||^2 solves (G + alpha) w = B, G and B centered. `Tridiagonal`
reduces G to Q T Q' once (a third of the work of an eigensolver); each penalty is then a tridiagonal system. (`Krylov`,
in `optimize`, reduces only as far as the targets need.) `Spectral` computes eigenvectors, which the minimum-norm
solution (alpha = 0) and generalized cross-validation need.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer.stats.gram import Normal


@dataclass(frozen=True)
class Centered:
    """The base of factorizations: means, total weight and the sums of squares of the targets."""

    z_mean: np.ndarray
    y_mean: np.ndarray
    weight: float
    Y: np.ndarray

    def solutions(self, alphas: np.ndarray) -> np.ndarray:
        """Return w for each penalty: an array (penalties, features, targets); NaN if the system has no solution."""
        raise NotImplementedError


@dataclass(frozen=True)
class Spectral(Centered):
    """G = Q diag(values) Q', the values in ascending order."""

    values: np.ndarray
    vectors: np.ndarray
    rotated_B: np.ndarray

    @classmethod
    def of(cls, normal: Normal) -> Spectral:
        """Center and factor normal equations."""
        means = normal.means()
        return cls.solved(*means, normal.weight, *normal.about(*means))

    @classmethod
    def solved(
        cls, z_mean: np.ndarray, y_mean: np.ndarray, weight: float, G: np.ndarray, B: np.ndarray, Y: np.ndarray
    ) -> Spectral:
        """Factor centered equations; G is overwritten."""
        values, vectors = dense.eigh(G, overwrite_a=True, check_finite=False, driver="evd")
        return cls(z_mean, y_mean, weight, Y, values, vectors, vectors.T @ B)

    def solutions(self, alphas: np.ndarray) -> np.ndarray:
        return np.stack([self.vectors @ self._rotated_solution(alpha) for alpha in alphas])

    def _rotated_solution(self, alpha: float) -> np.ndarray:
        """Return Q' w, one column per target."""
        return self.inverse(alpha)[:, None] * self.rotated_B

    def inverse(self, alpha: float) -> np.ndarray:
        """Return 1 / (values + alpha), without a penalty 0 in the null space of G."""
        if alpha > 0:
            return 1.0 / (np.maximum(self.values, 0.0) + alpha)  # negative values are rounding
        return np.where(self.reached, 1.0 / np.where(self.reached, self.values, 1.0), 0.0)

    @property
    def reached(self) -> np.ndarray:
        """Mask of the eigenvalues beyond rounding."""
        return self.values > len(self.values) * np.finfo(float).eps * max(self.values[-1], 0.0)

    def degrees_of_freedom(self, alpha: float) -> float:
        """Return tr G (G + alpha)^{-1}, plus one for the intercept."""
        positive = np.maximum(self.values, 0.0)
        return 1.0 + float(np.sum(positive / np.maximum(positive + alpha, np.finfo(float).tiny)))


@dataclass(frozen=True)
class Tridiagonal(Centered):
    """G = Q T Q' with T tridiagonal and Q a product of reflectors in the layout of LAPACK."""

    diagonal: np.ndarray
    off_diagonal: np.ndarray
    reflectors: np.ndarray
    tau: np.ndarray
    rotated_B: np.ndarray

    @classmethod
    def of(cls, normal: Normal) -> Tridiagonal | Spectral:
        """Center and reduce normal equations."""
        means = normal.means()
        return cls.reduced(*means, normal.weight, *normal.about(*means))

    @classmethod
    def reduced(
        cls, z_mean: np.ndarray, y_mean: np.ndarray, weight: float, G: np.ndarray, B: np.ndarray, Y: np.ndarray
    ) -> Tridiagonal | Spectral:
        """Reduce centered equations; G is overwritten."""
        if len(G) < 2:  # LAPACK's wrappers do not take an empty off-diagonal
            return Spectral.solved(z_mean, y_mean, weight, G, B, Y)
        reduced, d, e, tau, _ = dense.lapack("dsytrd", G.T, lower=1, lwork=64 * len(G), overwrite_a=1)
        # Below the first row the reflectors have the layout of a QR factorization.
        reflectors = np.asfortranarray(reduced[1:, :-1])
        rotated_B = _times_q(reflectors, tau, B, "T")
        return cls(z_mean, y_mean, weight, Y, d, e, reflectors, tau, rotated_B)

    @cached_property
    def values(self) -> np.ndarray:
        """The eigenvalues of G in ascending order."""
        return dense.lapack("dsterf", self.diagonal, self.off_diagonal)[0]

    def solutions(self, alphas: np.ndarray) -> np.ndarray:
        rotated = shifted_solutions(self.diagonal, self.off_diagonal, self.rotated_B, alphas)
        W = _times_q(self.reflectors, self.tau, rotated.reshape(len(rotated), -1), "N")
        return W.reshape(rotated.shape).transpose(1, 0, 2)


def shifted_solutions(diagonal: np.ndarray, off_diagonal: np.ndarray, B: np.ndarray, alphas: Any) -> np.ndarray:
    """Return (T + alpha)^{-1} B for each penalty: an array (rows, penalties, columns); NaN unless positive definite."""
    found = np.empty((len(B), len(alphas), B.shape[1]))
    for i, alpha in enumerate(alphas):
        *_, w, failed = dense.lapack("dptsv", diagonal + alpha, off_diagonal, B)
        found[:, i] = np.nan if failed else w
    return found


def _times_q(reflectors: np.ndarray, tau: np.ndarray, C: np.ndarray, transposed: str) -> np.ndarray:
    """Return Q C or Q' C, Q = diag(1, H_1 ... H_{D-1})."""
    result = np.asfortranarray(C).copy(order="F")
    if len(tau) and C.shape[1]:
        lwork = 64 * C.shape[1]
        result[1:], _, _ = dense.lapack("dormqr", "L", transposed, reflectors, tau, result[1:], lwork)
    return result
