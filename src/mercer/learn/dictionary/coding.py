"""Sparse codes of rows for a fixed dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer import _numeric
from mercer._numeric.linalg.gram import aligned_empty
from mercer._numeric.solvers.omp import WIDTH
from mercer._runtime.pool import for_each

#: Correlations computed at a time: they fit into the cache.
_ENTRIES = 2**17
#: A correlation this small beside the first one is rounding.
_FLOOR = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}


class Coder:
    """Codes by at most `nonzeros` atoms of a dictionary (atoms x features, rows of length 1), in one precision.

    The transpose and the Gram matrix of the dictionary are computed once, padded to whole vectors with zero atoms,
    which are never chosen.
    """

    def __init__(self, dictionary: np.ndarray, nonzeros: int, dtype: DTypeLike, orthogonal: bool = True):
        self.n_atoms, d = dictionary.shape
        self.nonzeros, self.orthogonal = min(nonzeros, self.n_atoms), orthogonal
        self.dtype = np.dtype(dtype)
        width = -(-self.n_atoms // WIDTH) * WIDTH
        self.atoms = aligned_empty((d, width), self.dtype)
        self.atoms[:] = 0
        self.atoms[:, : self.n_atoms] = dictionary.T
        self.gram = aligned_empty((width, width), self.dtype)
        padded = self.atoms.astype(np.float64)
        self.gram[:] = padded.T @ padded

    def encode(self, X: Any) -> sparse.csr_array:
        """The codes of the rows of a dense array or CSR matrix: (rows, atoms), on all cores."""
        n, k = X.shape[0], self.nonzeros
        indices, values = np.empty((n, k), dtype=np.int32), np.empty((n, k), dtype=self.dtype)
        counts = np.empty(n, dtype=np.int64)
        step = max(16, _ENTRIES // self.atoms.shape[1])

        def work(start: int) -> None:
            rows = slice(start, start + step)
            part, exponents = _in_range(X[rows])
            found = indices[rows], values[rows], counts[rows]
            _numeric.sparse_encode(self._correlations(part), self.gram, self.orthogonal, _FLOOR[self.dtype], *found)
            if exponents is not None:
                values[rows] = np.ldexp(values[rows], exponents[:, None])

        for_each(work, range(0, n, step))
        return _as_csr(indices, values, counts, self.n_atoms)

    def _correlations(self, X: Any) -> np.ndarray:
        out = aligned_empty((X.shape[0], self.atoms.shape[1]), self.dtype)
        if hasattr(X, "tocsr"):
            out[:] = X @ self.atoms
        else:
            np.matmul(X, self.atoms, out=out)
        return out


def _in_range(X: Any) -> tuple[Any, np.ndarray | None]:
    """Rows scaled so that squares neither overflow nor underflow, and the exponents of the powers of two, or None."""
    top = abs(X).max(axis=1)
    top = top.toarray().ravel() if hasattr(top, "toarray") else top
    far = np.sqrt(np.finfo(X.dtype).max) ** 0.5
    if not np.any((top > far) | ((top < 1 / far) & (top > 0))):
        return X, None
    exponents = np.frexp(top)[1]
    if hasattr(X, "tocsr"):
        X = X.tocsr().copy()
        X.data = np.ldexp(X.data, -np.repeat(exponents, np.diff(X.indptr)))
        return X, exponents
    return np.ldexp(X, -exponents[:, None]), exponents


def _as_csr(indices: np.ndarray, values: np.ndarray, counts: np.ndarray, n_atoms: int) -> sparse.csr_array:
    n, k = indices.shape
    if np.all(counts == k):
        indptr = np.arange(0, n * k + 1, k) if k else np.zeros(n + 1, dtype=np.int64)
        indices, values = indices.ravel(), values.ravel()
    else:
        kept = np.arange(k) < counts[:, None]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        indices, values = indices[kept], values[kept]
    if indptr[-1] <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return sparse.csr_array((values, indices, indptr), shape=(n, n_atoms))
