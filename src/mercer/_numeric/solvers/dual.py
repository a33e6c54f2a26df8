"""Greedy coordinate ascent on the dual of the hinge loss, without intercept.

    maximize  sum_i b_i - (1/4 alpha) sum_ij b_i b_j y_i y_j Q_ij   over 0 <= b_i <= upper_i

is the dual of: minimize sum_i upper_i max(0, 1 - y_i f_i) + alpha f' Q^{-1} f, with f = Q (b y) / (2 alpha). Each step
updates the coordinate of the largest gain (second-order working set selection, Fan, Chen and Lin 2005, one at a time).
"""

from __future__ import annotations

import numpy as np

__all__ = ["hinge_ascent"]

#: Replaces the reciprocal of a curvature that is not positive: the step then ends at a bound.
_HUGE = 1e30


def hinge_ascent(
    Q: np.ndarray,
    y: np.ndarray,
    upper: np.ndarray,
    alpha: float,
    beta: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_steps: int,
) -> tuple[int, float]:
    """Improve beta and f in place until the duality gap is at most tolerance times the primal value.

    Q : (n, n) float32 or float64, symmetric, C order; y : +-1; f must be Q (beta y) / (2 alpha). Returns the number of
    steps and the gap. The gap is evaluated every n / 20 steps.
    """
    n = len(y)
    curvature = Q.diagonal().astype(np.float64) / (2.0 * alpha)
    inverse = np.where(curvature > 0, 1.0 / np.maximum(curvature, 1.0 / _HUGE), _HUGE)
    steps = 0
    while True:
        for _ in range(min(max(n // 20, 50), max_steps - steps)):
            gradient = 1.0 - y * f
            change = np.clip(beta + gradient * inverse, 0.0, upper) - beta
            gain = change * (gradient - 0.5 * curvature * change)
            i = int(np.argmax(gain))
            if not gain[i] > 0:
                break
            beta[i] += change[i]
            f += (change[i] * y[i] / (2.0 * alpha)) * Q[i]
            steps += 1
        loss = float(np.sum(upper * np.maximum(0.0, 1.0 - y * f)))
        penalty = 0.5 * float(np.sum(beta * y * f))
        gap = loss + 2.0 * penalty - float(np.sum(beta))
        if gap <= tolerance * (loss + penalty) or steps >= max_steps or not gain[i] > 0:
            return steps, gap
