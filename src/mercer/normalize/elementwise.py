"""Column-wise maps of dense and sparse matrices, in cache-sized chunks on all cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from mercer._runtime.pool import for_each

_CHUNK_ENTRIES = 1 << 18  # 2 MB: fits the cache, and amortizes the cost of a task


def rewritten(X: np.ndarray, function: Callable[[np.ndarray, np.ndarray], Any]) -> np.ndarray:
    """Apply `function` in float64 and round once to the dtype of X.

    `function(rows, out)` gets some rows of X in float64, which it must not change, and fills `out` with their
    images. Values that overflow the dtype of X become its largest number.
    """
    out = np.empty_like(X, subok=False)
    step = max(1, _CHUNK_ENTRIES // max(1, X.shape[1]))

    def rewrite(start: int) -> None:
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


def rewritten_entries(X: Any, function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Any:
    """Apply `function(entries, their columns)` to the stored entries of a CSR matrix: for maps with f(0) = 0."""
    data = np.empty_like(X.data)
    _store(data, function(X.data.astype(np.float64), X.indices))
    return type(X)((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)


def _filled(function: Callable[[np.ndarray, np.ndarray], Any], values: np.ndarray) -> np.ndarray:
    out = np.empty_like(values)
    function(values, out)
    return out


def finite(values: np.ndarray) -> np.ndarray:
    """Replace infinities by the largest float64, in place."""
    largest = np.finfo(np.float64).max
    return np.clip(values, -largest, largest, out=values)


def refuse_sparse(X: Any, who: str, why: str, remedy: str) -> None:
    """Raise a TypeError with the reason and the remedy if X is sparse."""
    if sparse.issparse(X):
        raise TypeError(f"{who} got a sparse matrix, but {why}. {remedy}")


def _store(out: np.ndarray, values: np.ndarray) -> None:
    try:
        with np.errstate(over="raise"):
            out[...] = values
    except FloatingPointError:
        largest = np.finfo(out.dtype).max
        out[...] = np.clip(values, -largest, largest)
