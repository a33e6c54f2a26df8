"""What is said of rows that were skipped or repaired, by their numbers in the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.source.base import Source


def reading_notes(source: Source) -> list[str]:
    """The remarks made while reading, with the numbers of rows that were skipped or repaired."""
    counts = (("skipped", source.skipped_rows), ("repaired", source.repaired_rows))
    return [*source.notes, *(f"{rows_were(rows)} {what}: {some_rows(rows)}." for what, rows in counts if len(rows))]


def rows_were(rows: Sequence[Any]) -> str:
    """Return "1 row was" or "5 rows were"."""
    return f"{n_rows(rows)} {'was' if len(rows) == 1 else 'were'}"


def n_rows(rows: Sequence[Any]) -> str:
    """Return "1 row" or "5 rows"."""
    return "1 row" if len(rows) == 1 else f"{len(rows):,} rows"


def some_rows(rows: Sequence[Any]) -> str:
    """The first numbers of some rows of the input, from 0.

    >>> some_rows([7]), some_rows([1, 2, 3, 4, 5, 6])
    ('row 7', 'rows 1, 2, 3, 4, 5, ... of the input, from 0')
    """
    shown = ", ".join(f"{int(row):,}" for row in rows[:5])
    return f"row {shown}" if len(rows) == 1 else f"rows {shown}{', ...' if len(rows) > 5 else ''} of the input, from 0"
