"""Column profiles from one pass over a table: counts, distinct values and ranges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer import _numeric
from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import distinct_hashes
from mercer._runtime.errors import DataError
from mercer.source.arrow import hash_texts, kind_of
from mercer.stats import Statistic

#: Distinct values kept per column, with exact counts: fewer, but at least so many, where all columns would keep more
#: than a total.
MAX_VALUES, _MIN_VALUES, _MAX_TOTAL = 4096, 512, 2**25
#: Numbers of a sample of rows of a table, at most.
SAMPLE_ENTRIES = 2**26
#: Columns of numbers with at most so many rows are sketched together, about so many numbers at a time.
_MAX_ROWS, _BATCH_SIZE = 2048, 2**20


@dataclass(frozen=True)
class ColumnProfile:
    """One column: `n` rows, `missing` of them null, about `distinct` values between `low` and `high`.

    `values`, in an `array`, are distinct values with their exact counts, the most frequent first: all of them if
    `exact`, else those with the smallest hashes, a uniform sample of the distinct values.
    """

    name: str
    kind: str
    n: int
    missing: int
    distinct: int
    exact: bool
    array: np.ndarray
    counts: np.ndarray
    low: Any = None
    high: Any = None

    @cached_property
    def values(self) -> list:
        """The values as objects, which take several times the memory of an array of numbers."""
        return self.array.tolist() if self.array.dtype.kind != "M" else list(self.array)

    @property
    def present(self) -> int:
        """The number of rows whose value is not missing."""
        return self.n - self.missing


@dataclass(frozen=True)
class Sketch:
    """The distinct values of smallest hash of one column and their counts (Gibbons 2001), mergeable.

    A value among the smallest of all is among the smallest of every part, so its count is exact.
    """

    kind: str
    missing: int
    keys: np.ndarray
    values: np.ndarray
    counts: np.ndarray
    low: Any
    high: Any
    complete: bool = True

    def merge(self, other: Sketch, size: int) -> Sketch:
        """The sketch of the rows of both."""
        if other.kind != self.kind:
            raise ValueError(f"A column cannot hold {self.kind} in some blocks and {other.kind} in others.")
        keys, values, counts = (
            np.concatenate(pair)
            for pair in ((self.keys, other.keys), (self.values, other.values), (self.counts, other.counts))
        )
        first, times, order = distinct_hashes(keys)
        complete = self.complete and other.complete and len(first) <= size
        first, starts = first[:size], np.cumsum(times) - times
        return Sketch(
            self.kind,
            self.missing + other.missing,
            keys[first],
            values[first],
            np.add.reduceat(counts[order], starts)[:size] if len(starts) else counts,
            _bound(min, self.low, other.low),
            _bound(max, self.high, other.high),
            complete,
        )


def _bound(best: Callable, a: Any, b: Any) -> Any:
    """`best` of two bounds, either of which may be None."""
    return best((bound for bound in (a, b) if bound is not None), default=None)


@dataclass(frozen=True)
class TableProfile(Statistic):
    """The profile of every column of a source of tables; `finish` gives {name: ColumnProfile}.

    >>> from mercer.source import Columns
    >>> profile = TableProfile().of(Block(Columns.of({"city": ["Bern", "Oslo", None, "Bern"]}))).finish()["city"]
    >>> profile.values, profile.counts.tolist(), profile.missing
    (['Bern', 'Oslo'], [2, 1], 1)
    """

    size: int = MAX_VALUES
    n: int = 0
    columns: dict[str, Sketch] = field(default_factory=dict)

    def of(self, block: Block) -> TableProfile:
        if len(block) == 0:
            return TableProfile(self.size)
        table = block.X.table
        size = min(self.size, max(_MIN_VALUES, _MAX_TOTAL // max(table.num_columns, 1)))
        known = _number_sketches(table, size) if len(block) <= _MAX_ROWS else {}
        found = {name: known.get(name) or _sketch(table[name], size) for name in table.column_names}
        return TableProfile(size, len(block), found)

    def _merge(self, other: TableProfile) -> TableProfile:
        merged = {name: sketch.merge(other.columns[name], self.size) for name, sketch in self.columns.items()}
        return TableProfile(self.size, self.n + other.n, merged)

    def finish(self) -> dict[str, ColumnProfile]:
        if self.n == 0:
            raise ValueError("The table has no rows: there is nothing to learn from.")
        return {name: _finished(name, sketch, self.n) for name, sketch in self.columns.items()}


def _number_sketches(table: pa.Table, size: int) -> dict[str, Sketch]:
    """The sketches of the float64 columns without missing or repeated values, many columns at a time."""
    plain = [name for name, kind in zip(table.column_names, table.schema.types, strict=True) if kind == pa.float64()]
    plain = [name for name in plain if table[name].null_count == 0]
    found, n = {}, table.num_rows
    ones = np.ones(min(n, size), dtype=np.int64)
    for names in in_batches(plain, n):
        values = np.stack([table[name].to_numpy() for name in names])
        keys = _keys(values)
        order = np.argsort(keys, axis=1, kind="stable")
        keys, ordered = (np.take_along_axis(each, order, axis=1) for each in (keys, values))
        simple = np.all(keys[:, 1:] != keys[:, :-1], axis=1) & ~np.isnan(values).any(axis=1)
        bounds = zip(values.min(axis=1).tolist(), values.max(axis=1).tolist(), strict=True)
        kept, values = keys[:, :size].copy(), ordered[:, :size].copy()
        for j, (name, (low, high)) in enumerate(zip(names, bounds, strict=True)):
            if simple[j]:
                found[name] = Sketch("number", 0, kept[j], values[j], ones, low, high, n <= size)
    return found


def in_batches(names: list[str], n_rows: int) -> list[list[str]]:
    """Names of columns in batches of about a million numbers."""
    size = max(1, _BATCH_SIZE // max(n_rows, 1))
    return [names[start : start + size] for start in range(0, len(names), size)]


def _sketch(column: pa.ChunkedArray, size: int) -> Sketch:
    present = column.combine_chunks().drop_null()
    kind = kind_of(column.type)
    if kind == "text":
        counted = pc.value_counts(present)
        found, counts = counted.field("values"), counted.field("counts").to_numpy()
        keys, values = hash_texts(found), found.to_numpy(zero_copy_only=False)
        order = _numeric.hash_order(keys)[:size]
        keys, counts, values, n, low, high = keys[order], counts[order], values[order], len(keys), None, None
    else:
        whole = present.to_numpy(zero_copy_only=False)
        keys = _keys(whole)
        first, counts, _ = distinct_hashes(keys)
        n, first = len(first), first[:size]
        keys, values, counts = keys[first], whole[first], counts[:size]
        low, high = _range(present, values if n <= size else whole)
    return Sketch(kind, column.null_count, keys, values, counts, low, high, n <= size)


def _range(present: pa.Array, values: np.ndarray) -> tuple[Any, Any]:
    """The smallest and the largest of the values present; `values` holds all of them, or all distinct ones."""
    if values.dtype.kind in "fi" and len(values):
        low, high = values.min(), values.max()
        if low == low:
            return low.item(), high.item()
    ends = pc.min_max(present)
    try:
        return tuple(ends.as_py().values())
    except OverflowError as error:
        shown = f"from {ends['min'].cast(pa.string())} to {ends['max'].cast(pa.string())}"
        remedy = "Make such dates missing, or pass the column as text."
        raise DataError(f"A column of dates goes {shown}, beyond the years 1 to 9999.", remedy=remedy) from error


def _keys(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "b":
        return _numeric.splitmix64(values.astype(np.uint64))
    values = values + 0.0 if values.dtype.kind == "f" else values  # -0.0 and 0.0 are one value
    return _numeric.splitmix64(values.view(np.uint64))


def _finished(name: str, sketch: Sketch, n: int) -> ColumnProfile:
    repeated = np.any(sketch.counts != sketch.counts[:1])
    order = np.argsort(-sketch.counts, kind="stable") if repeated else slice(None)
    distinct = len(sketch.keys)
    if not sketch.complete:  # the k-th smallest of D uniform hashes lies near k/D
        distinct = round((distinct - 1) / (float(sketch.keys[-1]) / 2.0**64))
    values = sketch.values[order]
    if values.dtype.kind == "f" and np.any(values == 0):
        values = values + 0.0  # -0.0 and 0.0 are one value
    counts = (n, sketch.missing, min(distinct, n), sketch.complete)
    return ColumnProfile(name, sketch.kind, *counts, values, sketch.counts[order], sketch.low, sketch.high)
