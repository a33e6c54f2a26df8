"""Time within a step: how far a pass has come, and how long a fit will take, measured on a few rows."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer._numeric.block import Block
from mercer.auto.budget.clock import Clock
from mercer.linear.losses import LogLoss
from mercer.linear.optimize.curvature import MAX_COLUMNS
from mercer.source.accumulator import BLOCK_ROWS
from mercer.stats import LossesAt

#: Safety factor on predicted step times.
MARGIN = 1.2
#: Blocks after which the time of a pass is predicted.
_MIN_BLOCKS = 4
#: Rows by which the time of logistic regression is predicted, and rows that its Hessian is computed from.
_PROBE_ROWS, _HESSIAN_ROWS = 1024, 16_384


class TimeUp(Exception):
    """A step cannot be finished in the time that is left."""


class PassTimer:
    """Counts the blocks of a pass over `n_rows` rows; raises `TimeUp` once the pass will not end in time.

    >>> hours = iter([0.0, 0.0, 1.0, 2.0, 3.0, 4.0]).__next__
    >>> timer = PassTimer(Clock(10.0, hours), n_rows=20 * BLOCK_ROWS)
    >>> for _ in range(4):
    ...     timer.block()
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
            predictable = self.done >= min(_MIN_BLOCKS, self.n_blocks)
            if (predictable and self.start + whole > self.clock.budget) or spent > self.clock.budget:
                raise TimeUp


def until(clock: Clock) -> Callable[[], bool]:
    """A callback for a step that can be given up: raises `TimeUp` at the end of the time."""

    def should_stop() -> bool:
        if clock.left() <= 0:
            raise TimeUp
        return False

    return should_stop


@dataclass(frozen=True)
class LogisticTime:
    """Seconds per row of logistic regression: its features, an iteration, and the Hessian."""

    features: float
    step: float
    hessian: float

    @classmethod
    def of(cls, features: Callable[[slice], np.ndarray], n: int, outputs: int, clock: Clock) -> LogisticTime:
        """Measured on a few of the n rows.

        More columns than rows, or than a Hessian may have, are no more than these: weights lie in the space of rows.
        """
        rows = min(n, _PROBE_ROWS)
        times = [clock.spent()]
        Z = features(slice(0, rows))[:, : min(n, MAX_COLUMNS)]
        times.append(clock.spent())
        point = np.zeros((1, Z.shape[1] + 1, outputs))
        LossesAt(LogLoss(), point, np.zeros(Z.shape[1])).of(Block(Z, np.zeros(rows, dtype=np.intp)))
        times.append(clock.spent())
        Z.T @ Z
        times.append(clock.spent())
        return cls(*(np.diff(times) / rows).tolist())

    def seconds(self, n_rows: int, steps: int) -> float:
        """Seconds of a fit of `n_rows` rows that computes its Hessian twice."""
        return n_rows * (self.features + MARGIN * steps * self.step) + 2 * min(n_rows, _HESSIAN_ROWS) * self.hessian

    def steps(self, n_rows: int, left: float, most: int) -> int:
        """Iterations that fit into the time left: at least two, at most `most`.

        >>> model = LogisticTime(0.0, 1e-3, 0.0)
        >>> [model.steps(1000, left, 24) for left in (100.0, 6.1, 0.0)]
        [24, 5, 2]
        """
        ready = self.seconds(n_rows, 0)
        return int(np.clip((left - ready) / max(self.seconds(n_rows, 1) - ready, 1e-12), 2, most))
