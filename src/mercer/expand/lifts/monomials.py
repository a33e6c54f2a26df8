"""Sets of monomials: their number, order, names, and values on rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, combinations, combinations_with_replacement
from typing import Any

import numpy as np

from mercer import _numeric
from mercer._numeric.linalg.distances import is_sparse
from mercer._numeric.sketch.monomials import n_products
from mercer._runtime.memory import refuse_too_large, refuse_too_many_entries
from mercer._runtime.pool import for_each

MAX_COLUMNS = 2**63 - 1  # largest 64-bit index
MAX_NAMES = 10**7
#: Output entries written by one call on one thread.
_ENTRIES = 2**19
_INSTEAD = (
    "Give the rows as a CSR matrix if most entries are zero, transform fewer rows at a time (a Source does), or "
    "use fewer features: RandomFeatures(Polynomial(p)), SparseProjection after a lift of blocks, or "
    "GreedySelector(interactions=2)."
)


@dataclass
class Monomials:
    """Products of `low` to `high` out of `n_columns` columns, with repetition or (repeat=False) of distinct ones.

    Ordered by degree, and within a degree as `itertools.combinations_with_replacement` (or `combinations`) orders
    them. The monomial prod_j x_j^(a_j) of degree k is multiplied by

        degree_factors[k] / sqrt(prod_j a_j!)  if `factorials`, else  degree_factors[k].
    """

    n_columns: int
    low: int
    high: int
    repeat: bool = True
    degree_factors: np.ndarray | None = None
    factorials: bool = False
    n_outputs: int = field(init=False)

    def __post_init__(self) -> None:
        if self.degree_factors is None:
            self.degree_factors = np.ones(self.high + 1)
        self._sizes = [n_products(self.n_columns, k, self.repeat) for k in range(self.low, self.high + 1)]
        self.n_outputs = sum(self._sizes)
        if self.n_outputs > MAX_COLUMNS:
            raise ValueError(
                f"{self.n_columns:,} columns have {Decimal(self.n_outputs):.3g} products of up to {self.high} factors: "
                "64-bit column numbers end at 9.2e18. Lower the degree, or use RandomFeatures with the kernel."
            )
        counts = np.arange(self.high + 1, dtype=np.float64)
        counts[0] = 1.0
        self._run_factors = 1 / np.sqrt(counts) if self.factorials else np.ones(self.high + 1)

    # values

    def values(self, X: Any) -> Any:
        """The monomials of each row of a float array, or of a canonical CSR matrix as CSR."""
        result = self._sparse_values(X) if is_sparse(X) else self._dense_values(np.ascontiguousarray(X))
        self._refuse_overflow(X, result)
        return result

    def _dense_values(self, X: np.ndarray) -> np.ndarray:
        refuse_too_large(X.shape[0], self.n_outputs, X.dtype.itemsize, _INSTEAD)
        out = np.empty((X.shape[0], self.n_outputs), dtype=X.dtype)
        step = max(1, _ENTRIES // max(1, self.n_outputs))

        def write(start: int) -> None:
            rows = slice(start, start + step)
            _numeric.dense_monomials(X[rows], *self._task(), out[rows])

        for_each(write, range(0, X.shape[0], step))
        return out

    def _sparse_values(self, X: Any) -> Any:
        indptr = self._result_indptr(X.indptr)
        index = np.int32 if max(self.n_outputs, indptr[-1]) < 2**31 else np.int64
        itemsize = X.dtype.itemsize + np.dtype(index).itemsize
        refuse_too_many_entries(int(indptr[-1]), itemsize, _INSTEAD)
        data, indices = np.empty(indptr[-1], X.dtype), np.empty(indptr[-1], index)

        def write(span: tuple[int, int]) -> None:
            first, last = span
            entries = slice(X.indptr[first], X.indptr[last])
            starts = X.indptr[first : last + 1] - X.indptr[first]
            rows = X.data[entries], X.indices[entries], starts.astype(X.indices.dtype, copy=False)
            out = slice(indptr[first], indptr[last])
            _numeric.csr_monomials(*rows, self.n_columns, *self._task(), self._ends(), data[out], indices[out])

        for_each(write, _row_spans(indptr))
        result = type(X)((data, indices, indptr.astype(index, copy=False)), shape=(X.shape[0], self.n_outputs))
        result.has_canonical_format = True
        return result

    def _result_indptr(self, indptr: np.ndarray) -> np.ndarray:
        """Where each row of the result begins: a row of m stored entries has the monomials of m columns."""
        widths, kind = np.unique(np.diff(indptr), return_inverse=True)
        degrees = range(self.low, self.high + 1)
        sizes = [sum(n_products(int(m), k, self.repeat) for k in degrees) for m in widths]
        total = sum(size * int(rows) for size, rows in zip(sizes, np.bincount(kind), strict=False))
        if total > MAX_COLUMNS // 16:
            refuse_too_many_entries(total, 16, _INSTEAD)
        return np.concatenate([[0], np.cumsum(np.array(sizes, dtype=np.int64)[kind])]).astype(np.int64)

    def _task(self) -> tuple[Any, ...]:
        return self.low, self.high, self.repeat, np.asarray(self.degree_factors, np.float64), self._run_factors

    def _ends(self) -> np.ndarray:
        """The column after the last monomial of each degree; 0 for degrees that are left out."""
        return np.concatenate([np.zeros(self.low, np.int64), np.cumsum(self._sizes, dtype=np.int64)])

    def _refuse_overflow(self, X: Any, result: Any) -> None:
        values, results = (X.data, result.data) if is_sparse(X) else (X, result)
        if results.size == 0 or values.size == 0:
            return
        largest = max(1.0, float(values.max()), -float(values.min()))
        # logarithms, because the bound itself may overflow
        bound = self.high * np.log(largest) + max(np.log(np.maximum(np.asarray(self.degree_factors), 1.0)))
        if bound < np.log(np.finfo(results.dtype).max) - 1 or np.isfinite(results).all():
            return
        raise ValueError(
            f"A product of {self.high} entries as large as {largest:.3g} exceeds the range of {results.dtype}: "
            "bring the columns to a common scale first (for example mercer.normalize.Standardize)."
        )

    # which monomial is which

    def combinations(self) -> Iterator[tuple[int, ...]]:
        """The columns of every monomial, in order."""
        choose = combinations_with_replacement if self.repeat else combinations
        return chain.from_iterable(choose(range(self.n_columns), k) for k in range(self.low, self.high + 1))

    def combination(self, output: int) -> tuple[int, ...]:
        """The columns whose product is the given output column, found without listing the others."""
        if not 0 <= output < self.n_outputs:
            raise ValueError(f"There is no output column {output}: there are {self.n_outputs:,}.")
        k = self.low
        for size in self._sizes:
            if output < size:
                break
            output, k = output - size, k + 1
        remaining = n_products(self.n_columns, k, self.repeat) - 1 - output  # monomials of this degree that follow
        chosen, first = [], 0
        for left in range(k, 0, -1):
            column = self._first_column(first, left, remaining)
            remaining -= n_products(self.n_columns - 1 - column, left, self.repeat)
            chosen.append(column)
            first = column if self.repeat else column + 1
        return tuple(chosen)

    def _first_column(self, first: int, left: int, remaining: int) -> int:
        """The smallest column after which at most `remaining` products of `left` columns follow."""
        low, high = first, self.n_columns - 1
        while low < high:
            middle = (low + high) // 2
            if n_products(self.n_columns - 1 - middle, left, self.repeat) <= remaining:
                high = middle
            else:
                low = middle + 1
        return low

    def names(self, columns: Sequence[str]) -> list[str]:
        """Names such as "x0^2 x1", from the names of the columns."""
        if self.n_outputs > MAX_NAMES:
            raise ValueError(
                f"{self.n_outputs:,} names are not built (the limit is {MAX_NAMES:,}). "
                "Ask for the name of one output column instead."
            )
        return [monomial_name(chosen, columns) for chosen in self.combinations()]

    def powers(self) -> np.ndarray:
        """The exponent of each column in each monomial, shape (n_outputs, n_columns)."""
        if self.n_outputs * self.n_columns > 10 * MAX_NAMES:
            raise ValueError(
                f"A table of {self.n_outputs:,} x {self.n_columns:,} powers is not built: "
                "ask for the columns of one output column instead."
            )
        powers = np.zeros((self.n_outputs, self.n_columns), dtype=np.int64)
        for row, chosen in zip(powers, self.combinations(), strict=True):
            np.add.at(row, list(chosen), 1)
        return powers


def monomial_name(chosen: tuple[int, ...], columns: Any) -> str:
    """The product of the chosen columns in words: "1", "x0", "x0^2 x1"."""
    powers: dict[int, int] = {}
    for column in chosen:
        powers[column] = powers.get(column, 0) + 1
    return " ".join(columns[j] if a == 1 else f"{columns[j]}^{a}" for j, a in powers.items()) or "1"


def _row_spans(indptr: np.ndarray) -> Iterator[tuple[int, int]]:
    """Consecutive rows with about _ENTRIES entries of the result."""
    n, first = len(indptr) - 1, 0
    while first < n:
        last = max(first + 1, int(np.searchsorted(indptr, indptr[first] + _ENTRIES, side="right")) - 1)
        yield first, min(last, n)
        first = min(last, n)
