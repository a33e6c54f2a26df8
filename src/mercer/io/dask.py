"""Dask arrays, Dask data frames and lists of delayed blocks as sources; recognized by what they can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from mercer._numeric.block import Block
from mercer._runtime.errors import DataError
from mercer.io.columns import choose_features, refuse_text, require_column
from mercer.source import Columns, DelayedSource, as_engine
from mercer.source.arrow import kind_of
from mercer.source.delayed import is_dask, profile_chunks
from mercer.source.missing import require_present

_WHERE = "The Dask collection"


def dask_source(
    data: Any, target: Any, weight: Any, columns: Sequence[str] | None, engine: Any, numbers: bool
) -> DelayedSource:
    """The rows of a collection, as arrays of numbers or (`numbers=False`) as tables of mixed columns.

    A first pass counts the rows of each chunk and unifies the types of its columns.
    """
    engine = as_engine(_default_client() if engine is None else engine)
    chunks = _delayed(data)
    extra = [_delayed_like(given, data, what) for given, what in ((target, "target"), (weight, "weight"))]
    values = [[chunk, *(each[i] for each in extra if each is not None)] for i, chunk in enumerate(chunks)]
    profiles = profile_chunks(engine, [[chunk] for chunk in chunks], _profile)
    schema = _unified([found for _, found, _ in profiles])
    named = [given if isinstance(given, str) else None for given in (target, weight)]
    for name, what in zip(named, ("target", "weight"), strict=True):
        if name is not None:
            require_column(name, schema.names, what, _WHERE)
    features = choose_features(schema.names, [name for name in named if name is not None], columns, _WHERE)
    convert = ChunkToBlock(schema, features, named[0], named[1], extra[0] is not None, extra[1] is not None, numbers)
    if numbers:
        refuse_text({name: str(schema.field(name).type) for name in features if not convert.is_number(name)}, _WHERE)
    names = None if numbers and all(is_array for _, _, is_array in profiles) else features
    source = DelayedSource(values, [n for n, _, _ in profiles], convert, names).on(engine)
    if source.n_rows == 0:
        raise DataError(f"{_WHERE} has no rows: there is nothing to learn from.")
    source.target = named[0]
    source.schema = None if numbers else {name: kind_of(schema.field(name).type) for name in features}
    return source


@dataclass(frozen=True)
class ChunkToBlock:
    """A chunk as a block: columns in the unified types, targets and weights by name or as further values."""

    schema: pa.Schema
    features: list[str]
    target: str | None
    weight: str | None
    target_follows: bool
    weight_follows: bool
    numbers: bool

    def __call__(self, chunk: Any, *others: Any) -> Block:
        if self.numbers and isinstance(chunk, np.ndarray) and chunk.dtype.kind in "fiub":
            X: Any = chunk if len(self.features) == chunk.shape[1] else chunk[:, self._positions()]
            table = None
        else:
            table = _cast(Columns.of(chunk).table, self.schema)
            X = table.select(self.features)
            X = np.column_stack([X.array(name).astype(np.float64) for name in self.features]) if self.numbers else X
        rest = list(others)
        y = self._vector(table, chunk, self.target, rest if self.target_follows else None, "target")
        return Block(X, y, self._vector(table, chunk, self.weight, rest if self.weight_follows else None, "weight"))

    def is_number(self, name: str) -> bool:
        """Whether a column holds numbers."""
        return kind_of(self.schema.field(name).type) in ("integer", "number", "boolean")

    def _positions(self) -> list[int]:
        return [self.schema.names.index(name) for name in self.features]

    def _vector(self, table: Any, chunk: Any, name: str | None, following: list | None, what: str) -> Any:
        if following is not None:
            values = np.asarray(following.pop(0))
            if len(values) != len(chunk):
                raise DataError(f"A chunk of {len(chunk)} rows has {len(values)} entries of the {what}.")
            return values
        if name is None:
            return None
        values = chunk[:, self.schema.names.index(name)] if table is None else table.array(name)
        return require_present(values, name, 0, what)


def _delayed(data: Any) -> list[Any]:
    """The delayed blocks of a collection; arrays are not cut between columns."""
    if isinstance(data, (list, tuple)):
        return list(data)
    if hasattr(data, "rechunk"):
        if data.ndim != 2:
            raise DataError(f"The rows must form a table of two dimensions, got shape {data.shape}.")
        data = data.rechunk({1: -1}) if data.numblocks[1] > 1 else data
    if not hasattr(data, "to_delayed"):
        return [data]
    return list(np.ravel(np.asarray(data.to_delayed(), dtype=object)))


def _delayed_like(given: Any, data: Any, what: str) -> list[Any] | None:
    """Targets or weights that are a collection of their own, in as many chunks; None for names."""
    if given is None or isinstance(given, str):
        return None
    if hasattr(given, "rechunk") and hasattr(data, "chunks"):
        known = not any(np.isnan(size) for size in data.chunks[0])
        given = given.rechunk((data.chunks[0], *given.chunks[1:])) if known else given
    if not is_dask(given):
        remedy = f"give {what} as a collection in the same chunks, or as the name of a column."
        raise DataError(f"The rows are a Dask collection, the {what} is a {type(given).__name__}:", remedy=remedy)
    found = given if isinstance(given, (list, tuple)) else np.ravel(np.asarray(given.to_delayed(), dtype=object))
    n_chunks = len(_delayed(data))
    if len(found) != n_chunks:
        raise DataError(f"The rows are {n_chunks} chunks, the {what} {len(found)}:", remedy="rechunk one of them.")
    return list(found)


def _profile(chunk: Any) -> tuple[int, list[tuple[str, Any, bool]], bool]:
    """The number of rows of a chunk; name, type and whether all is missing of each column; whether it is an array."""
    if isinstance(chunk, np.ndarray) and chunk.dtype.kind in "fiub" and chunk.ndim == 2:
        kind = pa.float64() if chunk.dtype.kind == "f" else pa.bool_() if chunk.dtype.kind == "b" else pa.int64()
        return len(chunk), [(f"x{j}", kind, False) for j in range(chunk.shape[1])], True
    table = Columns.of(chunk).table
    columns = zip(table.schema, table.columns, strict=True)
    found = [(field.name, field.type, column.null_count == len(column)) for field, column in columns]
    return table.num_rows, found, False


def _unified(found: list[list[tuple[str, Any, bool]]]) -> pa.Schema:
    """One type for each column of all chunks; chunks in which a column is missing throughout do not count."""
    names = [name for name, _, _ in found[0]]
    kinds: dict[str, Any] = {}
    for i, chunk in enumerate(found):
        if [name for name, _, _ in chunk] != names:
            listed = ", ".join(name for name, _, _ in chunk)
            raise DataError(f"Chunk {i} has the columns {listed}; those of chunk 0 are {', '.join(names)}.")
        for name, kind, empty in chunk:
            before = kinds.get(name)
            if empty or before == kind:
                continue
            if before is None:
                kinds[name] = kind
            elif {before, kind} == {pa.int64(), pa.float64()}:
                kinds[name] = pa.float64()
            else:
                problem = f"Column {name!r} is {kind} in chunk {i}, and {before} in a chunk before it."
                raise DataError(problem, remedy="Convert it to one type, for example with astype.", column=name)
    return pa.schema([(name, kinds.get(name, pa.float64())) for name in names])


def _cast(table: pa.Table, schema: pa.Schema) -> Columns:
    return Columns(table if table.schema.equals(schema) else table.cast(schema))


def _default_client() -> Any:
    """The Dask client of this process; None if there is none."""
    try:
        from distributed import default_client
    except ImportError:
        return None
    try:
        return default_client()
    except ValueError:
        return None
