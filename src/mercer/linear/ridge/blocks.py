"""Blocks of columns with penalties of their own: alpha c_b on block b is alpha after dividing the block by sqrt(c_b).

So a Gram matrix with rows and columns scaled stands for the scaled data, and every criterion of one penalty applies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer.linear.ridge.overflow import refuse_overflow
from mercer.linear.ridge.row_space import BlockKernel, RowSpaceFoldLoss
from mercer.stats.gram import GramPerFold, Normal

Blocks = Sequence[Any] | np.ndarray
BlockPenalties = Mapping[Any, float] | Sequence[float] | np.ndarray


def block_indices(blocks: Blocks, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the names of the blocks and the block index of each column, from one label per column or from slices."""
    if len(blocks) and all(isinstance(block, slice) for block in blocks):
        index = np.full(n_columns, -1)
        for number, block in enumerate(blocks):
            if np.any(index[block] >= 0):
                raise ValueError(f"blocks overlap: {block} names a column that an earlier block has.")
            index[block] = number
        if np.any(index < 0):
            raise ValueError(f"blocks leave out column {int(np.argmin(index))} of {n_columns}.")
        return np.arange(len(blocks)), index
    if len(blocks) != n_columns:
        raise ValueError(
            f"blocks must name the block of each of {n_columns} columns (or be a list of slices), "
            f"got {len(blocks)} names."
        )
    return np.unique(np.asarray(blocks), return_inverse=True)


def check_block_penalties(given: BlockPenalties) -> None:
    """Raise ValueError unless all penalties are finite and positive."""
    values = np.array(list(given.values()) if isinstance(given, Mapping) else np.atleast_1d(given), dtype=np.float64)
    if values.size == 0 or not np.all(np.isfinite(values)) or np.any(values <= 0):
        raise ValueError(f"block_penalties must be finite and positive, not {given!r}.")


def relative_penalties(given: BlockPenalties, names: np.ndarray) -> np.ndarray:
    """Return c_b for each block, from a mapping by name or from one number per block."""
    if isinstance(given, Mapping):
        missing = [name for name in names.tolist() if name not in given]
        if missing:
            raise ValueError(f"block_penalties names no penalty for block {missing[0]!r}.")
        return np.array([given[name] for name in names.tolist()], dtype=np.float64)
    if np.shape(given) != (len(names),):
        raise ValueError(f"block_penalties must hold one number for each of {len(names)} blocks, not {given!r}.")
    return np.asarray(given, dtype=np.float64)


def geometric_mean(penalties: np.ndarray) -> float:
    return float(np.exp(np.mean(np.log(penalties))))


def scaled(gram: GramPerFold, scale: np.ndarray) -> GramPerFold:
    """Return the statistics of the rows with columns multiplied by `scale`; origins stay those of the unscaled rows."""
    folds = [_scaled(fold, scale) for fold in gram.folds]
    return replace(gram, folds=folds, total=_scaled(gram.total, scale), error=gram.error * float(np.max(scale)) ** 2)


def _scaled(normal: Normal, scale: np.ndarray) -> Normal:
    return replace(
        normal, z=normal.z * scale, G=normal.G * np.outer(scale, scale), B=normal.B * np.reshape(scale, (-1, 1))
    )


class RowSpaceBlocks:
    """Rows in memory, fewer than their columns: the K-fold loss of block penalties, and weights for the raw columns.

    Parameters
    ----------
    rows : Block of dense or CSR rows
    Y : targets, one column per output
    index : the block index of each column
    n_folds, seed : the assignment of rows to folds
    """

    def __init__(self, rows: Block, Y: np.ndarray, index: np.ndarray, n_folds: int, seed: int):
        weight = None if rows.weight is None else np.asarray(rows.weight, dtype=np.float64)
        sparse = hasattr(rows.X, "tocsr")
        X = rows.X if sparse else np.asarray(rows.X, dtype=np.float64)
        self._x_origin = np.zeros(X.shape[1]) if sparse else np.average(X, axis=0, weights=weight)
        self._y_origin = np.average(Y, axis=0, weights=weight)
        X = X if sparse else X - self._x_origin
        kernel: Callable = _sparse_kernel if sparse else BlockKernel.of
        columns = [np.flatnonzero(index == b) for b in range(index.max() + 1)]
        kernels = [kernel(X[:, each], weight) for each in columns]
        refuse_overflow([np.trace(each.whole) for each in kernels])
        folds = fold_of(rows.ids, n_folds, seed)
        self.losses = RowSpaceFoldLoss(kernels, index, folds, Y - self._y_origin, lambda chosen, _: X[chosen], weight)

    def weights(self, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return weights and intercepts fitted to all rows."""
        coef, intercept = self.losses.weights(penalties)
        return coef, intercept + self._y_origin - self._x_origin @ coef


def _sparse_kernel(Z: Any, weight: np.ndarray | None) -> BlockKernel:
    """Return the kernel of CSR rows about their weighted mean, which is not subtracted from the rows."""
    K = (Z @ Z.T).toarray().astype(np.float64)
    fractions = np.full(len(K), 1.0 / len(K)) if weight is None else weight / weight.sum()
    means = K @ fractions
    return BlockKernel(K - means[:, None] - means + fractions @ means)
