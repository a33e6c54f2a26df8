"""A wrong value in some row: an error that can be told in which file and line that row is."""

from __future__ import annotations

from collections.abc import Callable


class RowError(ValueError):
    """`before`, the place of a row, `after`: rows are counted from 0 until `located` says it better.

    >>> error = RowError("Infinity at ", 7, ": make it missing.")
    >>> str(error), str(error.located(lambda row: f"a.csv, line {row + 2}"))
    ('Infinity at row 7: make it missing.', 'Infinity at a.csv, line 9: make it missing.')
    """

    def __init__(self, before: str, row: int, after: str = ""):
        super().__init__(f"{before}row {row}{after}")
        self.before, self.row, self.after = before, row, after

    def __reduce__(self):
        return RowError, (self.before, self.row, self.after)

    def located(self, locate: Callable[[int], str] | None, start: int = 0) -> ValueError:
        """The error with the place that `locate` gives; `start` rows came before the block it was found in."""
        row = start + self.row
        return (
            RowError(self.before, row, self.after)
            if locate is None
            else ValueError(f"{self.before}{locate(row)}{self.after}")
        )
