"""Kernels that are products or symmetric polynomials over columns, for all pairs of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer._numeric.linalg.distances import dense_blocks, is_sparse

STATE = 2**19  # entries of the intermediate values held at a time


def all_subsets(X: Any, Y: Any, scale: float = 1.0) -> np.ndarray:
    """prod_j (1 + scale x_j z_j) for all pairs of rows."""
    out = np.ones((X.shape[0], Y.shape[0]), dtype=np.result_type(X.dtype, Y.dtype))
    X, Y = _same_kind(X, Y)
    for rows in _row_blocks(X, Y, 1):
        block = out[rows]
        for where, x, z in _column_pairs(X[rows], Y):
            block[where] *= 1 + x * z * x.dtype.type(scale)
    return out


def elementary_symmetric(X: Any, Y: Any, degree: int) -> np.ndarray:
    """e_q(x_1 z_1, ..., x_d z_d) for all pairs of rows, by the O(d q) recursion over columns."""
    out = np.empty((X.shape[0], Y.shape[0]), dtype=np.result_type(X.dtype, Y.dtype))
    X, Y = _same_kind(X, Y)
    for rows in _row_blocks(X, Y, degree + 1):
        orders = np.zeros((degree + 1, *out[rows].shape), dtype=out.dtype)
        orders[0] = 1
        for where, x, z in _column_pairs(X[rows], Y):
            product = x * z
            for q in range(degree, 0, -1):
                orders[q][where] += product * orders[q - 1][where]
        out[rows] = orders[degree]
    return out


def sinc_product(X: Any, Y: Any, scale: float = 1.0) -> np.ndarray:
    """prod_j sin(t_j) / t_j with t = (x - z) / scale, for all pairs of rows."""
    out = np.ones((X.shape[0], Y.shape[0]), dtype=np.result_type(X.dtype, Y.dtype))
    for rows, columns, A, B in dense_blocks(X, Y):
        block = out[rows, columns]
        for x, z in zip(A.T, B.T, strict=True):
            block *= sinc((x[:, None] - z) / x.dtype.type(scale))
    return out


def sinc(t: np.ndarray) -> np.ndarray:
    """sin(t) / t, with 1 at 0 and 0 at infinity."""
    zero = t == 0
    t = np.where(zero, 1, t)
    return np.where(zero, 1, np.sin(np.where(np.isinf(t), 0, t)) / t).astype(t.dtype, copy=False)


def _same_kind(X: Any, Y: Any) -> tuple[Any, Any]:
    """Both dense, or both sparse with Y by columns; Y's columns are read once per block of rows of X."""
    if not (is_sparse(X) or is_sparse(Y)):
        return X, np.asfortranarray(Y)
    from scipy.sparse import csc_array, csr_array

    return csr_array(X), csc_array(Y)


def _row_blocks(X: Any, Y: Any, states: int) -> list[slice]:
    step = max(1, STATE // max(1, states * Y.shape[0]))
    return [slice(start, min(start + step, X.shape[0])) for start in range(0, X.shape[0], step)]


def _column_pairs(X: Any, Y: Any) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
    """For each column: an index of pairs of rows, and the entries of X and Y that broadcast to these pairs.

    Pairs with a zero in the column are left out when X and Y are sparse.
    """
    if not is_sparse(X):
        for x, z in zip(X.T, Y.T, strict=True):
            yield (slice(None), slice(None)), x[:, None], z
        return
    X = X.tocsc()
    for j in np.flatnonzero((np.diff(X.indptr) > 0) & (np.diff(Y.indptr) > 0)):
        x, z = slice(*X.indptr[j : j + 2]), slice(*Y.indptr[j : j + 2])
        yield np.ix_(X.indices[x], Y.indices[z]), X.data[x, None], Y.data[z]
