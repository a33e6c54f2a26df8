"""Between tables and models: encoded rows in memory, and a short way for single rows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.io import read_table
from mercer.source import Columns, Source

#: The most encoded columns of a search.
_WIDEST = 5000


@dataclass
class Encoded:
    """Encoded rows, their targets, the hash of each row as read, and the indicators of each category.

    Weights have been divided by `unit`.
    """

    X: Any
    y: np.ndarray | None
    ids: np.ndarray
    categories: tuple[slice, ...] = ()
    weight: np.ndarray | None = None
    unit: float = 1.0


def encoded_rows(encoder, source: Source, learn: bool | None = False) -> Encoded:
    """All rows of a source of tables, encoded; `learn` fits the encoder and gives out-of-fold target encodings.

    None says that the source is one of encoded rows already.
    """
    mapped = source if learn is None else encoder.fit_transform(source) if learn else encoder.transform(source)
    refuse_wide(encoder)
    blocks = [block for block in mapped.blocks() if len(block)]
    if not blocks:
        raise ValueError("The source has no rows.")
    y = None if blocks[0].y is None else np.concatenate([np.asarray(block.y) for block in blocks])
    ids = np.concatenate([block.ids for block in blocks])
    categories = tuple(slice(b.start, b.stop) for b in encoder.blocks_ if b.kind == "onehot" and b.stop - b.start > 2)
    return Encoded(np.concatenate([dense(block.X) for block in blocks]), y, ids, categories, *weights_of(blocks))


def weights_of(blocks) -> tuple[np.ndarray | None, float]:
    """The weights of all rows, at least one on average (a weight of 2 is a row that is there twice), and their unit.

    None if rows count alike.
    """
    if blocks[0].weight is None:
        return None, 1.0
    weight = np.concatenate([np.asarray(block.weight, dtype=np.float64) for block in blocks])
    unit = min(float(weight.mean()), 1.0)
    return weight / unit, unit


def refuse_wide(encoder) -> None:
    """The search keeps encoded rows as a dense array: many levels can make too many columns for that."""
    width = encoder.blocks_[-1].stop
    if width > _WIDEST:
        block = max(encoder.blocks_, key=lambda block: block.stop - block.start)
        raise ValueError(
            f"The table becomes {width} columns, {block.stop - block.start} of them from {block.column!r} (role "
            f"{block.role!r}), but the search takes at most {_WIDEST}. Give that column another role, as in "
            f"roles={{{block.column!r}: 'id'}} to leave it out, or learn from it with mercer.text.TextFeatures and "
            "mercer.linear.LogisticClassifier."
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
    values = encoder._values(data)
    return None if values is None else encoder._encode_values(values)


def encoded(encoder, data, known=()):
    """Rows as the encoder makes them: a few in the short way, others through a table with the names of fit."""
    few = encoded_few(encoder, data)
    return encoder.transform(named(data, encoder.schema_, known)) if few is None else few


class QuickNumbers:
    """What model files once held beside an encoder of numbers; it is read, and not used."""
