"""How a fitted encoder goes through its columns, worked out once and kept beside it: no part of it, nor of its file."""

from __future__ import annotations

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
