"""Progress of long folds, reported to a listener."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[int, int | None], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[int, int | None], None]) -> Iterator[None]:
    """Call `listener(rows done, number of rows or None)` after each block of every fold inside the `with`.

    Use it to show the progress of long passes of estimators. `mercer.fit` has `progress=`, which says more.

    >>> import numpy as np
    >>> from mercer import Standardize, listening, read
    >>> with listening(lambda done, total: print(f"{done} of {total} rows")):
    ...     scale = Standardize().fit(read(np.zeros((500, 2))))
    500 of 500 rows
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report_progress(done: int, total: int | None) -> None:
    """Call the listener, if there is one."""
    listener = _listener.get()
    if listener is not None:
        listener(done, total)
