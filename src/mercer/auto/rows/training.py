"""Encoded rows to learn from, with the folds they were given when they were read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer.source import MemorySource
from mercer.stats import Gram
from mercer.stats.gram import GramPerFold

N_FOLDS = 5
#: What is learned from so few rows is learned without each fold as well, wherever the folds judge it.
FEW = 500


@dataclass
class _Known(Block):
    """A block whose row hashes were taken before the rows were encoded."""

    known: np.ndarray | None = field(default=None)

    @property
    def ids(self):
        return self.known


@dataclass(frozen=True)
class Rows:
    """Encoded rows X, numeric targets Y (one column per output) and the hash of each row as it was read."""

    X: np.ndarray
    Y: np.ndarray
    ids: np.ndarray
    seed: int = 0
    #: The indicators of each category among the columns of X.
    categories: tuple[slice, ...] = ()
    #: How much each row counts; None if all count alike.
    weight: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.X)

    @property
    def folds(self) -> np.ndarray:
        """The fold of each row: the same that every Gram statistic of the package uses."""
        return fold_of(self.ids, N_FOLDS, self.seed)

    def apart(self, n_folds: int) -> np.ndarray:
        """Folds in which equal rows stand apart, as chance would have it.

        The share of rows that repeat another one is what new rows may be expected to do, and trees can make use of
        it: how far they should go is seen only where the rows they are watched on repeat others at the same rate.
        """
        order = _numeric.hash_order(self.ids)
        ids = self.ids[order]
        first = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
        times = np.arange(len(ids)) - np.repeat(first, np.diff(np.append(first, len(ids))))
        keys = np.empty_like(self.ids)
        keys[order] = _numeric.splitmix64(ids, self.seed + 2) + times.astype(keys.dtype)
        return fold_of(keys, n_folds, self.seed)

    def at(self, chosen) -> Rows:
        weight = self.weight_of(chosen)
        return Rows(self.X[chosen], self.Y[chosen], self.ids[chosen], self.seed, self.categories, weight)

    @property
    def wide(self) -> bool:
        """Whether there are fewer rows than columns."""
        return len(self.X) < self.X.shape[1]

    @property
    def few(self) -> bool:
        """Whether rows are so few, beside columns or at all, that equations of rows are no longer than any other."""
        return self.wide or len(self.X) < FEW

    def weight_of(self, chosen) -> np.ndarray | None:
        """The weights of some rows; None if all count alike."""
        return None if self.weight is None else self.weight[chosen]

    @property
    def counts(self) -> np.ndarray:
        """The weight of each row."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def distinct(self) -> int:
        """Number of different rows: neither weights nor repetitions change it."""
        return self._distinct

    @cached_property
    def _distinct(self) -> int:
        ids = np.sort(self.ids)
        return int(np.count_nonzero(ids[1:] != ids[:-1])) + min(len(ids), 1)

    def smallest(self, size: int) -> np.ndarray:
        """The places of `size` rows, those of the smallest keyed hashes: the same rows in any order of the data."""
        keys = _numeric.splitmix64(self.ids, self.seed + 1)
        return _numeric.hash_order(keys)[:size]

    def gram(self, features: Callable[[slice], np.ndarray]) -> GramPerFold:
        """Gram statistics per fold of the features of the rows, asked for block by block."""
        return self.summed(features).finish()

    def summed(self, features: Callable[[slice], np.ndarray], n_folds: int = N_FOLDS) -> Gram:
        """The same before it is finished: it can be merged with that of other rows."""

        def mapped(block):
            rows = slice(block.start, block.start + len(block))
            return _Known(features(rows), self.Y[rows], self.weight_of(rows), block.start, block.raw, self.ids[rows])

        return MemorySource(self.X).map(mapped).fold(Gram(n_folds, self.seed))
