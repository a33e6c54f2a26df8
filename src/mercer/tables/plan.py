"""How a fitted encoder goes through its columns, worked out once and kept beside it: no part of it, nor of its file."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from mercer.source import Columns
from mercer.tables.columns import planned
from mercer.tables.few import array_values, few_values
from mercer.tables.values import ArrayValues, ArrowValues, FewValues


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

    def dense(self, table: Columns, folds=None, start: int = 0) -> np.ndarray:
        """What all steps make of the rows side by side, none of it sparse: written where it is to stay."""
        values, ends = ArrowValues(table), self._ends
        out = np.empty((len(table), ends[-1]))
        for (parts, encode), first, end in zip(self.steps, [0, *ends], ends, strict=False):
            if hasattr(parts[0], "together"):
                encode(values, folds, start, out[:, first:end])
            else:
                out[:, first:end] = encode(values, folds, start)
        return out

    @cached_property
    def _ends(self) -> list[int]:
        """Where the columns of each step end."""
        widths = [sum(len(names) for part in parts for names in part.names) for parts, _ in self.steps]
        return np.cumsum(widths).tolist()
