"""Columns and products of two columns as candidates: (i, -1) is column i, (i, j) is x_i x_j.

The sums of v_i x_ij x_ik over rows i are the entries of X' diag(v) X, so that no product has to be written out.
"""

from __future__ import annotations

import numpy as np

from mercer._runtime.memory import refuse_too_large
from mercer.select.greedy.candidates import PIECE, Columns, spread_from_squares


class Pairs(Columns):
    """The columns of X and the products x_i x_j of two (with `squares` also of one with itself), none ever stored.

    Candidates 0 ... d-1 are the columns; d + i d + j is x_i x_j for i < j (or i <= j), other numbers being nobody's.
    """

    def __init__(self, X, squares: bool = False):
        super().__init__(X)
        self.diagonal = 0 if squares else 1
        refuse_too_large(self.n_columns, 6 * self.n_columns, 8, "Select columns first: products of all pairs are many.")

    @property
    def size(self) -> int:
        return self.n_columns * (1 + self.n_columns)

    def rows(self, selection) -> Pairs:
        return Pairs(self.X[selection], self.diagonal == 0)

    def column(self, j):
        parts = [super(Pairs, self).column(i) for i in factors(j, self.n_columns)]
        return np.prod(parts, axis=0)

    def products(self, v):
        return np.concatenate([super().products(v), self._upper(self.X, v)])

    def squares(self, h):
        X = self.X
        return np.concatenate([super().squares(h), self._upper(X.multiply(X).tocsr() if self.sparse else X * X, h)])

    def spread(self, h, centered):
        if not centered:
            return super().spread(h, centered)
        total = h.sum()
        return spread_from_squares(self.products(h) / total, self.squares(h), total)

    def pieces(self):
        yield from super().pieces()
        X = self.X.toarray() if self.sparse else self.X
        for i in range(self.n_columns - self.diagonal):
            first = i + self.diagonal
            numbers = self.n_columns * (1 + i) + np.arange(first, self.n_columns)
            yield numbers, X[:, first:].astype(np.float64) * X[:, i, None]

    def _upper(self, X, v):
        """The entries above (or from) the diagonal of X' diag(v) X, all others zero."""
        d = self.n_columns
        if self.sparse:
            full = (X.T @ X.multiply(v[:, None]).tocsr()).toarray().astype(np.float64)
        else:
            full = np.zeros((d, d))
            step = max(1, PIECE // max(1, d))
            for rows in (slice(i, i + step) for i in range(0, self.n, step)):
                full += X[rows].T @ (X[rows] * v[rows, None].astype(X.dtype))
        return np.triu(full, self.diagonal).ravel()


def factors(j: int, n_columns: int) -> tuple[int, ...]:
    """The columns that candidate j is the product of."""
    return (int(j),) if j < n_columns else divmod(int(j) - n_columns, n_columns)


class Products:
    """The family of `Pairs`: what it offers, and how chosen ones are described, named and made of other rows."""

    fields = (2,)

    def __init__(self, squares: bool = False):
        self.squares = squares

    def over(self, X) -> Pairs:
        """The candidates over rows in memory."""
        return Pairs(X, self.squares)

    def names_of_all(self, names: list[str]) -> list[str]:
        """The names by which `include` may call candidates: those of the columns, whose numbers are the same."""
        return names

    def describe(self, candidates: Pairs, j: int) -> tuple[int, ...]:
        """A candidate as it stands in `path_` and `terms_`."""
        return (*factors(j, candidates.n_columns), -1)[:2]

    def made_of(self, X, candidates: Pairs, j: int) -> list[int]:
        """The columns of X that a candidate depends on."""
        return list(factors(j, candidates.n_columns))

    def sorted(self, chosen: set) -> np.ndarray:
        """Descriptions as an array of two columns, single columns first, each kind in order."""
        return np.array(sorted(chosen, key=lambda term: (term[1] >= 0, term)), dtype=np.int64).reshape(-1, 2)

    def make(self, X, terms: np.ndarray):
        """The terms of an array or CSR matrix, one column each, in its precision."""
        first, second = terms[:, 0], terms[:, 1]
        pairs = second >= 0
        if hasattr(X, "tocsr"):
            from scipy.sparse import hstack

            product = X[:, first[pairs]].multiply(X[:, second[pairs]])
            return hstack([X[:, first[~pairs]], product], format="csr")
        return np.hstack([X[:, first[~pairs]], X[:, first[pairs]] * X[:, second[pairs]]])

    def names(self, names: list[str], terms: np.ndarray) -> np.ndarray:
        """Their names: those of the factors, a space between, or a square."""
        return np.array([_name(names, i, j) for i, j in terms], dtype=object)


def _name(names, i, j):
    if j < 0:
        return names[i]
    return f"{names[i]}^2" if i == j else f"{names[i]} {names[j]}"
