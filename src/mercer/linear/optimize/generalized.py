"""Generalized linear models on rows in memory: Newton steps on

    sum over the rows of weight_i loss(y_i, <w, z_i> + c)  +  sum over the columns of penalty_j w_j^2,

with bounds on the signs of some weights where asked for. A factored Hessian is used for several steps as long as each
lowers the decrement by half (Shamanskii 1967), and a step is halved until the sum falls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer._runtime.pool import ordered_map
from mercer.linear.regression_losses import ScoreLoss
from mercer.linear.ridge.bounded import BoundedQuadratic
from mercer.source import MemorySource
from mercer.stats import Gram

_BATCH_ROWS = 4096
#: Steps, Hessians and halvings, at most.
_MAX_STEPS, _MAX_HESSIANS, _MAX_HALVINGS = 60, 14, 30
#: Curvatures are at least this fraction of their mean, so that the Hessian of flat losses can be factored.
_MIN_CURVATURE = 1e-4
#: Penalties that rounding allows, as a fraction of the mean square of the columns.
_ROUNDING = 1e-9
#: How many times that is raised tenfold.
_MAX_FLOOR_RAISES = 8
#: A Hessian is used again if the decrement has fallen to this fraction.
_REUSED = 0.5
#: Losses of a row below this are of no account.
_MIN_LOSS = 0.05


@dataclass(frozen=True)
class LinearPoint:
    """Weights, intercept, and the scores that these give the rows."""

    coef: np.ndarray
    intercept: float
    scores: np.ndarray = field(repr=False)


@dataclass(frozen=True)
class RowProblem:
    """Rows Z in float32, targets y, weights, and the sign (+1, -1, or 0 for none) that each weight must have."""

    Z: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None = None
    signs: np.ndarray | None = None

    @property
    def counts(self) -> np.ndarray:
        return np.ones(len(self.y)) if self.weight is None else self.weight

    def scores(self, coef: np.ndarray, intercept: float) -> np.ndarray:
        """Return the score of each row, in float64."""
        parts = ordered_map(lambda span: self.Z[span].astype(np.float64) @ coef, self._spans())
        return np.concatenate([np.zeros(0), *parts]) + intercept

    def start(self, loss: ScoreLoss) -> LinearPoint:
        """Return the best constant."""
        constant = loss.constant(self.y, self.weight)
        return LinearPoint(np.zeros(self.Z.shape[1]), constant, np.full(len(self.y), constant))

    def _spans(self) -> list[slice]:
        return [slice(i, i + _BATCH_ROWS) for i in range(0, len(self.y), _BATCH_ROWS)]

    def transposed(self, values: np.ndarray) -> np.ndarray:
        """Return Z' values."""
        return sum(
            ordered_map(lambda span: values[span] @ self.Z[span].astype(np.float64), self._spans()),
            np.zeros(self.Z.shape[1]),
        )


class NewtonSystem:
    """The Hessian at a point, factored: it maps a gradient to the step, within the bounds on signs."""

    def __init__(self, problem: RowProblem, curvature: np.ndarray, penalties: np.ndarray):
        curvature = np.maximum(curvature, _MIN_CURVATURE * max(float(curvature.mean()), np.finfo(float).tiny))
        rows = MemorySource(problem.Z, None, problem.counts * curvature)
        gram = rows.fold(Gram(1)).finish()
        total = gram.total
        self.mean, _ = total.means()
        M, _, _ = total.about(self.mean, np.zeros(0))
        self.mean, self.weight = self.mean + gram.z_origin, float(total.weight)
        floor = _ROUNDING * float(np.trace(M)) / max(len(M), 1)
        signs = problem.signs
        self._bounded: BoundedQuadratic | None = None
        self._M: Any = None
        self._factor: Any = None
        for _ in range(_MAX_FLOOR_RAISES):
            shifted, floor = M.copy(), 10 * floor
            shifted.flat[:: len(M) + 1] += np.maximum(2 * penalties, floor)
            try:
                if signs is not None and np.any(signs):
                    self._bounded, self._M = BoundedQuadratic(shifted, signs), shifted
                else:
                    self._factor = dense.cho_factor(shifted)
                return
            except np.linalg.LinAlgError:  # rounding: a larger penalty only makes the step shorter
                continue
        raise ValueError("The Hessian of the loss cannot be factored with these penalties: raise them.")

    def step(self, coef: np.ndarray, gradient: np.ndarray, intercept_gradient: float) -> tuple[np.ndarray, float]:
        """Return the change of weights and intercept to the minimum of the quadratic model."""
        centered = gradient - self.mean * intercept_gradient
        if self._bounded is None:
            change = -dense.cho_solve(self._factor, centered)
        else:
            change = self._bounded.minimum(self._M @ coef - centered) - coef
        return change, -intercept_gradient / self.weight - float(self.mean @ change)


def minimize_loss(
    problem: RowProblem,
    loss: ScoreLoss,
    penalties: np.ndarray,
    start: LinearPoint | None = None,
    tol: float = 1e-6,
    should_stop: Callable[[], bool] = lambda: False,
) -> LinearPoint:
    """Minimize the penalized sum; stop when a step would lower it by less than `tol` of the sum of losses."""
    at = problem.start(loss) if start is None else start
    system, n_hessians, before = None, 0, np.inf
    value = _objective(problem, loss, penalties, at)
    for _ in range(_MAX_STEPS):
        residual = problem.counts * loss.gradient(problem.y, at.scores)
        gradient = problem.transposed(residual) + 2 * penalties * at.coef
        if system is None:
            if n_hessians >= _MAX_HESSIANS or (n_hessians and should_stop()):
                break
            system, n_hessians = NewtonSystem(problem, loss.curvature(problem.y, at.scores), penalties), n_hessians + 1
            before = np.inf
        change, shift = system.step(at.coef, gradient, float(residual.sum()))
        slope = float(gradient @ change + residual.sum() * shift)
        if -slope <= tol * max(abs(value), _MIN_LOSS * float(np.sum(problem.counts))):
            break
        moved, new_value = _line_search(problem, loss, penalties, at, (change, shift), slope, value)
        if moved is None:
            if before == np.inf:  # not even the Hessian of this point helps
                break
            system = None
            continue
        at, value = moved, new_value
        if -slope > _REUSED * before:
            system = None
        before = -slope
    return at


def _objective(problem: RowProblem, loss: ScoreLoss, penalties: np.ndarray, at: LinearPoint) -> float:
    return float(problem.counts @ loss.value(problem.y, at.scores) + penalties @ at.coef**2)


def _line_search(
    problem: RowProblem,
    loss: ScoreLoss,
    penalties: np.ndarray,
    at: LinearPoint,
    step: tuple[np.ndarray, float],
    slope: float,
    value: float,
) -> tuple[LinearPoint | None, float]:
    """Halve the step until the sum falls by a fraction of what its slope promises."""
    change, shift = step
    direction = problem.scores(change, shift)
    t = 1.0
    for _ in range(_MAX_HALVINGS):
        coef = at.coef + t * change
        if problem.signs is not None:  # rounding must not cross a bound
            coef = np.where(problem.signs * coef < 0, 0.0, coef)
        moved = LinearPoint(coef, at.intercept + t * shift, at.scores + t * direction)
        new_value = _objective(problem, loss, penalties, moved)
        if new_value <= value + 1e-4 * t * slope:
            return moved, new_value
        t *= 0.5
    return None, value
