"""Rows in Parquet files larger than memory."""

from __future__ import annotations

import os
import threading
from bisect import bisect_right
from itertools import accumulate

import numpy as np

from mercer._numeric.block import Block
from mercer._runtime.errors import Location, RowError
from mercer.source.base import RowSource
from mercer.source.missing import require_present


class ParquetSource(RowSource):
    """Numeric columns of one Parquet file, read by row group; one row group per thread is in memory.

    Parameters
    ----------
    path : str or path
    columns : names of the feature columns, or None for all but `target` and `weight`.
    target, weight : names of columns or None.
    dtype : type of the features; float64 unless told.
    """

    def __init__(self, path, columns=None, target=None, weight=None, dtype=np.float64):
        import pyarrow.parquet as pq

        self.path = os.fspath(path)
        self.target, self.weight, self.dtype = target, weight, np.dtype(dtype)
        with pq.ParquetFile(self.path) as file:
            available = file.schema_arrow.names
            groups = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        self.names = list(columns) if columns is not None else [c for c in available if c not in (target, weight)]
        self._refuse_unknown(available)
        self.bounds = [0, *accumulate(groups)]
        self.n_rows = self.bounds[-1]
        self._local = threading.local()

    def read(self, start, stop):
        pieces, i = [], bisect_right(self.bounds, start) - 1
        while start < stop:
            end = min(stop, self.bounds[i + 1])
            table = self._row_group(i).slice(start - self.bounds[i], end - start)
            pieces.append(table)
            start, i = end, i + 1
        return self._block(pieces, stop - sum(len(piece) for piece in pieces))

    def _block(self, tables, start):
        import pyarrow as pa

        table = pa.concat_tables(tables)
        X = np.empty((table.num_rows, len(self.names)), dtype=self.dtype)
        for j, name in enumerate(self.names):
            X[:, j] = self._numbers(table, name)
        try:
            y = weight = None
            if self.target is not None:
                y = require_present(table[self.target].to_numpy(), self.target, start, "target")
            if self.weight is not None:
                weight = require_present(self._numbers(table, self.weight), self.weight, start, "weight")
        except RowError as error:
            raise error.located(self.locate) from error
        return Block(X, y, weight, start)

    def locate(self, row: int) -> Location:
        return Location(self.path, row=row)

    def _numbers(self, table, name):
        import pyarrow.types as kinds

        kind = table.schema.field(name).type
        if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)):
            raise ValueError(
                f"{self.path}: column {name!r} holds {kind}, not numbers. Leave it out or encode it first."
            )
        column = table[name]
        return (column.cast("float64") if kinds.is_boolean(kind) and column.null_count else column).to_numpy()

    def _row_group(self, i):
        """Row group i, kept until this thread asks for another."""
        import pyarrow.parquet as pq

        if getattr(self._local, "index", None) != i:
            extra = [name for name in (self.target, self.weight) if name is not None]
            with pq.ParquetFile(self.path, pre_buffer=False) as file:
                self._local.table = file.read_row_group(i, columns=self.names + extra)
            self._local.index = i
        return self._local.table

    def _refuse_unknown(self, available):
        wanted = [*self.names, *(name for name in (self.target, self.weight) if name is not None)]
        unknown = [name for name in wanted if name not in available]
        if unknown:
            raise ValueError(f"{self.path}: no column named {unknown[0]!r}; it has {', '.join(available)}.")
