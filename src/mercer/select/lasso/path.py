"""The path of the Lasso: working sets that grow along falling penalties, each solution with its duality gap."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer import _numeric

#: The least number of columns taken into a working set at a time.
_LEAST = 64
#: How far below the last penalty a correlation may be for its column to be tried at the next, in steps of the path.
_REACH = 1.0


class WorkingSet:
    """The columns tried so far, their Gram matrix, weights w and correlations q = b - G w."""

    def __init__(self, problem):
        self.problem = problem
        self.places = np.zeros(0, dtype=np.intp)
        self.inside = np.zeros(len(problem.b), dtype=bool)
        self._G = np.zeros((0, 0))
        self.b, self.w, self.q = np.zeros(0), np.zeros(0), np.zeros(0)

    @property
    def support(self):
        """Places and weights of the columns in use."""
        kept = np.flatnonzero(self.w)
        return self.places[kept], self.w[kept]

    def add(self, new, correlations):
        """Take in columns whose correlations with the present residual are known."""
        if len(new) == 0:
            return
        m, size = len(self.places), len(self.places) + len(new)
        if size > len(self._G):
            larger = np.empty((max(2 * len(self._G), size, _LEAST),) * 2)
            larger[:m, :m] = self._G[:m, :m]
            self._G = larger
        cross = self.problem.gram(new, np.concatenate([self.places, new]))
        self._G[m:size, :size] = cross
        self._G[:m, m:size] = cross[:, :m].T
        self.places = np.concatenate([self.places, new])
        self.inside[new] = True
        self.b = np.concatenate([self.b, self.problem.b[new]])
        self.w = np.concatenate([self.w, np.zeros(len(new))])
        self.q = np.concatenate([self.q, correlations])

    def descend(self, penalty, tolerance, max_sweeps) -> int:
        m = len(self.places)
        G = self._G[:m, :m]
        return _numeric.lasso_descent(
            G, self.b, self.problem.yy, float(penalty), self.w, self.q, float(tolerance), int(max_sweeps)
        )[1]


def solve_path(problem, penalties, tolerance, max_sweeps=100_000):
    """Solutions of 1/2 ||y - X w||^2 + penalty ||w||_1 for falling penalties.

    Parameters
    ----------
    problem : GramProblem or ColumnProblem
    penalties : falling numbers
    tolerance : the duality gap to reach, relative to ||y||^2
    max_sweeps : most sweeps of coordinate descent per penalty

    Returns
    -------
    solutions : list of (places, weights), one per penalty
    gaps : duality gap of each, in the units of the objective
    """
    work = WorkingSet(problem)
    goal = tolerance * problem.yy
    guess, last = problem.b, np.abs(problem.b).max(initial=0.0)
    solutions, gaps = [], []
    for penalty in penalties:
        start = np.flatnonzero(np.abs(guess) > penalty - _REACH * max(last - penalty, 0.0))
        gap, guess = _solve(work, penalty, goal, max_sweeps, start, guess)
        last = penalty
        solutions.append(work.support)
        gaps.append(gap)
    return solutions, np.array(gaps)


def _solve(work, penalty, goal, max_sweeps, new, guess):
    left = max_sweeps
    while True:
        new = _foremost(new, guess, work)
        work.add(new, guess[new])
        left -= work.descend(penalty, 0.5 * goal, left)
        places, w = work.support
        seen = work.problem.look(places, w, penalty)
        gap, guess = _gap(seen, w, penalty), seen.guess
        new = seen.places[(np.abs(seen.exact) > penalty) & ~work.inside[seen.places]]
        if gap <= goal:
            return gap, guess
        if left <= 0 or len(new) == 0:
            _warn(gap, goal)
            return gap, guess


def _foremost(new, guess, work):
    """Of the new columns the most correlated ones, at most as many as doubles the working set."""
    most = max(_LEAST, len(work.places))
    new = new[~work.inside[new]]
    if len(new) <= most:
        return new
    return new[np.argsort(-np.abs(guess[new]), kind="stable")[:most]]


def _gap(seen, w, penalty):
    """Duality gap at the residual, shrunk until it is feasible for every column."""
    most = np.abs(seen.exact).max(initial=0.0)
    shrink = min(1.0, penalty / most) if most > 0 else 1.0
    return 0.5 * seen.rr + penalty * np.abs(w).sum() - shrink * seen.yr + 0.5 * shrink**2 * seen.rr


def _warn(gap, goal):
    warnings.warn(
        f"The Lasso stopped at a duality gap of {gap:.3g} instead of {goal:.3g}: "
        "raise tol, or standardize the columns.",
        ConvergenceWarning,
        stacklevel=5,
    )
