"""Parquet files: names and types are checked before a single row is read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mercer._runtime.errors import DataError, Setting
from mercer.io.columns import choose_features, refuse_text, require_column
from mercer.source import ParquetSource
from mercer.source.files import parquet_errors
from mercer.source.storage import open_file


def parquet_source(
    files: list[tuple[str, str]],
    target: Any,
    weight: Any,
    columns: Iterable[str] | None,
    partitions: dict[str, list[Any]] | None = None,
) -> ParquetSource:
    """The numeric columns of Parquet files (path, displayed name) of one schema, read by row group when needed."""
    import pyarrow as pa

    where = files[0][1]
    same_schema(files)
    schema, _ = _schema(files[0][0])
    for name, values in (partitions or {}).items():
        schema = schema.append(pa.field(name, pa.array(values).type))
    if sum(_schema(path)[1] for path, _ in files) == 0:
        raise DataError(f"{where} has no rows: there is nothing to learn from.", file=where)
    named = [name for name in (target, weight) if name is not None]
    for name, what in ((target, "target"), (weight, "weight")):
        if name is not None and not isinstance(name, str):
            problem = (f"{where} is read in blocks, so ", Setting(what), " must be the name of one of its columns.")
            raise DataError(*problem, parameter=what, file=where)
        if name is not None:
            require_column(name, schema.names, what, where)
    features = choose_features(schema.names, named, columns, where)
    kinds = {name: schema.field(name).type for name in features}
    refuse_text({name: str(kind) for name, kind in kinds.items() if not _is_number(kind)}, where)
    return ParquetSource([path for path, _ in files], features, target, weight, partitions=partitions)


def same_schema(files: list[tuple[str, str]]) -> list[str]:
    """The column names of these files (path, displayed name), which must agree in names and types."""
    first, _ = _schema(files[0][0])
    for path, shown in files[1:]:
        schema, _ = _schema(path)
        for name in [*first.names, *schema.names]:
            here, there = first.get_field_index(name), schema.get_field_index(name)
            if here < 0 or there < 0 or first.field(here).type != schema.field(there).type:
                found = "missing" if there < 0 else str(schema.field(there).type)
                wanted = "not there" if here < 0 else str(first.field(here).type)
                problem = f"{shown} does not have the columns of {files[0][1]}: {name!r} is {found}, was {wanted}."
                remedy = "Files read together must have the same columns."
                raise DataError(problem, remedy=remedy, column=name, file=shown)
    return first.names


def nested(path: str) -> dict[str, str]:
    """Columns of lists, structures or bytes, which a table cannot hold, with their types."""
    import pyarrow as pa

    from mercer.source.arrow import plain_column

    found = {}
    for field in _schema(path)[0]:
        try:
            plain_column(pa.nulls(0, field.type), field.name)
        except TypeError:
            found[field.name] = str(field.type)
    return found


def _schema(path: str) -> tuple[Any, int]:
    import pyarrow.parquet as pq

    with parquet_errors(path), pq.ParquetFile(open_file(path)) as file:
        return file.schema_arrow, file.metadata.num_rows


def _is_number(kind: Any) -> bool:
    import pyarrow.types as kinds

    return kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)
