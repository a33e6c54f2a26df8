"""Value, gradient and curvature of a loss at given weights, in one pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.stats.base import Statistic


@dataclass(frozen=True)
class LossStep:
    """What `LossAt` says: sums over rows at weights w and intercept b (the last entry of `gradient`, `hessian`)."""

    weight: float
    value: float
    gradient: np.ndarray
    hessian: np.ndarray | None


@dataclass(frozen=True)
class LossAt(Statistic):
    """sum_i w_i loss(y_i, <z_i, coef> + intercept) with its gradient and, if asked, its Hessian.

    `loss` answers `value(y, score)`, `slope(y, score)` and `curvature(y, score)` row by row. An iterative learner
    folds once per step: Newton with the Hessian, L-BFGS without.
    """

    loss: Any
    coef: np.ndarray
    intercept: float = 0.0
    curvature: bool = False
    n: int = 0
    weight: float = 0.0
    value: float = 0.0
    gradient: Any = None
    hessian: np.ndarray | None = None

    def of(self, block):
        if len(block) == 0:
            return replace(self, n=0)
        weight = np.ones(len(block)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        score = np.asarray(block.X @ self.coef, dtype=np.float64) + self.intercept
        slope = weight * self.loss.slope(block.y, score)
        return replace(
            self,
            n=len(block),
            weight=weight.sum(),
            value=float(weight @ self.loss.value(block.y, score)),
            gradient=_with_intercept(block.X.T @ slope, slope.sum()),
            hessian=self._hessian_of(block, weight, score) if self.curvature else None,
        )

    def _hessian_of(self, block, weight, score):
        bend = weight * self.loss.curvature(block.y, score)
        if hasattr(block.X, "tocsr"):
            product = (block.X.T @ block.X.multiply(bend[:, None])).toarray()
        else:
            product = (block.X.T * bend) @ block.X
        cross = np.asarray(block.X.T @ bend)
        return np.block([[product, cross[:, None]], [cross, np.array([[bend.sum()]])]])

    def _merge(self, other):
        return replace(
            self,
            n=self.n + other.n,
            weight=self.weight + other.weight,
            value=self.value + other.value,
            gradient=self.gradient + other.gradient,
            hessian=self.hessian + other.hessian if self.curvature else None,
        )

    def finish(self) -> LossStep:
        if self.n == 0:
            raise ValueError("No rows: the loss of nothing is not defined.")
        return LossStep(self.weight, self.value, self.gradient, self.hessian)


def _with_intercept(gradient, slope):
    return np.append(np.asarray(gradient, dtype=np.float64), slope)
