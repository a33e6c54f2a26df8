"""Candidate features of a greedy selection over rows in memory: the columns as they are.

A candidate is an index. A selection needs sums over rows for all candidates at once, single candidates, and all of
them in chunks; `product_candidates` and `lift_candidates` provide the same for other features.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Entries of a chunk of rows or columns that is written out.
CHUNK_ENTRIES = 2**20
#: A centered sum of squares computed as a difference is rounding below this fraction of the uncentered one.
_CANCELLATION = 1e-12


@dataclass(frozen=True)
class CandidateMoments:
    """Weighted means of all candidates, sums of squares about them, and the smallest ones above rounding."""

    mean: np.ndarray
    squares: np.ndarray
    min_squares: np.ndarray


class ColumnCandidates:
    """The columns of X (dense of any layout, or CSR), in its precision and never copied."""

    def __init__(self, X: Any):
        self.X = X
        self.n, self.n_columns = X.shape
        self.sparse = hasattr(X, "tocsr")

    @property
    def size(self) -> int:
        return self.n_columns

    @property
    def rounding(self) -> float:
        return float(np.finfo(self.X.dtype).eps)

    def rows(self, selection: np.ndarray) -> ColumnCandidates:
        """Return the same candidates over some of the rows."""
        return type(self)(self.X[selection])

    def column(self, j: int) -> np.ndarray:
        """Return candidate j, one entry per row."""
        found = self.X[:, [j]].toarray()[:, 0] if self.sparse else self.X[:, j]
        return found.astype(np.float64)

    def products(self, v: np.ndarray) -> np.ndarray:
        """Return sum_i v_i x_ij for every candidate j."""
        return np.asarray(self.X.T @ v.astype(self.X.dtype), dtype=np.float64)

    def squares(self, h: np.ndarray) -> np.ndarray:
        """Return sum_i h_i x_ij^2 for every candidate j."""
        if self.sparse:
            return np.asarray(self.X.multiply(self.X).T @ h, dtype=np.float64)
        return self._squares_about(np.zeros(self.n_columns), h)

    def moments(self, h: np.ndarray, centered: bool) -> CandidateMoments:
        """Return means and sums of squares with row weights h; about zero unless `centered`."""
        if not centered:
            squares = self.squares(h)
            return CandidateMoments(np.zeros(self.size), squares, np.zeros(self.size))
        total = h.sum()
        mean = self.products(h) / total
        if self.sparse:
            return moments_from_squares(mean, self.squares(h), total)
        return CandidateMoments(mean, self._squares_about(mean, h), total * (8 * self.rounding * mean) ** 2)

    def chunks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Write out all candidates in chunks: their indices and a float64 array of n rows."""
        step = max(1, CHUNK_ENTRIES // max(1, self.n))
        for start in range(0, self.n_columns, step):
            chunk = self.X[:, start : start + step]
            chunk = chunk.toarray() if self.sparse else chunk
            yield np.arange(start, start + chunk.shape[1]), chunk.astype(np.float64)

    def _squares_about(self, origin: np.ndarray, h: np.ndarray) -> np.ndarray:
        out = np.zeros(self.n_columns)
        X = self.X
        if X.flags.c_contiguous:
            step = max(1, CHUNK_ENTRIES // max(1, self.n_columns))
            for rows in (slice(i, i + step) for i in range(0, self.n, step)):
                deviation = X[rows] - origin
                deviation *= deviation
                out += h[rows] @ deviation
        else:
            step = max(1, CHUNK_ENTRIES // max(1, self.n))
            for columns in (slice(j, j + step) for j in range(0, self.n_columns, step)):
                deviation = X[:, columns] - origin[columns]
                deviation *= deviation
                out[columns] = h @ deviation
        return out


def moments_from_squares(mean: np.ndarray, squares: np.ndarray, total: float) -> CandidateMoments:
    """Return centered moments from means and sums of squares about zero."""
    return CandidateMoments(mean, np.maximum(squares - total * mean**2, 0.0), _CANCELLATION * squares)
