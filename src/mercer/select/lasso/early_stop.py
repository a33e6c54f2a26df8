"""Cross-validated losses along a Lasso path, which ends once the folds have said that it got worse."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.select.lasso.cross_validation import GramCrossValidation, RowCrossValidation, debiased
from mercer.select.lasso.datafit import Solution
from mercer.select.lasso.path import LassoPathSolver

#: A path ends where the loss has been worse over penalties that span this factor, and over at least so many.
WORSE_FACTOR, MIN_WORSE = 2.0, 3


def fold_losses(
    data: GramCrossValidation | RowCrossValidation, alphas: np.ndarray, tol: float, debias: bool, may_stop: bool
) -> np.ndarray:
    """Return the sums of squared errors, one row per penalty and one column per fold.

    The paths without each fold are solved a round of penalties at a time. With `may_stop` there are rows only up to
    `path_end`, which does not depend on the size of a round.
    """
    solvers = [LassoPathSolver(tol) for _ in range(data.n_folds)]
    losses = np.zeros((0, data.n_folds))
    size = data.round_size if may_stop else len(alphas)
    for start in range(0, len(alphas), size):
        some = alphas[start : start + size]
        parts = [_losses_without(data, k, solver, some, debias) for k, solver in enumerate(solvers)]
        losses = np.vstack([losses, np.column_stack(parts)])
        end = path_end(alphas, losses) if may_stop else len(losses)
        if end < len(losses):
            return losses[:end]
    return losses


def _losses_without(data: Any, k: int, solver: LassoPathSolver, alphas: np.ndarray, debias: bool) -> np.ndarray:
    problem = data.without_fold(k)
    solutions: list[Solution] = solver.advance(problem.datafit, problem.weight * alphas)[0]
    return data.fold_losses(k, problem, debiased(problem.datafit, solutions) if debias else solutions)


def path_end(alphas: np.ndarray, losses: np.ndarray) -> int:
    """Return the number of penalties after which the path may end; `len(losses)` if it should go on.

    At a penalty the path is worse if its loss, summed over the folds, exceeds the smallest so far by more than one
    standard error of the difference, and is not below that of the penalty before. The path ends at the first penalty
    at which it has been worse all the way from a penalty `WORSE_FACTOR` times as large.

    >>> alphas, folds = 2.0 ** -np.arange(8), np.array([[1.0, 1.1]])
    >>> path_end(alphas, folds * np.array([[4, 3, 2, 1, 2, 3, 4, 5]]).T)
    7
    >>> path_end(alphas, folds * np.array([[4, 3, 2, 1, 2, 1.5, 4, 5]]).T)
    8
    """
    losses = np.ldexp(losses, -int(np.frexp(losses.max(initial=0.0))[1]))  # squares of large losses overflow
    total, n_folds = losses.sum(axis=1), losses.shape[1]
    best, first_worse = 0, None
    for i in range(1, len(losses)):
        difference = losses[i] - losses[best]
        error = float(np.std(difference, ddof=1) * np.sqrt(n_folds))
        if total[i] < total[best]:
            best = i
        if total[i] - total[best] <= error or total[i] < total[i - 1]:
            first_worse = None
            continue
        first_worse = i if first_worse is None else first_worse
        if i - first_worse + 1 >= MIN_WORSE and alphas[first_worse] >= WORSE_FACTOR * alphas[i]:
            return i + 1
    return len(losses)
