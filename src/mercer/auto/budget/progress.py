"""What is being done, told as it starts, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import contextmanager


class Steps:
    """A log of named steps with their seconds.

    >>> steps = Steps()
    >>> with steps("think"):
    ...     pass
    >>> [name for name, seconds in steps.log]
    ['think']
    """

    def __init__(self, tell: Callable[[str], None] | None = None):
        self.tell = tell
        self.log: list[tuple[str, float]] = []

    @contextmanager
    def __call__(self, name: str):
        if self.tell is not None:
            self.tell(name)
        start = time.perf_counter()
        yield
        self.log.append((name, time.perf_counter() - start))

    def seconds(self) -> float:
        """All steps together."""
        return sum(seconds for _, seconds in self.log)
