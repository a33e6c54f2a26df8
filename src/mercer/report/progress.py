"""Progress on standard error; silent if quiet or not on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from mercer.auto.budget.progress import MESSAGES

#: Fraction of a fit that is done when a step starts, on tables of thousands of rows.
_DONE_BEFORE = {
    MESSAGES[step]: fraction
    for step, fraction in {
        "kernels": 0.2,
        "metric": 0.27,
        "fourier": 0.5,
        "final": 0.78,
        "holdout": 0.82,
        "refit": 0.86,
    }.items()
}


@contextmanager
def counted_progress(title: str, quiet: bool) -> Iterator[Callable[[str, int], None]]:
    """A progress bar, advanced by calls with the name of the next step and the total number of steps."""
    columns = (TextColumn("{task.description:<46}"), BarColumn(20), MofNCompleteColumn())
    with _bars(quiet, *columns) as bars:
        task, done = bars.add_task(f"{title}: loading", total=None), count()
        yield lambda name, total: bars.update(task, description=f"{title}: {name}", completed=next(done), total=total)


@contextmanager
def step_progress(title: str, quiet: bool, budget: float | None = None) -> Iterator[Callable[[str], None]]:
    """The current step with elapsed and estimated remaining time, advanced by calls with the name of the next step.

    `budget` is the maximum number of seconds.
    """
    columns = (SpinnerColumn(), TextColumn("{task.description:<44}"), TimeElapsedColumn(), _RemainingTime())
    with _bars(quiet, *columns) as bars:
        task = bars.add_task(f"{title}: reading", total=None, began=None, budget=budget, ends=None)

        def announce(name: str) -> None:
            elapsed, known = bars.tasks[0].elapsed or 0.0, bars.tasks[0].fields
            began = elapsed if known["began"] is None else known["began"]
            ends = began + (elapsed - began) / _DONE_BEFORE[name] if name in _DONE_BEFORE else known["ends"]
            bars.update(task, description=f"{title}: {name}", began=began, ends=ends)

        yield announce


@contextmanager
def row_progress(title: str, total: int | None, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A progress bar over rows with elapsed and remaining time, advanced by calls with a number of rows."""
    columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn())
    with _bars(quiet, *columns, TimeRemainingColumn()) as bars:
        task = bars.add_task(title, total=total)
        yield lambda done: bars.advance(task, done)


def _bars(quiet: bool, *columns: ProgressColumn) -> Progress:
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)


class _RemainingTime(ProgressColumn):
    """The remaining time, estimated from the steps so far and bounded by the time budget."""

    def render(self, task: Task) -> Text:
        ends = [end for end in (task.fields["ends"], task.fields["budget"]) if end is not None]
        if not ends:
            return Text("")
        return Text(f"about {max(0.0, min(ends) - (task.elapsed or 0.0)):.0f} s left", style="progress.remaining")
