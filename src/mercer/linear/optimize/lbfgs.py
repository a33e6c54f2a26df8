"""Limited-memory quasi-Newton steps from a preconditioner (Nocedal 1980), as a dialogue.

The minimizer is a generator: it yields a point and is sent the value and gradient there. So many problems advance side
by side on one pass over the data, and the minimizer knows nothing about data.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

_MEMORY = 12
_ENOUGH = 1e-4  # of the decrease that the slope promised (Armijo)
_FLATTER = 0.9  # of the slope, where values no longer tell the points apart
_SHORTEST = 1e-10

Dialogue = Generator[np.ndarray, tuple[float, np.ndarray], "Minimum"]


@dataclass
class Minimum:
    """Where a dialogue ended. `stalled`: no point along the last direction was better, beyond rounding."""

    x: np.ndarray
    value: float
    norm: float
    n_iter: int
    converged: bool
    stalled: bool = False


def minimize(x, solve: Callable, norm: Callable, least: float, max_iter: int, rounding: float) -> Dialogue:
    """Minimize a smooth convex function from x, with `solve`, an approximate inverse Hessian.

    Stops where `norm(gradient) <= least`. `rounding` is the relative error of the values.
    """
    value, gradient = yield x
    memory: deque = deque(maxlen=_MEMORY)
    for n_iter in range(max_iter):
        size = norm(gradient)
        if size <= least:
            return Minimum(x, value, size, n_iter, True)
        direction = -_times_inverse(gradient, memory, solve)
        step = yield from _line_search(x, value, gradient, direction, rounding)
        if step is None:
            return Minimum(x, value, size, n_iter, False, stalled=True)
        moved, value, new_gradient = step
        s, y = moved - x, new_gradient - gradient
        if np.vdot(s, y) > np.finfo(float).eps * np.vdot(y, y):
            memory.append((s, y))
        x, gradient = moved, new_gradient
    size = norm(gradient)
    return Minimum(x, value, size, max_iter, size <= least)


def _times_inverse(gradient, memory, solve):
    """The two loops: the inverse Hessian that the last steps saw, times the gradient."""
    q, shares = gradient, []
    for s, y in reversed(memory):
        share = np.vdot(s, q) / np.vdot(s, y)
        shares.append(share)
        q = q - share * y
    q = solve(q)
    if memory:
        s, y = memory[-1]
        q = q * (np.vdot(s, y) / np.vdot(y, solve(y)))
    for (s, y), share in zip(memory, reversed(shares), strict=True):
        q = q + s * (share - np.vdot(y, q) / np.vdot(s, y))
    return q


def _line_search(x, value, gradient, direction, rounding):
    """The first point of a shrinking step that is good enough, with value and gradient; None if there is none."""
    slope = np.vdot(gradient, direction)
    t = 1.0
    while slope < 0 and t > _SHORTEST:
        moved = x + t * direction
        new_value, new_gradient = yield moved
        new_slope = np.vdot(new_gradient, direction)
        decreased = new_value <= value + _ENOUGH * t * slope
        level = new_value <= value + rounding * abs(value) and abs(new_slope) <= _FLATTER * -slope
        if decreased or level:
            return moved, new_value, new_gradient
        t *= _shorter(t, value, new_value, slope)
    return None


def _shorter(t, value, new_value, slope):
    """Where the parabola through both values and the slope has its minimum, as a share of t, within reason."""
    bend = new_value - value - t * slope
    return min(max(-t * slope / (2 * bend), 0.1), 0.5) if np.isfinite(bend) and bend > 0 else 0.5


def side_by_side(dialogues: list[Dialogue], answer: Callable) -> list[Minimum]:
    """Carry several dialogues to their ends; `answer(points)` is told {place: point} of all that wait for one."""
    points = {place: next(dialogue) for place, dialogue in enumerate(dialogues)}
    ends: dict[int, Minimum] = {}
    while points:
        answers = answer(points)
        asking = {}
        for place in points:
            try:
                asking[place] = dialogues[place].send(answers[place])
            except StopIteration as end:
                ends[place] = end.value
        points = asking
    return [ends[place] for place in range(len(dialogues))]
