"""Progress of a fit: which step runs, how much is done, how long each step took, and the best loss so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

#: What is shown as a step starts, by the id of the step. Other ids are shown as they are.
MESSAGES = {
    "probe": "timing probe",
    "roles": "roles of the columns",
    "linear": "linear model of all rows",
    "encode": "encode columns",
    "trees": "boosted trees, out of fold",
    "selected": "selected columns",
    "products": "products of pairs",
    "derived": "ratios, and deviations within categories",
    "kernels": "kernels and bandwidths",
    "metric": "learned metric",
    "fourier": "number of random features",
    "landmarks": "landmarks instead of random features",
    "kernel score": "score of kernel ridge regression",
    "terms": "penalty of text terms",
    "final": "final weights",
    "all rows": "weights from all rows",
    "holdout": "evaluate on the holdout",
    "diagnostics": "diagnostics for the report",
    "refit": "refit on all rows",
}
#: Fraction of a fit that is done when a step starts, as measured on tables of hundreds to tens of thousands of rows.
DONE_BEFORE = {
    "encode": 0.01,
    "trees": 0.02,
    "selected": 0.08,
    "products": 0.1,
    "derived": 0.12,
    "kernels": 0.13,
    "metric": 0.3,
    "terms": 0.3,
    "fourier": 0.42,
    "landmarks": 0.52,
    "kernel score": 0.55,
    "final": 0.58,
    "holdout": 0.64,
    "diagnostics": 0.66,
    "refit": 0.85,
    "all rows": 0.95,
}


class StepMessage(str):
    """The message of a step that starts, with what a progress bar needs beside it.

    step : the id of the step
    fraction : part of the fit that was done before the step, from 0 to 1; it never falls
    end : part that is done after the step, as far as steps are known
    best_loss : the lowest cross-validated loss of the search at the time of reading, None before the first: see `Steps`
    task : "classification" or "regression", None while `best_loss` is
    """

    step: str
    fraction: float
    end: float
    _steps: Steps

    @classmethod
    def of(cls, steps: Steps, step: str) -> Self:
        """The message of a step of a log."""
        message = cls(MESSAGES.get(step, step))
        message.step, message.fraction, message._steps = step, steps.fraction, steps
        message.end = min((after for after in DONE_BEFORE.values() if after > message.fraction), default=1.0)
        return message

    @property
    def best_loss(self) -> float | None:
        return self._steps.best_loss

    @property
    def task(self) -> str | None:
        return self._steps.task


class Steps:
    """A log of steps by their ids, with their seconds; `show` is called with a `StepMessage` as each starts.

    `fraction` is the part of a fit that is done, and `best_loss` the lowest cross-validated loss of the candidates
    that were kept, as a fraction of the variance of the target (of the class indicators, for classes).

    >>> steps = Steps(lambda message: print(message, message.fraction > 0))
    >>> with steps("trees"):
    ...     pass
    boosted trees, out of fold True
    >>> [name for name, seconds in steps.log]
    ['trees']
    """

    def __init__(self, show: Callable[[str], None] | None = None):
        self.show = show
        self.log: list[tuple[str, float]] = []
        self.fraction = 0.0
        self.best_loss: float | None = None
        self.task: str | None = None

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        self.fraction = max(self.fraction, DONE_BEFORE.get(step, 0.0))
        if self.show is not None:
            self.show(StepMessage.of(self, step))
        start = time.perf_counter()
        yield
        self.log.append((step, time.perf_counter() - start))

    def record_loss(self, loss: float, task: str) -> None:
        """Record the loss of a candidate that was kept.

        >>> steps = Steps()
        >>> for loss in (0.5, 0.2, 0.3):
        ...     steps.record_loss(loss, "regression")
        >>> steps.best_loss
        0.2
        """
        self.task = task
        self.best_loss = loss if self.best_loss is None else min(loss, self.best_loss)

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
