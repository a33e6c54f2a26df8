"""Time budgets inside of a pass: how far it has come, and whether it will be through in time."""

from __future__ import annotations

import threading

from mercer.auto.effort import Clock
from mercer.source.accumulator import BLOCK_ROWS

#: How much longer a step may take than what was measured before lets expect.
MARGIN = 1.2
#: Blocks that say how long the others will take.
_TELLING = 4


class TimeUp(Exception):  # noqa: N818 - no error: it ends a step that has something to fall back on
    """What was begun cannot be finished in the time that is left."""


class Passing:
    """Told of each block of a pass over `n_rows` rows; raises `TimeUp` once the pass will not end in time.

    >>> hours = iter([0.0, 0.0, 1.0, 2.0, 3.0, 4.0]).__next__
    >>> passing = Passing(Clock(10.0, hours), n_rows=20 * BLOCK_ROWS)
    >>> for _ in range(4):
    ...     passing.block()
    Traceback (most recent call last):
    ...
    mercer.auto.pace.TimeUp
    """

    def __init__(self, clock: Clock, n_rows: int):
        self.clock, self.n_blocks = clock, max(1, -(-n_rows // BLOCK_ROWS))
        self.start, self.done = clock.spent(), 0
        self._lock = threading.Lock()

    def block(self) -> None:
        """One more block is done."""
        if self.clock.budget is None:
            return
        with self._lock:
            self.done += 1
            spent = self.clock.spent()
            whole = (spent - self.start) * max(1.0, self.n_blocks / self.done)
            late = self.done >= min(_TELLING, self.n_blocks) and self.start + whole > self.clock.budget
            if late or spent > self.clock.budget:
                raise TimeUp
