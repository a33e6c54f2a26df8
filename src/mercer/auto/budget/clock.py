"""A time budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable


class Clock:
    """A time budget in seconds, None for no limit; `now` reads the time.

    >>> clock = Clock(10.0, now=iter([0.0, 4.0, 4.0]).__next__)
    >>> clock.left(), clock.allows(0.3)
    (6.0, False)
    """

    def __init__(self, budget: float | None = None, now: Callable[[], float] = time.perf_counter):
        self.budget, self.now = budget, now
        self.start = now()

    def spent(self) -> float:
        """Seconds since the start."""
        return self.now() - self.start

    def left(self) -> float:
        """Seconds until the end, infinite without a budget."""
        return math.inf if self.budget is None else self.budget - self.spent()

    def part(self, fraction: float) -> Clock:
        """A clock that started with this one and has a fraction of its time."""
        other = Clock(None if self.budget is None else fraction * self.budget, self.now)
        other.start = self.start
        return other

    def rest(self, fraction: float = 1.0) -> Clock:
        """A clock that starts now and has a fraction of the time that is left."""
        return Clock(None if self.budget is None else fraction * self.left(), self.now)

    def allows(self, fraction: float) -> bool:
        """True while less than this fraction of the budget is spent."""
        return self.budget is None or self.spent() < fraction * self.budget
