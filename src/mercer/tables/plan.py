"""How a fitted encoder goes through its columns, worked out once and kept beside it: no part of it, nor of its file."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from mercer.source import Columns
from mercer.tables.columns import planned
from mercer.tables.few import array_values, few_values
from mercer.tables.values import ArrayValues, ArrowValues, FewValues

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


class Plan:
    """The steps of an encoder: encoders that work together, and the function that encodes them."""

    def __init__(self, encoders: list, schema: dict[str, str]):
        self.encoders, self.schema = encoders, schema
        self.steps = planned(encoders)
        made_of_numbers = all(part.kind in ("number", "missing") for part in encoders)
        self._numbers_only = made_of_numbers and set(schema.values()) <= {"number", "integer"}

    def values(self, data) -> FewValues | ArrayValues | None:
        """A few rows, or an array where there are numbers alone, as values by column; None: a table must be made."""
        if self._numbers_only:
            found = array_values(data, self.schema)
            if found is not None:
                return found
        return few_values(data, self.schema)

    def parts(self, values, folds=None, start: int = 0) -> list:
        """What each step makes of the rows, in order."""
        if isinstance(values, Columns):
            values = ArrowValues(values)
        return [encode(values, folds, start) for _, encode in self.steps]
