"""The hinge loss minimized by passes over a source, in memory that does not depend on the number of rows.

With signs y, weights c and margins m_i = 1 - y_i (<w, x_i> + b), the hinge max(0, m) is replaced by

    max over 0 <= a <= 1 of a m + mu a (1 - a) / 2,   attained at a = clip(m / mu + 1/2, 0, 1),

which is at most mu / 8 above it (Nesterov 2005). Newton steps minimize the smoothed objective, and mu falls until the
duality gap of the hinge itself is small enough: beta_i = c_i a_i are feasible dual variables once the class of the
larger sum is scaled down (see `mercer.linear.optimize.dual`), and only their sums are needed. Each step is one pass.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.linalg import dense
from mercer.source import Source
from mercer.stats.base import Statistic
from mercer.stats.moments import ColumnMoments

#: The smoothing of the first steps, and the factor by which it falls.
_FIRST_SMOOTHING, _SHRINKAGE = 4.0, 0.5
#: Smoothing falls where the rest of the decrease is below this fraction of the gap that smoothing causes.
_REST = 0.1
#: Sufficient decrease of a full step, as a fraction of that of the quadratic model.
_ARMIJO = 1e-4
#: The steps that are compared in one pass where a full step is too long.
_STEPS = np.geomspace(1.0, 1e-6, 48)
#: Curvature that the intercept is taken to have at least, for each unit of weight.
_MIN_CURVATURE = 1e-3
#: Relative error of sums.
_ROUNDING = 1e-13


class HingePoint(NamedTuple):
    """Weights with the intercept last, and the smoothing; with a direction, the steps along it are compared."""

    x: np.ndarray
    smoothing: float
    direction: np.ndarray | None = None


@dataclass(frozen=True)
class HingeSums:
    """The result of `HingesAt` for one problem: smoothed and plain sum of losses, and sums over each class.

    smoothing_gap : sum of mu beta (1 - a) / 2, the duality gap at the minimum of the smoothed objective; line :
    smoothed sums at each step of a line search; products : (2, d + 1), sums of beta x over the negative and the
    positive rows, with the sums of beta last; hessian : that of the smoothed loss
    """

    value: float
    hinge: float
    smoothing_gap: float
    line: np.ndarray
    products: np.ndarray
    hessian: np.ndarray

    @property
    def gradient(self) -> np.ndarray:
        """The gradient of the smoothed loss."""
        return self.products[0] - self.products[1]

    def dual_value(self, alpha: float) -> float:
        """The dual objective of the dual variables, scaled down in the class of the larger sum."""
        dual = self.products[:, -1]
        factor = np.divide(dual.min(), dual, out=np.zeros(2), where=dual > 0)
        u = factor[1] * self.products[1, :-1] - factor[0] * self.products[0, :-1]
        return float(factor @ dual - u @ u / (4 * alpha))


#: The sums of `HingesAt`.
_SUMS = ("values", "line", "products", "hessian")


@dataclass(frozen=True)
class HingesAt(Statistic):
    """Smoothed hinge losses of several problems, class k against the rest, at a point each.

    classes : the positive class of each problem, as codes; origin : subtracted from the rows
    """

    classes: tuple[int, ...]
    points: tuple[HingePoint, ...]
    origin: np.ndarray
    n: int = 0
    values: Any = None  # (problems, 3)
    line: Any = None  # (problems, steps)
    products: Any = None  # (problems, 2, d + 1)
    hessian: Any = None  # (problems, d + 1, d + 1)

    def of(self, block: Block) -> Self:
        if len(block) == 0:
            return replace(self, n=0)
        X = block.X.toarray() if hasattr(block.X, "tocsr") else block.X
        Z = np.ones((len(block), X.shape[1] + 1))
        np.subtract(X, self.origin, out=Z[:, :-1])
        weight = np.ones(len(block)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        problems = zip(self.classes, self.points, strict=True)
        found = [self._one(Z, np.asarray(block.y) == k, weight, at) for k, at in problems]
        parts = zip(_SUMS, zip(*found, strict=True), strict=True)
        sums: dict[str, Any] = {name: np.stack(part) for name, part in parts}
        return replace(self, n=len(block), **sums)

    @staticmethod
    def _one(Z: np.ndarray, positive: np.ndarray, weight: np.ndarray, at: HingePoint) -> tuple:
        sign = np.where(positive, 1.0, -1.0)
        margin = 1.0 - sign * (Z @ at.x)
        a = np.clip(margin / at.smoothing + 0.5, 0.0, 1.0)
        beta = weight * a
        gap = 0.5 * at.smoothing * float(beta @ (1.0 - a))
        values = np.array([beta @ margin + gap, weight @ np.maximum(margin, 0.0), gap])
        sides = np.stack([np.where(positive, 0.0, beta), np.where(positive, beta, 0.0)])
        curved = (a > 0) & (a < 1)
        inside = Z[curved]
        hessian = (inside.T * (weight[curved] / at.smoothing)) @ inside
        line = np.zeros(len(_STEPS))
        if at.direction is not None:
            change = sign * (Z @ at.direction)
            line = np.array([weight @ _smoothed(margin - t * change, at.smoothing) for t in _STEPS])
        return values, line, sides @ Z, hessian

    def _merge(self, other: Self) -> Self:
        sums = {name: getattr(self, name) + getattr(other, name) for name in _SUMS}
        return replace(self, n=self.n + other.n, **sums)

    def finish(self) -> list[HingeSums]:
        if self.n == 0:
            raise ValueError("No rows: the loss of an empty data set is undefined.")
        parts = zip(*(getattr(self, name) for name in _SUMS), strict=True)
        return [HingeSums(*values.tolist(), *others) for values, *others in parts]


def _smoothed(margin: np.ndarray, smoothing: float) -> np.ndarray:
    """The smoothed hinge of margins."""
    a = np.clip(margin / smoothing + 0.5, 0.0, 1.0)
    return a * (margin + 0.5 * smoothing * (1.0 - a))


@dataclass(frozen=True)
class PassesSolution:
    """Weights with the intercept last, the objective, its duality gap and the number of passes."""

    x: np.ndarray
    objective: float
    gap: float
    n_passes: int


def solve_by_passes(
    source: Source, n_classes: int, moments: ColumnMoments, alpha: float, tol: float, max_passes: int
) -> list[PassesSolution]:
    """Minimize the hinge loss of each class against the rest, of the second of two; all problems share each pass.

    source : class codes as targets; moments : those of the rows. The weights belong to rows measured from their mean
    """
    origin, floor = moments.mean, _MIN_CURVATURE * float(np.max(moments.weight))
    classes = (1,) if n_classes == 2 else tuple(range(n_classes))
    solvers = {k: _steps(len(origin), floor, alpha, tol, max_passes) for k in classes}
    waiting = {k: next(solver) for k, solver in solvers.items()}
    ends: dict[int, PassesSolution] = {}
    while waiting:
        found = source.fold(HingesAt(tuple(waiting), tuple(waiting.values()), origin)).finish()
        asked, waiting = list(waiting), {}
        for k, sums in zip(asked, found, strict=True):
            try:
                waiting[k] = solvers[k].send(sums)
            except StopIteration as end:
                ends[k] = end.value
    return [ends[k] for k in classes]


def _steps(
    d: int, floor: float, alpha: float, tol: float, max_passes: int
) -> Generator[HingePoint, HingeSums, PassesSolution]:
    """Newton steps on the smoothed objective; yields points, is sent their sums, returns the point of smallest gap.

    floor : added to the curvature of the intercept, which has none where no margin is within the smoothing
    """
    penalty = np.append(np.full(d, alpha), 0.0)
    diagonal = np.append(np.full(d, 2 * alpha), floor)
    x, mu, direction = np.zeros(d + 1), _FIRST_SMOOTHING, None
    before, slope, lower = np.inf, 0.0, -np.inf
    best = PassesSolution(x, np.inf, np.inf, 0)
    trial = HingePoint(x, mu)
    for n_passes in range(1, max_passes + 1):
        sums = yield trial
        squared = float(penalty @ trial.x**2)
        lower = max(lower, sums.dual_value(alpha))
        objective = sums.hinge + squared
        kept = (trial.x, objective) if objective < best.objective else (best.x, best.objective)
        best = PassesSolution(*kept, max(kept[1] - lower, 0.0), n_passes)
        if best.gap <= tol * best.objective:
            break
        value = sums.value + squared
        if trial.direction is not None:  # the steps along it were compared: take the best
            steps = x + _STEPS[:, None] * trial.direction
            trial = HingePoint(steps[int(np.argmin(sums.line + steps**2 @ penalty))], mu)
            before = np.inf
            continue
        if direction is not None and value > before + _ARMIJO * slope + _ROUNDING * abs(before):
            trial = HingePoint(x, mu, direction)
            continue
        x, gradient = trial.x, sums.gradient + 2 * penalty * trial.x
        direction = _newton_direction(sums.hessian, gradient, diagonal)
        slope, before = float(gradient @ direction), value
        if -slope <= 2 * _REST * sums.smoothing_gap or -slope <= _ROUNDING * abs(value):
            mu, direction = _SHRINKAGE * mu, None
        trial = HingePoint(x if direction is None else x + direction, mu)
    return best


def _newton_direction(hessian: np.ndarray, gradient: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """-(H + diagonal)^{-1} g, with as little more on the diagonal as rounding needs."""
    H = hessian + np.diag(diagonal)
    H.flat[:: len(H) + 1] += 1e-13 * np.trace(H)  # beyond the rounding of the sums, which may be of either sign
    factor = dense.cho_factor(H, lower=True, check_finite=False)
    return -dense.cho_solve(factor, gradient, check_finite=False)
