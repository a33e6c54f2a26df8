"""Smooth convex functions on the l1 ball: projected steps, Frank-Wolfe steps, and the gap that certifies both.

A problem answers `value(w)`, `gradient(w)` and `curvature(v)`, a bound of v' H v for the Hessian H anywhere. The gap

    g(w) = max over ||s||_1 <= radius of <gradient(w), w - s> = <gradient(w), w> + radius ||gradient(w)||_inf

is never below value(w) - min value (Jaggi 2013).
"""

from __future__ import annotations

import numpy as np


def project_l1(v, radius) -> np.ndarray:
    """The nearest point of the ball ||w||_1 <= radius: soft thresholding at the level that fits (Duchi et al. 2008).

    >>> project_l1(np.array([3.0, -1.0, 0.5]), 2.0)
    array([ 2., -0.,  0.])
    """
    size = np.abs(v)
    if size.sum() <= radius:
        return v.copy()
    falling = np.sort(size)[::-1]
    level = (np.cumsum(falling) - radius) / np.arange(1, len(v) + 1)
    level = level[np.flatnonzero(falling > level)[-1]]
    return np.sign(v) * np.maximum(size - level, 0.0)


def gap_of(w, gradient, radius) -> float:
    """How far, at most, the value at w is above the least on the ball."""
    return float(gradient @ w + radius * np.abs(gradient).max(initial=0.0))


def projected_descent(problem, radius, d, tolerance, max_iter) -> tuple[np.ndarray, list[float]]:
    """Accelerated projected gradient steps with restarts (Beck and Teboulle 2009; O'Donoghue and Candes 2015)."""
    w = ahead = np.zeros(d)
    momentum, bound, gaps = 1.0, None, []
    for _ in range(max_iter):
        gradient = problem.gradient(ahead)
        if bound is None:
            bound = max(problem.curvature(gradient) / max(gradient @ gradient, 1e-300), 1e-300)
        while True:
            moved = project_l1(ahead - gradient / bound, radius)
            step = moved - ahead
            if problem.curvature(step) <= bound * (step @ step) * (1 + 1e-12) + 1e-300:
                break
            bound *= 2.0
        if gradient @ (moved - w) > 0:  # momentum leads uphill: start it again
            momentum, ahead = 1.0, moved
        else:
            faster = 0.5 * (1 + np.sqrt(1 + 4 * momentum**2))
            ahead = moved + (momentum - 1) / faster * (moved - w)
            momentum = faster
        w = moved
        gaps.append(gap_of(w, problem.gradient(w), radius))
        if gaps[-1] <= tolerance:
            break
    return w, gaps


def frank_wolfe(problem, radius, d, tolerance, max_iter) -> tuple[np.ndarray, list[float]]:
    """Steps toward the best corner +-radius e_j (Frank and Wolfe 1956): t steps use at most t columns.

    With the largest curvature C over the ball, value - least value <= 2 C / (t + 2) after t steps.
    """
    w, gaps = np.zeros(d), []
    for _ in range(max_iter):
        gradient = problem.gradient(w)
        gaps.append(gap_of(w, gradient, radius))
        if gaps[-1] <= tolerance:
            break
        j = int(np.argmax(np.abs(gradient)))
        step = -w
        step[j] -= radius * np.sign(gradient[j])
        bend = problem.curvature(step)
        w = w + min(1.0, gaps[-1] / bend if bend > 0 else 1.0) * step
    return w, gaps


class QuadraticProblem:
    """1/(2n) ||y - X w||^2 from the centered G = X'X, b = X'y and yy = y'y."""

    def __init__(self, G, b, yy, n):
        self.G, self.b, self.yy, self.n = G, b, yy, n

    def value(self, w):
        return (self.yy - w @ (2 * self.b - self.G @ w)) / (2 * self.n)

    def gradient(self, w):
        return (self.G @ w - self.b) / self.n

    def curvature(self, v):
        return float(v @ (self.G @ v)) / self.n


class LogisticProblem:
    """1/n sum of weight_i log(1 + e^(-sign_i f_i)), f = X w + c at its best c, for centered columns X."""

    def __init__(self, X, mean, sign, weight):
        self.X, self.mean, self.sign, self.weight = X, mean, sign, weight
        self.n, self.offset = weight.sum(), 0.0

    def _scores(self, w):
        used = np.flatnonzero(w)
        return np.asarray(self.X[:, used] @ w[used]) - self.mean[used] @ w[used]

    def _at_best_offset(self, w):
        score, c = self._scores(w), self.offset
        for _ in range(100):
            p = 0.5 * (1 + np.tanh(-0.5 * self.sign * (score + c)))  # of the wrong class
            slope = -(self.weight * self.sign) @ p
            bend = self.weight @ (p * (1 - p))
            change = np.clip(-slope / max(bend, 1e-12 * self.n), -4.0, 4.0)
            c += change
            if abs(slope) <= 1e-15 * self.n or abs(change) <= 1e-15 * max(1.0, abs(c)):
                break
        self.offset = c
        return score + c, p

    def value(self, w):
        score, _ = self._at_best_offset(w)
        return self.weight @ np.logaddexp(0, -self.sign * score) / self.n

    def gradient(self, w):
        _, p = self._at_best_offset(w)
        pull = -self.weight * self.sign * p
        return (np.asarray(self.X.T @ pull) - self.mean * pull.sum()) / self.n

    def curvature(self, v):
        return 0.25 * float(self.weight @ self._scores(v) ** 2) / self.n
