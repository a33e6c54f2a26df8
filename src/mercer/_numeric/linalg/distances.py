"""Distances between rows: by matrix products where these are accurate, by differences elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

BLOCK = 2**19  # entries of the result computed at a time
GATHER = 2**20  # entries of rows gathered at a time
NARROW = 4  # up to this many dense columns, differences are as fast as the matrix product


def is_sparse(X: Any) -> bool:
    """Return whether X is a SciPy sparse matrix or array (by duck typing, since SciPy loads slowly)."""
    return hasattr(X, "tocsr")


def squared_distances(X: Any, Y: Any = None, scale: float = 1.0) -> np.ndarray:
    """(||x - z||_2 / scale)^2 for all pairs of rows; infinite where that exceeds the largest float.

    Exactly symmetric with a zero diagonal when Y is None, and exactly 0 for equal rows. Entries that
    the matrix product would lose to cancellation are recomputed from differences.
    """
    squares, factor = _squares(X, Y, scale)
    if factor != 1:
        with np.errstate(over="ignore", under="ignore"):
            both, limits = factor * factor, np.finfo(squares.dtype)
            if limits.tiny <= both <= limits.max:  # one pass over the entries instead of two
                squares *= both
            else:
                squares *= factor
                squares *= factor
    return squares


def distances(X: Any, Y: Any = None, p: float = 2.0, scale: float = 1.0) -> np.ndarray:
    """||x - z||_p / scale for all pairs of rows (a norm if p >= 1, the same formula if p < 1)."""
    if p == 2:
        result, factor = _squares(X, Y, scale)
        np.sqrt(result, out=result)
        with np.errstate(over="ignore", under="ignore"):
            result *= factor
        return result
    return _minkowski(X, X if Y is None else Y, p, scale)


def paired_distances(X: Any, Y: Any, p: float = 2.0) -> np.ndarray:
    """||x_i - z_i||_p in float64 for the i-th rows of X and Y, without overflow or underflow."""
    result = np.empty(X.shape[0])
    step = max(1, GATHER // max(X.shape[1], 1))
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        result[rows] = _row_norms(_difference(X[rows], Y[rows]), p)
    return result


def _squares(X: Any, Y: Any, scale: float) -> tuple[np.ndarray, np.floating]:
    """Squared distances of rows scaled by a power of two, and the factor from their roots to distances / scale."""
    same = Y is None or Y is X
    Y = X if same else Y
    if is_sparse(X) or is_sparse(Y):
        from scipy.sparse import csr_array

        X, Y = csr_array(X), (csr_array(X) if same else csr_array(Y))
    dtype = np.result_type(X.dtype, Y.dtype)
    exponent = _exponent(max(_largest(X), _largest(Y)), dtype)
    if exponent:
        X = X * dtype.type(2.0**-exponent)
        Y = X if same else Y * dtype.type(2.0**-exponent)
    out = np.empty((X.shape[0], Y.shape[0]), dtype=dtype)
    if not is_sparse(X) and X.shape[1] <= NARROW:
        _fill_by_differences(out, X, Y)
    else:
        _fill_by_product(out, X, Y, same)
    factor = min(float(np.ldexp(1.0, exponent)) / scale, float(np.finfo(dtype).max))
    return out, dtype.type(factor)


def _largest(X: Any) -> float:
    values = X.data if is_sparse(X) else X
    return float(max(values.max(), -values.min())) if values.size else 0.0


def _exponent(largest: float, dtype: np.dtype) -> int:
    """0, or the power of two that brings the largest value near 1 when its square could leave the range."""
    safe = np.finfo(dtype).max ** 0.25
    if largest == 0.0 or 1.0 / safe < largest < safe:
        return 0
    # 2.0**-exponent must itself be a normal number of this precision
    return int(np.clip(np.frexp(largest)[1], np.finfo(dtype).minexp + 2, np.finfo(dtype).maxexp - 2))


def _fill_by_differences(out: np.ndarray, X: np.ndarray, Y: np.ndarray) -> None:
    step = max(1, BLOCK // max(Y.shape[0], 1))
    columns = np.ascontiguousarray(Y.T)
    for start in range(0, X.shape[0], step):
        block = out[start : start + step]
        block[:] = 0
        for j in range(X.shape[1]):
            difference = X[start : start + step, j, None] - columns[j]
            difference *= difference
            block += difference


def _fill_by_product(out: np.ndarray, X: Any, Y: Any, same: bool) -> None:
    """||x||^2 + ||z||^2 - 2<x, z> in blocks of rows, on centered rows when they are dense."""
    A, B = _centered(X, Y, same)
    a, b = _squared_norms(A), _squared_norms(B)
    A = A * A.dtype.type(-2)
    tolerance = np.finfo(out.dtype).eps ** 0.4
    step = max(1, BLOCK // max(Y.shape[0], 1))
    for start in range(0, X.shape[0], step):
        stop = min(start + step, X.shape[0])
        first = start if same else 0  # the part left of a symmetric block was mirrored before
        block = out[start:stop, first:]
        _dense_product(A[start:stop], B[first:], block)
        block += a[start:stop, None]
        block += b[first:]
        if same:
            block[np.tril_indices(stop - start)] = np.inf  # to be mirrored
        # cancellation: this includes every negative entry
        for rows in _rows_below(block, a[start:stop] * tolerance, b[first:] * tolerance):
            doubtful = block[rows] <= (a[start:stop][rows, None] + b[first:]) * tolerance
            _recompute(block, rows, doubtful, X[start:stop], Y[first:])
        if same:
            _mirror(out, start, stop)


def _rows_below(block: np.ndarray, a: np.ndarray, b: np.ndarray) -> Iterator[np.ndarray]:
    """Chunks of the rows with an entry at or below a_i + max b; most blocks have none."""
    if block.size:
        rows = np.flatnonzero(block.min(axis=1) <= a + b.max())
        step = max(1, GATHER // block.shape[1])
        yield from (rows[start : start + step] for start in range(0, len(rows), step))


def _centered(X: Any, Y: Any, same: bool) -> tuple[Any, Any]:
    if is_sparse(X) or X.shape[0] == 0:
        return X, Y
    # any center near the rows serves, if it is the same for all rows
    center = X.mean(axis=0)
    A = X - center
    return A, (A if same else Y - center)


def _squared_norms(A: Any) -> np.ndarray:
    if is_sparse(A):
        return A.multiply(A).sum(axis=1).astype(A.dtype)
    return np.einsum("ij,ij->i", A, A)


def _dense_product(A: Any, B: Any, out: np.ndarray) -> None:
    if is_sparse(A):
        out[:] = (A @ B.T).toarray()
    else:
        np.matmul(A, B.T, out=out)


def _recompute(block: np.ndarray, rows: np.ndarray, doubtful: np.ndarray, X: Any, Y: Any) -> None:
    """Recompute squared distances of doubtful pairs from differences of the original rows."""
    i, j = np.nonzero(doubtful)
    i = rows[i]
    width = X.nnz // max(X.shape[0], 1) + 1 if is_sparse(X) else X.shape[1]
    step = max(1, GATHER // width)
    for start in range(0, len(i), step):
        some, others = i[start : start + step], j[start : start + step]
        block[some, others] = _squared_norms(_difference(X[some], Y[others]))


def _mirror(out: np.ndarray, start: int, stop: int) -> None:
    """Copy the part right of the diagonal of rows start..stop to below it, and zero the diagonal."""
    own = out[start:stop, start:stop]
    own[:] = np.triu(own, 1) + np.triu(own, 1).T
    out[stop:, start:stop] = out[start:stop, stop:].T


def _minkowski(X: Any, Y: Any, p: float, scale: float) -> np.ndarray:
    from scipy.spatial.distance import cdist

    out = np.empty((X.shape[0], Y.shape[0]), dtype=np.result_type(X.dtype, Y.dtype))
    metric = {"metric": "cityblock"} if p == 1 else {"metric": "minkowski", "p": p}
    # |x - z|^p leaves the range of floats long before |x - z| / scale does, so divide first,
    # but by a power of two: rows far from the origin must not be rounded before they are subtracted
    remainder, exponent = np.frexp(scale)
    with np.errstate(over="ignore", under="ignore"):
        for rows, columns, A, B in dense_blocks(X, Y):
            A, B = np.ldexp(A.astype(float), -exponent), np.ldexp(B.astype(float), -exponent)
            out[rows, columns] = cdist(A, B, **metric) / remainder
    if Y is X:
        np.fill_diagonal(out, 0)
    return out


def dense_blocks(X: Any, Y: Any) -> Iterator[tuple[slice, slice, np.ndarray, np.ndarray]]:
    """Cover all pairs in bounded memory: (row slice, column slice, dense rows of X, dense rows of Y)."""
    high = max(1, 4 * GATHER // max(X.shape[1], 1))
    for first in range(0, Y.shape[0], high):
        columns = slice(first, min(first + high, Y.shape[0]))
        B = _dense(Y[columns])
        step = max(1, min(high, BLOCK // len(B)))
        for start in range(0, X.shape[0], step):
            rows = slice(start, min(start + step, X.shape[0]))
            yield rows, columns, _dense(X[rows]), B


def _dense(X: Any) -> np.ndarray:
    return X.toarray() if is_sparse(X) else X


def _difference(X: Any, Y: Any) -> Any:
    if is_sparse(X) != is_sparse(Y):
        X, Y = _dense(X), _dense(Y)
    return X - Y


def _row_norms(D: Any, p: float) -> np.ndarray:
    """||row||_p of each row in float64, scaled by the largest entry."""
    D = abs(D).astype(float)
    top = _largest(D)
    if top == 0.0:
        return np.zeros(D.shape[0])
    D = D * (1.0 / top) if top > 1e-300 else D * 2.0**600 / (top * 2.0**600)
    powers = D.power(p).sum(axis=1) if is_sparse(D) else np.sum(D**p, axis=1)
    return top * np.asarray(powers).ravel() ** (1.0 / p)
