"""Values derived from a fitted object, computed once and cached beside it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class DerivedCache(Generic[Value]):
    """Cache of `compute(owner)`, kept for as long as the owner lives.

    Owners are compared by identity. The value is not an attribute of the owner, which would be saved with it and
    take part in comparisons. It must not refer to the owner, which would then live for ever.

    >>> class Word(str): pass
    >>> word, length = Word("kernel"), DerivedCache(len)
    >>> length(word), length(word)
    (6, 6)
    """

    def __init__(self, compute: Callable[[Any], Value]):
        self._compute = compute
        self._cached: dict[int, tuple[weakref.ref, Value]] = {}

    def __call__(self, owner: Any) -> Value:
        cached = self._cached.get(id(owner))
        return cached[1] if cached is not None and cached[0]() is owner else self.refresh(owner)

    def refresh(self, owner: Any) -> Value:
        """Compute the value again, for an owner that has changed."""
        key, value = id(owner), self._compute(owner)
        self._cached[key] = weakref.ref(owner, lambda dead: self._evict(key, dead)), value
        return value

    def _evict(self, key: int, dead: weakref.ref) -> None:
        if key in self._cached and self._cached[key][0] is dead:  # another object may have reused the id
            del self._cached[key]
