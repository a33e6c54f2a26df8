"""The hinge loss minimized in its dual, with an unpenalized intercept and a certifying duality gap.

With signs y and weights c, minimize P(w, b) = sum_i c_i max(0, 1 - y_i (<w, x_i> + b)) + alpha ||w||^2. Its dual is

    maximize D(beta) = sum_i beta_i - ||sum_i beta_i y_i x_i||^2 / (4 alpha)
    subject to 0 <= beta_i <= c_i and sum_i beta_i y_i = 0,

with w = sum_i beta_i y_i x_i / (2 alpha). The equality belongs to the intercept. Coordinate descent cannot keep it, so
the method of multipliers does: b becomes b + rho sum_i beta_i y_i after some sweeps on the problem with the proximal
term (b - b_last)^2 / (2 rho) (Rockafellar 1976). The last step is exact: the variables strictly between their bounds
solve linear equations. If sweeps converge slowly and columns are few, an interior-point method takes over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer import _numeric
from mercer._numeric.linalg import dense
from mercer.linear.optimize.interior import interior_point
from mercer.linear.ridge.overflow import refuse_overflow

#: Sweeps between two updates of the multiplier, and between two evaluations of the gap.
_SWEEPS_PER_UPDATE, _SWEEPS_PER_GAP = 3, 9
#: Largest number of variables between their bounds that are solved for exactly.
_MAX_FREE = 500
#: The exact step is tried below this gap, as a fraction of the objective, in at most so many rounds.
_FINISH_GAP, _MAX_FINISH_ROUNDS = 0.1, 10
#: Sweeps after which small problems (columns; entries; rows times columns squared) go to the interior-point method.
_MAX_SWEEPS, _MAX_COLUMNS, _MAX_ENTRIES, _MAX_WORK = 54, 1000, 3e7, 2e10


@dataclass
class HingeSolution:
    """Weights, intercept, dual variables, objective and duality gap."""

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

    def evaluate(self, beta: np.ndarray) -> HingeSolution:
        """Return the weights of dual variables with their best intercept, and the gap between P and D.

        Variables that violate the equality are scaled down in the class of the larger sum first.
        """
        beta = _balanced(beta, self.sign)
        u = _times_rows(beta * self.sign, self.X)
        w = self.scale * u
        scores = _scores(self.X, w)
        b = best_intercept(scores, self.sign, self.upper)
        objective = float(self.upper @ np.maximum(0.0, 1.0 - self.sign * (scores + b)) + self.alpha * (w @ w))
        return HingeSolution(
            w, b, beta, objective, max(objective - float(beta.sum() - 0.5 * self.scale * (u @ u)), 0.0)
        )

    def sweep(self, order: np.ndarray, beta: np.ndarray, w: np.ndarray, b: float, rho: float) -> float:
        """Run one sweep of coordinate descent, which updates beta and w; return the intercept."""
        state = self.sign, self.upper, order, beta, w, b, self.scale, rho
        if hasattr(self.X, "tocsr"):
            return _numeric.hinge_sweep_csr(self.X.data, self.X.indices, self.X.indptr, *state)[0]
        return _numeric.hinge_sweep(self.X, *state)[0]

    def finished(self, beta: np.ndarray) -> HingeSolution:
        """Solve the equations of the variables strictly between their bounds.

        A variable that leaves its bounds is set to the bound, and the others are solved for again.
        """
        beta = np.clip(beta, 0.0, self.upper)
        for _ in range(_MAX_FINISH_ROUNDS):
            at_top = beta >= (1 - 1e-9) * self.upper
            beta[beta <= 1e-9 * self.upper] = 0.0
            beta[at_top] = self.upper[at_top]
            free = np.flatnonzero((beta > 0) & ~at_top)
            if not 0 < len(free) <= _MAX_FREE:
                break
            solved = self._free_values(beta, free)
            beta[free] = np.clip(solved, 0.0, self.upper[free])
            if np.array_equal(beta[free], solved):
                break
        return self.evaluate(beta)

    @property
    def is_small(self) -> bool:
        n, d = self.X.shape
        return d <= _MAX_COLUMNS and n * d <= _MAX_ENTRIES and n * d * d <= _MAX_WORK

    def by_interior_point(self, tol: float) -> HingeSolution:
        """Solve by the interior-point method, then exactly for the variables between their bounds."""
        X = (self.X.toarray() if hasattr(self.X, "tocsr") else self.X).astype(np.float64)
        beta = interior_point(np.sqrt(self.scale) * self.sign[:, None] * X, self.sign, self.upper, tol)
        return min(self.evaluate(beta), self.finished(beta), key=lambda found: found.gap)

    def _free_values(self, beta: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Return beta at the free rows: margins of one there, and sum of beta y = 0, the others fixed."""
        y, rest = self.sign[free], beta.copy()
        rest[free] = 0.0
        rows = self.X[free]
        rows = (rows.toarray() if hasattr(rows, "tocsr") else rows).astype(np.float64)
        fixed = self.scale * (rows @ _times_rows(rest * self.sign, self.X))
        n = len(free)
        K = np.zeros((n + 1, n + 1))
        K[:n, :n] = self.scale * np.outer(y, y) * (rows @ rows.T)
        K[:n, n] = K[n, :n] = y
        right = np.append(1.0 - y * fixed, -(rest @ self.sign))
        return dense.lstsq(K, right, rcond=None)[:n]


