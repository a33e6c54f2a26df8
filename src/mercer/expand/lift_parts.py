"""The parts of an exact lift: one small class per kind of kernel, each a finite feature map phi.

A part is settled once it knows the columns it will be given; then `n_outputs` is known before anything is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from mercer._numeric.distances import is_sparse
from mercer._numeric.memory import refuse_too_large
from mercer._numeric.tensor import row_products
from mercer.expand.monomials import MOST_COLUMNS, MOST_NAMES, Monomials
from mercer.kernels.discrete import incidence, is_table, presence, sets_of, tokens_of
from mercer.kernels.rows import Rows, column_positions


class Columns(NamedTuple):
    """The columns a part is given: labels for output names, and whether users may choose by them."""

    labels: list[str]
    named: bool = False


class Part:
    """A feature map of rows."""

    n_outputs: int
    parts: tuple[Part, ...] = ()

    def tokens(self, rows: Rows) -> list[Any]:
        """The tokens that each map of sets among the parts finds in the rows, None for one given numbers."""
        return [found for part in self.parts for found in part.tokens(rows)]

    def settle(self, columns: Columns, vocabularies: Iterator) -> None:
        """Learn the columns to come and, for maps of sets in the order of `tokens`, their vocabularies."""
        for part in self.parts:
            part.settle(columns, vocabularies)

    def values(self, rows: Rows):
        """phi of every row: a fresh array, or CSR where the rows are sparse or sets."""
        raise NotImplementedError

    def names(self) -> list[str]:
        """A name for each output column, all different."""
        raise NotImplementedError


class ConstantPart(Part):
    """phi(x) = sqrt(value)."""

    n_outputs = 1

    def __init__(self, value):
        self.root = sqrt(value)

    def values(self, rows):
        ones = np.full((len(rows), 1), self.root, dtype=rows.dtype)
        return _csr(ones) if is_sparse(rows.raw) else ones

    def names(self):
        return ["1"]


class LinearPart(Part):
    """phi(x) = x."""

    def settle(self, columns, vocabularies):
        self.columns, self.n_outputs = columns, len(columns.labels)

    def values(self, rows):
        return rows.numbers.copy()

    def names(self):
        return list(self.columns.labels)


class MonomialPart(Part):
    """phi(x) = weighted monomials; `make(n_columns)` says which."""

    def __init__(self, make: Callable[[int], Monomials]):
        self.make = make

    def settle(self, columns, vocabularies):
        self.columns, self.monomials = columns, self.make(len(columns.labels))
        self.n_outputs = self.monomials.n_outputs

    def values(self, rows):
        return self.monomials.values(rows.numbers)

    def names(self):
        return self.monomials.names(self.columns.labels)


class OverlapPart(Part):
    """phi(A) = the indicator of every item: of the columns of a table of numbers, or of the tokens seen in `fit`."""

    def tokens(self, rows):
        if is_table(rows):
            return [None]
        items = enumerate(sets_of(rows))
        return [set().union(*(tokens_of(item, i, rows.name) for i, item in items))]

    def settle(self, columns, vocabularies):
        self.vocabulary = next(vocabularies)
        self.columns = columns
        if self.vocabulary is not None:
            self.place = {token: j for j, token in enumerate(self.vocabulary)}
        self.n_outputs = len(columns.labels if self.vocabulary is None else self.vocabulary)

    def values(self, rows):
        if is_table(rows) != (self.vocabulary is None):
            raise ValueError(f"{rows.name} must hold {'numbers' if self.vocabulary is None else 'sets'}, as in fit.")
        if self.vocabulary is None:
            return presence(rows.numbers)
        return incidence(rows, self.place, grow=False)[:, : self.n_outputs]

    def names(self):
        if self.vocabulary is None:
            return [f"{label} != 0" for label in self.columns.labels]
        return [f"has {token!r}" for token in self.vocabulary]


class SumPart(Part):
    """phi(x) = (phi_1(x), phi_2(x), ...)."""

    def __init__(self, *parts: Part):
        # a sum of sums is one concatenation
        self.parts = tuple(leaf for part in parts for leaf in (part.parts if isinstance(part, SumPart) else [part]))

    def settle(self, columns, vocabularies):
        super().settle(columns, vocabularies)
        self.n_outputs = _told(sum(part.n_outputs for part in self.parts))

    def values(self, rows):
        from scipy.sparse import hstack

        values = [part.values(rows) for part in self.parts]
        if any(is_sparse(block) for block in values):
            return hstack([_csr(block) for block in values], format="csr")
        dtype = np.result_type(*values)
        refuse_too_large(len(rows), self.n_outputs, dtype.itemsize, "Transform fewer rows at a time.")
        return np.concatenate(values, axis=1, dtype=dtype)

    def names(self):
        names = [part.names() for part in self.parts]
        if len({name for part in names for name in part}) < self.n_outputs:
            names = [[f"{i}: {name}" for name in part] for i, part in enumerate(names)]
        return [name for part in names for name in part]


class ProductPart(Part):
    """phi(x) = all products of a coordinate of phi_1(x) and one of phi_2(x)."""

    def __init__(self, left: Part, right: Part):
        self.parts = left, right

    def settle(self, columns, vocabularies):
        super().settle(columns, vocabularies)
        left, right = self.parts
        self.n_outputs = _told(left.n_outputs * right.n_outputs)

    def values(self, rows):
        left, right = self.parts
        return row_products(left.values(rows), right.values(rows))

    def names(self):
        left, right = ([f"({name})" if " " in name else name for name in part.names()] for part in self.parts)
        return [f"{a} * {b}" for a in left for b in right]


class ScaledPart(Part):
    """phi(x) = sqrt(scale) phi_1(x)."""

    def __init__(self, part: Part, scale: float):
        self.parts, self.root = (part,), sqrt(scale)

    def settle(self, columns, vocabularies):
        super().settle(columns, vocabularies)
        self.n_outputs = self.parts[0].n_outputs

    def values(self, rows):
        values = self.parts[0].values(rows)
        entries = values.data if is_sparse(values) else values
        entries *= entries.dtype.type(self.root)
        return values

    def names(self):
        return self.parts[0].names()


class NormalizedPart(Part):
    """phi(x) = phi_1(x) / ||phi_1(x)||, and 0 where phi_1(x) = 0."""

    def __init__(self, part: Part):
        self.parts = (part,)

    def settle(self, columns, vocabularies):
        super().settle(columns, vocabularies)
        self.n_outputs = self.parts[0].n_outputs

    def values(self, rows):
        values = self.parts[0].values(rows)
        if is_sparse(values):
            norms = np.sqrt(np.asarray(values.multiply(values).sum(axis=1)).ravel())
            values.data /= np.repeat(np.where(norms > 0, norms, 1), np.diff(values.indptr)).astype(values.dtype)
        else:
            norms = np.sqrt(np.einsum("ij,ij->i", values, values))
            values /= np.where(norms > 0, norms, 1)[:, None]
        return values

    def names(self):
        return self.parts[0].names()


class RestrictedPart(Part):
    """phi(x) = phi_1(x[columns])."""

    def __init__(self, part: Part, columns):
        self.parts, self.columns = (part,), columns

    def tokens(self, rows):
        return self.parts[0].tokens(rows.select(self.columns))

    def settle(self, columns, vocabularies):
        labels = columns.labels
        self.positions = column_positions(self.columns, len(labels), labels if columns.named else None)
        chosen = [self.positions] if isinstance(self.positions, int) else self.positions
        self.parts[0].settle(Columns([labels[j] for j in chosen], columns.named), vocabularies)
        self.n_outputs = self.parts[0].n_outputs

    def values(self, rows):
        return self.parts[0].values(rows.select(self.positions))

    def names(self):
        return self.parts[0].names()


def _csr(values, **options):
    from scipy.sparse import csr_array

    return csr_array(values, **options)


def _told(n_outputs: int) -> int:
    if n_outputs > MOST_COLUMNS:
        raise ValueError(
            f"The lift would have {n_outputs:,} columns, and 64-bit column numbers end at 9.2e18. "
            "Use RandomFeatures or Landmarks with the kernel."
        )
    return n_outputs


def checked_names(part: Part) -> list[str]:
    """The names of all output columns, unless there are too many to build."""
    if part.n_outputs > MOST_NAMES:
        raise ValueError(f"{part.n_outputs:,} names are not built; the limit is {MOST_NAMES:,}.")
    return part.names()
