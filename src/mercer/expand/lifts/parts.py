"""The leaves of an exact lift: one small class per kind of kernel, each a finite feature map phi.

A part is bound to the columns of the data first; `n_outputs` is then known before anything is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from mercer._numeric.linalg.distances import is_sparse
from mercer.expand.lifts.monomials import MAX_NAMES, Monomials
from mercer.kernels.discrete.overlap import incidence, is_table, presence, sets_of, tokens_of
from mercer.kernels.rows import KernelInput


class ColumnLabels(NamedTuple):
    """The columns a part is given: labels for output names, and whether users may choose by them."""

    labels: list[str]
    named: bool = False


class LiftPart:
    """A feature map of rows."""

    n_outputs: int
    parts: tuple[LiftPart, ...] = ()

    def tokens(self, rows: KernelInput) -> list[Any]:
        """The tokens that each map of sets among the parts finds in the rows, None for one given numbers."""
        return [found for part in self.parts for found in part.tokens(rows)]

    def bind(self, columns: ColumnLabels, vocabularies: Iterator) -> None:
        """Learn the columns to come and, for maps of sets in the order of `tokens`, their vocabularies."""
        for part in self.parts:
            part.bind(columns, vocabularies)

    def values(self, rows: KernelInput) -> Any:
        """phi of every row: a fresh array, or CSR where the rows are sparse or sets."""
        raise NotImplementedError

    def squared_norms(self, rows: KernelInput, values: Any = None) -> np.ndarray:
        """||phi(x)||^2 of every row, in which tokens that `fit` has not seen count too though they have no column."""
        if not self.reads_tokens:
            return _squared_norms(self.values(rows) if values is None else values)
        return self._combined([part.squared_norms(rows) for part in self.parts])

    def _combined(self, squared_norms: list) -> np.ndarray:
        """The squared norms of this map from those of its parts."""
        raise NotImplementedError

    @property
    def reads_tokens(self) -> bool:
        """Whether there is a map of sets among the bound parts."""
        return any(part.reads_tokens for part in self.parts)

    def names(self) -> list[str]:
        """A name for each output column, all different."""
        raise NotImplementedError


class ConstantPart(LiftPart):
    """phi(x) = sqrt(value)."""

    n_outputs = 1

    def __init__(self, value: float) -> None:
        self.root = sqrt(value)

    def values(self, rows: KernelInput) -> Any:
        ones = np.full((len(rows), 1), self.root, dtype=rows.dtype)
        return as_csr(ones) if is_sparse(rows.raw) else ones

    def names(self) -> list[str]:
        return ["1"]


class LinearPart(LiftPart):
    """phi(x) = x."""

    def bind(self, columns: ColumnLabels, vocabularies: Iterator[Any]) -> None:
        self.columns, self.n_outputs = columns, len(columns.labels)

    def values(self, rows: KernelInput) -> Any:
        return rows.numbers.copy()

    def names(self) -> list[str]:
        return list(self.columns.labels)


class MonomialPart(LiftPart):
    """phi(x) = weighted monomials; `make(n_columns)` returns them."""

    _transient = ("make",)  # not needed once bound

    def __init__(self, make: Callable[[int], Monomials]) -> None:
        self.make = make

    def bind(self, columns: ColumnLabels, vocabularies: Iterator[Any]) -> None:
        self.columns, self.monomials = columns, self.make(len(columns.labels))
        self.n_outputs = self.monomials.n_outputs

    def values(self, rows: KernelInput) -> Any:
        return self.monomials.values(rows.numbers)

    def names(self) -> list[str]:
        return self.monomials.names(self.columns.labels)


class OverlapPart(LiftPart):
    """phi(A) = the indicator of every item: of the columns of a table of numbers, or of the tokens seen in `fit`."""

    _former = {"place": "column_of"}

    def tokens(self, rows: KernelInput) -> list[Any]:
        if is_table(rows):
            return [None]
        items = enumerate(sets_of(rows))
        return [set().union(*(tokens_of(item, i, rows.name) for i, item in items))]

    def bind(self, columns: ColumnLabels, vocabularies: Iterator[Any]) -> None:
        self.vocabulary = next(vocabularies)
        self.columns = columns
        if self.vocabulary is not None:
            self.column_of = {token: j for j, token in enumerate(self.vocabulary)}
        self.n_outputs = len(columns.labels if self.vocabulary is None else self.vocabulary)

    def values(self, rows: KernelInput) -> Any:
        if is_table(rows) != (self.vocabulary is None):
            raise ValueError(f"{rows.name} must hold {'numbers' if self.vocabulary is None else 'sets'}, as in fit.")
        if self.vocabulary is None:
            return presence(rows.numbers)
        return incidence(rows, self.column_of, grow=False)[:, : self.n_outputs]

    def squared_norms(self, rows: KernelInput, values: Any = None) -> np.ndarray:
        if self.vocabulary is None:
            return super().squared_norms(rows, values)
        return np.array([len(tokens_of(item, i, rows.name)) for i, item in enumerate(sets_of(rows))], dtype=float)

    @property
    def reads_tokens(self) -> bool:
        return self.vocabulary is not None

    def names(self) -> list[str]:
        if self.vocabulary is None:
            return [f"{label} != 0" for label in self.columns.labels]
        return [f"has {token!r}" for token in self.vocabulary]


def _squared_norms(values: Any) -> np.ndarray:
    if is_sparse(values):
        return np.asarray(values.multiply(values).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", values, values)


def as_csr(values: Any, **options: Any) -> Any:
    """A CSR array of dense or sparse values."""
    from scipy.sparse import csr_array

    return csr_array(values, **options)


def checked_names(part: LiftPart) -> list[str]:
    """The names of all output columns, unless there are too many to build."""
    if part.n_outputs > MAX_NAMES:
        raise ValueError(f"{part.n_outputs:,} names are not built; the limit is {MAX_NAMES:,}.")
    return part.names()
