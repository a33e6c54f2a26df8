"""Folds and values that are recorded while they are computed, so that an interrupted program can continue.

The recorder of `recording` is asked for a record of each fold over rows that are not in memory. A record holds the
states of complete subtrees, whose positions depend on the data alone: a fold that continues from them has the same bits
as one that was never interrupted. `mercer.io.checkpoint` keeps records in a folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

#: Complete subtrees of a fold, each with its level (see `mercer.source.accumulator`).
Subtrees = list[tuple[int, Any]]


class FoldRecord:
    """The record of a fold that is not recorded; recorders derive theirs from it."""

    def restored(self) -> tuple[int, Subtrees]:
        """The number of rows whose states are known, and these states."""
        return 0, []

    def part_done(self, rows: int, subtrees: Subtrees) -> None:
        """Note that the states of the first `rows` rows are these; remote ones have a method `result`."""

    def finished(self, rows: int, subtrees: Subtrees) -> None:
        """Note that the fold is complete."""


class Recorder(Protocol):
    """Keeps the states of folds, and values."""

    def fold(self, source: Any, statistic: Any) -> FoldRecord:
        """The record of the next fold over a source."""

    def value(self, name: str, compute: Callable[[], Any]) -> Any:
        """`compute()`, or what it returned before the interruption."""


_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(recorder: Recorder | None) -> Iterator[None]:
    """Record every fold inside the `with`; None records nothing."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


def current_recorder() -> Recorder | None:
    """The recorder of the innermost `recording`."""
    return _recorder.get()


def fold_record(source: Any, statistic: Any) -> FoldRecord:
    """The record of a fold that begins."""
    recorder = _recorder.get()
    return FoldRecord() if recorder is None else recorder.fold(source, statistic)


def remembered(name: str, compute: Callable[[], Any]) -> Any:
    """`compute()`, or its value before an interruption: one that the data and the options determine."""
    recorder = _recorder.get()
    return compute() if recorder is None else recorder.value(name, compute)
