"""The curvature of the softmax loss on rows in memory, never written out: products with it, and steps by them.

The Hessian of the sum of w log(sum of exp(s)) - s_y in weights V, scores s = (z - o)' W + b, takes V to

    sum of w (z - o, 1) (p * (u - <p, u>)),      u = (z - o)' V + v,

p being the probabilities of the row: two matrix products, whatever the number of classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer.linear.losses import LogLoss

#: Steps of conjugate gradients end at this share of the residual, or after so many.
_TOL, _MOST = 0.02, 40


@dataclass(frozen=True)
class SoftmaxCurvature:
    """The Hessian at `point` (D + 1 rows, intercepts last; a column per class) of rows Z, times `ratio`.

    rough : alpha -> an approximate inverse of the Hessian with the penalty alpha ||w||^2
    """

    Z: np.ndarray
    weight: np.ndarray | None
    origin: np.ndarray
    point: np.ndarray
    ratio: float
    rough: Callable[[float], Callable]

    def solver(self, alpha: float) -> Callable[[np.ndarray], np.ndarray]:
        """x -> about the inverse of the Hessian with the penalty alpha ||w||^2, times x."""
        p = LogLoss().probabilities(self._scores(self.point)).astype(np.float32)
        bend = np.float32(self.ratio) * (1.0 if self.weight is None else self.weight[:, None].astype(np.float32))
        near = self.rough(alpha)

        def times(V):
            u = self._scores(V)
            u -= np.sum(p * u, axis=1, keepdims=True)
            u *= p * bend
            sums = u.sum(axis=0, dtype=np.float64)
            weights = (self.Z.T @ u).astype(np.float64) - np.outer(self.origin, sums) + 2 * alpha * V[:-1]
            # One number added to all intercepts changes nothing: that direction is held.
            return np.vstack([weights, sums + V[-1].mean() * self.ratio * len(p)])

        return lambda x: conjugate_gradients(times, near, x)

    def _scores(self, V) -> np.ndarray:
        return self.Z @ V[:-1].astype(np.float32) + (V[-1] - self.origin @ V[:-1]).astype(np.float32)


def conjugate_gradients(times: Callable, near: Callable, b: np.ndarray) -> np.ndarray:
    """x with `times(x)` about b, `near` being an approximate inverse of `times` (Hestenes and Stiefel 1952)."""
    x, residual = np.zeros_like(b), b.copy()
    direction = guess = near(residual)
    size = first = float(np.vdot(residual, guess))
    for _ in range(_MOST):
        if not size > _TOL**2 * first:
            break
        product = times(direction)
        bend = float(np.vdot(direction, product))
        if not bend > 0:  # nothing but rounding is left
            break
        x = x + size / bend * direction
        residual = residual - size / bend * product
        guess = near(residual)
        before, size = size, float(np.vdot(residual, guess))
        direction = guess + size / before * direction
    return x
