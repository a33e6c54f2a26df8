"""Encoded rows in memory, and a fast path for single rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from mercer._numeric.block import Block, collected
from mercer._runtime.errors import DataError, Message, Setting
from mercer.io import read_table
from mercer.source import Columns, Source
from mercer.source.accumulator import BLOCK_ROWS
from mercer.source.table import table_in_memory
from mercer.stats.folds import FoldPlan
from mercer.tables.columns import SmoothClipped

#: Encoded columns of a search, at most, unless rows are no more than that.
_MAX_COLUMNS = 5000


@dataclass
class EncodedRows:
    """Encoded rows, their targets, the hash of each row as read, and the indicator columns of each categorical column.

    Weights have been divided by `unit`. `plan` says how the hashes make folds, where rows are not independent.
    """

    X: Any
    y: Any
    ids: np.ndarray
    categories: tuple[slice, ...] = ()
    weight: np.ndarray | None = None
    unit: float = 1.0
    plan: FoldPlan | None = None
    #: The key of each row's group, where rows are grouped.
    groups: np.ndarray | None = None
    #: The response of a loss that was asked for; None for the squared error, and for classes.
    response: Any = None
    #: The sign of the effect of each encoded column, +1, -1, or 0 for any; None if none is asked for.
    signs: np.ndarray | None = None
    #: How the encoded columns of numbers were made.
    numbers: Mapping[int, SmoothClipped] = field(default_factory=dict)


def encoded_rows(encoder, source: Source, learn: bool | None = False) -> EncodedRows:
    """All rows of a source of tables, encoded; `learn` fits the encoder and gives out-of-fold target encodings.

    None says that the source is one of encoded rows already.
    """
    mapped = source if learn is None else encoder.fit_transform(source) if learn else encoder.transform(source)

    def parts() -> Iterator[Block]:
        n = 0
        for block in mapped.blocks():
            n += len(block)
            refuse_wide(encoder, n)
            yield block.with_X(dense(block.X))

    rows = collected(parts())
    categories = tuple(slice(b.start, b.stop) for b in encoder.blocks_ if b.kind == "onehot" and b.stop - b.start > 2)
    made = EncodedRows(rows.X, rows.y, rows.ids, categories, *weights_of(rows.weight), *split_of(mapped, rows))
    return replace(made, numbers=numbers_of(encoder))


def numbers_of(encoder) -> dict[int, SmoothClipped]:
    """The column encoder of each encoded column that is a number."""
    table = getattr(encoder, "table", encoder)  # a `ScoredEncoder` has a `TableEncoder`
    parts = {part.column: part for part in table.column_encoders if isinstance(part, SmoothClipped)}
    return {b.start: parts[b.column] for b in encoder.blocks_ if b.kind == "number" and b.column in parts}


def split_of(source: Source, rows: Block) -> tuple[FoldPlan | None, np.ndarray | None]:
    """The plan of the folds of rows that were collected from a source, and their groups, where there are any."""
    return source.fold_plan, getattr(rows.raw, "keys", {}).get("group") if source.fold_plan is not None else None


def weights_of(weight: np.ndarray | None) -> tuple[np.ndarray | None, float]:
    """The weights of all rows, of mean at least one, and their unit; None without weights."""
    if weight is None:
        return None, 1.0
    weight = np.asarray(weight, dtype=np.float64)
    unit = min(float(weight.mean()), 1.0)
    return weight / unit, unit


def refuse_wide(encoder, n_rows: int) -> None:
    """Refuse more columns than a dense array of many rows should have, as many categories can make."""
    width = encoder.blocks_[-1].stop
    if min(width, n_rows) > _MAX_COLUMNS:
        block = max(encoder.blocks_, key=lambda block: block.stop - block.start)
        raise DataError(
            f"The table becomes {width} columns, {block.stop - block.start} of them from {block.column!r} (role "
            f"{block.role!r}), but for more than {_MAX_COLUMNS} rows the search takes {_MAX_COLUMNS} at most.",
            remedy=Message(
                "Give that column another role, as in ",
                Setting("roles", "id", key=block.column),
                " to leave it out, or learn from it with mercer.TextFeatures and mercer.LogisticClassifier.",
            ),
            column=block.column,
        )


def dense(X) -> np.ndarray:
    """Encoded rows as an array of float64."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def opened(data, schema: dict[str, str] | None = None, known=()) -> Source | None:
    """A source for paths, of rows like those of a schema; None for what the encoder takes as it is.

    `known` names columns that are no features but nothing new either: the target and the weight of the fit.
    """
    if isinstance(data, (str, os.PathLike)):
        source = read_table(data, like=schema)
        return source.map(lambda block: block.with_X(without(block.X, known)))
    return data if isinstance(data, Source) else None


