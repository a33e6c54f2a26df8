"""The columns of a table in the forms that encoders ask for: numbers, times, categories, hashes, documents.

One encoder serves every kind of table. `ArrowValues` reads the columns of a `Columns`, many rows at a time.
`PlainValues` holds a few rows as Python values and `ArrayValues` an array of numbers, for which building an Arrow
table would take longer than encoding them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer._numeric.hashing.splitmix import column_keys
from mercer.source import Columns
from mercer.source.arrow import keys_of
from mercer.tables.schema import as_kind
from mercer.text.documents import Documents, as_documents

#: Up to so many rows, Python dictionaries are faster than Arrow.
MAX_PLAIN_ROWS = 32


class ArrowValues:
    """The columns of an Arrow table."""

    def __init__(self, table: Columns):
        self.table = table

    def __len__(self) -> int:
        return len(self.table)

    def numbers(self, names: Sequence[str]) -> np.ndarray:
        """Columns of numbers or booleans side by side as float64 with NaN where missing."""
        x = np.empty((len(self), len(names)))
        for j, name in enumerate(names):
            x[:, j] = numbers(self.table, name)
        return x

    def missing(self, names: Sequence[str]) -> np.ndarray:
        """1.0 where a value is missing, else 0.0, side by side."""
        flags = np.zeros((len(self), len(names)))
        for j, name in enumerate(names):
            column = self.table.table[name]
            if column.null_count:
                flags[:, j] = pc.is_null(column).to_numpy()
        return flags

    def times(self, name: str) -> np.ndarray:
        """A column of dates, or of dates written as text, as datetime64[us]."""
        return times_of(self.table, name)

    def objects(self, name: str) -> list:
        """A column as Python values, None where missing."""
        return self.table.table[name].to_pylist()

    def column(self, name: str) -> Any:
        """The column as an Arrow array."""
        return self.table.table[name]

    def keys(self, names: Sequence[str]) -> np.ndarray:
        """The hash of each value, as int64; a missing value has one too."""
        return hashed(self.table, names)

    def documents(self, name: str) -> Documents:
        """A column of text, empty where missing."""
        return as_documents(self.table.table[name])


class PlainValues:
    """A few rows as Python values, a list for each column, None where missing; see `plain_values`."""

    def __init__(self, columns: dict[str, list], n_rows: int):
        self.columns, self.n_rows = columns, n_rows
        self._keys: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return self.n_rows

    def numbers(self, names: Sequence[str]) -> np.ndarray:
        return np.array([self.columns[name] for name in names], dtype=np.float64).T

    def missing(self, names: Sequence[str]) -> np.ndarray:
        flags = [[value is None for value in self.columns[name]] for name in names]
        return np.array(flags, dtype=np.float64).T

    def times(self, name: str) -> np.ndarray:
        values = self.columns[name]
        if any(type(value) is str for value in values):  # dates written as text, in formats that Arrow parses
            return pa.array(values, pa.string()).cast(pa.timestamp("us")).to_numpy(zero_copy_only=False)
        return np.array(values, dtype="M8[us]")

    def objects(self, name: str) -> list:
        return self.columns[name]

    def keys(self, names: Sequence[str]) -> np.ndarray:
        for name in names:
            if name not in self._keys:  # two encoders may ask for the same
                self._keys[name] = column_keys(_object_array(self.columns[name]), 0).view(np.int64)
        return np.array([self._keys[name] for name in names]).T

    def documents(self, name: str) -> Documents:
        return as_documents(pa.array(self.columns[name], pa.string()))


class ArrayValues:
    """Columns of numbers of a two-dimensional array, NaN where missing; `indices` are those of the names."""

    def __init__(self, X: np.ndarray, indices: dict[str, int]):
        self.X, self.indices = X, indices

    def __len__(self) -> int:
        return len(self.X)

    def rows(self, span: slice) -> ArrayValues:
        return ArrayValues(self.X[span], self.indices)

    def numbers(self, names: Sequence[str]) -> np.ndarray:
        return self.X[:, [self.indices[name] for name in names]].astype(np.float64, copy=False)

    def missing(self, names: Sequence[str]) -> np.ndarray:
        return np.isnan(self.numbers(names)).astype(np.float64)


def numbers(table: Columns, name: str) -> np.ndarray:
    """A column of numbers or booleans as float64 with NaN where missing."""
    column = table.table[name]
    if column.type != pa.float64():
        column = column.cast(pa.float64(), safe=False)  # integers beyond 2^53 are rounded
    return column.to_numpy()


def times_of(table: Columns, name: str) -> np.ndarray:
    """A column of dates, or of dates written as text, as datetime64[us]."""
    column = table.table[name]
    return (column if column.type == pa.timestamp("us") else as_kind(column, "date", name)).to_numpy()


def hashed(table: Columns, names: Sequence[str]) -> np.ndarray:
    """The hash of each value of some columns, as int64; a missing value has one too."""
    return np.stack([keys_of(table.table[name], 0).view(np.int64) for name in names], axis=1)


def _object_array(values: list) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
