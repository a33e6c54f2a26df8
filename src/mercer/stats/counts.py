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
        tables = tuple(add_counts(a, b, j) for j, (a, b) in enumerate(zip(self.tables, other.tables, strict=True)))
        return Counts(self.n + other.n, tables)

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
    """{level: (weighted) count} of one column."""
    if column.dtype.kind == "O":
        return _count_objects(column, weight)
    levels, codes = np.unique(column, return_inverse=True)
    counts = np.bincount(codes, weight, minlength=len(levels))
    table = dict(zip(levels.tolist(), counts.tolist(), strict=True))
    if column.dtype.kind == "f" and len(levels) and np.isnan(levels[-1]):
        table = {level: count for level, count in table.items() if level == level}
        table[None] = counts[-1].item()
    return table


def _count_objects(column, weight):
    table: dict = {}
    weights = np.ones(len(column), dtype=np.int64) if weight is None else np.asarray(weight)
    for level, w in zip(column.tolist(), weights.tolist(), strict=True):
        key = None if level is None or level != level else level
        table[key] = table.get(key, 0) + w
    return table


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
        present.sort(key=lambda level: (isinstance(level, str), str(type(level)), level))
    if None in table:
        present.append(None)
    uniform = None not in table and len({type(level) for level in present}) <= 1
    levels = np.array(present) if uniform and present else _objects(present)
    return Levels(levels, np.array([table[level] for level in present]))


def _objects(items) -> np.ndarray:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array
