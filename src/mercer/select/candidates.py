"""Features that may be selected: the columns of rows in memory, or also their products, made when they are needed.

A candidate is a number; `term` says which columns it is the product of. What a selection asks for is sums over rows
for all candidates at once, and those need no candidate written out: the sums of v_i x_ij x_ik over rows i are the
entries of X' diag(v) X.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mercer._numeric.memory import refuse_too_large

#: Entries of the pieces in which rows or columns are rewritten.
_PIECE = 2**20
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

    def term(self, j: int) -> tuple[int, ...]:
        """The columns that candidate j is the product of."""
        return column_term(j)

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
            return _from_squares(mean, self.squares(h), total)
        return Spread(mean, self._squares_about(mean, h), total * (8 * self.rounding * mean) ** 2)

    def pieces(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All candidates written out, some at a time: their numbers and a float64 array of n rows."""
        step = max(1, _PIECE // max(1, self.n))
        for start in range(0, self.n_columns, step):
            piece = self.X[:, start : start + step]
            piece = piece.toarray() if self.sparse else piece
            yield np.arange(start, start + piece.shape[1]), piece.astype(np.float64)

    def _squares_about(self, origin, h):
        out = np.zeros(self.n_columns)
        X = self.X
        if X.flags.c_contiguous:
            step = max(1, _PIECE // max(1, self.n_columns))
            for rows in (slice(i, i + step) for i in range(0, self.n, step)):
                away = X[rows] - origin
                away *= away
                out += h[rows] @ away
        else:
            step = max(1, _PIECE // max(1, self.n))
            for columns in (slice(j, j + step) for j in range(0, self.n_columns, step)):
                away = X[:, columns] - origin[columns]
                away *= away
                out[columns] = h @ away
        return out


class Pairs(Columns):
    """The columns of X and the products x_i x_j of two different ones, of which none is ever stored.

    Candidates 0 ... d-1 are the columns; d + i d + j is x_i x_j for i < j, the numbers of i >= j being nobody's.
    """

    def __init__(self, X):
        super().__init__(X)
        refuse_too_large(self.n_columns, 6 * self.n_columns, 8, "Select columns first: products of all pairs are many.")

    @property
    def size(self) -> int:
        return self.n_columns * (1 + self.n_columns)

    def term(self, j):
        if j < self.n_columns:
            return (int(j),)
        first, second = divmod(int(j) - self.n_columns, self.n_columns)
        return first, second

    def column(self, j):
        factors = [super(Pairs, self).column(i) for i in self.term(j)]
        return np.prod(factors, axis=0)

    def products(self, v):
        return np.concatenate([super().products(v), self._upper(self.X, v)])

    def squares(self, h):
        X = self.X
        return np.concatenate([super().squares(h), self._upper(X.multiply(X).tocsr() if self.sparse else X * X, h)])

    def spread(self, h, centered):
        if not centered:
            return super().spread(h, centered)
        total = h.sum()
        return _from_squares(self.products(h) / total, self.squares(h), total)

    def pieces(self):
        yield from super().pieces()
        X = self.X.toarray() if self.sparse else self.X
        for i in range(self.n_columns - 1):
            numbers = self.n_columns * (1 + i) + np.arange(i + 1, self.n_columns)
            yield numbers, X[:, i + 1 :].astype(np.float64) * X[:, i, None]

    def _upper(self, X, v):
        """The entries above the diagonal of X' diag(v) X, all others zero."""
        d = self.n_columns
        if self.sparse:
            full = (X.T @ X.multiply(v[:, None]).tocsr()).toarray().astype(np.float64)
        else:
            full = np.zeros((d, d))
            step = max(1, _PIECE // max(1, d))
            for rows in (slice(i, i + step) for i in range(0, self.n, step)):
                full += X[rows].T @ (X[rows] * v[rows, None].astype(X.dtype))
        return np.triu(full, 1).ravel()


def column_term(j: int) -> tuple[int, ...]:
    """The term of a candidate that is a column itself."""
    return (int(j),)


def _from_squares(mean, squares, total) -> Spread:
    return Spread(mean, np.maximum(squares - total * mean**2, 0.0), _LOST * squares)
