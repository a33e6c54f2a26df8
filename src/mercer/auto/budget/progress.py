"""Progress of a fit: which step runs, and how long each took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: What is shown as a step starts, by the id of the step. Other ids are shown as they are.
MESSAGES = {
    "probe": "timing probe",
    "encode": "encode columns",
    "trees": "boosted trees, out of fold",
    "selected": "selected columns",
    "products": "products of pairs",
    "kernels": "kernels and bandwidths",
    "metric": "learned metric",
    "fourier": "number of random features",
    "terms": "penalty of text terms",
    "final": "final weights",
    "all rows": "weights from all rows",
    "holdout": "evaluate on the holdout",
    "refit": "refit on all rows",
}


class Steps:
    """A log of steps by their ids, with their seconds; `show` is called with a message as each starts.

    >>> steps = Steps()
    >>> with steps("trees"):
    ...     pass
    >>> [name for name, seconds in steps.log]
    ['trees']
    """

    def __init__(self, show: Callable[[str], None] | None = None):
        self.show = show
        self.log: list[tuple[str, float]] = []

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        if self.show is not None:
            self.show(MESSAGES.get(step, step))
        start = time.perf_counter()
        yield
        self.log.append((step, time.perf_counter() - start))

    def seconds(self) -> float:
        """All steps together."""
        return sum(seconds for _, seconds in self.log)

    def seconds_of(self, fractions: dict[str, float]) -> float:
        """The seconds of some steps, each times a fraction.

        >>> steps = Steps()
        >>> steps.log = [("encode", 2.0), ("read", 1.0)]
        >>> steps.seconds_of({"encode": 0.5})
        1.0
        """
        return sum(fractions.get(step, 0.0) * seconds for step, seconds in self.log)
