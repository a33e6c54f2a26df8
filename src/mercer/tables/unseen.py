"""Categories of new rows that were not seen in fit and count as unknown."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer.source import Columns
from mercer.tables.categories import Frequency
from mercer.tables.columns import Indicators
from mercer.tables.values import hashed


class Unseen(NamedTuple):
    """The number of rows that hold a category of a column not seen in fit, and the first such category.

    >>> Unseen(2, "Oslo").describe("city")
    "'city': 2 rows hold categories that were not seen in fit, such as 'Oslo'. They count as unknown."
    """

    rows: int
    example: Any

    def describe(self, column: str) -> str:
        """A sentence for users."""
        held = "1 row holds a category" if self.rows == 1 else f"{self.rows:,} rows hold categories"
        was, they = ("was", "It counts") if self.rows == 1 else ("were", "They count")
        return f"{column!r}: {held} that {was} not seen in fit, such as {self.example!r}. {they} as unknown."


def unseen_in(encoders: list, table: Columns) -> dict[str, Unseen]:
    """The columns of a conformed table with categories that their encoders do not know."""
    found = {}
    for encoder in encoders:
        new = _is_unknown(encoder, table)
        if new is not None and new.any():
            column = table.table[encoder.column]
            found[encoder.column] = Unseen(int(new.sum()), column[int(np.argmax(new))].as_py())
    return found


def _is_unknown(encoder: Any, table: Columns) -> np.ndarray | None:
    """Mask of the rows with an unknown category; None where the encoder has no list of categories."""
    if isinstance(encoder, Indicators) and encoder.pooled is not None:
        column = table.table[encoder.column]
        known = pc.is_in(column, pa.array((*encoder.categories, *encoder.pooled), column.type)).to_numpy()
    elif isinstance(encoder, Frequency):
        column = table.table[encoder.column]
        known = np.isin(hashed(table, encoder.columns)[:, 0], encoder.keys)
    else:
        return None
    return ~known & pc.is_valid(column).to_numpy()


def merge_unseen(first: dict[str, Unseen], second: dict[str, Unseen]) -> dict[str, Unseen]:
    """The unseen categories of two parts of the rows together."""
    merged = dict(first)
    for column, more in second.items():
        before = merged.get(column)
        merged[column] = more if before is None else Unseen(before.rows + more.rows, before.example)
    return merged
