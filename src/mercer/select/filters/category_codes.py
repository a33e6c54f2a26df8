"""Tables with columns of text or categories, for selectors that score levels: levels become numbers by their hash.

The number of a level depends on nothing but its name, so that blocks of a stream and fits that are merged agree.
"""

from __future__ import annotations

import numpy as np

from mercer.source import Columns

_NUMBERS = ("integer", "number", "boolean")


def level_table(X) -> Columns | None:
    """X as a table, if it is one that holds more than numbers; a pyarrow table always is."""
    if isinstance(X, Columns):
        return X
    if hasattr(X, "iloc"):  # pandas
        if not hasattr(X, "dtypes") or all(getattr(dtype, "kind", "O") in "biuf" for dtype in X.dtypes):
            return None
        table = Columns.of(X)
        return table if level_columns(X, table) or "date" in table.schema.values() else None
    if not hasattr(X, "columns") or not hasattr(X, "schema"):
        return None
    table = Columns.of(X)
    return table if level_columns(X, table) or hasattr(X, "column_names") else None


def level_columns(X, table: Columns) -> list[int]:
    """The places of the columns of text or of a categorical type."""
    kinds = table.schema.values()
    return [j for j, (kind, said) in enumerate(zip(kinds, _categories(X), strict=True)) if kind == "text" or said]


def _categories(X) -> list[bool]:
    """Whether each column is of a type made for categories: pandas, polars or pyarrow."""
    if isinstance(X, Columns):
        return [False] * X.shape[1]
    types = X.schema.types if hasattr(X, "column_names") else list(X.dtypes)
    return [
        str(each).split("(")[0].split("<")[0].lower() in ("category", "categorical", "enum", "dictionary")
        for each in types
    ]


def coded_levels(table: Columns, levels: list[int]) -> np.ndarray:
    """The columns of a table as float64: numbers as they are, the levels of the named columns by their hash.

    A missing level is a level of its own; a missing number is NaN.
    """
    from mercer.source.arrow import keys_of

    out = np.empty(table.shape)
    for j, (name, kind) in enumerate(table.schema.items()):
        if j in levels:
            out[:, j] = keys_of(table.table[name], 0) >> np.uint64(11)  # the 53 bits that a float64 holds
        elif kind in _NUMBERS:
            out[:, j] = table.array(name)
        else:
            instead = "" if kind == "text" else " Turn them into numbers first, say with mercer.tables.TableEncoder."
            raise ValueError(f"Column {name!r} holds {kind}, where numbers were expected.{instead}")
    return out


def some_columns(X, places: np.ndarray):
    """Some of the columns of a table, as a table of its own library."""
    if hasattr(X, "iloc"):
        return X.iloc[:, places]
    names = X.column_names if hasattr(X, "column_names") else list(X.columns)
    return X.select([names[j] for j in places])
