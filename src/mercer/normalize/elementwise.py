"""Column-by-column maps of dense and sparse matrices, in chunks that fit the cache, on all cores."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from mercer._runtime.pool import for_each

_CHUNK_ENTRIES = 1 << 18  # 2 MB: small enough for the cache, large enough to hide the cost of a task


def rewritten(X: np.ndarray, function) -> np.ndarray:
    """`function` of X, computed in float64 and rounded once to the type of X.

    `function(rows, out)` gets some rows of X in float64, which it must not change, and fills `out` with their
    images. What is too large for the type of X becomes its largest number.
    """
    out = np.empty_like(X, subok=False)
    step = max(1, _CHUNK_ENTRIES // max(1, X.shape[1]))

    def rewrite(start):
        rows = slice(start, start + step)
        if X.dtype == np.float64:
            function(X[rows], out[rows])
        else:
            _store(out[rows], _filled(function, X[rows].astype(np.float64)))

    starts = range(0, X.shape[0], step)
    if len(starts) == 1:
        rewrite(0)
    else:
        for_each(rewrite, starts)
    return out


def rewritten_entries(X, function):
    """A CSR matrix with `function(entries, their columns)` for its stored entries: for maps with f(0) = 0."""
    data = np.empty_like(X.data)
    _store(data, function(X.data.astype(np.float64), X.indices))
    return type(X)((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)


def _filled(function, values):
    out = np.empty_like(values)
    function(values, out)
    return out


def finite(values: np.ndarray) -> np.ndarray:
    """Infinities replaced by the largest float64, in place."""
    most = np.finfo(np.float64).max
    return np.clip(values, -most, most, out=values)


def refuse_sparse(X, who: str, why: str, remedy: str) -> None:
    """Raise a TypeError that says why a sparse X cannot be mapped and what to do."""
    if sparse.issparse(X):
        raise TypeError(f"{who} got a sparse matrix, but {why}. {remedy}")


def _store(out, values):
    try:
        with np.errstate(over="raise"):
            out[...] = values
    except FloatingPointError:
        most = np.finfo(out.dtype).max
        out[...] = np.clip(values, -most, most)
