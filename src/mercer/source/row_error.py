"""A wrong value in some row: an error that can be told in which file and line that row is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


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


def gaps(values: np.ndarray) -> np.ndarray:
    """Mask of missing values: None, NaN and the like.

    >>> gaps(np.array(["a", None, np.nan], dtype=object)).tolist()
    [False, True, True]
    """
    unlike = values != values
    return unlike | (values == None) if values.dtype == object else unlike  # noqa: E711


def present(values: np.ndarray, name: str | None, start: int, what: str) -> np.ndarray:
    """`values`, unless one is missing: a row without its target or weight cannot be used, nor silently dropped."""
    missing = gaps(values)
    if np.any(missing):
        others = int(np.sum(missing)) - 1
        more = f" (and in {others} more of the {len(values)} rows read with it)" if others else ""
        after = (
            f"{more}. A row without its {what} teaches nothing: fill it in, or leave such rows out with "
            "on_bad_rows='skip'."
        )
        column = f"The {what}" if name is None else f"The {what} column {name!r}"
        raise RowError(f"{column} is missing in ", start + int(np.flatnonzero(missing)[0]), after)
    return values
