"""Penalties and temperatures of the logistic loss chosen on held-out folds, all on the same passes over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from mercer.linear.losses import LogLoss
from mercer.linear.optimize.curvature import Curvature, Landscape
from mercer.linear.optimize.lbfgs import minimize, side_by_side
from mercer.source import MemorySource, Source
from mercer.stats import LossesAt
from mercer.stats.loss import measured_from

#: How far the problems of a search are solved: their scores need no more.
_TOL, _MOST_STEPS = 1e-4, 40
#: A fold may hold all rows of a class; the others would send its intercept to minus infinity. In the search intercepts
#: are drawn to those of the class frequencies by this share of the weight.
_PULL = 1e-4
#: Rows of which a second array is no burden.
_FEW_BYTES = 1 << 24
#: Two passes find the temperature: a coarse grid of scales of the scores, then a fine one about its best.
_COARSE, _FINE = np.geomspace(0.02, 5.0, 23), np.geomspace(0.8, 1.25, 21)


@dataclass(frozen=True)
class Problem:
    """Rows with class numbers for targets, and what one look told of them."""

    source: Source
    landscape: Landscape
    priors: np.ndarray
    rounding: float
    near: Source | None = None  # the same rows measured from the origin, where these are few

    @property
    def start(self) -> np.ndarray:
        """No weights, and the intercepts that give the class frequencies."""
        logs = np.log(self.priors)
        intercept = logs[1:] - logs[:1] if len(logs) == 2 else logs - logs.mean()
        return np.vstack([np.zeros((len(self.landscape.origin), len(intercept))), intercept])

    def losses(self, points: np.ndarray, left_out=None, n_folds=1, seed=0):
        if left_out is None and self.near is not None:
            return self.near.fold(LossesAt(LogLoss(), points, None)).finish()
        return self.source.fold(LossesAt(LogLoss(), points, self.landscape.origin, left_out, n_folds, seed)).finish()


def near_rows(source: Source, origin: np.ndarray) -> Source | None:
    """The rows of a source measured from an origin, once for all passes; None unless they are few and in memory."""
    if not isinstance(source, MemorySource) or hasattr(source.X, "tocsr") or source.X.nbytes > _FEW_BYTES:
        return None
    return MemorySource(measured_from(source.X, origin), source.y, source.weight)


@dataclass(frozen=True)
class Folds:
    """How rows fall into folds."""

    n: int
    seed: int

    def held_out(self, problem: Problem, points: np.ndarray) -> np.ndarray:
        """Mean loss on held-out folds of models (settings, folds, D + 1, outputs), for each setting."""
        left_out = np.tile(np.arange(self.n), len(points))
        step = problem.losses(points.reshape(-1, *points.shape[2:]), left_out, self.n, self.seed)
        return step.held_out.reshape(-1, self.n).sum(axis=1) / step.held_out_weight.reshape(-1, self.n).sum(axis=1)


def fold_models(problem: Problem, bound: Curvature, alphas: np.ndarray, folds: Folds) -> np.ndarray:
    """The models of each penalty fitted to all but each fold: an array (penalties, folds, D + 1, outputs)."""
    left_out, each = np.tile(np.arange(folds.n), len(alphas)), np.repeat(alphas, folds.n)
    prior, pull = problem.start[-1], _PULL * problem.landscape.weight

    def answer(points):
        places = list(points)
        step = problem.losses(np.stack(list(points.values())), left_out[places], folds.n, folds.seed)
        parts = zip(places, points.values(), step.value, step.gradient, strict=True)
        return {k: _anchored(x, *penalized(x, value, g, each[k]), prior, pull) for k, x, value, g in parts}

    start = np.broadcast_to(problem.start, (len(each), *problem.start.shape))
    solvers = [bound.solver(alpha) for alpha in alphas]
    dialogues = []
    for place, (_, gradient) in answer(dict(enumerate(start))).items():
        norm = partial(length, solve=solvers[place // folds.n])
        least = _TOL * norm(gradient)
        dialogues.append(minimize(start[place], norm.keywords["solve"], norm, least, _MOST_STEPS, problem.rounding))
    ends = [end.x for end in side_by_side(dialogues, answer)]
    return np.stack(ends).reshape(len(alphas), folds.n, *problem.start.shape)


def temperature(problem: Problem, models: np.ndarray, folds: Folds) -> float:
    """The number by which scores are divided for the least loss on held-out folds of models (folds, D + 1, outputs)."""
    best = 1.0
    for grid in (_COARSE, _FINE):
        scales = best * grid
        best = scales[int(np.argmin(folds.held_out(problem, scales[:, None, None, None] * models)))]
    return float(1.0 / best)


def penalized(x, value, gradient, alpha):
    """Value and gradient with alpha ||w||^2; the intercept, in the last row, goes free."""
    gradient = gradient.copy()
    gradient[:-1] += 2 * alpha * x[:-1]
    return value + alpha * np.vdot(x[:-1], x[:-1]), gradient


def _anchored(x, value, gradient, prior, pull):
    """Value and gradient with pull ||intercept - prior||^2."""
    away = x[-1] - prior
    gradient[-1] += 2 * pull * away
    return value + pull * float(away @ away), gradient


def length(gradient, solve) -> float:
    """The length of a gradient as the curvature measures it: half its square is about what is left to gain."""
    return float(np.sqrt(max(np.vdot(gradient, solve(gradient)), 0.0)))
