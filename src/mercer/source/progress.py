"""Progress of long folds, told to whoever listens."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[int, int | None], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[int, int | None], None]):
    """Call `listener(rows done, rows in all or None)` after each block of every fold inside the `with`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(done: int, total: int | None) -> None:
    """Report to the listener, if there is one."""
    listener = _listener.get()
    if listener is not None:
        listener(done, total)
