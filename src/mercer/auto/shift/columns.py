"""Columns of a table as numbers that depend on no other row: robust scores, and random signs of hashed categories.

Encoders of a model are learned from its training rows, which therefore have no unseen category and no unseen word. Two
samples of one distribution would differ in that alone. Here the map of a row is the same whichever sample it is from:
only centers and scales of numbers are learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer import _numeric
from mercer.source import Columns
from mercer.source.arrow import keys_of
from mercer.text import TextFeatures

#: Signs per category, and buckets of words per text column.
_N_SIGNS, _N_BUCKETS = 16, 64
_MAX_Z = 1e6


def numbers_of(table: Columns, name: str) -> np.ndarray:
    """A column of numbers, booleans or dates (also in ISO format) in float64; NaN where missing."""
    values = table.array(name)
    if values.dtype.kind == "O" and any(isinstance(value, str) for value in values):
        values = np.array([np.datetime64("NaT") if v is None else np.datetime64(v) for v in values], "datetime64[us]")
    if values.dtype.kind == "M":
        return np.where(np.isnat(values), np.nan, values.astype("datetime64[us]").astype(np.int64).astype(float))
    return values.astype(np.float64)


def texts_of(table: Columns, name: str) -> list[str]:
    """A column as texts; missing ones are empty."""
    return ["" if value is None else str(value) for value in table.table[name].to_pylist()]


def lengths_of(table: Columns, name: str) -> np.ndarray:
    """The lengths of the texts of a column in characters; NaN where they are missing or empty."""
    column = table.table[name]
    if not _is_text(column):
        return np.array([float(len(text)) or np.nan for text in texts_of(table, name)])
    lengths = np.array(pc.utf8_length(column).cast("float64"), dtype=np.float64)
    return np.where(lengths == 0, np.nan, lengths)


def codes_of(table: Columns, name: str) -> tuple[np.ndarray, list[str]]:
    """The number of the text of each row among the distinct texts; missing ones are empty."""
    column = table.table[name]
    if not _is_text(column):
        texts, codes = np.unique(np.array(texts_of(table, name), dtype=object), return_inverse=True)
        return codes, texts.tolist()
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    found = pc.fill_null(column, "").dictionary_encode()
    return found.indices.to_numpy(zero_copy_only=False), found.dictionary.to_pylist()


def _is_text(column: Any) -> bool:
    return pa.types.is_string(column.type) or pa.types.is_large_string(column.type)


@dataclass(frozen=True)
class NumberScores:
    """3 tanh(z / 3) of z = (x - median) / IQR, and an indicator of missing values."""

    column: str
    center: float
    scale: float

    @classmethod
    def of(cls, table: Columns, name: str) -> NumberScores:
        """Learn center and scale."""
        values = numbers_of(table, name)
        values = values[np.isfinite(values)]
        if len(values) == 0:
            return cls(name, 0.0, 1.0)
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        return cls(name, float(middle), float((high - low) or values.std() or 1.0))

    def encode(self, table: Columns) -> np.ndarray:
        """Two columns for each row."""
        x = numbers_of(table, self.column)
        z = np.clip((x - self.center) / self.scale, -_MAX_Z, _MAX_Z)
        return np.column_stack([np.nan_to_num(3.0 * np.tanh(z / 3.0)), np.isnan(x)])


@dataclass(frozen=True)
class CategorySigns:
    """Random signs of the hash of each category: two categories have about the same distance, known or not."""

    column: str

    def encode(self, table: Columns) -> np.ndarray:
        """`_N_SIGNS` columns of square sum one for each row."""
        keys = keys_of(table.table[self.column], 0)
        signs = [_numeric.signs(_numeric.splitmix64(keys, seed)) for seed in range(1, _N_SIGNS + 1)]
        return np.column_stack(signs).astype(np.float64) / np.sqrt(_N_SIGNS)


@dataclass(frozen=True)
class HashedWords:
    """Words of a text in hashed buckets, as a unit vector."""

    column: str

    def encode(self, table: Columns) -> np.ndarray:
        """`_N_BUCKETS` columns for each row."""
        return np.asarray(self._map.transform(texts_of(table, self.column)).toarray(), dtype=np.float64)

    @property
    def _map(self) -> TextFeatures:
        words = TextFeatures(ngram_range=(1, 1), weighting="log", norm="l2", n_buckets=_N_BUCKETS)
        return words.fit([""])


@dataclass(frozen=True)
class RowEncoder:
    """The encoders of all columns that are compared."""

    parts: tuple[Any, ...]

    @classmethod
    def of(cls, table: Columns, roles: dict[str, str]) -> RowEncoder:
        """The encoders that suit the roles of columns, learned from some rows."""
        return cls(tuple(_encoder(table, name, role) for name, role in roles.items()))

    def encode(self, table: Columns) -> np.ndarray:
        """The numbers of each row."""
        return np.concatenate([part.encode(table) for part in self.parts], axis=1)


def _encoder(table: Columns, name: str, role: str) -> Any:
    if is_numeric(table.schema[name], role):
        return NumberScores.of(table, name)
    return HashedWords(name) if role in ("text", "sequence") else CategorySigns(name)


def is_numeric(kind: str, role: str) -> bool:
    """Whether a column is compared as numbers."""
    return kind in ("integer", "number", "boolean", "date") or role == "date"
