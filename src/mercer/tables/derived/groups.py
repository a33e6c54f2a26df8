"""Sums of numbers per category, in one pass: mean, range, count and ranks within each group of rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._runtime.loaded import require
from mercer.stats import Statistic
from mercer.tables.derived.base import CATEGORIES, NUMBERS, chosen_columns, finite_numbers
from mercer.tables.values import hashed

#: Values of a group that ranks are interpolated between, at most.
MAX_POINTS = 256


@dataclass(frozen=True)
class GroupRanks:
    """The mid-ranks of the values of one number within each group: points[starts[g] : starts[g + 1]] of group g."""

    starts: np.ndarray
    points: np.ndarray
    fractions: np.ndarray

    def __call__(self, group: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The fraction of the rows of its group that each number exceeds, with half of those that it equals."""
        found = np.full(len(x), np.nan)
        order = np.argsort(group, kind="stable")
        first = np.flatnonzero(np.diff(group[order], prepend=-1))
        for rows in np.split(order, first[1:]):
            span = slice(*self.starts[group[rows[0]] : group[rows[0]] + 2])
            found[rows] = np.interp(x[rows], self.points[span], self.fractions[span], left=0.0, right=1.0)
        found[np.isnan(x)] = np.nan
        return found

    def _check_loaded(self) -> None:
        sizes = np.diff(self.starts)
        require(self.starts[0] == 0 and np.all(sizes >= 0), "the ranks of a group are out of order")
        require(self.starts[-1] == len(self.points) == len(self.fractions), "ranks of groups are missing")


@dataclass(frozen=True)
class GroupTable:
    """The groups of one categorical column; the last group, of no key, is that of all rows.

    keys : sorted hashes of the categories
    rows : (groups + 1,), weights of the rows; that of the last group is 0, for categories not seen in fit
    weight, mean, low, high : (groups + 1, numbers), of the rows whose number is not missing
    ranks : one `GroupRanks` for each number, or none
    """

    keys: np.ndarray
    rows: np.ndarray
    weight: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    ranks: tuple[GroupRanks, ...] = ()

    def groups_of(self, keys: np.ndarray) -> np.ndarray:
        """The group of each row; the last one for a category not seen in fit."""
        index = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[index] == keys, index, len(self.keys))

    def _check_loaded(self) -> None:
        n = len(self.keys) + 1
        shapes = {len(each) for each in (self.rows, self.weight, self.mean, self.low, self.high)}
        require(n > 1 and shapes == {n}, "a table of groups has a wrong number of rows")
        require(np.all(self.keys[1:] > self.keys[:-1]), "the keys of groups are not sorted")
        require(all(len(ranks.starts) == n + 1 for ranks in self.ranks), "ranks of groups are missing")


@dataclass(frozen=True)
class GroupCells:
    """The sums of one categorical column: `mean` of the present numbers, `low` and `high` infinite without any."""

    keys: np.ndarray
    rows: np.ndarray
    weight: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, keys: np.ndarray, x: np.ndarray, w: np.ndarray) -> GroupCells:
        """The sums of rows."""
        found, group = np.unique(keys, return_inverse=True)
        shape = (len(found), x.shape[1])
        weight, mean = np.zeros(shape), np.zeros(shape)
        low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
        for j, present in enumerate(~np.isnan(x).T):
            values, at, some = x[present, j] + 0.0, group[present], w[present]
            weight[:, j] = np.bincount(at, some, minlength=len(found))
            np.minimum.at(low[:, j], at, values)
            np.maximum.at(high[:, j], at, values)
            mean[:, j] = _means(at, values, some, weight[:, j])
        mean = np.where(weight > 0, np.clip(mean, low, high), 0.0)
        return cls(found, np.bincount(group, w, minlength=len(found)), weight, mean, low, high)

    def merge(self, other: GroupCells) -> GroupCells:
        """The sums of the rows of both."""
        keys = np.union1d(self.keys, other.keys)
        mine, theirs = self._spread(keys), other._spread(keys)
        weight = mine.weight + theirs.weight
        part = mine.weight / np.where(weight > 0, weight, 1.0)
        low, high = np.minimum(mine.low, theirs.low), np.maximum(mine.high, theirs.high)
        mean = np.clip(part * mine.mean + (1.0 - part) * theirs.mean, low, high)
        return GroupCells(keys, mine.rows + theirs.rows, weight, np.where(weight > 0, mean, 0.0), low, high)

    def _spread(self, keys: np.ndarray) -> GroupCells:
        """The same sums among those of more keys, which have no rows."""
        at, n = np.searchsorted(keys, self.keys), len(keys)
        blank = {"rows": 0.0, "weight": 0.0, "mean": 0.0, "low": np.inf, "high": -np.inf}
        parts = {}
        for name, value in blank.items():
            own = getattr(self, name)
            parts[name] = np.full((n, *own.shape[1:]), value)
            parts[name][at] = own
        return GroupCells(keys, **parts)


