"""Features that may be selected, over rows in memory: the columns as they are.

A candidate is a number. What a selection asks for is sums over rows for all candidates at once, single candidates, and
all of them some at a time; whoever answers that can be selected from, see `products` and `lifted`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

#: Entries of the pieces in which rows or columns are rewritten.
PIECE = 2**20
#: A centered sum of squares below this share of the uncentered one is rounding, where one is taken from the other.
_LOST = 1e-12


@dataclass(frozen=True)
class Spread:
    """Weighted means of all candidates, their sums of squares about them, and the least of these above rounding."""

    mean: np.ndarray
    squares: np.ndarray
    least: np.ndarray


class Columns:
    """The columns of X (dense of any layout, or CSR), in its precision and never copied."""

    def __init__(self, X):
        self.X = X
        self.n, self.n_columns = X.shape
        self.sparse = hasattr(X, "tocsr")

    @property
    def size(self) -> int:
        return self.n_columns

    @property
    def rounding(self) -> float:
        return float(np.finfo(self.X.dtype).eps)

    def rows(self, selection) -> Columns:
        """The same candidates over some of the rows."""
        return type(self)(self.X[selection])

    def column(self, j: int) -> np.ndarray:
        """Candidate j, one entry per row."""
        found = self.X[:, [j]].toarray()[:, 0] if self.sparse else self.X[:, j]
        return found.astype(np.float64)

    def products(self, v: np.ndarray) -> np.ndarray:
        """sum_i v_i x_ij for every candidate j."""
        return np.asarray(self.X.T @ v.astype(self.X.dtype), dtype=np.float64)

    def squares(self, h: np.ndarray) -> np.ndarray:
        """sum_i h_i x_ij^2 for every candidate j."""
        if self.sparse:
            return np.asarray(self.X.multiply(self.X).T @ h, dtype=np.float64)
        return self._squares_about(np.zeros(self.n_columns), h)

    def spread(self, h: np.ndarray, centered: bool) -> Spread:
        """Means and sums of squares with row weights h; about zero unless `centered`."""
        if not centered:
            squares = self.squares(h)
            return Spread(np.zeros(self.size), squares, np.zeros(self.size))
        total = h.sum()
        mean = self.products(h) / total
        if self.sparse:
            return spread_from_squares(mean, self.squares(h), total)
        return Spread(mean, self._squares_about(mean, h), total * (8 * self.rounding * mean) ** 2)

    def pieces(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All candidates written out, some at a time: their numbers and a float64 array of n rows."""
        step = max(1, PIECE // max(1, self.n))
        for start in range(0, self.n_columns, step):
            piece = self.X[:, start : start + step]
            piece = piece.toarray() if self.sparse else piece
            yield np.arange(start, start + piece.shape[1]), piece.astype(np.float64)

    def _squares_about(self, origin, h):
        out = np.zeros(self.n_columns)
        X = self.X
        if X.flags.c_contiguous:
            step = max(1, PIECE // max(1, self.n_columns))
            for rows in (slice(i, i + step) for i in range(0, self.n, step)):
                away = X[rows] - origin
                away *= away
                out += h[rows] @ away
        else:
            step = max(1, PIECE // max(1, self.n))
            for columns in (slice(j, j + step) for j in range(0, self.n_columns, step)):
                away = X[:, columns] - origin[columns]
                away *= away
                out[columns] = h @ away
        return out


def spread_from_squares(mean, squares, total) -> Spread:
    """The spread from means and sums of squares about zero."""
    return Spread(mean, np.maximum(squares - total * mean**2, 0.0), _LOST * squares)
