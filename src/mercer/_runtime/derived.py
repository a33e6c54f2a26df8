"""What is worked out from a fitted thing once, and kept beside it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


class Beside(Generic[Made]):
    """What `make(thing)` gave, kept as long as the thing lives and is the same object.

    An attribute of the thing would be saved with it, and change it behind the back of whoever compares.

    >>> class Word(str): pass
    >>> word, length = Word("kernel"), Beside(len)
    >>> length(word), length(word)
    (6, 6)
    """

    def __init__(self, make: Callable[[Any], Made]):
        self._make = make
        self._kept: dict[int, tuple[weakref.ref, Made]] = {}

    def __call__(self, thing) -> Made:
        kept = self._kept.get(id(thing))
        return kept[1] if kept is not None and kept[0]() is thing else self.again(thing)

    def again(self, thing) -> Made:
        """Made anew, for a thing that has changed."""
        key, made = id(thing), self._make(thing)
        self._kept[key] = weakref.ref(thing, lambda gone: self._forget(key, gone)), made
        return made

    def _forget(self, key, gone):
        if key in self._kept and self._kept[key][0] is gone:  # another thing may have taken its place
            del self._kept[key]
