"""The Hessian of the softmax loss: as a matrix where it is small, else by products with it.

The Hessian of the sum of w log(sum of exp(s)) - s_y in weights V, scores s = (z - o)' W + b, takes V to

    sum of w (z - o, 1) (p * (u - <p, u>)),      u = (z - o)' V + v,

p being the probabilities of the row: two matrix products, whatever the number of classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.linalg import dense
from mercer.linear.losses import LogLoss
from mercer.stats.base import Statistic

#: Entries of a point (weights and intercepts of all classes) up to which the whole Hessian is formed.
MAX_ENTRIES = 512
#: Conjugate gradients end at this fraction of the residual, or after this many steps.
_TOL, _MAX_STEPS = 0.02, 40

Solver = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class SoftmaxHessian:
    """sum of w (diag(p) - p p') x (z, 1)(z, 1)', an array (classes, D + 1, classes, D + 1)."""

    H: np.ndarray

    def solver(self, alpha: float) -> Solver:
        """Return x -> the inverse of the Hessian with penalty alpha ||w||^2, times x (D + 1 rows, classes across)."""
        C, rows = self.H.shape[:2]
        H = self.H.copy()
        for a in range(C):
            H[a, np.arange(rows - 1), a, np.arange(rows - 1)] += 2 * alpha
        # A number added to all intercepts changes nothing: that direction is made definite.
        H[:, -1, :, -1] += max(np.trace(H[:, -1, :, -1]), np.finfo(float).tiny) / C
        H = H.reshape(C * rows, C * rows)
        H[np.diag_indices_from(H)] += 1e-14 * np.trace(H)
        factor = dense.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
        return lambda x: dense.cho_solve(factor, x.T.ravel(), check_finite=False).reshape(C, rows).T


@dataclass(frozen=True)
class SoftmaxHessianAt(Statistic):
    """The Hessian at a point (D + 1 rows, the intercepts last; a column per class), rows measured from `origin`."""

    point: np.ndarray
    origin: np.ndarray
    n: int = 0
    H: Any = None

    def of(self, block: Block) -> SoftmaxHessianAt:
        if len(block) == 0:
            return replace(self, n=0)
        X = block.X.toarray() if hasattr(block.X, "tocsr") else block.X
        Z = np.hstack([X.astype(np.float64) - self.origin, np.ones((len(X), 1))])
        p = LogLoss().probabilities(Z @ self.point)
        weight = np.ones(len(X)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        rows, C = self.point.shape
        H = np.empty((C, rows, C, rows))
        for a in range(C):
            for b in range(a, C):
                curvature = weight * p[:, a] * ((a == b) - p[:, b])
                H[a, :, b] = (Z.T * curvature) @ Z
                H[b, :, a] = H[a, :, b].T
        return replace(self, n=len(X), H=H)

    def _merge(self, other: SoftmaxHessianAt) -> SoftmaxHessianAt:
        return replace(self, n=self.n + other.n, H=self.H + other.H)

    def finish(self) -> SoftmaxHessian:
        return SoftmaxHessian(self.H)


@dataclass(frozen=True)
class ImplicitSoftmaxHessian:
    """The Hessian at `point` (D + 1 rows, intercepts last; a column per class) of rows Z in memory, times `ratio`.

    preconditioner : alpha -> an approximate inverse of the Hessian with the penalty alpha ||w||^2
    """

    Z: np.ndarray
    weight: np.ndarray | None
    origin: np.ndarray
    point: np.ndarray
    ratio: float
    preconditioner: Callable[[float], Solver]

    def solver(self, alpha: float) -> Solver:
        """Return x -> approximately the inverse of the Hessian with penalty alpha ||w||^2, times x."""
        p = LogLoss().probabilities(self._scores(self.point)).astype(np.float32)
        weight = np.float32(self.ratio) * (1.0 if self.weight is None else self.weight[:, None].astype(np.float32))
        approximate_inverse = self.preconditioner(alpha)

        def product(V: np.ndarray) -> np.ndarray:
            u = self._scores(V)
            u -= np.sum(p * u, axis=1, keepdims=True)
            u *= p * weight
            sums = u.sum(axis=0, dtype=np.float64)
            weights = (self.Z.T @ u).astype(np.float64) - np.outer(self.origin, sums) + 2 * alpha * V[:-1]
            # A number added to all intercepts changes nothing: that direction is made definite.
            return np.vstack([weights, sums + V[-1].mean() * self.ratio * len(p)])

        return lambda x: conjugate_gradients(product, approximate_inverse, x)

    def _scores(self, V: np.ndarray) -> np.ndarray:
        return self.Z @ V[:-1].astype(np.float32) + (V[-1] - self.origin @ V[:-1]).astype(np.float32)


def conjugate_gradients(product: Solver, approximate_inverse: Solver, b: np.ndarray) -> np.ndarray:
    """Return x with `product(x)` about b, by preconditioned conjugate gradients (Hestenes and Stiefel 1952)."""
    x, residual = np.zeros_like(b), b.copy()
    direction = preconditioned = approximate_inverse(residual)
    size = first = float(np.vdot(residual, preconditioned))
    for _ in range(_MAX_STEPS):
        if not size > _TOL**2 * first:
            break
        image = product(direction)
        curvature = float(np.vdot(direction, image))
        if not curvature > 0:  # only rounding is left
            break
        x = x + size / curvature * direction
        residual = residual - size / curvature * image
        preconditioned = approximate_inverse(residual)
        before, size = size, float(np.vdot(residual, preconditioned))
        direction = preconditioned + size / before * direction
    return x
