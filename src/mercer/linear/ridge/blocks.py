"""One penalty per block of columns: the penalty alpha c on a block is the penalty alpha after dividing it by sqrt(c).

So a Gram matrix with rows and columns scaled stands for the scaled data, and every combination of penalties is
scored on the statistics that are already there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mercer.stats.gram import GramPerFold, Normal

_SWEEPS = 3
#: What a candidate must gain, as a share of the loss, to be taken.
_GAIN = 1e-6


def block_of_each(blocks, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """The names of the blocks and for each column the place of its block, from labels of columns or from slices."""
    if len(blocks) and all(isinstance(block, slice) for block in blocks):
        place = np.full(n_columns, -1)
        for number, block in enumerate(blocks):
            if np.any(place[block] >= 0):
                raise ValueError(f"blocks overlap: {block} names a column that an earlier block has.")
            place[block] = number
        if np.any(place < 0):
            raise ValueError(f"blocks leave out column {int(np.argmin(place))} of {n_columns}.")
        return np.arange(len(blocks)), place
    if len(blocks) != n_columns:
        raise ValueError(
            f"blocks must name the block of each of {n_columns} columns (or be a list of slices), "
            f"got {len(blocks)} names."
        )
    return np.unique(np.asarray(blocks), return_inverse=True)


def scaled(gram: GramPerFold, scale: np.ndarray) -> GramPerFold:
    """The statistics of the rows with columns multiplied by `scale`; origins stay those of the rows as they were."""
    folds = [_scaled(fold, scale) for fold in gram.folds]
    return replace(gram, folds=folds, total=_scaled(gram.total, scale), error=gram.error * float(np.max(scale)) ** 2)


def _scaled(normal: Normal, scale: np.ndarray) -> Normal:
    return replace(
        normal, z=normal.z * scale, G=normal.G * np.outer(scale, scale), B=normal.B * np.reshape(scale, (-1, 1))
    )


def search(n_blocks: int, grid, loss: Callable[[np.ndarray], float]) -> np.ndarray:
    """A factor for each block by coordinate-wise search from ones: a block at a time, the best of the grid."""
    factors = np.ones(n_blocks)
    best = loss(factors)
    for _ in range(_SWEEPS):
        before = factors
        for block in range(n_blocks):
            for value in grid:
                trial = factors.copy()
                trial[block] = value
                found = np.inf if value == factors[block] else loss(trial)
                if found < best * (1 - _GAIN):
                    best, factors = found, trial
        if np.array_equal(before, factors):
            break
    return factors
