"""Progress on standard error; silent if quiet or not on a terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress_bar import ProgressBar
from rich.text import Text

from mercer.auto.budget.progress import StepMessage

#: Below this fraction the time left is not estimated.
_MIN_FRACTION = 0.05
#: Columns of the terminal that the texts of a step take, and from which on the time left and the score are shown.
_TEXT_WIDTH, _MIN_WIDTH = 70, 78


class StepClock:
    """The fraction done and the seconds left of a fit, from the steps so far and their times.

    Within a step the fraction approaches that of the step's end, at the speed of the steps before: it never falls, and
    never reaches the end before the step does.
    """

    def __init__(self, budget: float | None = None):
        self.budget = budget
        self.message: str = ""
        self._began: float | None = None
        self._started = self._reached = 0.0

    def start(self, message: str, elapsed: float) -> None:
        """A step starts, so many seconds after the first one was shown."""
        self._began = elapsed if self._began is None else self._began
        self._reached = self.fraction(elapsed)  # a step that is not in the table goes on from here
        self._started, self.message = elapsed, message

    def fraction(self, elapsed: float) -> float:
        """The fraction done, from 0 to 1."""
        if not isinstance(self.message, StepMessage):
            return self._reached
        start, end = max(self._reached, self.message.fraction), self.message.end
        before = self._started - (self._began or 0.0)
        expected = before * (end - start) / start if start > 0 and before > 0 else 1.0
        return start + (end - start) * (1 - math.exp(-(elapsed - self._started) / max(expected, 1e-3)))

    def seconds_left(self, elapsed: float) -> float | None:
        """Estimated seconds to the end, bounded by the time budget; None while nothing is known."""
        fraction, spent = self.fraction(elapsed), elapsed - (self._began or 0.0)
        estimates = [spent * (1 / fraction - 1)] if fraction >= _MIN_FRACTION else []
        estimates += [] if self.budget is None else [self.budget - elapsed]
        return max(0.0, min(estimates)) if estimates else None

    @property
    def known(self) -> bool:
        """Whether the fraction done is known."""
        return isinstance(self.message, StepMessage) or self._reached > 0

    @property
    def score(self) -> str:
        """The best cross-validated score so far, in words: R2, or the loss as a fraction of the naive guess's.

        >>> from mercer.auto import Steps
        >>> clock, steps = StepClock(), Steps()
        >>> clock.start(StepMessage.of(steps, "trees"), 0.0)
        >>> steps.record_loss(0.125, "regression")
        >>> clock.score
        'R² 0.875'
        """
        message = self.message
        if not isinstance(message, StepMessage) or message.best_loss is None:
            return ""
        if message.task == "regression":
            return f"R² {1 - message.best_loss:.3f}"
        return f"loss {message.best_loss:.2f} of naive"


@contextmanager
def step_progress(title: str, quiet: bool, budget: float | None = None) -> Iterator[Callable[[str], None]]:
    """The current step with the fraction done, time elapsed and left, and the best score so far.

    It is advanced by calls with the name of the next step: a `StepMessage` of a fit, or a plain text, of which no more
    is known. `budget` is the maximum number of seconds.
    """
    clock = StepClock(budget)
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<26}"),
        _StepBar(console.width - _TEXT_WIDTH),
        _TimesAndScore(console.width),
    )
    with _bars(quiet, *columns, console=console) as bars:
        task = bars.add_task(f"{title}: reading", total=None, clock=clock)

        def announce(name: str) -> None:
            clock.start(name, bars.tasks[0].elapsed or 0.0)
            bars.update(task, description=name if isinstance(name, StepMessage) else f"{title}: {name}")

        yield announce


@contextmanager
def row_progress(title: str, total: int | None, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A progress bar over rows with elapsed and remaining time, advanced by calls with a number of rows."""
    columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn())
    with _bars(quiet, *columns, TimeRemainingColumn()) as bars:
        task = bars.add_task(title, total=total)
        yield lambda done: bars.advance(task, done)


def _bars(quiet: bool, *columns: ProgressColumn, console: Console | None = None) -> Progress:
    console = console or Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)


class _StepBar(ProgressColumn):
    """A bar and the percentage done; a moving bar while nothing is known."""

    def __init__(self, width: int):
        self.width = min(max(width, 6), 24)
        super().__init__()

    def render(self, task: Task) -> ProgressBar:
        clock = task.fields["clock"]
        done = clock.fraction(task.elapsed or 0.0)
        return ProgressBar(1.0, done, width=self.width, pulse=not clock.known, animation_time=task.get_time())


class _TimesAndScore(ProgressColumn):
    """Percentage done, seconds elapsed and left, and the best score so far; what a narrow terminal has room for."""

    def __init__(self, width: int):
        self.width = width
        super().__init__()

    def render(self, task: Task) -> Text:
        clock, elapsed = task.fields["clock"], task.elapsed or 0.0
        parts = [f"{clock.fraction(elapsed):4.0%}"] if clock.known else []
        parts.append(duration(elapsed))
        left = clock.seconds_left(elapsed)
        if self.width >= _MIN_WIDTH:
            parts += [] if left is None else [f"{duration(left)} left"]
            parts += [clock.score] if clock.score else []
        return Text("  ".join(parts), style="progress.remaining", no_wrap=True)


def duration(seconds: float) -> str:
    """A time in the unit that suits it: seconds, minutes:seconds, or hours:minutes.

    >>> duration(7.2), duration(95), duration(4000)
    ('7 s', '1:35', '1:06 h')
    """
    if round(seconds) < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"
