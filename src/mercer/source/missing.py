"""Missing targets and weights."""

from __future__ import annotations

import numpy as np

from mercer._runtime.errors import Message, RowError, Setting


def is_missing(values: np.ndarray) -> np.ndarray:
    """Mask of missing values: None, NaN and NaT.

    >>> is_missing(np.array(["a", None, np.nan], dtype=object)).tolist()
    [False, True, True]
    """
    unlike = values != values
    return unlike | (values == None) if values.dtype == object else unlike  # noqa: E711


def require_present(values: np.ndarray, name: str | None, start: int, what: str) -> np.ndarray:
    """Return `values`, refusing missing ones: a row without its target or weight is never dropped silently."""
    missing = is_missing(values)
    if np.any(missing):
        others = int(np.sum(missing)) - 1
        more = f" (and in {others} more of the {len(values)} rows read with it)" if others else ""
        after = f"{more}. A row without its {what} cannot be used:"
        remedy = Message("fill it in, or leave such rows out with ", Setting("on_bad_rows", "skip"), ".")
        column = f"The {what}" if name is None else f"The {what} column {name!r}"
        row = start + int(np.flatnonzero(missing)[0])
        raise RowError(f"{column} is missing in ", row, after, remedy=remedy, column=name)
    return values
