"""Row identity for every kind of table, by the hash of the row as read."""

from __future__ import annotations

import numpy as np

from mercer import _numeric
from mercer._runtime.pool import ordered_map

_ROWS = 1024


def hash_rows(table) -> np.ndarray:
    """The 64-bit hash of each row of a dense array, CSR matrix, object array or data frame.

    Equal values give equal hashes whether they are stored dense or sparse, in float32 or float64.
    """
    if hasattr(table, "tocsr"):
        csr = table.tocsr()
        return _numeric.hash_csr_rows(csr.data, csr.indices, csr.indptr)
    if hasattr(table, "row_hashes"):
        return table.row_hashes()
    if hasattr(table, "columns"):
        return _numeric.hash_object_rows([np.asarray(table[name]) for name in table.columns])
    table = np.asarray(table)
    if table.dtype.kind in "fiub":
        spans = [slice(i, i + _ROWS) for i in range(0, len(table), _ROWS)]
        hashes = ordered_map(lambda rows: _numeric.hash_dense_rows(as_float(table[rows])), spans)
        return np.concatenate([np.zeros(0, dtype=np.uint64), *hashes])
    return _numeric.hash_object_rows(list(table.T))


def fold_of(ids: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """The fold 0 .. n_folds - 1 of each row, by the hash of its identity: equal rows share a fold.

    >>> fold_of(np.array([7, 3, 7], dtype=np.uint64), n_folds=5, seed=0).tolist()
    [1, 0, 1]
    """
    return _numeric.buckets(_numeric.splitmix64(ids, seed), n_folds).astype(np.intp, copy=False)


def distinct_hashes(hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where each distinct hash comes first, in ascending order of hashes, how often it comes, and the order of all.

    >>> first, counts, order = distinct_hashes(np.array([7, 3, 7], dtype=np.uint64))
    >>> first.tolist(), counts.tolist(), order.tolist()
    ([1, 0], [1, 2], [1, 0, 2])
    """
    order = _numeric.hash_order(hashes)
    ordered, new = hashes[order], np.ones(len(hashes), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    counts = np.full(len(starts), len(hashes))
    counts[:-1] = starts[1:]
    counts -= starts
    return order[starts], counts, order


def as_float(array: np.ndarray) -> np.ndarray:
    """float32 and float64 as they are, every other number as float64."""
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
