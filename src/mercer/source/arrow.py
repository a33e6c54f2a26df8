"""Tables of any library as a pyarrow Table of five plain types, and its columns as arrays."""

from __future__ import annotations

import datetime
import numbers
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from mercer import _numeric
from mercer._numeric.hashing.splitmix import column_keys
from mercer._runtime.errors import DataError

_MAX_EXACT = 1 << 53
_MAX_LISTED_ROWS = 32
_SINGLE = (str, float, int, bytes, np.generic, datetime.date, datetime.time, datetime.timedelta, numbers.Number)
_NULLS = ("NAType", "NaTType")
_NOT_ARROW = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, OverflowError)
_PLAIN = (pa.int64(), pa.float64(), pa.bool_(), pa.timestamp("us"), pa.string())


def plain_table(data: Any) -> pa.Table:
    """A frame, array, dict of columns or list of dicts as a Table of int64, float64, bool, timestamp and string."""
    names, columns = _named_columns(data)
    refuse_duplicates(names)
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise DataError(f"The columns of a table must be of one length; these have {sorted(lengths)}.")
    return pa.table(dict(zip(names, map(plain_column, columns, names), strict=True)))


def refuse_duplicates(names: list[str]) -> None:
    """Refuse columns of the same name."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        problem = f"There are {names.count(repeated[0])} columns named {repeated[0]!r}:"
        raise DataError(problem, remedy="rename all but one.", column=repeated[0])


def columns_of_rows(data: Any) -> dict[str, list] | None:
    """A list of values for each column from a dict of single values, which is one row, or a list of such dicts.

    None if `data` is anything else, such as a dict of columns.

    >>> columns_of_rows([{"age": 31, "city": "Bern"}, {"age": None, "city": "Oslo"}])
    {'age': [31, None], 'city': ['Bern', 'Oslo']}
    """
    if isinstance(data, Mapping):
        is_row = len(data) > 0 and not hasattr(data, "tocsr") and all(map(_is_single, data.values()))
        return {str(name): [value] for name, value in data.items()} if is_row else None
    if not isinstance(data, list) or not data or not all(isinstance(row, Mapping) for row in data):
        return None
    first = data[0]
    for i, row in enumerate(data):
        if row.keys() != first.keys():
            names, lacks = (first, row) if first.keys() - row.keys() else (row, first)
            name = next(name for name in names if name not in lacks)
            at, other = (i, 0) if lacks is row else (0, i)
            problem = f"Row {at} has no {name!r}, but row {other} has:"
            raise DataError(problem, remedy="write None where a value is missing.", column=str(name), row=at)
    return {str(name): [row[name] for row in data] for name in first}


def _is_single(value: Any) -> bool:
    return value is None or isinstance(value, _SINGLE) or type(value).__name__ in _NULLS


def _named_columns(data: Any) -> tuple[list[str], list]:
    data = columns_of_rows(data) or data
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return data.column_names, [_nan_as_null(column) for column in data.columns]
    if hasattr(data, "tocsr"):
        raise TypeError("A sparse matrix is no table of mixed columns: give its .toarray().")
    if isinstance(data, Mapping):
        return [str(name) for name in data], [_any_array(column, name) for name, column in data.items()]
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        refuse_duplicates([str(name) for name in data.columns])
        if len(data) <= _MAX_LISTED_ROWS:  # a few rows of pandas: ten times faster as lists
            return _named_columns(data.to_dict("list"))
    import narwhals.stable.v2 as nw

    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise DataError("This frame has not been computed yet:", remedy="call .collect() on it first.")
    if isinstance(frame, nw.DataFrame):
        names, numbers = [str(name) for name in frame.columns], _numbers_of_pandas(data)
        return names, [
            numbers[name] if name in numbers else _nan_as_null(_series(frame.get_column(name), name))
            for name in frame.columns
        ]
    X = np.where(data.mask, np.array(None), data.data) if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
    if X.ndim == 0:
        raise TypeError(f"A table is a frame, an array or a dict of columns, not a {type(data).__name__}.")
    return _array_columns(X)


def _numbers_of_pandas(frame: Any) -> dict:
    """The numeric columns of a pandas frame, NaN as null; none of other frames."""
    if not type(frame).__module__.startswith("pandas"):
        return {}
    plain = ((name, series.dtype, series) for name, series in frame.items())
    return {
        name: pa.array(series.to_numpy(), from_pandas=True)
        for name, dtype, series in plain
        if isinstance(dtype, np.dtype) and dtype.kind in "fiub"
    }


def _array_columns(X: np.ndarray) -> tuple[list[str], list]:
    if X.dtype.names is not None and X.ndim == 1:
        return list(X.dtype.names), [_any_array(X[name], name) for name in X.dtype.names]
    _refuse_complex(X)
    if X.ndim != 2:
        remedy = "Reshape your data: one column of n rows is X.reshape(-1, 1), one row is X.reshape(1, -1)."
        raise DataError(f"A table has two dimensions, got shape {X.shape}.", remedy=remedy)
    names = [f"x{j}" for j in range(X.shape[1])]
    columns = X.T
    if X.dtype.kind in "fiub":  # copied once, not column by column, and in the type that they will have
        kind = {"f": np.float64, "i": np.int64}.get(X.dtype.kind, X.dtype) if X.dtype.itemsize <= 8 else X.dtype
        columns = np.array(columns, dtype=kind, order="C")
    return names, [_any_array(column, name) for column, name in zip(columns, names, strict=True)]


def _refuse_complex(values: np.ndarray) -> None:
    if values.dtype.kind == "c":
        raise DataError("Complex data not supported: a table holds real numbers, dates and text.")


def _series(series: Any, name: str) -> Any:
    """A column of a frame; types unknown to Arrow are read value by value, like a list."""
    try:
        column = series.to_arrow()
    except _NOT_ARROW:
        return _from_list(series.to_list(), name)
    return _from_list(series.to_list(), name) if _is_foreign(column.type) else column


def _is_foreign(kind: pa.DataType) -> bool:
    """Whether a type is an extension type of another library: periods, intervals and the like."""
    return isinstance(kind.value_type if types.is_dictionary(kind) else kind, pa.BaseExtensionType)


def _any_array(values: Any, name: str) -> Any:
    """A column of a dict or an array; objects of mixed types are read as text."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return _nan_as_null(values)
    if isinstance(values, list):
        return _from_list(values, name)
    values = np.asarray(values) if not hasattr(values, "to_numpy") else np.asarray(values.to_numpy())
    if values.ndim != 1:
        what = "a dict holds a list of values for each column, or one value for each, which is a row."
        raise DataError(f"Column {name!r} is of shape {values.shape}: {what}", column=str(name))
    _refuse_complex(values)
    if values.dtype.kind in "Mm":
        values = values.astype(f"{values.dtype.kind}8[us]")
    if values.dtype.kind not in "OUS":
        return pa.array(values, from_pandas=True)
    return _from_list(values.tolist(), name)


