"""The columns of a table in the forms that encoders ask for: numbers, moments, levels, hashes, documents.

One encoder serves every kind of table. `ArrowValues` reads the columns of a `Columns`, many rows at a time;
`FewValues` holds a few rows as plain Python values and `ArrayValues` an array of numbers, for which building an Arrow
table would take longer than everything that follows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer._numeric.hashing.splitmix import column_keys
from mercer.source import Columns
from mercer.source.arrow import keys_of
from mercer.text.documents import Documents, as_documents

#: Up to so many rows, Python's own dictionaries are quicker than Arrow's.
FEW = 32


class ArrowValues:
    """The columns of a table of Arrow."""

    def __init__(self, table: Columns):
        self.table = table

    def __len__(self) -> int:
        return len(self.table)

    def numbers(self, names) -> np.ndarray:
        """Columns of numbers or booleans side by side as float64 with NaN where missing."""
        x = np.empty((len(self), len(names)))
        for j, name in enumerate(names):
            x[:, j] = numbers(self.table, name)
        return x

    def missing(self, names) -> np.ndarray:
        """1.0 where a value is missing, else 0.0, side by side."""
        flags = np.zeros((len(self), len(names)))
        for j, name in enumerate(names):
            column = self.table.table[name]
            if column.null_count:
                flags[:, j] = pc.is_null(column).to_numpy()
        return flags

    def moments(self, name) -> np.ndarray:
        """A column of dates, or of text that says dates, as datetime64[us]."""
        return moments_of(self.table, name)

    def objects(self, name) -> list:
        """The values of a column as Python's own, None where missing."""
        return self.table.table[name].to_pylist()

    def column(self, name) -> Any:
        """The column as Arrow keeps it."""
        return self.table.table[name]

    def keys(self, names) -> np.ndarray:
        """The hash of each value, as int64; a missing value has one too."""
        return hashed(self.table, names)

    def documents(self, name) -> Documents:
        """A column of text, empty where missing."""
        return as_documents(self.table.table[name])


class FewValues:
    """A few rows as plain Python values, a list for each column, None where missing; see `few_values`."""

    def __init__(self, columns: dict[str, list], n_rows: int):
        self.columns, self.n_rows = columns, n_rows
        self._keys: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return self.n_rows

    def numbers(self, names) -> np.ndarray:
        return np.array([self.columns[name] for name in names], dtype=np.float64).T

    def missing(self, names) -> np.ndarray:
        gone = [[value is None for value in self.columns[name]] for name in names]
        return np.array(gone, dtype=np.float64).T

    def moments(self, name) -> np.ndarray:
        values = self.columns[name]
        if any(type(value) is str for value in values):  # dates written as text, in the forms that Arrow knows
            return pa.array(values, pa.string()).cast(pa.timestamp("us")).to_numpy(zero_copy_only=False)
        return np.array(values, dtype="M8[us]")

    def objects(self, name) -> list:
        return self.columns[name]

    def keys(self, names) -> np.ndarray:
        for name in names:
            if name not in self._keys:  # two encoders may ask for the same
                self._keys[name] = column_keys(_object_array(self.columns[name]), 0).view(np.int64)
        return np.array([self._keys[name] for name in names]).T

    def documents(self, name) -> Documents:
        return as_documents(pa.array(self.columns[name], pa.string()))


class ArrayValues:
    """Columns of numbers of a two-dimensional array, NaN where missing; `places` are those of the names."""

    def __init__(self, X: np.ndarray, places: dict[str, int]):
        self.X, self.places = X, places

    def __len__(self) -> int:
        return len(self.X)

    def rows(self, span: slice) -> ArrayValues:
        return ArrayValues(self.X[span], self.places)

    def numbers(self, names) -> np.ndarray:
        return self.X[:, [self.places[name] for name in names]].astype(np.float64, copy=False)

    def missing(self, names) -> np.ndarray:
        return np.isnan(self.numbers(names)).astype(np.float64)


def numbers(table: Columns, name: str) -> np.ndarray:
    """A column of numbers or booleans as float64 with NaN where missing."""
    column = table.table[name]
    if column.type != pa.float64():
        column = column.cast(pa.float64(), safe=False)  # whole numbers beyond 2^53 to the nearest
    return column.to_numpy()


def moments_of(table: Columns, name: str) -> np.ndarray:
    """A column of dates, or of text that says dates, as datetime64[us]."""
    column = table.table[name]
    return (column if column.type == pa.timestamp("us") else column.cast(pa.timestamp("us"))).to_numpy()


def hashed(table: Columns, names) -> np.ndarray:
    """The hash of each value of some columns, as int64; a missing value has one too."""
    return np.stack([keys_of(table.table[name], 0).view(np.int64) for name in names], axis=1)


def _object_array(values: list) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
