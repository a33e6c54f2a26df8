"""Sums of the targets in each fold, and in each category: initial scores and the order of categories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer.learn.trees.categories import TreeColumns, ranks_of_sums
from mercer.learn.trees.losses import loss_of_target
from mercer.stats.base import Statistic


@dataclass(frozen=True)
class FoldSums:
    """The result of `FoldTotals`.

    n : rows of each fold; sums : (folds, 1 + outputs), sums of weights and of weighted targets; codes : for each
    category (folds, codes, 1 + outputs), the same for the rows of each code
    """

    n: np.ndarray
    sums: np.ndarray
    codes: list[np.ndarray]

    @property
    def weight(self) -> float:
        """The total weight of the rows."""
        return float(self.sums[:, 0].sum())

    def mean_target(self, outside: int | None = None) -> np.ndarray:
        """The mean targets of all rows, or of those outside a fold."""
        total = _outside(self.sums, outside)
        return np.divide(total[1:], total[0], out=np.zeros(len(total) - 1), where=total[0] > 0)

    def ranks(self, fold: int, output: int) -> list[np.ndarray]:
        """The ranks of the codes of each category by the mean target of the rows outside a fold."""
        mean = self.mean_target(fold)[output]
        found = []
        for sums in self.codes:
            present = np.flatnonzero(sums[:, :, 0].any(axis=0))
            total = _outside(sums, fold)[: present[-1] + 1]
            found.append(ranks_of_sums(total[:, 0], total[:, 1 + output] - mean * total[:, 0]))
        return found


def _outside(sums: np.ndarray, fold: int | None) -> np.ndarray:
    return sums.sum(axis=0) if fold is None else np.delete(sums, fold, axis=0).sum(axis=0)


@dataclass(frozen=True)
class FoldTotals(Statistic):
    """Counts, weights and target sums of the rows of each fold, and of each code of the categories."""

    columns: TreeColumns
    classes: np.ndarray | None
    n_folds: int
    seed: int
    n: int = 0
    counts: Any = None
    sums: Any = None
    codes: Any = None

    def of(self, block: Block) -> Self:
        if len(block) == 0:
            return replace(self, n=0)
        assert block.y is not None
        loss = loss_of_target(block.y, block.weight, self.classes)
        fold = fold_of(block.ids, self.n_folds, self.seed)
        terms = np.column_stack([np.ones(len(block)), loss.targets]) * loss.weights()[:, None]
        seen = self.columns(block.X)
        codes = []
        for column, indicators in zip(self.columns.codes, self.columns.categories, strict=True):
            size = 1 + indicators.stop - indicators.start
            codes.append(_sums(fold * size + seen[:, column].astype(np.intp), terms, (self.n_folds, size)))
        counts = np.bincount(fold, minlength=self.n_folds)
        return replace(self, n=len(block), counts=counts, sums=_sums(fold, terms, (self.n_folds,)), codes=codes)

    def _merge(self, other: Self) -> Self:
        return replace(
            self,
            n=self.n + other.n,
            counts=self.counts + other.counts,
            sums=self.sums + other.sums,
            codes=[mine + theirs for mine, theirs in zip(self.codes, other.codes, strict=True)],
        )

    def finish(self) -> FoldSums:
        if self.n == 0:
            raise ValueError("No rows: the targets of an empty data set have no mean.")
        return FoldSums(self.counts, self.sums, self.codes)


def _sums(group: np.ndarray, terms: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The sums of the terms of each group, (*shape, terms)."""
    size = int(np.prod(shape))
    return np.stack([np.bincount(group, term, minlength=size).reshape(shape) for term in terms.T], axis=-1)
