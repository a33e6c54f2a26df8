"""New rows brought into the form of those an encoder was fitted to, or an error that says what is wrong."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pyarrow.compute as pc

from mercer._runtime.errors import RowError
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
    """The columns of `schema` in its order and kinds. Columns it does not have are left out, see `compare_names`."""
    if table.schema == schema and table.columns == list(schema):
        return table
    refuse_missing(table.columns, schema)
    columns = [as_kind(table.table[name], kind, name, start) for name, kind in schema.items()]
    return Columns(pa.table(dict(zip(schema, columns, strict=True))))


def refuse_missing(names, schema: dict[str, str], where: str = "") -> None:
    """Refuse rows without a column of `schema`; `where` is the file they are in."""
    missing = [name for name in schema if name not in names]
    if not missing:
        return
    more = [name for name in names if name not in schema]
    near = [name for name in more if name.strip().lower() == missing[0].strip().lower()]
    raise ValueError(
        (f"{where}: the" if where else "The")
        + f" column {missing[0]!r} is missing"
        + (f" (and {len(missing) - 1} more: {_listed(missing[1:])})" if missing[1:] else "")
        + (f"; {near[0]!r} is there, but names must be written alike" if near else "")
        + f". The rows of fit had {_listed(list(schema))}."
    )


def _listed(names, most=8) -> str:
    return ", ".join(map(repr, names[:most])) + (f", and {len(names) - most} more" if len(names) > most else "")


def compare_names(names, schema: dict[str, str]) -> None:
    """Warn of columns that fit has not seen: they are ignored."""
    new = [name for name in names if name not in schema]
    if new:
        warnings.warn(
            f"{'A column' if len(new) == 1 else f'{len(new)} columns'} that fit has not seen "
            f"{'is' if len(new) == 1 else 'are'} ignored: {_listed(new)}.",
            UserWarning,
            stacklevel=4,
        )


def as_kind(column: pa.ChunkedArray, kind: str, name: str, start: int = 0) -> pa.ChunkedArray:
    """A column as the kind fit has seen; ValueError names the first value that cannot be."""
    found = kind_of(column.type)
    if found == kind:
        return column
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column), _TYPES[kind])])
    if {found, kind} <= {"integer", "number", "boolean"}:  # 1, 1.0 and true are the same number
        return column.cast(pa.float64(), safe=False)  # whole numbers beyond 2^53 to the nearest
    if kind == "text" and found in ("integer", "boolean"):
        return column.cast(pa.string())
    if found == "text" and kind in ("number", "integer"):
        return _parsed(column, pa.float64(), kind, name, start)
    if found == "text" and kind in ("date", "boolean"):
        return _parsed(column, _TYPES[kind], kind, name, start)
    raise _wrong(column, kind, name, start, pc.index(pc.is_valid(column), True).as_py())


def _parsed(column, wanted, kind, name, start):
    try:
        return pc.utf8_trim_whitespace(column).cast(wanted)
    except pa.ArrowInvalid:
        for row, value in enumerate(column):
            try:
                value.cast(wanted)
            except pa.ArrowInvalid as error:
                raise _wrong(column, kind, name, start, row) from error
        raise


def _wrong(column, kind, name, start, row) -> RowError:
    remedy = "Write dates as 2020-12-31" if kind == "date" else "Mend the value"
    value = f" holds {column[row].as_py()!r}. {remedy}, make it missing, or fit again on data like these."
    return RowError(f"Column {name!r} was {kind} in fit, but ", start + row, value)
