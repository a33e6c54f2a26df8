"""New rows converted to the columns and kinds that an encoder was fitted to, or an error that says what is wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer._runtime.errors import DataError, RowError
from mercer.source import Columns
from mercer.source.arrow import kind_of

_TYPES = {
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "date": pa.timestamp("us"),
    "text": pa.string(),
}


def conformed(table: Columns, schema: dict[str, str], start: int = 0) -> Columns:
    """The columns of `schema` in its order and kinds. Other columns are left out, see `compare_names`."""
    if table.schema == schema and table.columns == list(schema):
        return table
    refuse_missing(table.columns, schema)
    columns = [as_kind(table.table[name], kind, name, start) for name, kind in schema.items()]
    return Columns(pa.table(dict(zip(schema, columns, strict=True))))


def row_of_missing(schema: dict[str, str]) -> Columns:
    """One row of missing values."""
    return Columns(pa.table({name: pa.nulls(1, _TYPES[kind]) for name, kind in schema.items()}))


def refuse_missing(names: Iterable[str], schema: dict[str, str], where: str = "") -> None:
    """Refuse rows that lack a column of `schema`; `where` is their file."""
    missing = [name for name in schema if name not in names]
    if not missing:
        return
    more = [name for name in names if name not in schema]
    near = [name for name in more if name.strip().lower() == missing[0].strip().lower()]
    raise DataError(
        f"{where}: the" if where else "The",
        f" column {missing[0]!r} is missing",
        f" (and {len(missing) - 1} more: {_listed(missing[1:])})" if missing[1:] else "",
        f"; {near[0]!r} is there, but names must be written alike" if near else "",
        f". The rows of fit had {_listed(list(schema))}.",
        column=missing[0],
        file=where or None,
    )


def _listed(names: Sequence[str], max_names: int = 8) -> str:
    more = f", and {len(names) - max_names} more" if len(names) > max_names else ""
    return ", ".join(map(repr, names[:max_names])) + more


def compare_names(names: Iterable[str], schema: dict[str, str]) -> None:
    """Warn about columns that were not seen in fit: they are ignored."""
    new = [name for name in names if name not in schema]
    if new:
        warnings.warn(
            f"{'A column' if len(new) == 1 else f'{len(new)} columns'} that fit has not seen "
            f"{'is' if len(new) == 1 else 'are'} ignored: {_listed(new)}.",
            UserWarning,
            stacklevel=4,
        )


def as_kind(column: pa.ChunkedArray, kind: str, name: str, start: int = 0) -> pa.ChunkedArray:
    """A column as the kind seen in fit; the error names the first value that cannot be converted."""
    found = kind_of(column.type)
    if found == kind:
        return column
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column), _TYPES[kind])])
    if {found, kind} <= {"integer", "number", "boolean"}:  # 1, 1.0 and true are the same number
        return column.cast(pa.float64(), safe=False)  # integers beyond 2^53 are rounded
    if kind == "text" and found in ("integer", "boolean"):
        return column.cast(pa.string())
    if found == "text" and kind in ("number", "integer"):
        return _parsed(column, pa.float64(), kind, name, start)
    if found == "text" and kind in ("date", "boolean"):
        return _parsed(column, _TYPES[kind], kind, name, start)
    raise _wrong(column, kind, name, start, pc.index(pc.is_valid(column), True).as_py())


def unreadable(column: pa.ChunkedArray, kind: str) -> np.ndarray:
    """Mask of the values that are not of the kind seen in fit, or infinite.

    >>> unreadable(pa.chunked_array([["1", " 2", "x", None, "-inf"]]), "number").tolist()
    [False, False, True, False, True]
    """
    values = column.combine_chunks()
    try:
        found = as_kind(pa.chunked_array([values]), kind, "").combine_chunks()
    except RowError:
        found = pa.concat_arrays([_or_missing(values.slice(row, 1), kind) for row in range(len(values))])
    if pa.types.is_floating(found.type):
        found = pc.if_else(pc.is_inf(found), pa.scalar(None, found.type), found)
    return pc.and_(pc.is_valid(values), pc.is_null(found)).to_numpy(zero_copy_only=False)


def _or_missing(value: pa.Array, kind: str) -> pa.Array:
    """One value as the kind seen in fit, missing if it cannot be converted."""
    wanted = _TYPES["number" if kind == "integer" else kind]
    try:
        return as_kind(pa.chunked_array([value]), kind, "").combine_chunks().cast(wanted)
    except (RowError, pa.ArrowInvalid):
        return pa.nulls(1, wanted)


def _parsed(column: pa.ChunkedArray, wanted: pa.DataType, kind: str, name: str, start: int) -> pa.ChunkedArray:
    try:
        return pc.utf8_trim_whitespace(column).cast(wanted)
    except pa.ArrowInvalid:
        for row, value in enumerate(column):
            try:
                value.cast(wanted)
            except pa.ArrowInvalid as error:
                raise _wrong(column, kind, name, start, row) from error
        raise


def _wrong(column: pa.ChunkedArray, kind: str, name: str, start: int, row: int) -> RowError:
    advice = "Write dates as 2020-12-31" if kind == "date" else "Correct the value"
    remedy = f"{advice}, make it missing, or fit again on data like these."
    value = column[row].as_py()
    problem = f"Column {name!r} was {kind} in fit, but "
    return RowError(problem, start + row, f" holds {value!r}.", remedy=remedy, column=name, value=value)
