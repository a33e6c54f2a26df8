"""Logistic regression on streamed rows, from the weights of a sample of them.

Newton steps take their curvature from the sample, which is in memory, and their gradient from all rows: one pass each.
A single step from the weights of the sample already has the variance of the fit on all rows, up to terms of higher
order (Le Cam's one-step estimator), so few passes are needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer.linear.losses import LogLoss
from mercer.linear.optimize.curvature import MAX_COLUMNS, LossPreconditioner
from mercer.linear.optimize.lbfgs import minimize
from mercer.linear.optimize.search import gradient_norm, penalized
from mercer.linear.optimize.softmax import MAX_ENTRIES, ImplicitSoftmaxHessian, SoftmaxHessian, SoftmaxHessianAt
from mercer.source import MemorySource, Source
from mercer.stats import LossesAt, Moments

#: Steps stop where the sum of losses can fall by less than this: sampling noise moves it by 1/2 for each weight.
_MIN_GAIN = 0.01
#: Passes at most, and steps between two measurements of the curvature.
_MAX_PASSES, _STEPS_PER_ROUND = 24, 6
#: Relative error of sums of float32 products; smaller penalties are raised to it.
_ROUNDING = 1e-7
#: Rows for the curvature of several classes: this many, or this many per column.
_ROWS, _ROWS_PER_COLUMN = 16_384, 16


@dataclass(frozen=True)
class Descent:
    """The last point (weights, then a row of intercepts), the number of passes, and whether the steps converged."""

    point: np.ndarray
    n_passes: int
    converged: bool


@dataclass
class _PenalizedLoss:
    """Value and gradient of the penalized loss of all rows; counts passes and keeps the best point."""

    inside: MemorySource
    others: Callable[[], Source]
    origin: np.ndarray
    alpha: float
    has_time: Callable[[float], bool]
    now: Callable[[], float]
    n_passes: int = 0
    seconds: float = 0.0
    smallest: float = np.inf
    best: Any = None
    last: tuple = (None, None)

    def __call__(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        if self.last[0] is not point:  # a round begins where the last one ended
            self.last = point, self._evaluated(point)
        return self.last[1]

    def _evaluated(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        began = self.now()
        empty = LossesAt(LogLoss(), point[None], self.origin)
        step = self.inside.fold(empty).merge(self.others().fold(empty)).finish()
        self.n_passes, self.seconds = self.n_passes + 1, self.now() - began
        value, gradient = penalized(point, step.value[0], step.gradient[0], self.alpha)
        if value < self.smallest:
            self.smallest, self.best = value, point
        return value, gradient

    def may_continue(self) -> bool:
        return self.n_passes < _MAX_PASSES and self.has_time(self.seconds)


def descend(
    start: np.ndarray,
    alpha: float,
    inside: MemorySource,
    others: Callable[[], Source],
    ratio: float,
    has_time: Callable[[float], bool] = lambda seconds: True,
    now: Callable[[], float] = time.perf_counter,
) -> Descent:
    """Minimize the sum of log losses + alpha ||w||^2 over the rows `inside` memory and those of `others()`.

    Parameters
    ----------
    start : weights of the rows inside, and the intercepts in a last row
    alpha : the penalty
    inside : class codes as targets
    others : called for the stream of the other rows at each pass; what it raises ends the descent
    ratio : the weight of all rows over that of those inside
    has_time : seconds of the last pass -> whether another one may begin
    now : the clock that passes are timed with
    """
    seen = inside.fold(Moments()).finish()
    weight = ratio * float(np.max(seen.weight))
    alpha = max(alpha, _ROUNDING * weight * float(np.sum(seen.var + seen.mean**2)))
    origin = seen.mean.astype(np.float32).astype(np.float64)
    squares = weight * seen.var if len(origin) > MAX_COLUMNS else None
    preconditioner = LossPreconditioner.of(inside, seen.n, weight, origin, squares, 0)
    x = np.vstack([start[:-1], start[-1] + origin @ start[:-1]])
    loss = _PenalizedLoss(inside, others, origin, alpha, has_time, now)
    x, converged = _minimized(x, lambda x: _curvature_at(x, preconditioner, inside, ratio), loss)
    return Descent(np.vstack([x[:-1], x[-1] - origin @ x[:-1]]), loss.n_passes, converged)


def _minimized(x: np.ndarray, curvature_at: Callable, loss: _PenalizedLoss) -> tuple[np.ndarray, bool]:
    """Take rounds of steps, each with the curvature where it begins, while there is time for another pass."""
    while True:
        solve = curvature_at(x).solver(loss.alpha)
        norm = partial(gradient_norm, solve=solve)
        steps = minimize(x, solve, norm, float(np.sqrt(2 * _MIN_GAIN)), _STEPS_PER_ROUND, _ROUNDING)
        try:
            point = next(steps)
            while True:
                point = steps.send(loss(point))
                if not loss.may_continue():
                    # The first step is taken without evaluation; later ones have less to gain than to lose.
                    return (point if loss.n_passes == 1 else loss.best), False
        except StopIteration as stop:
            end = stop.value
        if end.converged or (end.stalled and end.n_iter == 0):
            return end.x, bool(end.converged or end.norm**2 <= 100 * _ROUNDING * end.value)
        x = end.x


def _curvature_at(x: np.ndarray, preconditioner: LossPreconditioner, inside: MemorySource, ratio: float) -> Any:
    """Estimate the curvature of all rows from those inside."""
    origin = preconditioner.origin
    if x.shape[1] > 1 and x.size <= MAX_ENTRIES:
        return SoftmaxHessian(ratio * inside.fold(SoftmaxHessianAt(x, origin)).finish().H)

    def curvature(block: Block) -> np.ndarray:
        return LogLoss().curvature(np.asarray(block.X @ x[:-1], dtype=np.float64) + x[-1] - origin @ x[:-1])

    rough = preconditioner.at(curvature, LogLoss().bound(x.shape[1]))
    if x.shape[1] == 1:
        return rough
    every = max(1, inside.n_rows // max(_ROWS, _ROWS_PER_COLUMN * len(origin)))
    weight = None if inside.weight is None else inside.weight[::every]
    return ImplicitSoftmaxHessian(inside.X[::every], weight, origin, x, ratio * every, rough.solver)
