"""Penalties and temperatures of the logistic loss chosen on held-out folds, all on the same passes over the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from mercer.linear.losses import LogLoss
from mercer.linear.optimize.curvature import Curvature, LossPreconditioner
from mercer.linear.optimize.lbfgs import minimize, minimize_together
from mercer.source import MemorySource, Source
from mercer.stats import LossesAt
from mercer.stats.loss import LossesStep, measured_from

#: Relative gradient and number of steps at which the fits of a search stop: their scores need no more.
_TOL, _MAX_STEPS = 1e-4, 40
#: A fold may hold all rows of a class; the intercept of the others would go to minus infinity. In the search intercepts
#: are penalized towards those of the class frequencies by this fraction of the weight.
_INTERCEPT_PENALTY = 1e-4
#: Up to this size rows are copied relative to the origin once, not in each pass.
_MAX_COPIED_BYTES = 1 << 24
#: Two passes find the temperature: a coarse grid of factors of the scores, then a fine one about its best.
_COARSE, _FINE = np.geomspace(0.02, 5.0, 23), np.geomspace(0.8, 1.25, 21)


@dataclass(frozen=True)
class MultinomialProblem:
    """Rows with class codes as targets, their preconditioner and class frequencies.

    `rounding` is the relative error of a sum of losses; `centered` are the same rows measured from the origin, or None.
    """

    source: Source
    preconditioner: LossPreconditioner
    priors: np.ndarray
    rounding: float
    centered: Source | None = None

    @property
    def start(self) -> np.ndarray:
        """Zero weights, and the intercepts that give the class frequencies."""
        logs = np.log(self.priors)
        intercept = logs[1:] - logs[:1] if len(logs) == 2 else logs - logs.mean()
        return np.vstack([np.zeros((len(self.preconditioner.origin), len(intercept))), intercept])

    def losses(
        self, points: np.ndarray, left_out: np.ndarray | None = None, n_folds: int = 1, seed: int = 0
    ) -> LossesStep:
        """Evaluate several points in one pass, each without the fold that it leaves out."""
        if left_out is None and self.centered is not None:
            return self.centered.fold(LossesAt(LogLoss(), points, None)).finish()
        origin = self.preconditioner.origin
        return self.source.fold(LossesAt(LogLoss(), points, origin, left_out, n_folds, seed)).finish()


def centered_rows(source: Source, origin: np.ndarray) -> Source | None:
    """Return the rows of a source measured from an origin; None unless they are dense, small and in memory."""
    if not isinstance(source, MemorySource) or hasattr(source.X, "tocsr") or source.X.nbytes > _MAX_COPIED_BYTES:
        return None
    return MemorySource(measured_from(source.X, origin), source.y, source.weight)


@dataclass(frozen=True)
class Folds:
    """The number of folds and the seed of the assignment of rows to them."""

    n: int
    seed: int

    def held_out(self, problem: MultinomialProblem, points: np.ndarray) -> np.ndarray:
        """Return the mean loss on held-out folds of models (settings, folds, D + 1, outputs), for each setting."""
        left_out = np.tile(np.arange(self.n), len(points))
        step = problem.losses(points.reshape(-1, *points.shape[2:]), left_out, self.n, self.seed)
        return step.held_out.reshape(-1, self.n).sum(axis=1) / step.held_out_weight.reshape(-1, self.n).sum(axis=1)


def fold_models(problem: MultinomialProblem, bound: Curvature, alphas: np.ndarray, folds: Folds) -> np.ndarray:
    """Fit each penalty to all rows but each fold's: an array (penalties, folds, D + 1, outputs)."""
    left_out, each = np.tile(np.arange(folds.n), len(alphas)), np.repeat(alphas, folds.n)
    prior, strength = problem.start[-1], _INTERCEPT_PENALTY * problem.preconditioner.weight

    def evaluate(points: dict[int, np.ndarray]) -> dict[int, tuple[float, np.ndarray]]:
        models = list(points)
        step = problem.losses(np.stack(list(points.values())), left_out[models], folds.n, folds.seed)
        answers = {}
        for k, x, loss, loss_gradient in zip(models, points.values(), step.value, step.gradient, strict=True):
            value, gradient = penalized(x, loss, loss_gradient, each[k])
            answers[k] = _with_intercept_penalty(x, value, gradient, prior, strength)
        return answers

    start = np.broadcast_to(problem.start, (len(each), *problem.start.shape))
    solvers = [bound.solver(alpha) for alpha in alphas]
    minimizers = []
    for model, (_, gradient) in evaluate(dict(enumerate(start))).items():
        solve = solvers[model // folds.n]
        norm = partial(gradient_norm, solve=solve)
        minimizers.append(minimize(start[model], solve, norm, _TOL * norm(gradient), _MAX_STEPS, problem.rounding))
    ends = [end.x for end in minimize_together(minimizers, evaluate)]
    return np.stack(ends).reshape(len(alphas), folds.n, *problem.start.shape)


def temperature(problem: MultinomialProblem, models: np.ndarray, folds: Folds) -> float:
    """Return the divisor of the scores of smallest loss on held-out folds of models (folds, D + 1, outputs)."""
    best = 1.0
    for grid in (_COARSE, _FINE):
        scales = best * grid
        best = scales[int(np.argmin(folds.held_out(problem, scales[:, None, None, None] * models)))]
    return float(1.0 / best)


def penalized(x: np.ndarray, value: float, gradient: np.ndarray, alpha: float) -> tuple[float, np.ndarray]:
    """Add alpha ||w||^2 to value and gradient; the intercept, in the last row, has no penalty."""
    gradient = gradient.copy()
    gradient[:-1] += 2 * alpha * x[:-1]
    return value + alpha * np.vdot(x[:-1], x[:-1]), gradient


def _with_intercept_penalty(
    x: np.ndarray, value: float, gradient: np.ndarray, prior: np.ndarray, strength: float
) -> tuple[float, np.ndarray]:
    """Add strength ||intercept - prior||^2 to value and gradient."""
    difference = x[-1] - prior
    gradient[-1] += 2 * strength * difference
    return value + strength * float(difference @ difference), gradient


def gradient_norm(gradient: np.ndarray, solve: Callable[[np.ndarray], np.ndarray]) -> float:
    """Return sqrt(g' H^{-1} g): half its square is about the decrease that is left."""
    return float(np.sqrt(max(np.vdot(gradient, solve(gradient)), 0.0)))