def without(table: Columns, names) -> Columns:
    """A table without columns of these names, should it have any."""
    kept = [name for name in table.columns if name not in names]
    return table if len(kept) == len(table.columns) else table.select(kept)


def named(data, schema: dict[str, str], known=()) -> Columns:
    """Rows in any form as a table; those of a list or array have the names that fit gave its columns."""
    fields = getattr(getattr(data, "dtype", None), "names", None)
    if isinstance(data, (Columns, Mapping)) or hasattr(data, "columns") or hasattr(data, "column_names") or fields:
        return without(Columns.of(data), known)
    if isinstance(data, list) and data and isinstance(data[0], Mapping):
        return without(Columns.of(data), known)
    table = Columns.of(data)
    if table.shape[1] != len(schema):
        raise ValueError(f"X has {table.shape[1]} features, but fit has seen {len(schema)}.")
    return Columns(table.table.rename_columns(list(schema)))


def one_row(row):
    """A Series of plain values as a dict of them; anything else as it is."""
    return row.to_dict() if hasattr(row, "to_dict") and getattr(row, "ndim", 2) == 1 else row


def encoded_few(encoder, data):
    """A few rows, or an array of numbers, encoded with no table in between; None if that cannot be.

    Columns of an array are those of fit in its order, whatever their names were.
    """
    values = encoder.parse_rows(data)
    return None if values is None else encoder.encode_parsed(values)


def encoded(encoder, data, known=()):
    """Rows as the encoder makes them: a few in the short way, others through a table with the names of fit."""
    few = encoded_few(encoder, data)
    return encoder.transform(named(data, encoder.schema_, known)) if few is None else few


def mapped_rows(encoder, data, function: Callable[[np.ndarray], np.ndarray], known=()) -> np.ndarray:
    """function(encoded rows), each row's on its own; where there are many rows, block by block. `known` as `opened`."""
    values = encoder.parse_rows(data)
    if values is not None and len(values) <= BLOCK_ROWS:
        return function(dense(encoder.encode_parsed(values)))
    if values is not None:
        spans = ((values.rows(slice(start, start + BLOCK_ROWS)), start) for start in range(0, len(values), BLOCK_ROWS))
        return one_array((function(dense(encoder.encode_parsed(*span))) for span in spans), len(values))
    table = encoder.check_table(named(data, encoder.schema_, known))
    if len(table) <= BLOCK_ROWS:
        return function(dense(encoder.transform(table)))
    return one_array(mapped_blocks(encoder, table_in_memory(table), function), len(table))


def mapped_blocks(encoder, source: Source, function) -> Iterator[np.ndarray]:
    """function(encoded rows) of each block of a source that has rows; blocks to come are encoded meanwhile."""
    return (function(dense(block.X)) for block in encoder.transform(source).blocks() if len(block))


def one_array(parts: Iterator[np.ndarray], most: int | None) -> np.ndarray:
    """Parts of an array of at most so many rows, one after the other, with no two copies of all of them.

    None says that nobody has counted the rows: then the parts are kept until there are all.
    """
    first = next(parts, None)
    if first is None:
        raise ValueError("The source has no rows.")
    if most is None:
        return np.concatenate([first, *parts])
    out, start = np.empty((most, *first.shape[1:]), first.dtype), 0
    for part in chain([first], parts):
        out[start : start + len(part)] = part
        start += len(part)
    return out if start == most else out[:start].copy()
