"""Minimization of smooth convex functions over the l1 ball: projected gradients, Frank-Wolfe, and their gap.

An objective provides `value(w)`, `gradient(w)` and `curvature(v)`, a bound of v' H v for the Hessian H anywhere. The
Frank-Wolfe gap

    g(w) = max over ||s||_1 <= radius of <gradient(w), w - s> = <gradient(w), w> + radius ||gradient(w)||_inf

is never below value(w) - min value (Jaggi 2013).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.linear.losses import Logistic


def project_l1(v: np.ndarray, radius: float) -> np.ndarray:
    """Return the projection onto the ball ||w||_1 <= radius: soft thresholding (Duchi et al. 2008).

    >>> project_l1(np.array([3.0, -1.0, 0.5]), 2.0)
    array([ 2., -0.,  0.])
    """
    size = np.abs(v)
    if size.sum() <= radius:
        return v.copy()
    decreasing = np.sort(size)[::-1]
    thresholds = (np.cumsum(decreasing) - radius) / np.arange(1, len(v) + 1)
    above = np.flatnonzero(decreasing > thresholds)
    if len(above) == 0:  # the radius is lost to rounding: all of it goes to the largest entries
        largest = size == decreasing[0]
        return np.where(largest, np.sign(v) * radius / largest.sum(), 0.0)
    threshold = thresholds[above[-1]]
    return np.sign(v) * np.maximum(size - threshold, 0.0)


def frank_wolfe_gap(w: np.ndarray, gradient: np.ndarray, radius: float) -> float:
    """Return an upper bound of the value at w above the minimum over the ball."""
    return float(gradient @ w + radius * np.abs(gradient).max(initial=0.0))


def projected_gradient(
    objective: Objective, radius: float, d: int, tolerance: float, max_iter: int
) -> tuple[np.ndarray, list[float]]:
    """Take accelerated projected gradient steps with restarts (Beck and Teboulle 2009; O'Donoghue and Candes 2015)."""
    w = extrapolated = np.zeros(d)
    momentum, bound, gaps = 1.0, None, []
    for _ in range(max_iter):
        gradient = objective.gradient(extrapolated)
        if bound is None:
            bound = max(objective.curvature(gradient) / max(gradient @ gradient, 1e-300), 1e-300)
        while True:
            new = project_l1(extrapolated - gradient / bound, radius)
            step = new - extrapolated
            if objective.curvature(step) <= bound * (step @ step) * (1 + 1e-12) + 1e-300:
                break
            bound *= 2.0
        if gradient @ (new - w) > 0:  # the momentum leads uphill: restart it
            momentum, extrapolated = 1.0, new
        else:
            next_momentum = 0.5 * (1 + np.sqrt(1 + 4 * momentum**2))
            extrapolated = new + (momentum - 1) / next_momentum * (new - w)
            momentum = next_momentum
        w = new
        gaps.append(frank_wolfe_gap(w, objective.gradient(w), radius))
        if gaps[-1] <= tolerance:
            break
    return w, gaps


def frank_wolfe(
    objective: Objective, radius: float, d: int, tolerance: float, max_iter: int
) -> tuple[np.ndarray, list[float]]:
    """Step toward the best vertex +-radius e_j (Frank and Wolfe 1956): t steps use at most t columns.

    With the largest curvature C over the ball, value - min value <= 2 C / (t + 2) after t steps.
    """
    w, gaps = np.zeros(d), []
    for _ in range(max_iter):
        gradient = objective.gradient(w)
        gaps.append(frank_wolfe_gap(w, gradient, radius))
        if gaps[-1] <= tolerance:
            break
        j = int(np.argmax(np.abs(gradient)))
        step = -w
        step[j] -= radius * np.sign(gradient[j])
        curvature = objective.curvature(step)
        w = w + min(1.0, gaps[-1] / curvature if curvature > 0 else 1.0) * step
    return w, gaps


class QuadraticObjective:
    """1/(2n) ||y - X w||^2 from the centered G = X'X, b = X'y and yy = y'y."""

    def __init__(self, G: np.ndarray, b: np.ndarray, yy: float, n: float):
        self.G, self.b, self.yy, self.n = G, b, yy, n

    def value(self, w: np.ndarray) -> float:
        return (self.yy - w @ (2 * self.b - self.G @ w)) / (2 * self.n)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        return (self.G @ w - self.b) / self.n

    def curvature(self, v: np.ndarray) -> float:
        return float(v @ (self.G @ v)) / self.n


class LogisticObjective:
    """1/n sum of weight_i log(1 + e^(-sign_i f_i)), f = X w + c at its best c, for centered columns X."""

    def __init__(self, X: Any, mean: np.ndarray, sign: np.ndarray, weight: np.ndarray):
        self.X, self.mean, self.sign, self.weight = X, mean, sign, weight
        self.n, self.intercept = weight.sum(), 0.0

    def _scores(self, w: np.ndarray) -> np.ndarray:
        used = np.flatnonzero(w)
        return np.asarray(self.X[:, used] @ w[used]) - self.mean[used] @ w[used]

    def _at_best_intercept(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        score, c = self._scores(w), self.intercept
        for _ in range(100):
            p = 0.5 * (1 + np.tanh(-0.5 * self.sign * (score + c)))  # of the wrong class
            gradient = -(self.weight * self.sign) @ p
            hessian = self.weight @ (p * (1 - p))
            change = np.clip(-gradient / max(hessian, 1e-12 * self.n), -4.0, 4.0)
            c += change
            if abs(gradient) <= 1e-15 * self.n or abs(change) <= 1e-15 * max(1.0, abs(c)):
                break
        self.intercept = c
        return score + c, p

    def value(self, w: np.ndarray) -> float:
        score, _ = self._at_best_intercept(w)
        return self.weight @ Logistic().value(self.sign, score) / self.n

    def gradient(self, w: np.ndarray) -> np.ndarray:
        _, p = self._at_best_intercept(w)
        pull = -self.weight * self.sign * p
        return (np.asarray(self.X.T @ pull) - self.mean * pull.sum()) / self.n

    def curvature(self, v: np.ndarray) -> float:
        return 0.25 * float(self.weight @ self._scores(v) ** 2) / self.n


Objective = QuadraticObjective | LogisticObjective
