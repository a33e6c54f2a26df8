"""Sums of the target per level of each column, kept apart per fold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._numeric.hashing.rows import fold_of
from mercer.stats.base import Statistic
from mercer.stats.counts import MOST_LEVELS, distinct, sorted_levels


@dataclass(frozen=True)
class LevelSums:
    """What `TargetTables` says of one column.

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
        """The sums of all folds, as one fold."""
        return self._as_one(lambda part: part.sum(axis=0))

    def without(self, fold: int) -> LevelSums:
        """The sums of all folds but one, as one fold."""
        return self._as_one(lambda part: np.delete(part, fold, axis=0).sum(axis=0))

    def _as_one(self, gathered) -> LevelSums:
        parts = (gathered(part)[None] for part in (self.weight, self.target, self.square))
        return LevelSums(self.levels, *parts)


@dataclass(frozen=True)
class TargetTables(Statistic):
    """Weights, sums and sums of squares of the targets per level and fold; `finish` gives a `LevelSums` per column.

    Levels are those of `Counts`; a row's fold is that of `Gram` with the same seed. Targets are columns of numbers.
    """

    n_folds: int = 5
    seed: int = 0
    n: int = 0
    places: tuple[dict, ...] = ()
    sums: tuple[np.ndarray, ...] = ()  # one (levels, folds, 1 + 2 targets) per column

    def of(self, block):
        if len(block) == 0:
            return TargetTables(self.n_folds, self.seed)
        y = np.asarray(block.y, dtype=np.float64).reshape(len(block), -1)
        terms = np.hstack([np.ones((len(y), 1)), y, y * y])
        if block.weight is not None:
            terms *= np.asarray(block.weight, dtype=np.float64)[:, None]
        fold = fold_of(block.ids, self.n_folds, self.seed)
        columns = [distinct(np.asarray(block.X[:, j])) for j in range(block.X.shape[1])]
        places = tuple({level: i for i, level in enumerate(levels)} for levels, _ in columns)
        cells = ((codes * self.n_folds + fold, len(levels)) for levels, codes in columns)
        sums = tuple(_summed(cell, terms, n_levels, self.n_folds) for cell, n_levels in cells)
        return TargetTables(self.n_folds, self.seed, len(block), places, sums)

    def _merge(self, other):
        both = zip(_by_column(self), _by_column(other), strict=True)
        pairs = [_joined(*mine, *theirs, j) for j, (mine, theirs) in enumerate(both)]
        places, sums = zip(*pairs, strict=True)
        return TargetTables(self.n_folds, self.seed, self.n + other.n, places, sums)

    def finish(self) -> list[LevelSums]:
        return [_sorted(place, sums) for place, sums in _by_column(self)]


def _by_column(tables: TargetTables):
    return zip(tables.places, tables.sums, strict=True)


def _summed(cell, terms, n_levels, n_folds) -> np.ndarray:
    """Sums of the columns of `terms` per cell (level and fold)."""
    totals = [np.bincount(cell, term, minlength=n_levels * n_folds) for term in terms.T]
    return np.stack(totals, axis=1).reshape(n_levels, n_folds, -1)


def _joined(place, sums, other_place, other_sums, column):
    """The table of both, the levels of the first in front."""
    total = dict(place)
    for level in other_place:
        total.setdefault(level, len(total))
    if len(total) > MOST_LEVELS:
        raise ValueError(
            f"Column {column} has more than {MOST_LEVELS:,} levels: it is not a category. "
            "Use it as a number, hash it, or leave it out."
        )
    both = np.zeros((len(total), *sums.shape[1:]))
    both[: len(sums)] = sums
    both[[total[level] for level in other_place]] += other_sums
    return total, both


def _sorted(place: dict, sums: np.ndarray) -> LevelSums:
    levels = sorted_levels(place)
    sums = sums[levels.counts].swapaxes(0, 1)  # the "counts" of this table are the places of the levels
    c = sums.shape[2] // 2
    return LevelSums(levels.levels, sums[..., 0], sums[..., 1 : 1 + c], sums[..., 1 + c :])
