"""The Lasso path: working sets that grow along decreasing penalties, each solution with its duality gap."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer import _numeric
from mercer.select.lasso.datafit import ColumnDatafit, GramDatafit, ResidualCorrelations, Solution

#: Minimum number of columns added to a working set at a time.
_MIN_GROWTH = 64
#: A column is tried at the next penalty if its correlation is within this many path steps of the last penalty.
_REACH = 1.0


class WorkingSet:
    """The columns tried so far, their Gram matrix, weights w and correlations q = b - G w."""

    def __init__(self, datafit: GramDatafit | ColumnDatafit):
        self.datafit: GramDatafit | ColumnDatafit | Any = datafit
        self.columns = np.zeros(0, dtype=np.intp)
        self.inside = np.zeros(len(datafit.b), dtype=bool)
        self._G = np.zeros((0, 0))
        self.b, self.w, self.q = np.zeros(0), np.zeros(0), np.zeros(0)

    @property
    def support(self) -> Solution:
        """Indices and weights of the columns with a nonzero weight."""
        kept = np.flatnonzero(self.w)
        return self.columns[kept], self.w[kept]

    def add(self, new: np.ndarray, correlations: np.ndarray) -> None:
        """Add columns whose correlations with the current residual are known."""
        if len(new) == 0:
            return
        m, size = len(self.columns), len(self.columns) + len(new)
        if size > len(self._G):
            larger = np.empty((max(2 * len(self._G), size, _MIN_GROWTH),) * 2)
            larger[:m, :m] = self._G[:m, :m]
            self._G = larger
        cross = self.datafit.gram(new, np.concatenate([self.columns, new]))
        self._G[m:size, :size] = cross
        self._G[:m, m:size] = cross[:, :m].T
        self.columns = np.concatenate([self.columns, new])
        self.inside[new] = True
        self.b = np.concatenate([self.b, self.datafit.b[new]])
        self.w = np.concatenate([self.w, np.zeros(len(new))])
        self.q = np.concatenate([self.q, correlations])

    def descend(self, penalty: float, tolerance: float, max_sweeps: int) -> int:
        """Run coordinate descent on the working set; return the number of sweeps."""
        m = len(self.columns)
        G = self._G[:m, :m]
        return _numeric.lasso_descent(
            G, self.b, self.datafit.yy, float(penalty), self.w, self.q, float(tolerance), int(max_sweeps)
        )[1]


class LassoPathSolver:
    """Solutions for decreasing penalties, continued where the last ones ended.

    The problem may be a new object each time, as long as it is the same problem: only the working set is kept.

    Parameters
    ----------
    tolerance : the duality gap to reach, relative to ||y||^2
    max_sweeps : maximum number of sweeps of coordinate descent per penalty
    """

    def __init__(self, tolerance: float, max_sweeps: int = 100_000):
        self.tolerance, self.max_sweeps = tolerance, max_sweeps
        self._work: WorkingSet | None = None
        self._estimate, self._last = np.zeros(0), 0.0

    def advance(
        self, datafit: GramDatafit | ColumnDatafit, penalties: Iterable[float]
    ) -> tuple[list[Solution], np.ndarray]:
        """Return what `solve_path` does, for penalties below those so far."""
        work = self._work
        if work is None:
            work = WorkingSet(datafit)
            self._estimate, self._last = datafit.b, np.abs(datafit.b).max(initial=0.0)
        work.datafit = datafit
        goal = self.tolerance * datafit.yy
        solutions, gaps = [], []
        for penalty in penalties:
            start = np.flatnonzero(np.abs(self._estimate) > penalty - _REACH * max(self._last - penalty, 0.0))
            gap, self._estimate = _solve(work, penalty, goal, self.max_sweeps, start, self._estimate)
            self._last = penalty
            solutions.append(work.support)
            gaps.append(gap)
        work.datafit = None  # the rows may be let go
        self._work = work
        return solutions, np.array(gaps)


def solve_path(
    datafit: GramDatafit | ColumnDatafit, penalties: Iterable[float], tolerance: float, max_sweeps: int = 100_000
) -> tuple[list[Solution], np.ndarray]:
    """Minimize 1/2 ||y - X w||^2 + penalty ||w||_1 for decreasing penalties.

    Parameters
    ----------
    datafit : GramDatafit or ColumnDatafit
    penalties : decreasing numbers
    tolerance, max_sweeps : as in `LassoPathSolver`

    Returns
    -------
    solutions : list of (column indices, weights), one per penalty
    gaps : duality gap of each, in the units of the objective
    """
    return LassoPathSolver(tolerance, max_sweeps).advance(datafit, penalties)


def _solve(
    work: WorkingSet, penalty: float, goal: float, max_sweeps: int, new: np.ndarray, estimate: np.ndarray
) -> tuple[float, np.ndarray]:
    sweeps_left = max_sweeps
    while True:
        new = _most_correlated(new, estimate, work)
        work.add(new, estimate[new])
        sweeps_left -= work.descend(penalty, 0.5 * goal, sweeps_left)
        columns, w = work.support
        found = work.datafit.residual_correlations(columns, w, penalty)
        gap, estimate = _duality_gap(found, w, penalty), found.estimate
        new = found.indices[(np.abs(found.exact) > penalty) & ~work.inside[found.indices]]
        if gap <= goal:
            return gap, estimate
        if sweeps_left <= 0 or len(new) == 0:
            _warn(gap, goal)
            return gap, estimate


def _most_correlated(new: np.ndarray, estimate: np.ndarray, work: WorkingSet) -> np.ndarray:
    """Return the most correlated of the new columns, at most as many as double the working set."""
    max_new = max(_MIN_GROWTH, len(work.columns))
    new = new[~work.inside[new]]
    if len(new) <= max_new:
        return new
    return new[np.argsort(-np.abs(estimate[new]), kind="stable")[:max_new]]


def _duality_gap(found: ResidualCorrelations, w: np.ndarray, penalty: float) -> float:
    """Return the duality gap at the residual, scaled until it is dual feasible."""
    largest = np.abs(found.exact).max(initial=0.0)
    scale = min(1.0, penalty / largest) if largest > 0 else 1.0
    return 0.5 * found.rr + penalty * np.abs(w).sum() - scale * found.yr + 0.5 * scale**2 * found.rr


def _warn(gap: float, goal: float) -> None:
    warnings.warn(
        f"The Lasso stopped at a duality gap of {gap:.3g} instead of {goal:.3g}: "
        "raise tol, or standardize the columns.",
        ConvergenceWarning,
        stacklevel=6,
    )
