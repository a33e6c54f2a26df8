"""Time budgets inside of a step: how far it has come, or how long it will take, by a look at a few rows."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer._numeric.block import Block
from mercer.auto.budget.effort import Clock
from mercer.linear.losses import LogLoss
from mercer.source.accumulator import BLOCK_ROWS
from mercer.stats import LossesAt

#: How much longer a step may take than what was measured before lets expect.
MARGIN = 1.2
#: Blocks that say how long the others will take.
_TELLING = 4
#: Rows that say how long logistic regression takes, and rows that it measures its curvature on.
_FEW, _CURVED = 1024, 16_384


class TimeUp(Exception):
    """What was begun cannot be finished in the time that is left."""


class Passing:
    """Told of each block of a pass over `n_rows` rows; raises `TimeUp` once the pass will not end in time.

    >>> hours = iter([0.0, 0.0, 1.0, 2.0, 3.0, 4.0]).__next__
    >>> passing = Passing(Clock(10.0, hours), n_rows=20 * BLOCK_ROWS)
    >>> for _ in range(4):
    ...     passing.block()
    Traceback (most recent call last):
    ...
    mercer.auto.budget.time_model.TimeUp
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


def until(clock: Clock) -> Callable[[], bool]:
    """Asked inside of a step that has something to fall back on: raises `TimeUp` at the end of the time."""

    def enough() -> bool:
        if clock.left() <= 0:
            raise TimeUp
        return False

    return enough


@dataclass(frozen=True)
class LogisticPace:
    """Seconds that logistic regression takes for each row: its features, a step, and a look at the curvature."""

    features: float
    step: float
    curvature: float

    @classmethod
    def of(cls, features: Callable[[slice], np.ndarray], n: int, outputs: int, clock: Clock) -> LogisticPace:
        """Measured on a few of the n rows."""
        rows = min(n, _FEW)
        times = [clock.spent()]
        Z = features(slice(0, rows))
        times.append(clock.spent())
        point = np.zeros((1, Z.shape[1] + 1, outputs))
        LossesAt(LogLoss(), point, np.zeros(Z.shape[1])).of(Block(Z, np.zeros(rows, dtype=np.intp)))
        times.append(clock.spent())
        Z.T @ Z
        times.append(clock.spent())
        return cls(*(np.diff(times) / rows).tolist())

    def seconds(self, n_rows: int, steps: int) -> float:
        """For a fit of so many rows that looks at its curvature twice."""
        return n_rows * (self.features + MARGIN * steps * self.step) + 2 * min(n_rows, _CURVED) * self.curvature

    def steps(self, n_rows: int, left: float, most: int) -> int:
        """How many of at most so many steps fit into the time left; two in any case.

        >>> pace = LogisticPace(0.0, 1e-3, 0.0)
        >>> [pace.steps(1000, left, 24) for left in (100.0, 6.1, 0.0)]
        [24, 5, 2]
        """
        ready = self.seconds(n_rows, 0)
        return int(np.clip((left - ready) / max(self.seconds(n_rows, 1) - ready, 1e-12), 2, most))