def _means(group: np.ndarray, x: np.ndarray, w: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The weighted mean of each group, also where the sum of its numbers would overflow."""
    safe = np.where(total > 0, total, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.bincount(group, w * x, minlength=len(total)) / safe
    if np.isfinite(mean).all():
        return mean
    return np.bincount(group, (w / safe[group]) * x, minlength=len(total))


@dataclass(frozen=True)
class GroupSums(Statistic):
    """Counts, means, ranges and, if `ranks`, values of numbers per category; `finish` gives a `GroupTable` per column.

    by : names or indices of the columns of categories; None for all columns of text and booleans
    numbers : the same for the numbers; None for all other columns of numbers

    >>> from mercer.source import Columns
    >>> sums = GroupSums().of(Block(Columns.of({"city": ["Bern", "Oslo", "Bern"], "price": [2.0, 5.0, 4.0]})))
    >>> (city,) = sums.finish()
    >>> sorted(city.mean[:-1, 0].tolist()), city.mean[-1, 0].round(3).item()
    ([3.0, 5.0], 3.667)
    """

    by: Any = None
    numbers: Any = None
    ranks: bool = False
    #: The parameter that `by` was, for messages.
    parameter: str = "by"
    n: int = 0
    cells: tuple[GroupCells, ...] = ()
    #: For ranks: the keys of all rows, their numbers and their weights.
    kept: tuple[np.ndarray, ...] = field(default=(), repr=False)

    def of(self, block: Block) -> GroupSums:
        if len(block) == 0:
            return replace(self, n=0, cells=(), kept=())
        by, numbers = grouped_columns(block.X.schema, self.by, self.numbers, self.parameter)
        keys, x = hashed(block.X, by), finite_numbers(block.X, numbers)
        w = np.ones(len(x)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        cells = tuple(GroupCells.of(column, x, w) for column in keys.T)
        return replace(self, n=len(x), cells=cells, kept=(keys, x, w) if self.ranks else ())

    def _merge(self, other: GroupSums) -> GroupSums:
        cells = tuple(a.merge(b) for a, b in zip(self.cells, other.cells, strict=True))
        kept = tuple(np.concatenate(pair) for pair in zip(self.kept, other.kept, strict=True))
        return replace(self, n=self.n + other.n, cells=cells, kept=kept)

    def finish(self) -> list[GroupTable]:
        if self.n == 0:
            raise ValueError("The table has no rows: there is nothing to learn from.")
        return [self._finished(b, cells) for b, cells in enumerate(self.cells)]

    def _finished(self, b: int, cells: GroupCells) -> GroupTable:
        whole = _with_whole(cells)
        if not self.ranks:
            return whole
        keys, x, w = self.kept
        group = whole.groups_of(keys[:, b])
        return replace(whole, ranks=tuple(_ranks(group, each, w, len(whole.keys)) for each in x.T))


def grouped_columns(
    schema: dict[str, str], by: Any, numbers: Any, parameter: str = "by"
) -> tuple[list[str], list[str]]:
    """The names of the columns of categories, and of those of numbers."""
    chosen = chosen_columns(schema, by, CATEGORIES, parameter)
    if numbers is not None:
        none = not isinstance(numbers, (str, int)) and len(numbers) == 0
        return chosen, [] if none else chosen_columns(schema, numbers, NUMBERS, "of")
    return chosen, [name for name in chosen_columns(schema, None, NUMBERS, "of") if name not in chosen]


def _with_whole(cells: GroupCells) -> GroupTable:
    """The groups, those without a number taking the values of all rows, and the group of all rows."""
    weight = cells.weight.sum(axis=0)
    low, high = (np.where(weight > 0, end, np.nan) for end in (cells.low.min(axis=0), cells.high.max(axis=0)))
    part = cells.weight / np.where(weight > 0, weight, 1.0)
    mean = np.clip(np.sum(part * cells.mean, axis=0), low, high)

    def completed(own: np.ndarray, whole: np.ndarray) -> np.ndarray:
        return np.vstack([np.where(cells.weight > 0, own, whole), whole])

    return GroupTable(
        cells.keys,
        np.append(cells.rows, 0.0),
        np.vstack([cells.weight, np.zeros_like(weight)]),
        completed(cells.mean, mean),
        completed(cells.low, low),
        completed(cells.high, high),
    )


def _ranks(group: np.ndarray, x: np.ndarray, w: np.ndarray, n_groups: int) -> GroupRanks:
    """The ranks of one number within each group, and among all rows for groups without it and for new categories."""
    present = ~np.isnan(x)
    group, x, w = group[present], x[present] + 0.0, w[present]
    order = np.lexsort((x, group))
    spans = np.searchsorted(group[order], np.arange(n_groups + 1))
    whole = _mid_ranks(x, w)
    found = [order[a:b] for a, b in pairwise(spans)]
    parts = [_mid_ranks(x[rows], w[rows]) if len(rows) else whole for rows in found]
    parts.append(whole)
    starts = np.concatenate([[0], np.cumsum([len(points) for points, _ in parts])])
    points, fractions = (np.concatenate(each) for each in zip(*parts, strict=True))
    return GroupRanks(starts.astype(np.int64), points, fractions)


def _mid_ranks(x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct numbers, at most `MAX_POINTS`, with the fraction of the weight below and half of that at each."""
    if len(x) == 0:
        return np.zeros(1), np.full(1, 0.5)
    points, at = np.unique(x, return_inverse=True)
    weight = np.bincount(at, w)
    fractions = (np.cumsum(weight) - 0.5 * weight) / weight.sum()
    if len(points) <= MAX_POINTS:
        return points, fractions
    kept = np.unique(np.rint(np.linspace(0, len(points) - 1, MAX_POINTS)).astype(np.intp))
    return points[kept], fractions[kept]
