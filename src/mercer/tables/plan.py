"""The steps of a fitted encoder, computed once per encoder; they are not saved with it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from mercer.source import Columns
from mercer.tables.columns import grouped_encoders
from mercer.tables.few_rows import array_values, plain_values
from mercer.tables.values import ArrayValues, ArrowValues, PlainValues


class EncodingPlan:
    """The steps of an encoder: groups of column encoders, and the function that encodes each group."""

    def __init__(self, encoders: list, schema: dict[str, str]):
        self.encoders, self.schema = encoders, schema
        self.steps = grouped_encoders(encoders)
        made_of_numbers = all(part.kind in ("number", "missing") for part in encoders)
        self._numbers_only = made_of_numbers and set(schema.values()) <= {"number", "integer"}

    def parse(self, data: Any) -> PlainValues | ArrayValues | None:
        """A few rows, or an array of numbers, as values by column; None if a table must be built."""
        if self._numbers_only:
            found = array_values(data, self.schema)
            if found is not None:
                return found
        return plain_values(data, self.schema)

    def parts(self, values: Any, folds: np.ndarray | None = None, start: int = 0) -> list:
        """The features of each step, in order."""
        if isinstance(values, Columns):
            values = ArrowValues(values)
        return [encode(values, folds, start) for _, encode in self.steps]

    def dense(self, table: Columns, folds: np.ndarray | None = None, start: int = 0) -> np.ndarray:
        """The features of all steps in one array, into which each step writes; for steps without sparse features."""
        values, ends = ArrowValues(table), self._ends
        out = np.empty((len(table), ends[-1]))
        for (parts, encode), first, end in zip(self.steps, [0, *ends], ends, strict=False):
            if hasattr(parts[0], "batched"):
                encode(values, folds, start, out[:, first:end])
            else:
                out[:, first:end] = encode(values, folds, start)
        return out

    @cached_property
    def _ends(self) -> list[int]:
        """The end of the columns of each step."""
        widths = [sum(len(names) for part in parts for names in part.names) for parts, _ in self.steps]
        return np.cumsum(widths).tolist()
