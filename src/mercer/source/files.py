"""Rows in Parquet files larger than memory."""

from __future__ import annotations

import os
import re
import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._runtime.errors import DataError, Location, RowError
from mercer.source.accumulator import BLOCK_ROWS, PART_ROWS
from mercer.source.base import RowSource
from mercer.source.missing import require_present
from mercer.source.portions import FilePositions
from mercer.source.storage import for_workers, open_file

#: Bytes of unpacked values for each byte of a file, at most.
_UNPACKED = 1000


@contextmanager
def parquet_errors(path: str) -> Iterator[None]:
    """Errors of the reader of Parquet, which name neither the file nor a remedy, as errors that do."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, ValueError, IndexError, KeyError, TypeError, OverflowError, MemoryError) as error:
        if isinstance(error, DataError) or (isinstance(error, MemoryError) and _is_plausible(error, path)):
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(". ")
        problem = f"{path} cannot be read as Parquet: {reason}."
        remedy = "It is damaged, encrypted, or was cut off while being written: write it again."
        raise DataError(problem, remedy=remedy, file=path) from error


def _is_plausible(error: MemoryError, path: str) -> bool:
    """Whether as many bytes as were not to be had may stand in the file; damaged sizes ask for far more.

    >>> _is_plausible(MemoryError("malloc of size 573760 failed"), __file__)
    True
    >>> _is_plausible(MemoryError("malloc of size 2147483647 failed"), __file__)
    False
    """
    asked = re.search(r"size (\d+)", str(error))
    return asked is not None and os.path.exists(path) and int(asked[1]) <= _UNPACKED * os.path.getsize(path)


class ParquetSource(RowSource):
    """Numeric columns of Parquet files, read by row group; one row group per thread is in memory.

    Use it through `read`, for files of numbers. For text, categories and dates use `read_table`.

    Parameters
    ----------
    path : path of a file, or list of paths of files of one schema
    columns : names of the feature columns, or None for all but `target` and `weight`
    target, weight : names of columns or None
    dtype : type of the features, default=float64
    partitions : dict of names to one value for each file, default=None
        Columns that are constant in each file, such as those of folders named year=2024.
    """

    names: list[str]
    bounds: list[int]
    #: Anything that must live as long as the source (a temporary folder).
    keep_alive: Any = None

    def __init__(
        self,
        path: str | os.PathLike | Sequence[str | os.PathLike],
        columns: Iterable[str] | None = None,
        target: str | None = None,
        weight: str | None = None,
        dtype: Any = np.float64,
        partitions: Mapping[str, Sequence[Any]] | None = None,
    ):
        self.dtype = np.dtype(dtype)
        paths = [path] if isinstance(path, (str, os.PathLike)) else path
        self._open([os.fspath(each) for each in paths], columns, target, weight, partitions)

    def _open(
        self,
        paths: Sequence[str],
        columns: Iterable[str] | None,
        target: str | None,
        weight: str | None,
        partitions: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        """Set the columns, and the row groups of all files one after the other."""
        import pyarrow.parquet as pq

        self.path, self.target, self.weight = paths[0], target, weight
        self.partitions = {name: list(values) for name, values in (partitions or {}).items()}
        self.file_of: list[int] = []
        self.groups: list[tuple[str, int]] = []
        self.bounds = [0]
        for n, path in enumerate(paths):
            with pq.ParquetFile(open_file(path)) as file:
                available = [*file.schema_arrow.names, *self.partitions]
                if not self.groups and columns is None:
                    columns = [name for name in available if name not in (target, weight)]
                self.names = list(columns or ())
                self._refuse_unknown(path, available)
                for i in range(file.metadata.num_row_groups):
                    self.groups.append((path, i))
                    self.file_of.append(n)
                    self.bounds.append(self.bounds[-1] + file.metadata.row_group(i).num_rows)
        self.n_rows = self.bounds[-1]
        self._local = threading.local()

    def reader(self) -> FileReader:
        return FileReader(self.on(None))

    def portions(self) -> Iterator[tuple[int, FilePositions]]:
        for first in range(0, self.n_rows, PART_ROWS):
            last = min(first + PART_ROWS, self.n_rows)
            spans = [(start, min(start + BLOCK_ROWS, last)) for start in range(first, last, BLOCK_ROWS)]
            yield last - first, FilePositions(spans)

    def __getstate__(self) -> dict[str, Any]:
        """What a worker, in a working folder of its own, needs to read rows. What keeps the files alive stays here."""
        state = {name: value for name, value in self.__dict__.items() if name not in ("keep_alive", "_local")}
        return state | {"groups": [(for_workers(path), group) for path, group in self.groups]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._local = threading.local()

    def read(self, start: int, stop: int) -> Block:
        pieces, i = [], bisect_right(self.bounds, start) - 1
        while start < stop:
            end = min(stop, self.bounds[i + 1])
            table = self._row_group(i).slice(start - self.bounds[i], end - start)
            pieces.append(table)
            start, i = end, i + 1
        return self._block(pieces, stop - sum(len(piece) for piece in pieces))

    def _block(self, tables: list, start: int) -> Block:
        import pyarrow as pa

        table = pa.concat_tables(tables)
        X = np.empty((table.num_rows, len(self.names)), dtype=self.dtype)
        for j, name in enumerate(self.names):
            X[:, j] = self._numbers(table, name)
        y = None if self.target is None else table[self.target].to_numpy()
        weight = None if self.weight is None else self._numbers(table, self.weight)
        return self._complete(X, y, weight, start)

    def _complete(self, X: Any, y: np.ndarray | None, weight: np.ndarray | None, start: int) -> Block:
        """The rows as a block, refusing one without its target or weight at its file and row."""
        try:
            y = None if y is None else require_present(y, self.target, start, "target")
            weight = None if weight is None else require_present(weight, self.weight, start, "weight")
        except RowError as error:
            raise error.located(self.locate) from error
        return Block(X, y, weight, start)

    def locate(self, row: int) -> Location:
        path = self.groups[bisect_right(self.bounds, row) - 1][0]
        first = self.bounds[[name for name, _ in self.groups].index(path)]
        return Location(path, row=row - first)

    def _numbers(self, table: Any, name: str) -> np.ndarray:
        import pyarrow.types as kinds

        kind = table.schema.field(name).type
        if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)):
            remedy = "Leave it out or encode it first."
            problem = f"{self.path}: column {name!r} holds {kind}, not numbers."
            raise DataError(problem, remedy=remedy, column=name, file=self.path)
        column = table[name]
        return (column.cast("float64") if kinds.is_boolean(kind) and column.null_count else column).to_numpy()

    def _row_group(self, i: int) -> Any:
        """Row group i, kept until this thread asks for another."""
        import pyarrow.parquet as pq

        if getattr(self._local, "index", None) != i:
            extra = [name for name in (self.target, self.weight) if name is not None]
            wanted = [name for name in [*self.names, *extra] if name not in self.partitions]
            path, group = self.groups[i]
            with parquet_errors(path), pq.ParquetFile(open_file(path), pre_buffer=False) as file:
                self._refuse_changed(path, i, file.metadata)
                self._local.table = self._with_partitions(file.read_row_group(group, columns=wanted), i)
            self._local.index = i
        return self._local.table

    def _with_partitions(self, table: Any, i: int) -> Any:
        """The rows of group i with the columns that are constant in their file."""
        import pyarrow as pa

        for name, values in self.partitions.items():
            kind = pa.array(values).type  # of all files
            table = table.append_column(name, pa.repeat(pa.scalar(values[self.file_of[i]], kind), table.num_rows))
        return table

    def _refuse_changed(self, path: str, i: int, metadata: Any) -> None:
        """Refuse a file whose row groups are not those it had when the source was made."""
        group, n_rows = self.groups[i][1], self.bounds[i + 1] - self.bounds[i]
        if group >= metadata.num_row_groups or metadata.row_group(group).num_rows != n_rows:
            problem = f"{path} has changed since it was opened, or is another file on this machine:"
            raise DataError(problem, remedy="read it again, and put the same file at this path everywhere.", file=path)

    def _refuse_unknown(self, path: str, available: list[str]) -> None:
        wanted = [*self.names, *(name for name in (self.target, self.weight) if name is not None)]
        unknown = [name for name in wanted if name not in available]
        if unknown:
            problem = f"{path}: no column named {unknown[0]!r}; it has {', '.join(available)}."
            raise DataError(problem, column=unknown[0], file=path)


class FileReader:
    """Reads the rows of files on a worker, by their paths."""

    def __init__(self, source: ParquetSource):
        self.source = source

    def read(self, start: int, stop: int) -> Block:
        """The rows from `start` up to, not including, `stop`."""
        return self.source.read(start, stop)

    def __getstate__(self) -> tuple[type, dict[str, Any]]:
        return type(self.source), self.source.__getstate__()

    def __setstate__(self, state: tuple[type, dict[str, Any]]) -> None:
        kind, attributes = state
        self.source = object.__new__(kind)
        self.source.__setstate__(attributes)
