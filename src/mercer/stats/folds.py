"""Folds: which rows a model learns from, and which rows it predicts.

Rows are divided into parts by their hashes (`fold_of`). A fold consists of parts, and its model learns from other
parts: from all others by default, from those of earlier rows where rows have an order in time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from mercer._numeric.hashing.rows import fold_of


@dataclass(frozen=True)
class FoldPlan:
    """The parts of each fold, and the parts that its model learns from.

    fold_of_part : the fold of each part
    trains : for each fold, the parts from which its model learns
    tested : for each fold, whether its rows count in cross-validated losses; others only get out-of-fold features
    """

    fold_of_part: tuple[int, ...]
    trains: tuple[tuple[int, ...], ...]
    tested: tuple[bool, ...]

    @classmethod
    def complements(cls, n_folds: int) -> Self:
        """Folds of one part each, predicted by the model of all others.

        >>> FoldPlan.complements(3).trains
        ((1, 2), (0, 2), (0, 1))
        """
        others = tuple(tuple(j for j in range(n_folds) if j != k) for k in range(n_folds))
        return cls(tuple(range(n_folds)), others, (True,) * n_folds)

    @property
    def n_parts(self) -> int:
        return len(self.fold_of_part)

    @property
    def n_folds(self) -> int:
        return len(self.trains)

    @property
    def is_partition(self) -> bool:
        """Whether every fold is tested, by the model of all other folds."""
        others = (set(range(self.n_parts)) - set(self.parts_of(k)) for k in range(self.n_folds))
        return all(self.tested) and all(set(some) == rest for some, rest in zip(self.trains, others, strict=True))

    def parts_of(self, fold: int) -> list[int]:
        """The parts of a fold."""
        return [part for part, own in enumerate(self.fold_of_part) if own == fold]

    def rows(self, ids: np.ndarray, seed: int) -> RowFolds:
        """The folds of rows of these hashes."""
        parts = fold_of(ids, self.n_parts, seed)
        return RowFolds(np.asarray(self.fold_of_part, dtype=np.intp)[parts], self, parts)


@dataclass(frozen=True)
class RowFolds:
    """The fold of each row (`labels`); by default the model of a fold learns from the rows of all other folds."""

    labels: np.ndarray
    plan: FoldPlan | None = None
    parts: np.ndarray | None = None

    @classmethod
    def of(cls, folds: np.ndarray | RowFolds) -> RowFolds:
        """Folds as they are, or plain labels of rows."""
        return folds if isinstance(folds, RowFolds) else cls(np.asarray(folds))

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def known(self) -> list[int]:
        """The folds that have rows."""
        return np.unique(self.labels).tolist()

    @property
    def is_partition(self) -> bool:
        """Whether every fold is tested, by the model of all other folds."""
        return self.plan is None or self.plan.is_partition

    def inside(self, fold: int) -> np.ndarray:
        """Mask of the rows of a fold."""
        return self.labels == fold

    def outside(self, fold: int) -> np.ndarray:
        """Mask of the rows that the model of a fold learns from; of all rows where the plan leaves it none."""
        found = self._learned(fold)
        return found if self.plan is None or found.any() else np.ones(len(self), dtype=bool)

    def _learned(self, fold: int) -> np.ndarray:
        if self.plan is None or self.parts is None:
            return self.labels != fold
        learned = np.zeros(self.plan.n_parts, dtype=bool)
        learned[list(self.plan.trains[fold])] = True
        return learned[self.parts]

    def is_tested(self, fold: int) -> bool:
        """Whether the rows of a fold count in cross-validated losses."""
        return self.plan is None or (self.plan.tested[fold] and bool(self._learned(fold).any()))

    @cached_property
    def tested(self) -> np.ndarray:
        """Mask of the rows that count in cross-validated losses."""
        return np.isin(self.labels, [fold for fold in self.known if self.is_tested(fold)])
