"""Tables of mixed columns: numbers, dates and text, in memory or in Parquet files.

A table is the raw state of data. Its blocks hold `Columns`; `mercer.tables` turns them into numbers.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer._runtime.errors import Location
from mercer.source.base import Source
from mercer.source.files import ParquetSource
from mercer.source.memory import MemorySource
from mercer.source.missing import is_missing, require_present

#: The kinds of columns in `Columns.schema`.
KINDS = ("integer", "number", "boolean", "date", "text")


#: Tables of more columns and at most so many rows are hashed as arrays of at most so many entries, if they hold numbers
#: only.
_MIN_ARRAY_COLUMNS, _MAX_ARRAY_ROWS, _MAX_ARRAY_ENTRIES = 100, 2048, 2**23


class Columns:
    """Some rows of a table of named columns: a pyarrow Table of five plain types, see `KINDS`.

    It has a length and a shape; rows are selected by slice, mask or positions, a column by its name. A missing entry
    is null. Rows are hashed by the values of their columns in order, so a table has the same folds whether it came
    from a file or a frame.

    >>> table = Columns.of({"age": [31, None], "city": ["Bern", "Oslo"]})
    >>> table.schema, table[1:].shape
    ({'age': 'integer', 'city': 'text'}, (1, 2))
    >>> table.array("age")
    array([31., nan])
    """

    def __init__(self, table: Any):
        self.table = table

    @classmethod
    def of(cls, data: Any) -> Columns:
        """A frame of pandas, polars or pyarrow, an array (x0, x1, ...), a dict of columns, or a list of dicts."""
        if isinstance(data, Columns):
            return data
        from mercer.source.arrow import plain_table

        return cls(plain_table(data))

    @cached_property
    def columns(self) -> list[str]:
        return self.table.column_names

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.num_rows, self.table.num_columns

    def __len__(self) -> int:
        return self.table.num_rows

    @cached_property
    def schema(self) -> dict[str, str]:
        """{name: kind} with the kinds of `KINDS`."""
        from mercer.source.arrow import kind_of

        return {field.name: kind_of(field.type) for field in self.table.schema}

    def __getitem__(self, chosen: Any) -> Any:
        """A column (as `array` gives it) by its name, or the rows of a slice, a mask or positions."""
        if isinstance(chosen, str):
            return self.array(chosen)
        if isinstance(chosen, slice):
            start, stop, step = chosen.indices(len(self))
            if (start, stop, step) == (0, len(self), 1):
                return self
            if step == 1:
                return Columns(self.table.slice(start, max(0, stop - start)))
            chosen = np.arange(start, stop, step)
        import pyarrow as pa

        chosen = np.asarray(chosen)
        if chosen.dtype == bool:
            return Columns(self.table.filter(pa.array(chosen)))
        return Columns(self.table.take(pa.array(chosen, pa.int64())))

    def select(self, names: Iterable[str]) -> Columns:
        """Some of the columns, in the order given."""
        return Columns(self.table.select(list(names)))

    def array(self, name: str) -> np.ndarray:
        """One column: float64, int64, bool, datetime64[us], or objects (str, and None where missing).

        Integers with missing entries become float64 with NaN if that is exact, else objects.
        """
        from mercer.source.arrow import to_numpy

        return to_numpy(self.table[name])

    def codes(self, name: str) -> np.ndarray:
        """One column as codes 0, 1, ... of its values in order of appearance; missing entries share a code."""
        encoded = self.table[name].combine_chunks().dictionary_encode(null_encoding="encode")
        return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)

    def row_hashes(self) -> np.ndarray:
        """The 64-bit hash of each row, that of `hash_object_rows` on the same values."""
        return self._hashes.copy()

    @cached_property
    def _hashes(self) -> np.ndarray:
        from mercer.source.arrow import keys_of, number_columns

        columns = self.table.columns
        several = len(columns) > _MIN_ARRAY_COLUMNS and len(self) <= _MAX_ARRAY_ROWS
        numbers = number_columns(columns) if several else None
        if numbers is not None:
            step = max(1, _MAX_ARRAY_ENTRIES // len(columns))
            spans = (slice(start, start + step) for start in range(0, len(self), step))
            rows = (np.ascontiguousarray(np.stack([each[span] for each in numbers]).T) for span in spans)
            return np.concatenate([_numeric.hash_dense_rows(each) for each in rows])
        return _numeric.hash_keyed_rows([keys_of(column, j) for j, column in enumerate(columns)])

    def stacked(self, *below: Columns) -> Columns:
        """The rows of several tables, in order."""
        import pyarrow as pa

        whole = pa.concat_tables([self.table, *(each.table for each in below)])
        return Columns(whole.combine_chunks() if len(below) > 1 else whole)

    def __reduce__(self) -> tuple:
        return Columns, (self.table.combine_chunks(),)

    def __repr__(self) -> str:
        return f"Columns({len(self)} rows: {self.schema})"


class TableSource(ParquetSource):
    """Raw rows of one or more Parquet files of one schema, read by row group; blocks hold `Columns`.

    Use it through `read_table`, which detects types and reads text files as well.

    Parameters
    ----------
    paths : list of paths
    columns : names of the feature columns, or None for all but `target` and `weight`
    target, weight : names of columns or None
    notes : remarks on the data, made while reading
    keep_alive : anything that must live as long as the source (a temporary folder)
    partitions : dict of names to one value for each file
        Columns that are constant in each file, such as those of folders named year=2024.
    """

    notes: list[str]
    #: Finds the line of a row in the text file that was converted to Parquet.
    locate_line: Callable[[int], Location] | None = None
    #: Whether rows that lack their target or weight are skipped, which `n_rows` still counts, instead of refused. Then
    #: `skipped_rows` are their numbers, and the other rows are counted without them.
    skip_incomplete: bool = False

    def __init__(
        self,
        paths: Sequence[str | os.PathLike],
        columns: Iterable[str] | None = None,
        target: str | None = None,
        weight: str | None = None,
        notes: Iterable[str] = (),
        keep_alive: Any = None,
        partitions: Mapping[str, Sequence[Any]] | None = None,
    ):
        self._open([os.fspath(path) for path in paths], columns, target, weight, partitions)
        self.notes, self.keep_alive = list(notes), keep_alive
        self.schema = {} if self.n_rows == 0 else self._first_row().select(self.names).schema

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return state if self.locate_line is None else state | {"locate_line": _row_of_table}

    def _first_row(self) -> Columns:
        """The first row, complete or not."""
        return Columns.of(self._row_group(bisect_right(self.bounds, 0) - 1).slice(0, 1))

    def _block(self, tables: list, start: int) -> Block:
        first, *others = (Columns.of(table) for table in tables)
        whole = first.stacked(*others) if others else first
        if self.skip_incomplete:
            lack = [is_missing(whole.array(name)) for name in (self.target, self.weight) if name is not None]
            whole = whole[~np.any(lack, axis=0)] if lack else whole
            start -= int(np.searchsorted(self.skipped_rows, start))
        y, weight = (None if name is None else whole.array(name) for name in (self.target, self.weight))
        return self._complete(whole.select(self.names), y, weight, start)

    def locate(self, row: int) -> Location:
        """The file and line of a row where `locate_line` is set, else file and row."""
        if self.locate_line is not None:
            return self.locate_line(row)
        return super().locate(int(self.numbers_in_input(row)) if self.skip_incomplete else row)


def _row_of_table(row: int) -> Location:
    """The location of a row for a worker, which does not have the text file; `RowError.located` completes it."""
    return Location(row=row)


def table_in_memory(data: Any, target: Any = None, weight: Any = None, notes: Iterable[str] = ()) -> MemorySource:
    """A source of the rows of a table in memory; `target` and `weight` are names of columns or arrays."""
    whole = Columns.of(data)
    named = [name for name in (target, weight) if isinstance(name, str)]
    y, w = (
        require_present(whole.array(given), given, 0, what) if isinstance(given, str) else _vector(given, what)
        for given, what in ((target, "target"), (weight, "weight"))
    )
    features = [name for name in whole.columns if name not in named]
    source = MemorySource(whole.select(features), y, w)
    source.schema, source.notes = source.X.schema, list(notes)
    source.target = target if isinstance(target, str) else None
    return source


def first_block(source: Source) -> Any:
    """The first `Block` that has rows, or None."""
    blocks = (task.read() for task in source.tasks())
    return next((block for block in blocks if len(block)), None)


def _vector(given: Any, what: str) -> np.ndarray | None:
    """Targets or weights given as an array, in the types of a column of a table."""
    if given is None:
        return None
    values = np.asarray(given)
    if what == "weight" and values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or values.dtype.kind in "fiubUM":
        return values
    from mercer.source.arrow import plain_table, to_numpy

    return require_present(to_numpy(plain_table({what: values})[what]), None, 0, what)


def is_column_dict(data: Any) -> bool:
    """Whether `data` maps names to columns and is not a Bunch of scikit-learn."""
    return isinstance(data, Mapping) and not hasattr(data, "data")
