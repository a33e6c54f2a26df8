"""Sums of the target per level of each column and fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer.stats.base import Statistic
from mercer.stats.counts import MOST_LEVELS, distinct, sorted_levels


@dataclass(frozen=True)
class LevelSums:
    """The result of `TargetTables` for one column.

    levels : the distinct values in sorted order, missing (None) last
    weight : (folds, levels), sums of w
    target : (folds, levels, targets), sums of w y
    square : (folds, levels, targets), sums of w y^2
    """

    levels: np.ndarray
    weight: np.ndarray
    target: np.ndarray
    square: np.ndarray

    def whole(self) -> LevelSums:
        """Return the sums of all folds, as one fold."""
        return self._as_one(lambda part: part.sum(axis=0))

    def without(self, fold: int) -> LevelSums:
        """Return the sums of all folds but one, as one fold."""
        return self._as_one(lambda part: np.delete(part, fold, axis=0).sum(axis=0))

    def of_parts(self, parts: tuple[int, ...]) -> LevelSums:
        """Return the sums of some folds, as one fold; of all where these have no rows."""
        some = list(parts)
        if not np.any(self.weight[some] > 0):
            return self.whole()
        return self._as_one(lambda part: part[some].sum(axis=0))

    def _as_one(self, total: Callable[[np.ndarray], np.ndarray]) -> LevelSums:
        parts = (total(part)[None] for part in (self.weight, self.target, self.square))
        return LevelSums(self.levels, *parts)


@dataclass(frozen=True)
class TargetTables(Statistic):
    """Weights, sums and sums of squares of the targets per level and fold; `finish` returns a `LevelSums` per column.

    Levels are those of `Counts`; a row's fold is that of `Gram` with the same seed. Targets are columns of numbers.
    """

    n_folds: int = 5
    seed: int = 0
    n: int = 0
    indices: tuple[dict, ...] = ()  # per column the index of each level
    sums: tuple[np.ndarray, ...] = ()  # one (levels, folds, 1 + 2 targets) per column

    def of(self, block: Block) -> TargetTables:
        if len(block) == 0:
            return TargetTables(self.n_folds, self.seed)
        y = np.asarray(block.y, dtype=np.float64).reshape(len(block), -1)
        terms = np.hstack([np.ones((len(y), 1)), y, y * y])
        if block.weight is not None:
            terms *= np.asarray(block.weight, dtype=np.float64)[:, None]
        fold = fold_of(block.ids, self.n_folds, self.seed)
        columns = [distinct(np.asarray(block.X[:, j])) for j in range(block.X.shape[1])]
        indices = tuple({level: i for i, level in enumerate(levels)} for levels, _ in columns)
        cells = ((codes * self.n_folds + fold, len(levels)) for levels, codes in columns)
        sums = tuple(_summed(cell, terms, n_levels, self.n_folds) for cell, n_levels in cells)
        return TargetTables(self.n_folds, self.seed, len(block), indices, sums)

    def _merge(self, other: TargetTables) -> TargetTables:
        both = zip(_by_column(self), _by_column(other), strict=True)
        pairs = [_joined(mine, theirs, j) for j, (mine, theirs) in enumerate(both)]
        indices, sums = zip(*pairs, strict=True)
        return TargetTables(self.n_folds, self.seed, self.n + other.n, indices, sums)

    def finish(self) -> list[LevelSums]:
        return [_sorted(index, sums) for index, sums in _by_column(self)]


def _by_column(tables: TargetTables) -> Iterable[tuple[dict, np.ndarray]]:
    return zip(tables.indices, tables.sums, strict=True)


def _summed(cell: np.ndarray, terms: np.ndarray, n_levels: int, n_folds: int) -> np.ndarray:
    """Return sums of the columns of `terms` per cell (level and fold)."""
    totals = [np.bincount(cell, term, minlength=n_levels * n_folds) for term in terms.T]
    return np.stack(totals, axis=1).reshape(n_levels, n_folds, -1)


def _joined(mine: tuple[dict, np.ndarray], theirs: tuple[dict, np.ndarray], column: int) -> tuple[dict, np.ndarray]:
    """Return the table of both, the levels of the first in front."""
    (index, sums), (other_index, other_sums) = mine, theirs
    total = dict(index)
    for level in other_index:
        total.setdefault(level, len(total))
    if len(total) > MOST_LEVELS:
        raise ValueError(
            f"Column {column} has more than {MOST_LEVELS:,} levels: it is not a category. "
            "Use it as a number, hash it, or leave it out."
        )
    both = np.zeros((len(total), *sums.shape[1:]))
    both[: len(sums)] = sums
    both[[total[level] for level in other_index]] += other_sums
    return total, both


def _sorted(index: dict, sums: np.ndarray) -> LevelSums:
    levels = sorted_levels(index)
    sums = sums[levels.counts].swapaxes(0, 1)  # the "counts" of this table are the indices of the levels
    c = sums.shape[2] // 2
    return LevelSums(levels.levels, sums[..., 0], sums[..., 1 : 1 + c], sums[..., 1 + c :])
