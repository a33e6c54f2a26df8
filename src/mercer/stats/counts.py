"""Counts of the levels of columns and of labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer.stats.base import Statistic

MOST_LEVELS = 1_000_000


@dataclass(frozen=True)
class Levels:
    """The distinct values of one variable in sorted order, with their (weighted) counts."""

    levels: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True)
class Counts(Statistic):
    """Counts of the levels of every column; `finish` returns one `Levels` per column.

    Levels may be numbers, strings or a mixture. Missing values (None, NaN) count as one level, sorted last.

    Use it for columns of categories. Prefer a `Sample` for columns of many distinct values: the state grows with their
    number.

    >>> import numpy as np
    >>> from mercer._numeric.block import Block
    >>> (colors,) = Counts().of(Block(np.array([["red"], ["blue"], ["red"]], dtype=object))).finish()
    >>> colors.levels.tolist(), colors.counts.tolist()
    (['blue', 'red'], [1, 2])
    """

    n: int = 0
    tables: tuple[dict, ...] = ()

    def of(self, block: Block) -> Counts:
        if len(block) == 0:
            return Counts()
        columns = (np.asarray(block.X[:, j]) for j in range(block.X.shape[1]))
        return Counts(len(block), tuple(count_levels(column, block.weight) for column in columns))

    def _merge(self, other: Counts) -> Counts:
        pairs = zip(self.tables, other.tables, strict=True)
        return Counts(self.n + other.n, tuple(add_counts(a, b, j) for j, (a, b) in enumerate(pairs)))

    def finish(self) -> list[Levels]:
        return [sorted_levels(table) for table in self.tables]


@dataclass(frozen=True)
class LabelCounts(Statistic):
    """Counts of the distinct target values; `finish` returns one `Levels`.

    Use it to find the classes of a target and their frequencies; for targets of numbers use `Moments` instead.

    >>> import numpy as np
    >>> from mercer._numeric.block import Block
    >>> labels = LabelCounts().of(Block(np.zeros((3, 1)), y=np.array(["no", "yes", "no"]))).finish()
    >>> labels.levels.tolist(), labels.counts.tolist()
    (['no', 'yes'], [2, 1])
    """

    n: int = 0
    table: dict = field(default_factory=dict)

    def of(self, block: Block) -> LabelCounts:
        return LabelCounts(len(block), count_levels(np.asarray(block.y), block.weight))

    def _merge(self, other: LabelCounts) -> LabelCounts:
        return LabelCounts(self.n + other.n, add_counts(self.table, other.table, "target"))

    def finish(self) -> Levels:
        return sorted_levels(self.table)


def count_levels(column: np.ndarray, weight: np.ndarray | None = None) -> dict:
    """Return {level: (weighted) count} of one column; missing values count under None."""
    levels, codes = distinct(column)
    counts = np.bincount(codes, weight, minlength=len(levels))
    return dict(zip(levels, counts.tolist(), strict=True))


def _distinct_whole(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return `np.unique` of whole numbers with the inverse, without sorting if their range is small."""
    wide = column if column.dtype.itemsize == 8 else column.astype(np.int64)
    low, high = (wide.min(), wide.max()) if len(wide) else (0, 0)
    if len(wide) == 0 or int(high) - int(low) > max(len(wide), 256):
        return np.unique(column, return_inverse=True)
    offsets = (wide - low).astype(np.intp)
    present = np.flatnonzero(np.bincount(offsets))
    codes = np.zeros(offsets.max() + 1, dtype=np.intp)
    codes[present] = np.arange(len(present))
    return (present.astype(wide.dtype) + low).astype(column.dtype), codes[offsets]


def distinct(column: np.ndarray) -> tuple[list, np.ndarray]:
    """Return the distinct levels of one column and the index of each row's level.

    Missing values (None, NaN) are one level, None. Objects keep their order of appearance.
    """
    if column.dtype.kind == "O":
        return _distinct_objects(column)
    values, codes = _distinct_whole(column) if column.dtype.kind in "iu" else np.unique(column, return_inverse=True)
    levels = list(values) if values.dtype.kind == "M" else (values + 0 if values.dtype.kind == "f" else values).tolist()
    if levels and is_missing(levels[-1]):
        levels[-1] = None
    return levels, codes


def _distinct_objects(column: np.ndarray) -> tuple[list, np.ndarray]:
    index: dict = {}
    codes = np.empty(len(column), dtype=np.intp)
    for row, level in enumerate(column.tolist()):
        try:
            code = index.get(level)
            if code is None:
                level = None if is_missing(level) else level
                code = index.setdefault(level, len(index))
        except TypeError as error:
            raise TypeError(
                f"A level must be a string, a number or hashable, not a {type(level).__name__} ({level!r})."
            ) from error
        codes[row] = code
    return list(index), codes


def is_missing(level: Any) -> bool:
    """Return True for None, NaN, NaT and pandas' NA."""
    return level is None or type(level).__name__ in ("NAType", "NaTType") or bool(level != level)


def add_counts(a: dict, b: dict, name: Any) -> dict:
    """Return the sum of two tables of counts."""
    total = dict(a)
    for level, count in b.items():
        total[level] = total.get(level, 0) + count
    if len(total) > MOST_LEVELS:
        raise ValueError(
            f"Column {name} has more than {MOST_LEVELS:,} levels: it is not a category. "
            "Use it as a number, hash it, or leave it out."
        )
    return total


def sorted_levels(table: dict) -> Levels:
    """Return the levels in sorted order: numbers before strings, missing last."""
    present = [level for level in table if level is not None]
    try:
        present.sort()
    except TypeError:
        present.sort(key=lambda level: (isinstance(level, str), str(type(level)), repr(level)))
    if None in table:
        present.append(None)
    return Levels(_array(present), np.array([table[level] for level in present]))


def _array(levels: list) -> np.ndarray:
    """Return an array of numbers or of strings if all are of one type, else of objects."""
    types = {type(level) for level in levels}
    if len(types) == 1 and types <= {bool, int, float, str}:
        array = np.array(levels)
        if array.dtype.kind in "biUf" and array.tolist() == levels:
            return array
    array = np.empty(len(levels), dtype=object)
    array[:] = levels
    return array
