"""How often each level occurs, in a column or in the target."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer.stats.base import Statistic

MOST_LEVELS = 1_000_000


@dataclass(frozen=True)
class Levels:
    """The distinct values of one variable in sorted order, with their (weighted) counts."""

    levels: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True)
class Counts(Statistic):
    """Counts of the levels of every column; `finish` gives one `Levels` per column.

    Levels may be numbers, strings or any mixture. Missing values (None, NaN) count as one level, sorted last.
    """

    n: int = 0
    tables: tuple[dict, ...] = ()

    def of(self, block):
        if len(block) == 0:
            return Counts()
        columns = (np.asarray(block.X[:, j]) for j in range(block.X.shape[1]))
        return Counts(len(block), tuple(count_levels(column, block.weight) for column in columns))

    def _merge(self, other):
        pairs = zip(self.tables, other.tables, strict=True)
        return Counts(self.n + other.n, tuple(add_counts(a, b, j) for j, (a, b) in enumerate(pairs)))

    def finish(self) -> list[Levels]:
        return [sorted_levels(table) for table in self.tables]


@dataclass(frozen=True)
class LabelCounts(Statistic):
    """Counts of the distinct target values; `finish` gives one `Levels`."""

    n: int = 0
    table: dict = field(default_factory=dict)

    def of(self, block):
        return LabelCounts(len(block), count_levels(np.asarray(block.y), block.weight))

    def _merge(self, other):
        return LabelCounts(self.n + other.n, add_counts(self.table, other.table, "target"))

    def finish(self) -> Levels:
        return sorted_levels(self.table)


def count_levels(column: np.ndarray, weight=None) -> dict:
    """{level: (weighted) count} of one column; missing values count under None."""
    levels, codes = distinct(column)
    counts = np.bincount(codes, weight, minlength=len(levels))
    return dict(zip(levels, counts.tolist(), strict=True))


def _distinct_whole(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`np.unique` with the inverse of whole numbers: without sorting them, where they lie close together."""
    wide = column if column.dtype.itemsize == 8 else column.astype(np.int64)
    low, high = (wide.min(), wide.max()) if len(wide) else (0, 0)
    if len(wide) == 0 or int(high) - int(low) > max(len(wide), 256):
        return np.unique(column, return_inverse=True)
    away = (wide - low).astype(np.intp)
    places = np.flatnonzero(np.bincount(away))
    codes = np.zeros(away.max() + 1, dtype=np.intp)
    codes[places] = np.arange(len(places))
    return (places.astype(wide.dtype) + low).astype(column.dtype), codes[away]


def distinct(column: np.ndarray) -> tuple[list, np.ndarray]:
    """The distinct levels of one column and for each row the place of its level among them.

    None, NaN and the like are one level, None. Objects keep their order of appearance.
    """
    if column.dtype.kind == "O":
        return _distinct_objects(column)
    values, codes = _distinct_whole(column) if column.dtype.kind in "iu" else np.unique(column, return_inverse=True)
    levels = list(values) if values.dtype.kind == "M" else (values + 0 if values.dtype.kind == "f" else values).tolist()
    if levels and is_missing(levels[-1]):
        levels[-1] = None
    return levels, codes


def _distinct_objects(column):
    place: dict = {}
    codes = np.empty(len(column), dtype=np.intp)
    for row, level in enumerate(column.tolist()):
        try:
            code = place.get(level)
            if code is None:
                level = None if is_missing(level) else level
                code = place.setdefault(level, len(place))
        except TypeError as error:
            raise TypeError(
                f"A level must be a string, a number or hashable, not a {type(level).__name__} ({level!r})."
            ) from error
        codes[row] = code
    return list(place), codes


def is_missing(level) -> bool:
    """True for None, NaN, NaT and pandas' NA."""
    return level is None or type(level).__name__ in ("NAType", "NaTType") or bool(level != level)


def add_counts(a: dict, b: dict, name) -> dict:
    """The counts of both tables together."""
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
    """Levels in sorted order: numbers before strings, missing last."""
    present = [level for level in table if level is not None]
    try:
        present.sort()
    except TypeError:
        present.sort(key=lambda level: (isinstance(level, str), str(type(level)), repr(level)))
    if None in table:
        present.append(None)
    return Levels(_array(present), np.array([table[level] for level in present]))


def _array(levels: list) -> np.ndarray:
    """An array of numbers or of strings if they are all of one kind, else of objects."""
    kinds = {type(level) for level in levels}
    if len(kinds) == 1 and kinds <= {bool, int, float, str}:
        array = np.array(levels)
        if array.dtype.kind in "biUf" and array.tolist() == levels:
            return array
    array = np.empty(len(levels), dtype=object)
    array[:] = levels
    return array
