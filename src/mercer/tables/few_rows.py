"""A few rows of any kind of table as Python values, without an Arrow table: one row takes microseconds.

Nothing ambiguous is converted here. Rows with a value that is not clearly of the kind seen in `fit`, or with columns in
another order, are left to the conversion through a table, which converts them or reports what is wrong.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from mercer.source.arrow import columns_of_rows
from mercer.tables.values import MAX_PLAIN_ROWS, ArrayValues, PlainValues

_MAX_EXACT = 1 << 53  # larger integers may change when converted to float64
_FLOATS = frozenset([float, np.float64, np.float32])
_INTEGERS = frozenset([int, np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16, np.uint32, np.uint64])
_BOOLEANS = frozenset([bool, np.bool_])
_NULLS = ("NoneType", "NAType", "NaTType")
_UNITS = ("us", "ms", "s", "m", "h", "D")
#: Up to so many rows, entries of a pandas frame are read one by one: reading a column takes as long as ten of them.
_MAX_SINGLE_ROWS = 8


def plain_values(data: Any, schema: dict[str, str]) -> PlainValues | None:
    """The rows as `PlainValues` of the kinds of `schema`; None if there are many, or one needs a conversion."""
    columns = _columns(data, list(schema))
    if columns is None:
        return None
    found = {}
    for name, kind in schema.items():
        values = _READERS[kind](columns[name])
        if values is None:
            return None
        found[name] = values
    return PlainValues(found, len(next(iter(found.values()))))


def array_values(X: Any, schema: dict[str, str]) -> ArrayValues | None:
    """An array or pandas frame of numbers as `ArrayValues`; None if it is anything else."""
    if type(X).__module__.startswith("pandas") and hasattr(X, "columns") and X.columns.tolist() == list(schema):
        X = X.to_numpy()
    plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiu" and X.dtype.itemsize <= 8
    if not plain or X.shape[1] != len(schema) or len(X) == 0:
        return None
    return ArrayValues(X, {name: j for j, name in enumerate(schema)})


def _columns(data: Any, names: list[str]) -> dict[str, Any] | None:
    """{name: list of values} of at most MAX_PLAIN_ROWS rows with exactly these columns."""
    columns = _listed(data, names)
    if columns is None or len(columns) != len(names) or any(name not in columns for name in names):
        return None
    sizes = {len(values) for values in columns.values()}
    return columns if len(sizes) == 1 and 1 <= sizes.pop() <= MAX_PLAIN_ROWS else None


def _listed(data: Any, names: list[str]) -> dict[str, Any] | None:
    if isinstance(data, Mapping):
        columns: Any = columns_of_rows(data) or data
        return columns if all(type(values) is list for values in columns.values()) else None
    if isinstance(data, list):
        return columns_of_rows(data) if len(data) <= MAX_PLAIN_ROWS else None
    if type(data) is np.ndarray:  # not a masked array
        plain = (
            data.ndim == 2
            and data.dtype.kind in "fiubO"
            and len(data) <= MAX_PLAIN_ROWS
            and data.shape[1] == len(names)
        )
        return dict(zip(names, data.T.tolist(), strict=True)) if plain else None
    if isinstance(data, pa.Table):
        return data.to_pydict() if data.num_rows <= MAX_PLAIN_ROWS and data.column_names == names else None
    return _frame(data, names)


def _frame(data: Any, names: list[str]) -> dict[str, Any] | None:
    library = type(data).__module__.partition(".")[0]
    if library == "polars" and hasattr(data, "rows"):  # a lazy frame has none
        some = 1 <= len(data) <= MAX_PLAIN_ROWS and data.columns == names
        return dict(zip(names, map(list, zip(*data.rows(), strict=True)), strict=True)) if some else None
    if (
        library != "pandas"
        or not hasattr(data, "columns")
        or len(data) > MAX_PLAIN_ROWS
        or data.columns.tolist() != names
    ):
        return None
    if len(data) > _MAX_SINGLE_ROWS:
        return {name: data[name].tolist() for name in names}
    at, rows = data.iat, range(len(data))
    return {name: [at[i, j] for i in rows] for j, name in enumerate(names)}


def _numbers(values: list) -> list | None:
    found: list = []
    for value in values:
        kind = type(value)
        if kind in _FLOATS:
            found.append(None if value != value else float(value))
        elif kind in _INTEGERS and -_MAX_EXACT <= value <= _MAX_EXACT:
            found.append(int(value))
        elif kind in _BOOLEANS:
            found.append(bool(value))
        elif kind.__name__ in _NULLS:
            found.append(None)
        else:
            return None
    return found


def _texts(values: list) -> list | None:
    found: list = []
    for value in values:
        kind = type(value)
        if kind is str:
            found.append(value)
        elif kind.__name__ in _NULLS or (kind in _FLOATS and value != value):
            found.append(None)
        else:
            return None
    return found


def _dates(values: list) -> list | None:
    found: list = []
    for value in values:
        kind = type(value)
        if kind is np.datetime64:
            if not np.isnat(value) and np.datetime_data(value.dtype)[0] not in _UNITS:
                return None
            value = value.astype("M8[us]").item()  # None for NaT, a number for years beyond 9999
            if isinstance(value, int):
                return None
        elif kind is datetime.date:
            value = datetime.datetime(value.year, value.month, value.day)
        elif kind.__name__ in _NULLS or (kind in _FLOATS and value != value):
            value = None
        elif not isinstance(value, datetime.datetime) or value.tzinfo or getattr(value, "nanosecond", 0) != 0:
            return None
        found.append(value)
    return found


_READERS: dict[str, Callable[[Any], list | None]] = {
    "boolean": _numbers,
    "integer": _numbers,
    "number": _numbers,
    "date": _dates,
    "text": _texts,
}
