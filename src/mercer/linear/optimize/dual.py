"""The hinge loss solved in its dual, with an intercept that nothing penalizes and a gap that proves the answer.

With signs y and weights c, minimize P(w, b) = sum_i c_i max(0, 1 - y_i (<w, x_i> + b)) + alpha ||w||^2. Its dual is

    maximize D(beta) = sum_i beta_i - ||sum_i beta_i y_i x_i||^2 / (4 alpha)
    subject to 0 <= beta_i <= c_i and sum_i beta_i y_i = 0,

with w = sum_i beta_i y_i x_i / (2 alpha). The equality belongs to the intercept. Coordinate descent cannot move along
it, so it is taken by the method of multipliers: b moves to b + rho sum_i beta_i y_i after some sweeps on the problem in
which b is drawn to its last value, (b - b_last)^2 / (2 rho) (Rockafellar 1976). What is left is exact: rows strictly
inside the margin's bounds satisfy linear equations, which one solve of their size finishes. Where sweeps do not get
there soon and columns are few, an interior-point method takes over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer import _numeric
from mercer.linear.optimize.interior import interior_point
from mercer.linear.ridge.overflow import refuse_overflow

#: Sweeps between two moves of the intercept's anchor, and between two looks at the gap.
_SWEEPS_PER_MOVE, _SWEEPS_PER_LOOK = 3, 9
#: The most rows on the margin that are finished by linear equations.
_MOST_FREE = 500
#: The gap, as a share of the objective, from which on finishing is tried, and how long.
_NEARLY, _MOST_ROUNDS = 0.1, 10


#: Sweeps after which small problems (columns; entries; rows times columns squared) go to the interior-point method.
_PATIENCE, _MOST_COLUMNS, _MOST_ENTRIES, _MOST_WORK = 54, 1000, 3e7, 2e10


@dataclass
class Margin:
    """A solution: weights, intercept, dual variables, and what is known about it."""

    w: np.ndarray
    b: float
    beta: np.ndarray
    objective: float
    gap: float
    sweeps: int = 0


@dataclass(frozen=True)
class HingeProblem:
    """Rows (dense in C order, or CSR) with signs, upper bounds of the dual variables and the penalty."""

    X: Any
    sign: np.ndarray
    upper: np.ndarray
    alpha: float

    @property
    def scale(self) -> float:
        return 1.0 / (2.0 * self.alpha)

    def judged(self, beta: np.ndarray) -> Margin:
        """The best intercept for the weights that dual variables give, and the gap between P and D there.

        Where the variables break the equality, the class that has too much is scaled down first.
        """
        beta = _balanced(beta, self.sign)
        u = _times_rows(beta * self.sign, self.X)
        w = self.scale * u
        scores = _scores(self.X, w)
        b = best_intercept(scores, self.sign, self.upper)
        objective = float(self.upper @ np.maximum(0.0, 1.0 - self.sign * (scores + b)) + self.alpha * (w @ w))
        return Margin(w, b, beta, objective, max(objective - float(beta.sum() - 0.5 * self.scale * (u @ u)), 0.0))

    def sweep(self, order, beta, w, b, rho) -> float:
        """One sweep of coordinate descent; the intercept after it."""
        state = self.sign, self.upper, order, beta, w, b, self.scale, rho
        if hasattr(self.X, "tocsr"):
            return _numeric.hinge_sweep_csr(self.X.data, self.X.indices, self.X.indptr, *state)[0]
        return _numeric.hinge_sweep(self.X, *state)[0]

    def finished(self, beta: np.ndarray) -> Margin:
        """The solution of the equations of the rows whose variables are strictly between their bounds.

        A variable that leaves its bounds is put on the bound, and the rest is solved again.
        """
        beta = np.clip(beta, 0.0, self.upper)
        for _ in range(_MOST_ROUNDS):
            at_top = beta >= (1 - 1e-9) * self.upper
            beta[beta <= 1e-9 * self.upper] = 0.0
            beta[at_top] = self.upper[at_top]
            free = np.flatnonzero((beta > 0) & ~at_top)
            if not 0 < len(free) <= _MOST_FREE:
                break
            solved = self._free_values(beta, free)
            beta[free] = np.clip(solved, 0.0, self.upper[free])
            if np.array_equal(beta[free], solved):
                break
        return self.judged(beta)

    @property
    def is_small(self) -> bool:
        n, d = self.X.shape
        return d <= _MOST_COLUMNS and n * d <= _MOST_ENTRIES and n * d * d <= _MOST_WORK

    def by_interior_point(self, tol: float) -> Margin:
        """The solution by steps through the inside of the bounds, then the finish."""
        X = (self.X.toarray() if hasattr(self.X, "tocsr") else self.X).astype(np.float64)
        beta = interior_point(np.sqrt(self.scale) * self.sign[:, None] * X, self.sign, self.upper, tol)
        return min(self.judged(beta), self.finished(beta), key=lambda seen: seen.gap)

    def _free_values(self, beta, free):
        """beta at the free rows: margins of one there, and a sum of beta y of zero, the others held."""
        y, rest = self.sign[free], beta.copy()
        rest[free] = 0.0
        rows = self.X[free]
        rows = (rows.toarray() if hasattr(rows, "tocsr") else rows).astype(np.float64)
        held = self.scale * (rows @ _times_rows(rest * self.sign, self.X))
        n = len(free)
        K = np.zeros((n + 1, n + 1))
        K[:n, :n] = self.scale * np.outer(y, y) * (rows @ rows.T)
        K[:n, n] = K[n, :n] = y
        right = np.append(1.0 - y * held, -(rest @ self.sign))
        return np.linalg.lstsq(K, right, rcond=None)[0][:n]


def solve(problem: HingeProblem, tol: float, max_sweeps: int, rng: np.random.Generator) -> Margin:
    """Sweeps until the gap is at most `tol` of the objective, then the finish; the best of what was seen."""
    n = len(problem.sign)
    beta, w, b = np.zeros(n), np.zeros(problem.X.shape[1]), 0.0
    rho = problem.scale * max(_mean_square(problem.X), 1e-3)
    refuse_overflow(rho)
    best = problem.judged(beta)
    for sweeps in range(1, max_sweeps + 1):
        b = problem.sweep(rng.permutation(n), beta, w, b, rho)
        if sweeps % _SWEEPS_PER_MOVE == 0:
            b += rho * float(beta @ problem.sign)
        if sweeps % _SWEEPS_PER_LOOK == 0 or sweeps == max_sweeps:
            best = min(best, problem.judged(beta.copy()), key=lambda seen: seen.gap)
            if best.gap <= _NEARLY * best.objective:
                best = min(best, problem.finished(beta.copy()), key=lambda seen: seen.gap)
            best.sweeps = sweeps
            if best.gap <= tol * best.objective:
                break
            if sweeps >= _PATIENCE and problem.is_small:
                inside = problem.by_interior_point(0.01 * tol)
                return replace(min(best, inside, key=lambda seen: seen.gap), sweeps=sweeps)
    return best


def best_intercept(scores: np.ndarray, sign: np.ndarray, weight: np.ndarray) -> float:
    """The b that minimizes sum of c max(0, 1 - y (s + b)): a weighted quantile of y - s; the middle of several."""
    kinks = sign - scores
    order = np.argsort(kinks, kind="stable")
    slope = np.cumsum(weight[order]) - weight[sign > 0].sum()
    rounding = 1e-12 * weight.sum()
    low = int(np.argmax(slope >= -rounding))
    high = min(int(np.argmax(slope > rounding)), len(order) - 1) if slope[low] <= rounding else low
    return float(0.5 * (kinks[order[low]] + kinks[order[high]]))


def _balanced(beta, sign):
    """beta with sum of beta y = 0: the side that has more is scaled down."""
    up, down = beta[sign > 0].sum(), beta[sign < 0].sum()
    less = min(up, down)
    factor = np.where(sign > 0, less / up if up > 0 else 0.0, less / down if down > 0 else 0.0)
    return beta * factor


def _scores(X, w):
    return np.asarray(X @ w, dtype=np.float64)


def _times_rows(a, X):
    return np.asarray(X.T @ a, dtype=np.float64)


def _mean_square(X) -> float:
    """The mean squared length of the rows."""
    values = X.data if hasattr(X, "tocsr") else X
    total = float(np.einsum("i,i->", values.ravel(), values.ravel(), dtype=np.float64))
    return total / max(X.shape[0], 1)
