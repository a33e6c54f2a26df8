"""Levels of new rows that fit has not seen: they count as unknown, which is worth a word where nobody looks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer.source import Columns
from mercer.tables.columns import Indicators
from mercer.tables.levels import Frequency
from mercer.tables.values import hashed


class Unseen(NamedTuple):
    """How many rows hold a level of a column that fit has not seen, and the first such level.

    >>> Unseen(2, "Oslo").told("city")
    "'city': 2 rows hold levels that the fit has not seen, such as 'Oslo'. They count as unknown."
    """

    rows: int
    example: Any

    def told(self, column: str) -> str:
        """The same in words."""
        held = "1 row holds a level" if self.rows == 1 else f"{self.rows:,} rows hold levels"
        return f"{column!r}: {held} that the fit has not seen, such as {self.example!r}. They count as unknown."


def unseen_in(encoders: list, table: Columns) -> dict[str, Unseen]:
    """The columns of a table, of the kinds fit has seen, with levels that their encoders do not know."""
    found = {}
    for encoder in encoders:
        new = _unknown(encoder, table)
        if new is not None and new.any():
            column = table.table[encoder.column]
            found[encoder.column] = Unseen(int(new.sum()), column[int(np.argmax(new))].as_py())
    return found


def _unknown(encoder, table: Columns) -> np.ndarray | None:
    """Which rows hold an unknown level; None where the encoder has no list of levels."""
    if isinstance(encoder, Indicators) and encoder.others is not None:
        column = table.table[encoder.column]
        known = pc.is_in(column, pa.array((*encoder.levels, *encoder.others), column.type)).to_numpy()
    elif isinstance(encoder, Frequency):
        column = table.table[encoder.column]
        known = np.isin(hashed(table, encoder.columns)[:, 0], encoder.levels)
    else:
        return None
    return ~known & pc.is_valid(column).to_numpy()


def joined(first: dict[str, Unseen], then: dict[str, Unseen]) -> dict[str, Unseen]:
    """What two parts of the rows hold together."""
    whole = dict(first)
    for column, more in then.items():
        before = whole.get(column)
        whole[column] = more if before is None else Unseen(before.rows + more.rows, before.example)
    return whole
