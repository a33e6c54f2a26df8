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
        self.start, self._cpu_start = now(), time.process_time()

    def spent(self) -> float:
        """Seconds since the start."""
        return self.now() - self.start

    def left(self) -> float:
        """Seconds until the end, infinite without a budget."""
        return math.inf if self.budget is None else self.budget - self.spent()

    def contention(self) -> float:
        """Wall time per second of CPU time since the start, from 1 to 8: how much other processes slow this one down.

        >>> Clock(10.0, now=lambda: 0.0).contention()
        1.0
        """
        cpu = time.process_time() - self._cpu_start
        return min(max(self.spent() / max(cpu, 1e-3), 1.0), 8.0) if self.spent() > 0.1 else 1.0

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
