"""Warnings of a computation, caught one computation at a time: the filters of Python are those of the whole process."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_LOCK = threading.RLock()


@contextmanager
def caught_warnings() -> Iterator[list[str]]:
    """Collect the texts of all warnings within the block, each once; they are complete when the block has ended."""
    texts: list[str] = []
    with _LOCK, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
    texts.extend(dict.fromkeys(str(each.message) for each in caught))
