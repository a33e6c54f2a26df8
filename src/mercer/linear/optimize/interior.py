"""An interior-point method for the dual of the hinge loss, where columns are few (Ferris and Munson 2002).

minimize ||V' beta||^2 / 2 - sum of beta subject to 0 <= beta <= c and <y, beta> = 0, V having few columns: each step
solves (diag + V V') by a system of the size of V's columns (Woodbury). About twenty steps suffice, whatever the
conditioning, where coordinate descent may take thousands of sweeps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._numeric.linalg import dense

_MAX_STEPS = 60
#: Fraction of the step to the boundary that is taken.
_DAMPING = 0.995


@dataclass
class _Point:
    """Dual variables, the intercept, and the multipliers of the lower and upper bounds."""

    beta: np.ndarray
    b: float
    below: np.ndarray
    above: np.ndarray

    def is_inside(self, c: np.ndarray) -> bool:
        """Return whether every variable and multiplier is positive, beyond rounding."""
        return all(bool(np.all(values > 0)) for values in (self.beta, c - self.beta, self.below, self.above))

    def step(self, d: _Point, t: float) -> _Point:
        return _Point(self.beta + t * d.beta, self.b + t * d.b, self.below + t * d.below, self.above + t * d.above)


def interior_point(V: np.ndarray, y: np.ndarray, c: np.ndarray, tol: float) -> np.ndarray:
    """Return beta with complementarity at most `tol` of the value, by Mehrotra's predictor-corrector steps."""
    n = len(y)
    at = _Point(0.5 * c, 0.0, np.ones(n), np.ones(n))
    with np.errstate(all="ignore"):  # a step that overflows is not taken
        return np.clip(_follow_path(V, y, c, tol, at), 0.0, c)


def _follow_path(V: np.ndarray, y: np.ndarray, c: np.ndarray, tol: float, at: _Point) -> np.ndarray:
    """Follow the central path; return beta of the last interior point."""
    n = len(y)
    for _ in range(_MAX_STEPS):
        room = c - at.beta
        u = V.T @ at.beta
        gap = float(at.beta @ at.below + room @ at.above)
        residual = V @ u + at.b * y - 1.0 - at.below + at.above
        if gap <= tol * max(0.5 * float(u @ u), at.beta.sum()) and np.abs(residual).max() <= tol:
            break
        system = _NewtonSystem(V, y, at, room, residual)
        predictor = system.step(0.0, 0.0)
        mu = gap / (2 * n)
        t = _longest(at, predictor, room)
        ahead = at.step(predictor, t)
        left = float(ahead.beta @ ahead.below + (c - ahead.beta) @ ahead.above) / (2 * n)
        target = mu * (left / mu) ** 3
        # The corrector accounts for the second-order terms of the products that the predictor ignores.
        step = system.step(target - predictor.beta * predictor.below, target + predictor.beta * predictor.above)
        ahead = at.step(step, min(1.0, _DAMPING * _longest(at, step, room)))
        if not ahead.is_inside(c):  # no better point within rounding
            break
        at = ahead
    return at.beta


class _NewtonSystem:
    """The Newton equations at a point, factored once."""

    def __init__(self, V: np.ndarray, y: np.ndarray, at: _Point, room: np.ndarray, residual: np.ndarray):
        self.V, self.y, self.at, self.room, self.residual = V, y, at, room, residual
        self.inverse = 1.0 / (at.below / at.beta + at.above / room)
        scaled = V * self.inverse[:, None]
        self.scaled = scaled
        self.factor = dense.cho_factor(np.eye(V.shape[1]) + V.T @ scaled, lower=True, check_finite=False)
        self.solved_y = self._solve(y)

    def _solve(self, r: np.ndarray) -> np.ndarray:
        return self.inverse * r - self.scaled @ dense.cho_solve(self.factor, self.scaled.T @ r, check_finite=False)

    def step(self, below: np.ndarray | float, above: np.ndarray | float) -> _Point:
        """Return the step that makes the products of variables and multipliers `below` and `above`, to first order."""
        at, room = self.at, self.room
        low, high = below / at.beta - at.below, above / room - at.above
        solved = self._solve(-self.residual + low - high)
        db = (self.y @ solved + self.y @ at.beta) / (self.y @ self.solved_y)
        dbeta = solved - db * self.solved_y
        return _Point(dbeta, float(db), low - at.below / at.beta * dbeta, high + at.above / room * dbeta)


def _longest(at: _Point, d: _Point, room: np.ndarray) -> float:
    """Return the longest step, at most one, that keeps all variables and multipliers positive."""
    longest = 1.0
    for value, change in ((at.beta, d.beta), (room, -d.beta), (at.below, d.below), (at.above, d.above)):
        shrinks = change < 0
        if shrinks.any():
            longest = min(longest, float(np.min(-value[shrinks] / change[shrinks])))
    return longest
