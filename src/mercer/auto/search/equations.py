"""The K-fold loss of the features of a model in the space of the rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer.auto.features.blocks import Dictionary
from mercer.auto.rows.training import N_FOLDS, Rows
from mercer.linear.ridge.fold_loss import never
from mercer.linear.ridge.row_space import BlockKernel, RowSpaceFoldLoss


class KernelCache:
    """Z_b Z_b' of the blocks of features over all rows, kept for the blocks that the next features share."""

    def __init__(self, rows: Rows):
        self.rows = rows
        self._known: dict[int, tuple] = {}  # the block beside its kernel keeps its id from being reused

    def of(self, dictionary: Dictionary, scores: np.ndarray | None) -> list[BlockKernel]:
        """Return the kernel of each block."""
        self._known = {
            id(block): self._known.get(id(block)) or (block, self._kernel(dictionary, index, scores))
            for index, block in enumerate(dictionary.blocks)
        }
        return [self._known[id(block)][1] for block in dictionary.blocks]

    def _kernel(self, dictionary: Dictionary, index: int, scores: np.ndarray | None) -> BlockKernel:
        block = dictionary.blocks[index]
        folds = range(N_FOLDS) if block.without(0) is not block else ()
        per_fold = (dictionary.without(fold).of_block(index, self.rows.X, scores) for fold in folds)
        return BlockKernel.of(dictionary.of_block(index, self.rows.X, scores), self.rows.weight, per_fold)


def row_space_loss(
    rows: Rows,
    dictionary: Dictionary,
    scores: np.ndarray | None,
    kernels: list[BlockKernel] | None = None,
    should_stop: Callable[[], bool] = never,
) -> RowSpaceFoldLoss:
    """Return the K-fold loss of features; `scores` stand in for those of the trees, `kernels` are made if not given."""

    def features(indices: np.ndarray, fold: int | None) -> np.ndarray:
        union = dictionary if fold is None else dictionary.without(fold)
        return union.features(rows.X[indices], None if scores is None else scores[indices])

    kernels = KernelCache(rows).of(dictionary, scores) if kernels is None else kernels
    return RowSpaceFoldLoss(kernels, dictionary.block_of_column, rows.folds, rows.Y, features, rows.weight, should_stop)
