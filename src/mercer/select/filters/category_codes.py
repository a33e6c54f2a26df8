"""Tables with columns of text or categories, for selectors that score categories: each becomes a number by its hash.

The number of a category depends on nothing but its name, so blocks of a stream and merged fits agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.source import Columns

_NUMERIC_KINDS = ("integer", "number", "boolean")


def categorical_table(X: Any) -> Columns | None:
    """Return X as a table if it holds more than numbers, else None; a pyarrow table is always a table."""
    if isinstance(X, Columns):
        return X
    if hasattr(X, "iloc"):  # pandas
        if not hasattr(X, "dtypes") or all(getattr(dtype, "kind", "O") in "biuf" for dtype in X.dtypes):
            return None
        table = Columns.of(X)
        return table if categorical_columns(X, table) or "date" in table.schema.values() else None
    if not hasattr(X, "columns") or not hasattr(X, "schema"):
        return None
    table = Columns.of(X)
    return table if categorical_columns(X, table) or hasattr(X, "column_names") else None


def categorical_columns(X: Any, table: Columns) -> list[int]:
    """Return the indices of the columns of text or of a categorical type."""
    kinds = zip(table.schema.values(), _of_categorical_type(X), strict=True)
    return [j for j, (kind, categorical) in enumerate(kinds) if kind == "text" or categorical]


def _of_categorical_type(X: Any) -> list[bool]:
    """Whether each column has a categorical type of pandas, polars or pyarrow."""
    if isinstance(X, Columns):
        return [False] * X.shape[1]
    types = X.schema.types if hasattr(X, "column_names") else list(X.dtypes)
    return [
        str(each).split("(")[0].split("<")[0].lower() in ("category", "categorical", "enum", "dictionary")
        for each in types
    ]


def encode_categories(table: Columns, categorical: list[int]) -> np.ndarray:
    """Return a table as float64: numbers as they are, categories of the columns `categorical` by their hash.

    A missing category is a category of its own; a missing number is NaN.
    """
    from mercer.source.arrow import keys_of

    out = np.empty(table.shape)
    for j, (name, kind) in enumerate(table.schema.items()):
        if j in categorical:
            out[:, j] = keys_of(table.table[name], 0) >> np.uint64(11)  # the 53 bits that a float64 holds
        elif kind in _NUMERIC_KINDS:
            out[:, j] = table.array(name)
        else:
            remedy = "" if kind == "text" else " Convert it first, for example with mercer.tables.TableEncoder."
            raise ValueError(f"Column {name!r} holds {kind}, where numbers were expected.{remedy}")
    return out


def take_columns(X: Any, indices: np.ndarray) -> Any:
    """Return some of the columns of a table, as a table of the same library."""
    if hasattr(X, "iloc"):
        return X.iloc[:, indices]
    names = X.column_names if hasattr(X, "column_names") else list(X.columns)
    return X.select([names[j] for j in indices])