def _from_list(values: list, name: str) -> Any:
    try:
        column = pa.array(values, from_pandas=True)
    except OverflowError:  # integers beyond 63 bits: unsigned ones, or codes
        return _unsigned(values, name)
    except _NOT_ARROW:
        return _mixed(values, name)
    return _mixed(values, name) if _is_foreign(column.type) else column


def _unsigned(values: list, name: str) -> Any:
    try:
        return pa.array(values, pa.uint64(), from_pandas=True)
    except _NOT_ARROW:
        return _mixed(values, name)


def _mixed(values: list, name: str) -> pa.Array:
    """Periods as their start times, anything else as text."""
    for row, value in enumerate(values):
        if isinstance(value, (dict, list, set, tuple, complex)):
            raise TypeError(
                f"Column {name!r} holds a {type(value).__name__} in row {row}: "
                "argument must be a string, a date or a number."
            )
    values = [None if _is_missing(value) else value for value in values]
    if all(value is None or hasattr(value, "to_timestamp") for value in values):
        return pa.array([value and value.to_timestamp() for value in values], pa.timestamp("us"))
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in _NULLS or value != value


def plain_column(column: Any, name: str) -> pa.Array | pa.ChunkedArray:
    """One column as int64, float64, bool, timestamp[us] or string; durations and times of day are seconds."""
    kind = column.type
    if types.is_dictionary(kind):
        return plain_column(column.cast(kind.value_type), name)
    if types.is_run_end_encoded(kind):
        return plain_column(pc.run_end_decode(column), name)
    if kind in _PLAIN:
        return column
    if types.is_signed_integer(kind) or (types.is_unsigned_integer(kind) and kind != pa.uint64()):
        return column.cast(pa.int64())
    if kind == pa.uint64():
        return column.cast(pa.int64() if _fits(column) else pa.float64(), safe=False)
    if types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        return column.cast(pa.float64())
    if types.is_large_string(kind) or types.is_string_view(kind):
        return column.cast(pa.string())
    if types.is_date(kind) or types.is_timestamp(kind):
        return column.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).cast(pa.timestamp("us"))
    if types.is_duration(kind) or types.is_time(kind):
        whole = column.cast(pa.duration("us") if types.is_duration(kind) else pa.time64("us"), safe=False)
        return pc.divide(whole.cast(pa.int64()).cast(pa.float64(), safe=False), 1e6)
    raise TypeError(
        f"Column {name!r} holds {kind}, which is not a number, a date or text. Leave it out, or turn it into one."
    )