def solve(problem: HingeProblem, tol: float, max_sweeps: int, rng: np.random.Generator) -> HingeSolution:
    """Sweep until the gap is at most `tol` of the objective; return the solution of smallest gap."""
    n = len(problem.sign)
    beta, w, b = np.zeros(n), np.zeros(problem.X.shape[1]), 0.0
    rho = problem.scale * max(_mean_square(problem.X), 1e-3)
    refuse_overflow(rho)
    best = problem.evaluate(beta)
    for sweeps in range(1, max_sweeps + 1):
        b = problem.sweep(rng.permutation(n), beta, w, b, rho)
        if sweeps % _SWEEPS_PER_UPDATE == 0:
            b += rho * float(beta @ problem.sign)
        if sweeps % _SWEEPS_PER_GAP == 0 or sweeps == max_sweeps:
            best = min(best, problem.evaluate(beta.copy()), key=lambda found: found.gap)
            if best.gap <= _FINISH_GAP * best.objective:
                best = min(best, problem.finished(beta.copy()), key=lambda found: found.gap)
            best.sweeps = sweeps
            if best.gap <= tol * best.objective:
                break
            if sweeps >= _MAX_SWEEPS and problem.is_small:
                interior = problem.by_interior_point(0.01 * tol)
                return replace(min(best, interior, key=lambda found: found.gap), sweeps=sweeps)
    return best


def best_intercept(scores: np.ndarray, sign: np.ndarray, weight: np.ndarray) -> float:
    """Return the b that minimizes sum of c max(0, 1 - y (s + b)): a weighted quantile of y - s, or their midpoint."""
    kinks = sign - scores
    order = np.argsort(kinks, kind="stable")
    slope = np.cumsum(weight[order]) - weight[sign > 0].sum()
    rounding = 1e-12 * weight.sum()
    low = int(np.argmax(slope >= -rounding))
    high = min(int(np.argmax(slope > rounding)), len(order) - 1) if slope[low] <= rounding else low
    return float(0.5 * (kinks[order[low]] + kinks[order[high]]))


def _balanced(beta: np.ndarray, sign: np.ndarray) -> np.ndarray:
    """Scale the class of the larger sum down, so that sum of beta y = 0."""
    positive, negative = beta[sign > 0].sum(), beta[sign < 0].sum()
    smaller = min(positive, negative)
    up, down = (smaller / total if total > 0 else 0.0 for total in (positive, negative))
    factor = np.where(sign > 0, up, down)
    return beta * factor


def _scores(X: Any, w: np.ndarray) -> np.ndarray:
    return np.asarray(X @ w, dtype=np.float64)


def _times_rows(a: np.ndarray, X: Any) -> np.ndarray:
    return np.asarray(X.T @ a, dtype=np.float64)


def _mean_square(X: Any) -> float:
    """Return the mean squared length of the rows."""
    values = X.data if hasattr(X, "tocsr") else X
    total = float(np.einsum("i,i->", values.ravel(), values.ravel(), dtype=np.float64))
    return total / max(X.shape[0], 1)
