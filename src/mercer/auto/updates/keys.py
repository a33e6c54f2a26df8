"""Identities of training rows: a hash of the row, its target and its weight, and the trees that have not seen it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer import _numeric
from mercer._runtime.errors import RowError

#: The last bits of a key hold the fold of the trees; this one stands for a row that no tree has seen.
_BITS = np.uint64(4)
NEW_ROW = 15


def row_keys(ids: np.ndarray, target: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """A 64-bit hash of each row: of its values, its target (numbers or class numbers) and its weight."""
    keys = np.asarray(ids, dtype=np.uint64)
    columns = np.asarray(target, dtype=np.float64).reshape(len(keys), -1)
    if weight is not None:
        columns = np.column_stack([columns, np.asarray(weight, dtype=np.float64)])
    for seed, column in enumerate(columns.T):
        bits = np.ascontiguousarray(column + 0.0).view(np.uint64)  # + 0.0: zero has one sign
        keys = _numeric.splitmix64(keys ^ _numeric.splitmix64(bits, seed + 1), seed + 11)
    return keys >> _BITS << _BITS


@dataclass
class UpdateKeys:
    """Sorted keys of all rows, with the fold of the trees in their last bits: 8 bytes a row."""

    keys: np.ndarray

    @classmethod
    def of(cls, keys: np.ndarray, folds: np.ndarray) -> UpdateKeys:
        return cls(np.sort(keys | folds.astype(np.uint64)))

    def plus(self, keys: np.ndarray) -> UpdateKeys:
        """With new rows."""
        return UpdateKeys(np.sort(np.concatenate([self.keys, keys | np.uint64(NEW_ROW)])))

    def minus(self, keys: np.ndarray) -> tuple[UpdateKeys, np.ndarray]:
        """Without some rows, and the fold of each of these; `RowError` names the first that is not there."""
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        starts = np.searchsorted(ordered, ordered)  # the first equal key: repetitions take one entry each
        index = np.searchsorted(self.keys, ordered) + np.arange(len(keys)) - starts
        inside = index < len(self.keys)
        index = np.minimum(index, max(len(self.keys) - 1, 0))
        known = inside & (self.keys[index] >> _BITS << _BITS == ordered) if len(self.keys) else inside
        if not known.all():
            row = int(order[~known].min())
            raise RowError("The model has not seen ", row, " with this target and weight, so it cannot forget it.")
        folds = np.empty(len(keys), dtype=np.int64)
        folds[order] = (self.keys[index] & np.uint64(NEW_ROW)).astype(np.int64)
        return UpdateKeys(np.delete(self.keys, index)), folds
