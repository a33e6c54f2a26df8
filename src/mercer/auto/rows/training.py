"""Encoded training rows, with the folds that the hashes of the rows give them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer.auto.constants import FEW_ROWS
from mercer.auto.rows.targets import NumericTarget
from mercer.source import MemorySource
from mercer.stats import Gram
from mercer.stats.folds import FoldPlan, RowFolds
from mercer.stats.gram import GramPerFold
from mercer.tables.columns import SmoothClipped

N_FOLDS = 5
#: Groups up to which hashes may divide them unevenly.
_FEW_GROUPS = 50


def folds_of_rows(ids: np.ndarray, seed: int, plan: FoldPlan | None = None) -> RowFolds:
    """The folds of rows of these hashes: the same that every Gram statistic of the package uses."""
    return RowFolds(fold_of(ids, N_FOLDS, seed)) if plan is None else plan.rows(ids, seed)


@dataclass
class _HashedBlock(Block):
    """A block whose row hashes were computed before the rows were encoded."""

    hashes: np.ndarray | None = field(default=None)

    @property
    def ids(self) -> np.ndarray:
        return self.hashes  # type: ignore[return-value]


@dataclass(frozen=True)
class TrainingRows:
    """Encoded rows X, numeric targets Y (one column per output) and the hash of each row, which decides on folds."""

    X: np.ndarray
    Y: np.ndarray
    ids: np.ndarray
    seed: int = 0
    #: The indicator columns of each categorical column.
    categories: tuple[slice, ...] = ()
    #: Sample weights; None if all are equal.
    weight: np.ndarray | None = None
    #: Where folds are not those of independent rows.
    plan: FoldPlan | None = None
    #: The key of each row's group, where rows are grouped.
    groups: np.ndarray | None = None
    #: The sign of the effect of each encoded column, +1, -1, or 0 for any; None if none is asked for.
    signs: np.ndarray | None = None
    #: The target as numbers, where another loss than the squared error is asked for.
    target: NumericTarget | None = None
    #: How the encoded columns of numbers were made; empty if that is not known.
    numbers: Mapping[int, SmoothClipped] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.X)

    @property
    def n_folds(self) -> int:
        """The number of folds, of which some may have no rows."""
        return N_FOLDS if self.plan is None else self.plan.n_folds

    @cached_property
    def row_folds(self) -> RowFolds:
        """The folds of the rows, and the rows that their models learn from."""
        return folds_of_rows(self.ids, self.seed, self.plan)

    @property
    def folds(self) -> np.ndarray:
        """The fold of each row."""
        return self.row_folds.labels

    @property
    def can_compare(self) -> bool:
        """Whether there are folds to compare models by."""
        folds = self.row_folds
        return len(folds.known) > 1 and any(folds.is_tested(fold) for fold in folds.known)

    def tree_folds(self, n_folds: int) -> RowFolds:
        """Folds for out-of-fold scores of trees: at random where rows are independent."""
        if self.plan is None:
            return RowFolds(self.random_folds(n_folds))
        if self.plan.is_partition and self.groups is not None and len(np.unique(self.groups)) > _FEW_GROUPS:
            return RowFolds(fold_of(_numeric.splitmix64(self.groups, self.seed + 2), n_folds, self.seed))
        return self.row_folds

    def random_folds(self, n_folds: int) -> np.ndarray:
        """Folds at random, in which equal rows need not stay together.

        New rows may be expected to repeat training rows as often as these repeat each other. Trees can make use of
        that, so early stopping needs held-out rows that repeat training rows at the same rate.
        """
        order = _numeric.hash_order(self.ids)
        ids = self.ids[order]
        first = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
        repetition = np.arange(len(ids)) - np.repeat(first, np.diff(np.append(first, len(ids))))
        keys = np.empty_like(self.ids)
        keys[order] = _numeric.splitmix64(ids, self.seed + 2) + repetition.astype(keys.dtype)
        return fold_of(keys, n_folds, self.seed)

    def at(self, index: np.ndarray) -> TrainingRows:
        """Some of the rows."""
        groups = None if self.groups is None else self.groups[index]
        some = {"X": self.X[index], "Y": self.Y[index], "ids": self.ids[index]}
        return replace(self, **some, weight=self.weight_of(index), groups=groups)

    @property
    def wide(self) -> bool:
        """Whether there are fewer rows than columns."""
        return len(self.X) < self.X.shape[1]

    @property
    def few(self) -> bool:
        """Whether there are fewer rows than columns, or so few rows at all that equations in the rows cost least."""
        return self.wide or len(self.X) < FEW_ROWS

    def weight_of(self, index: np.ndarray | slice) -> np.ndarray | None:
        """The weights of some rows; None if all are equal."""
        return None if self.weight is None else self.weight[index]

    @property
    def counts(self) -> np.ndarray:
        """The weight of each row."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def distinct(self) -> int:
        """The number of distinct rows."""
        return self._distinct

    @cached_property
    def _distinct(self) -> int:
        ids = np.sort(self.ids)
        return int(np.count_nonzero(ids[1:] != ids[:-1])) + min(len(ids), 1)

    def smallest(self, size: int) -> np.ndarray:
        """Indices of the `size` rows of the smallest keyed hashes: the same rows in any order of the data."""
        keys = _numeric.splitmix64(self.ids, self.seed + 1)
        return _numeric.hash_order(keys)[:size]

    def gram(self, features: Callable[[slice], np.ndarray]) -> GramPerFold:
        """Gram statistics per fold of the features of the rows, computed block by block."""
        return self.summed(features).finish()

    def summed(self, features: Callable[[slice], np.ndarray], one_fold: bool = False) -> Gram:
        """The unfinished Gram statistic, which can be merged with that of other rows."""
        empty = Gram(1, self.seed) if one_fold else Gram(N_FOLDS, self.seed)
        if self.plan is not None and not one_fold:
            empty = Gram(self.plan.n_parts, self.seed, plan=self.plan)

        def mapped(block: Block) -> Block:
            rows = slice(block.start, block.start + len(block))
            return _HashedBlock(
                features(rows), self.Y[rows], self.weight_of(rows), block.start, block.raw, self.ids[rows]
            )

        return MemorySource(self.X).map(mapped).fold(empty)
