"""Preconditioned L-BFGS (Nocedal 1980) with an ask/tell interface.

The minimizer is a generator: it yields a point and is sent the value and gradient there. So several problems share each
pass over the data, and the minimizer knows nothing about data.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

_MEMORY = 12
_ARMIJO = 1e-4  # sufficient decrease, as a fraction of the one that the directional derivative predicts
_WOLFE = 0.9  # curvature condition, where values are equal up to rounding
_MIN_STEP = 1e-10

#: Yields points, is sent their values and gradients, and returns the minimum.
Minimizer = Generator[np.ndarray, tuple[float, np.ndarray], "Minimum"]


@dataclass
class Minimum:
    """The last point of a minimizer. `stalled`: no point along the last direction was better, beyond rounding."""

    x: np.ndarray
    value: float
    norm: float
    n_iter: int
    converged: bool
    stalled: bool = False


def minimize(
    x: np.ndarray,
    solve: Callable[[np.ndarray], np.ndarray],
    norm: Callable[[np.ndarray], float],
    tol: float,
    max_iter: int,
    rounding: float,
) -> Minimizer:
    """Minimize a smooth convex function from x, with `solve`, an approximate inverse Hessian.

    Stops where `norm(gradient) <= tol`. `rounding` is the relative error of the values.
    """
    value, gradient = yield x
    memory: deque = deque(maxlen=_MEMORY)
    for n_iter in range(max_iter):
        size = norm(gradient)
        if size <= tol:
            return Minimum(x, value, size, n_iter, True)
        direction = -_inverse_hessian_product(gradient, memory, solve)
        step = yield from _line_search(x, value, gradient, direction, rounding)
        if step is None:
            return Minimum(x, value, size, n_iter, False, stalled=True)
        new_x, value, new_gradient = step
        s, y = new_x - x, new_gradient - gradient
        if np.vdot(s, y) > np.finfo(float).eps * np.vdot(y, y):
            memory.append((s, y))
        x, gradient = new_x, new_gradient
    size = norm(gradient)
    return Minimum(x, value, size, max_iter, size <= tol)


def _inverse_hessian_product(gradient: np.ndarray, memory: deque, solve: Callable) -> np.ndarray:
    """Multiply the gradient by the quasi-Newton inverse Hessian: the two-loop recursion."""
    q, factors = gradient, []
    for s, y in reversed(memory):
        factor = np.vdot(s, q) / np.vdot(s, y)
        factors.append(factor)
        q = q - factor * y
    q = solve(q)
    if memory:
        s, y = memory[-1]
        q = q * (np.vdot(s, y) / np.vdot(y, solve(y)))
    for (s, y), factor in zip(memory, reversed(factors), strict=True):
        q = q + s * (factor - np.vdot(y, q) / np.vdot(s, y))
    return q


def _line_search(
    x: np.ndarray, value: float, gradient: np.ndarray, direction: np.ndarray, rounding: float
) -> Generator[np.ndarray, tuple[float, np.ndarray], tuple[np.ndarray, float, np.ndarray] | None]:
    """Shrink the step until it is accepted; return the point with value and gradient, None if none is."""
    slope = np.vdot(gradient, direction)
    t = 1.0
    while slope < 0 and t > _MIN_STEP:
        trial = x + t * direction
        new_value, new_gradient = yield trial
        new_slope = np.vdot(new_gradient, direction)
        decreased = new_value <= value + _ARMIJO * t * slope
        level = new_value <= value + rounding * abs(value) and abs(new_slope) <= _WOLFE * -slope
        if decreased or level:
            return trial, new_value, new_gradient
        t *= _shrinkage(t, value, new_value, slope)
    return None


def _shrinkage(t: float, value: float, new_value: float, slope: float) -> float:
    """Return the minimum of the parabola through both values and the slope, as a fraction of t in [0.1, 0.5]."""
    curvature = new_value - value - t * slope
    return min(max(-t * slope / (2 * curvature), 0.1), 0.5) if np.isfinite(curvature) and curvature > 0 else 0.5


def minimize_together(minimizers: list[Minimizer], evaluate: Callable) -> list[Minimum]:
    """Run several minimizers to their ends; `evaluate` maps {index: point} of those that wait to {index: answer}."""
    points = {index: next(minimizer) for index, minimizer in enumerate(minimizers)}
    ends: dict[int, Minimum] = {}
    while points:
        answers = evaluate(points)
        waiting = {}
        for index in points:
            try:
                waiting[index] = minimizers[index].send(answers[index])
            except StopIteration as end:
                ends[index] = end.value
        points = waiting
    return [ends[index] for index in range(len(minimizers))]
