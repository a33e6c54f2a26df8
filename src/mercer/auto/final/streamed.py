"""Logistic regression on rows that stream by, from the weights of a sample of them.

Newton's steps take their curvature from the sample, which is in memory, and their gradient from all rows: one pass
each. The sample's weights are off by its own noise, so that few steps are left; a single one already has the variance
of the fit on all rows, up to terms of higher order (Le Cam's one-step estimator).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mercer.auto.budget.clock import Clock
from mercer.auto.budget.time_model import MARGIN
from mercer.auto.final.softmax import SoftmaxCurvature
from mercer.linear.losses import LogLoss
from mercer.linear.optimize.curvature import MOST_COLUMNS, Landscape
from mercer.linear.optimize.joint import MOST_ENTRIES, JointCurvature, JointHessian
from mercer.linear.optimize.lbfgs import minimize
from mercer.linear.optimize.search import length, penalized
from mercer.source import MemorySource, Source
from mercer.stats import LossesAt, Moments

#: Steps stop where less than this is left to gain in the sum of the losses of all rows. The noise of the data moves
#: that sum by half a unit for each weight, so nothing of it could be told from chance.
_LEFT = 0.01
#: The most passes, and steps until the curvature is measured anew where they led.
_MOST, _ROUND = 24, 6
#: Relative error of sums of float32 products; a penalty that drowns in it is raised.
_ROUNDING = 1e-7
#: Rows that tell the curvature of classes: so many, or so many for each column.
_ROWS, _ROWS_PER_COLUMN = 16_384, 16


@dataclass(frozen=True)
class Descent:
    """Where the steps ended (weights, then a row of intercepts), after how many passes, whether these were enough."""

    point: np.ndarray
    n_passes: int
    converged: bool

    def told(self) -> str:
        """In words.

        >>> Descent(np.zeros((1, 1)), 3, True).told()
        ', in 3 passes'
        """
        passes = f", in {self.n_passes} pass{'es' if self.n_passes > 1 else ''}"
        return passes if self.converged else f"{passes}: more would bring them closer to their best values"


@dataclass
class _Sums:
    """Value and gradient of the penalized loss of all rows; counts passes, and remembers the best point."""

    inside: MemorySource
    others: Callable[[], Source]
    origin: np.ndarray
    alpha: float
    clock: Clock
    n_passes: int = 0
    seconds: float = 0.0
    least: float = np.inf
    best: Any = None
    last: tuple = (None, None)

    def __call__(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        if self.last[0] is not point:  # a round begins where the last one ended
            self.last = point, self._passed(point)
        return self.last[1]

    def _passed(self, point):
        began = self.clock.spent()
        empty = LossesAt(LogLoss(), point[None], self.origin)
        step = self.inside.fold(empty).merge(self.others().fold(empty)).finish()
        self.n_passes, self.seconds = self.n_passes + 1, self.clock.spent() - began
        value, gradient = penalized(point, step.value[0], step.gradient[0], self.alpha)
        if value < self.least:
            self.least, self.best = value, point
        return value, gradient

    def may_go_on(self) -> bool:
        return self.n_passes < _MOST and MARGIN * self.seconds <= self.clock.left()


def descend(
    start: np.ndarray, alpha: float, inside: MemorySource, others: Callable[[], Source], ratio: float, clock: Clock
) -> Descent:
    """The least sum of log losses + alpha ||w||^2 over the rows `inside` memory and those of `others()`.

    start : weights of the rows inside, and the intercepts in a last row; ratio : the weight of all rows over that of
    those inside; `others` is asked for the stream anew in each pass. `TimeUp` says that not one pass could be finished.
    """
    seen = inside.fold(Moments()).finish()
    weight = ratio * float(np.max(seen.weight))
    alpha = max(alpha, _ROUNDING * weight * float(np.sum(seen.var + seen.mean**2)))
    origin = seen.mean.astype(np.float32).astype(np.float64)
    spread = weight * seen.var if len(origin) > MOST_COLUMNS else None
    landscape = Landscape.of(inside, seen.n, weight, origin, spread, 0)
    x = np.vstack([start[:-1], start[-1] + origin @ start[:-1]])
    sums = _Sums(inside, others, origin, alpha, clock)
    x, converged = _walked(x, lambda x: _curvature_at(x, landscape, inside, ratio), sums)
    return Descent(np.vstack([x[:-1], x[-1] - origin @ x[:-1]]), sums.n_passes, converged)


def _walked(x, curvature_at: Callable, sums: _Sums) -> tuple[np.ndarray, bool]:
    """Rounds of steps, each with the curvature where it begins; ends early where there is no time for another pass."""
    while True:
        solve = curvature_at(x).solver(sums.alpha)
        norm = partial(length, solve=solve)
        steps = minimize(x, solve, norm, float(np.sqrt(2 * _LEFT)), _ROUND, _ROUNDING)
        try:
            point = next(steps)
            while True:
                point = steps.send(sums(point))
                if not sums.may_go_on():
                    # The first step is worth taking on trust; later ones have less to gain than to lose.
                    return (point if sums.n_passes == 1 else sums.best), False
        except StopIteration as stop:
            end = stop.value
        if end.converged or (end.stalled and end.n_iter == 0):
            return end.x, bool(end.converged or end.norm**2 <= 100 * _ROUNDING * end.value)
        x = end.x


def _curvature_at(x, landscape: Landscape, inside: MemorySource, ratio: float) -> Any:
    """The curvature of all rows as those inside tell it: exactly, unless columns are too many for a matrix."""
    origin = landscape.origin
    if x.shape[1] > 1 and x.size <= MOST_ENTRIES:
        return JointCurvature(ratio * inside.fold(JointHessian(x, origin)).finish().H)

    def bend(block):
        return LogLoss().bend(np.asarray(block.X @ x[:-1], dtype=np.float64) + x[-1] - origin @ x[:-1])

    rough = landscape.at(bend, LogLoss().bound(x.shape[1]))
    if x.shape[1] == 1:
        return rough
    every = max(1, inside.n_rows // max(_ROWS, _ROWS_PER_COLUMN * len(origin)))
    weight = None if inside.weight is None else inside.weight[::every]
    return SoftmaxCurvature(inside.X[::every], weight, origin, x, ratio * every, rough.solver)
