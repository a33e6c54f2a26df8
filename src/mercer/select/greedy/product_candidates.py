"""Columns and products of two columns as candidates: (i, -1) is column i, (i, j) is x_i x_j.

The sums of v_i x_ij x_ik over rows i are the entries of X' diag(v) X, so no product has to be written out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer._runtime.memory import refuse_too_large
from mercer.select.greedy.candidates import CHUNK_ENTRIES, CandidateMoments, ColumnCandidates, moments_from_squares


class ProductCandidates(ColumnCandidates):
    """The columns of X and the products x_i x_j of two (with `squares` also x_i^2), none ever stored.

    Candidates 0 ... d-1 are the columns; d + i d + j is x_i x_j for i < j (or i <= j); other indices are unused.
    """

    def __init__(self, X: Any, squares: bool = False):
        super().__init__(X)
        self.diagonal = 0 if squares else 1
        refuse_too_large(self.n_columns, 6 * self.n_columns, 8, "Select columns first: products of all pairs are many.")

    @property
    def size(self) -> int:
        return self.n_columns * (1 + self.n_columns)

    def rows(self, selection: np.ndarray) -> ProductCandidates:
        return ProductCandidates(self.X[selection], self.diagonal == 0)

    def column(self, j: int) -> np.ndarray:
        parts = [super(ProductCandidates, self).column(i) for i in factors(j, self.n_columns)]
        return np.prod(parts, axis=0)

    def products(self, v: np.ndarray) -> np.ndarray:
        return np.concatenate([super().products(v), self._upper(self.X, v)])

    def squares(self, h: np.ndarray) -> np.ndarray:
        X = self.X
        return np.concatenate([super().squares(h), self._upper(X.multiply(X).tocsr() if self.sparse else X * X, h)])

    def moments(self, h: np.ndarray, centered: bool) -> CandidateMoments:
        if not centered:
            return super().moments(h, centered)
        total = h.sum()
        return moments_from_squares(self.products(h) / total, self.squares(h), total)

    def chunks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        yield from super().chunks()
        X = self.X.toarray() if self.sparse else self.X
        for i in range(self.n_columns - self.diagonal):
            first = i + self.diagonal
            indices = self.n_columns * (1 + i) + np.arange(first, self.n_columns)
            yield indices, X[:, first:].astype(np.float64) * X[:, i, None]

    def _upper(self, X: Any, v: np.ndarray) -> np.ndarray:
        """Return the entries above (or from) the diagonal of X' diag(v) X, all others zero."""
        d = self.n_columns
        if self.sparse:
            full = (X.T @ X.multiply(v[:, None]).tocsr()).toarray().astype(np.float64)
        else:
            full = np.zeros((d, d))
            step = max(1, CHUNK_ENTRIES // max(1, d))
            for rows in (slice(i, i + step) for i in range(0, self.n, step)):
                full += X[rows].T @ (X[rows] * v[rows, None].astype(X.dtype))
        return np.triu(full, self.diagonal).ravel()


def factors(j: int, n_columns: int) -> tuple[int, ...]:
    """Return the columns whose product is candidate j."""
    return (int(j),) if j < n_columns else divmod(int(j) - n_columns, n_columns)


class ProductFamily:
    """Columns and products as features: how selected ones are described, named and computed on other rows."""

    fields = (2,)

    def __init__(self, squares: bool = False):
        self.squares = squares

    def over(self, X: Any) -> ProductCandidates:
        """Return the candidates over rows in memory."""
        return ProductCandidates(X, self.squares)

    def candidate_names(self, names: list[str]) -> list[str]:
        """Return the names that `include` accepts: those of the columns, whose indices are the same."""
        return names

    def describe(self, candidates: ProductCandidates, j: int) -> tuple[int, ...]:
        """Return a candidate as stored in `path_` and `terms_`."""
        return (*factors(j, candidates.n_columns), -1)[:2]

    def source_columns(self, X: Any, candidates: ProductCandidates, j: int) -> list[int]:
        """Return the columns of X that a candidate depends on."""
        return list(factors(j, candidates.n_columns))

    def sorted(self, selected: set) -> np.ndarray:
        """Return descriptions as an array of two columns, single columns first, each kind in order."""
        return np.array(sorted(selected, key=lambda term: (term[1] >= 0, term)), dtype=np.int64).reshape(-1, 2)

    def compute(self, X: Any, terms: np.ndarray) -> Any:
        """Compute the terms from an array or CSR matrix, one column each, in its precision."""
        first, second = terms[:, 0], terms[:, 1]
        pairs = second >= 0
        if hasattr(X, "tocsr"):
            from scipy.sparse import hstack

            product = X[:, first[pairs]].multiply(X[:, second[pairs]])
            return hstack([X[:, first[~pairs]], product], format="csr")
        return np.hstack([X[:, first[~pairs]], X[:, first[pairs]] * X[:, second[pairs]]])

    def names(self, names: list[str], terms: np.ndarray) -> np.ndarray:
        """Return the names of terms: those of the factors with a space between, or a square."""
        return np.array([_name(names, i, j) for i, j in terms], dtype=object)


def _name(names: list[str], i: int, j: int) -> str:
    if j < 0:
        return names[i]
    return f"{names[i]}^2" if i == j else f"{names[i]} {names[j]}"
