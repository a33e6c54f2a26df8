"""The K-fold loss of the features of a model in the space of the rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer.auto.features.union import Features
from mercer.auto.rows.training import TrainingRows
from mercer.linear.ridge.fold_loss import never
from mercer.linear.ridge.row_space import BlockKernel, RowSpaceFoldLoss


class KernelCache:
    """Z_b Z_b' of the blocks of features over all rows, kept for the blocks that the next features share."""

    def __init__(self, rows: TrainingRows):
        self.rows = rows
        self._known: dict[int, tuple] = {}  # the block beside its kernel keeps its id from being reused

    def of(self, union: Features, scores: np.ndarray | None) -> list[BlockKernel]:
        """Return the kernel of each block."""
        shared = {id(block) for block in union.blocks}
        self._known = {key: known for key, known in self._known.items() if key in shared}  # before others are made
        for index, block in enumerate(union.blocks):
            if id(block) not in self._known:
                self._known[id(block)] = block, self._kernel(union, index, scores)
        return [self._known[id(block)][1] for block in union.blocks]

    def _kernel(self, union: Features, index: int, scores: np.ndarray | None) -> BlockKernel:
        block = union.blocks[index]
        folds = range(self.rows.n_folds) if block.without_fold(0) is not block else ()
        per_fold = (union.without_fold(fold).of_block(index, self.rows.X, scores) for fold in folds)
        return BlockKernel.of(union.of_block(index, self.rows.X, scores), self.rows.weight, per_fold)


def row_space_loss(
    rows: TrainingRows,
    union: Features,
    scores: np.ndarray | None,
    kernels: list[BlockKernel] | None = None,
    should_stop: Callable[[], bool] = never,
) -> RowSpaceFoldLoss:
    """Return the K-fold loss of features; `scores` stand in for those of the trees, `kernels` are made if not given."""

    def features(indices: np.ndarray, fold: int | None) -> np.ndarray:
        seen = union if fold is None else union.without_fold(fold)
        return seen.features(rows.X[indices], None if scores is None else scores[indices])

    kernels = KernelCache(rows).of(union, scores) if kernels is None else kernels
    return RowSpaceFoldLoss(kernels, union.block_of_column, rows.row_folds, rows.Y, features, rows.weight, should_stop)
