"""Row-wise Khatri-Rao products: all products of an entry of one row and an entry of another."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._numeric.linalg.distances import is_sparse
from mercer._runtime.memory import refuse_too_large, refuse_too_many_entries
from mercer._runtime.pool import for_each

_ENTRIES = 2**18  # of the result, per call on one thread
_INSTEAD = "Transform fewer rows at a time, or approximate the product of kernels (RandomFeatures, Landmarks)."


def khatri_rao(A: Any, B: Any) -> Any:
    """Matrix with rows kron(a_i, b_i) (Khatri and Rao 1968); CSR if A or B is."""
    if is_sparse(A) or is_sparse(B):
        return _sparse_products(A, B)
    n, columns, dtype = len(A), A.shape[1] * B.shape[1], np.result_type(A, B)
    refuse_too_large(n, columns, dtype.itemsize, _INSTEAD)
    out = np.empty((n, A.shape[1], B.shape[1]), dtype=dtype)
    step = max(1, _ENTRIES // max(1, columns))

    def write(start: int) -> None:
        rows = slice(start, start + step)
        np.multiply(A[rows, :, None], B[rows, None, :], out=out[rows])

    for_each(write, range(0, n, step))
    return out.reshape(n, columns)


def _sparse_products(A: Any, B: Any) -> Any:
    from scipy.sparse import csr_array

    A, B = csr_array(A), csr_array(B)
    left, right = np.diff(A.indptr).astype(np.int64), np.diff(B.indptr).astype(np.int64)
    indptr = np.concatenate([[0], np.cumsum(left * right)])
    shape = (A.shape[0], A.shape[1] * B.shape[1])
    index = np.int32 if max(shape[1], indptr[-1]) < 2**31 else np.int64
    dtype = np.result_type(A.dtype, B.dtype)
    refuse_too_many_entries(int(indptr[-1]), dtype.itemsize + np.dtype(index).itemsize, _INSTEAD)
    data, indices = np.empty(indptr[-1], dtype), np.empty(indptr[-1], index)

    def write(start: int) -> None:
        rows = slice(start, min(start + step, shape[0]))
        out = slice(indptr[rows.start], indptr[rows.stop])
        a, b = _pairs(A.indptr, left, right, rows), _partners(B.indptr, left, right, rows)
        data[out] = A.data[a] * B.data[b]
        indices[out] = A.indices[a].astype(np.int64) * B.shape[1] + B.indices[b]

    step = max(1, int(_ENTRIES * max(1, shape[0]) // max(1, indptr[-1])))
    for_each(write, range(0, shape[0], step))
    return csr_array((data, indices, indptr.astype(index)), shape=shape)


def _pairs(starts: np.ndarray, left: np.ndarray, right: np.ndarray, rows: slice) -> np.ndarray:
    """Entry of A for each entry of the result: each entry repeated by the length of the row of B."""
    entries = np.arange(starts[rows.start], starts[rows.stop], dtype=np.int64)
    return np.repeat(entries, np.repeat(right[rows], left[rows]))


def _partners(starts: np.ndarray, left: np.ndarray, right: np.ndarray, rows: slice) -> np.ndarray:
    """Entry of B for each entry of the result: the row of B repeated."""
    lengths = np.repeat(right[rows], left[rows])
    first = np.repeat(starts[rows].astype(np.int64), left[rows])
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - lengths, lengths) + np.repeat(first, lengths)