def _fits(column: Any) -> bool:
    """Whether unsigned integers fit into int64."""
    return len(column) == 0 or (pc.max(column).as_py() or 0) < 1 << 63


def _nan_as_null(column: Any) -> Any:
    """A column of another library, in which NaN marks missing numbers."""
    if not types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def kind_of(kind: pa.DataType) -> str:
    """The kind of a plain type, see `KINDS`."""
    if types.is_integer(kind):
        return "integer"
    if types.is_floating(kind):
        return "number"
    if types.is_boolean(kind):
        return "boolean"
    return "date" if types.is_temporal(kind) else "text"


def to_numpy(column: pa.ChunkedArray) -> np.ndarray:
    """A plain column as an array, see `Columns.array`."""
    if types.is_integer(column.type) and column.null_count:
        low, high = pc.min_max(column).as_py().values()
        if low is not None and max(-low, high) > _MAX_EXACT:  # float64 would round them
            values = np.empty(len(column), dtype=object)
            values[:] = column.to_pylist()
            return values
    return column.to_numpy()


def number_columns(columns: Iterable[pa.ChunkedArray]) -> list[np.ndarray] | None:
    """Columns of float64 as arrays, NaN where missing; None if another type or no row is present."""
    columns = list(columns)
    if not columns or len(columns[0]) == 0 or any(column.type != pa.float64() for column in columns):
        return None
    return [column.to_numpy() for column in columns]


def keys_of(column: pa.ChunkedArray, j: int) -> np.ndarray:
    """The 64-bit keys of a plain column, for the hash of rows."""
    if not types.is_string(column.type):
        return column_keys(to_numpy(column), j)
    parts = [hash_texts(chunk) for chunk in column.chunks]
    keys = np.concatenate(parts) if parts else np.zeros(0, np.uint64)
    if column.null_count:
        keys[column.is_null().to_numpy()] = column_keys(np.array([np.nan]), j)[0]
    return keys


def hash_texts(texts: pa.Array) -> np.ndarray:
    """`hash_strings` of an array of strings, read from the buffers of Arrow."""
    if len(texts) == 0:
        return np.zeros(0, np.uint64)
    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    utf8 = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return _numeric.hash_utf8(utf8, starts)
