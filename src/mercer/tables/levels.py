"""Many levels as a few numbers: the mean target of a level, learned out of fold, and how frequent it is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow.compute as pc

from mercer import _numeric
from mercer.source import Columns
from mercer.stats import Statistic

N_FOLDS = 5


def folds_of(block, seed: int) -> np.ndarray:
    """The fold of each row, by the hash of the row as read: those of the ridge path."""
    return _numeric.buckets(_numeric.splitmix64(block.ids, seed), N_FOLDS)


@dataclass(frozen=True)
class LevelSums(Statistic):
    """Per column, level and fold: the number of rows and the sums of the targets; and of all rows per fold.

    `finish` gives {column: {level: array (folds, 1 + targets)}}, the totals under the level None.
    """

    columns: tuple[str, ...]
    seed: int
    targets: Any  # y -> array (n, targets), or None
    n: int = 0
    tables: dict[str, dict] = field(default_factory=dict)

    def of(self, block):
        if len(block) == 0:
            return replace(self, n=0, tables={})
        fold = folds_of(block, self.seed)
        values = np.ones((len(block), 1))
        if self.targets is not None:
            values = np.hstack([values, self.targets(block.y)])
        if block.weight is not None:
            values = values * np.asarray(block.weight, dtype=np.float64)[:, None]
        tables = {name: _sums(block.X.table[name], fold, values) for name in self.columns}
        return replace(self, n=len(block), tables=tables)

    def _merge(self, other):
        tables = {name: _added(self.tables[name], other.tables[name]) for name in self.columns}
        return replace(self, n=self.n + other.n, tables=tables)

    def finish(self) -> dict[str, dict]:
        return self.tables


def _sums(column, fold, values) -> dict:
    coded = column.combine_chunks().dictionary_encode()
    codes = pc.fill_null(coded.indices, len(coded.dictionary)).to_numpy()
    levels = coded.dictionary.to_pylist()
    size = (len(levels) + 1) * N_FOLDS
    cells = [np.bincount(codes * N_FOLDS + fold, value, minlength=size) for value in values.T]
    sums = np.stack(cells, axis=1).reshape(len(levels) + 1, N_FOLDS, -1)
    table: dict = dict(zip(levels, sums, strict=False))
    table[None] = sums.sum(axis=0)
    return table


def _added(a: dict, b: dict) -> dict:
    total = dict(a)
    for level, sums in b.items():
        mine = total.get(level)
        total[level] = sums if mine is None else mine + sums
    return total


@dataclass(frozen=True)
class TargetMeans:
    """The target's mean in a level, drawn toward the overall mean, and the log of the level's share of rows.

    (S_c + a m) / (n_c + a) with the sums over all rows, or over those outside the row's own fold; a = within / between
    variance of the levels, the empirical Bayes weight. A level fit has not seen, or a missing value, gets m.
    """

    column: str
    table: dict
    smoothing: float
    suffixes: tuple[str, ...]
    kind = "target"

    @property
    def names(self) -> list[str]:
        return [f"{self.column}:{suffix}" for suffix in (*self.suffixes, "frequency")]

    def encode(self, table: Columns, folds=None, start=0) -> np.ndarray:
        coded = table.table[self.column].combine_chunks().dictionary_encode()
        total = self.table[None]
        zero = np.zeros_like(total)
        levels = [self.table.get(level, zero) for level in coded.dictionary.to_pylist()]
        sums = np.stack([*levels, zero])[pc.fill_null(coded.indices, len(levels)).to_numpy()]
        n = total[:, 0].sum()
        frequency = np.log((1.0 + sums[:, :, 0].sum(axis=1)) / (1.0 + n)) / np.log(2.0 + n)
        return np.hstack([self._means(sums, total, folds), frequency[:, None]])

    def _means(self, sums, total, folds):
        if folds is None:
            mine, everyone = sums.sum(axis=1), total.sum(axis=0)[None]
        else:
            rows = np.arange(len(sums))
            mine = sums.sum(axis=1) - sums[rows, folds]
            everyone = total.sum(axis=0) - total[folds]
        overall = everyone[:, 1:] / np.maximum(everyone[:, :1], 1e-300)
        return (mine[:, 1:] + self.smoothing * overall) / (mine[:, :1] + self.smoothing)
