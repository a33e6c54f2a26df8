"""Candidate rows for landmarks, numbers or objects: a sample, or all rows.

Objects travel as an (n, 1) array of dtype object, so that blocks, sources and statistics treat them as a table with one
column; kernels are given the list of them.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, fields, replace
from numbers import Number
from typing import Any

import numpy as np

from mercer._numeric.block import Block, concatenate, take_rows
from mercer._numeric.hashing.rows import hash_rows
from mercer._numeric.linalg.distances import is_sparse
from mercer.stats import Sample
from mercer.stats.base import Statistic
from mercer.stats.sample import SampledRows


def holds_objects(X: Any) -> bool:
    """Whether X is a sequence of objects (strings, sets, tuples, ...) rather than a table of numbers."""
    if is_sparse(X) or getattr(X, "ndim", 1) > 2:
        return False
    if isinstance(X, list | tuple):
        return len(X) > 0 and not _is_numeric(X)
    cells: np.ndarray = np.asarray(X) if hasattr(X, "__array__") else np.zeros(0)
    if cells.size == 0 or cells.dtype.kind not in "OUS":
        return False
    if cells.ndim == 2 and cells.size > len(cells):  # a table: its cells have to be numbers
        return False
    first = cells.flat[0]
    return isinstance(first, str | bytes) or not isinstance(first, Number | type(None))


def _is_numeric(rows: Any) -> bool:
    try:
        return np.asarray(rows).dtype.kind in "biufc"
    except ValueError:  # rows of different lengths
        return False


def of_objects(X: Any) -> bool:
    """Whether checked rows, or landmarks, are objects."""
    return X.dtype.kind == "O"


def object_column(items: Any) -> np.ndarray:
    """A sequence of objects as an (n, 1) array."""
    items = np.asarray(items).ravel() if hasattr(items, "__array__") else items
    column = np.empty((len(items), 1), dtype=object)
    for i, item in enumerate(items):
        column[i, 0] = item
    return column


def for_kernel(X: Any) -> Any:
    """Rows as kernels read them: an object column as the list of its objects, a table as it is."""
    return list(X[:, 0]) if of_objects(X) else X


def as_double(X: Any) -> Any:
    """Numbers in float64, objects as they are."""
    return X if of_objects(X) else X.astype(np.float64, copy=False)


def identities(X: Any) -> Any:
    """What the hash of a row is taken of: numbers themselves, objects by a canonical text of their contents."""
    if not of_objects(X):
        return X
    return object_column([canonical(item) for item in X[:, 0]])


def canonical(item: Any) -> str | bytes:
    """A canonical text of an object: items of sets and dictionaries in sorted order.

    >>> canonical({"b", "a"}) == canonical({"a", "b"}), canonical(("a", "b")) == canonical(("a", "b", ""))
    (True, False)
    """
    if isinstance(item, str | bytes):
        return item
    if isinstance(item, set | frozenset):
        return f"{{{sorted(repr(canonical(part)) for part in item)}}}"
    if isinstance(item, dict):
        return f"{{{sorted((repr(canonical(key)), repr(canonical(value))) for key, value in item.items())}}}"
    if isinstance(item, list | tuple):
        return f"({[canonical(part) for part in item]})"
    if isinstance(item, np.generic):
        item = item.item()
    return repr(item) if isinstance(item, Number | None) else pickle.dumps(item, protocol=4)


@dataclass(frozen=True)
class RowSample(Sample):
    """`Sample` of numbers or of objects."""

    def of(self, block: Block) -> RowSample:
        return self._typed(super().of(replace(block, raw=identities(block.X)) if of_objects(block.X) else block))

    def _smallest(self, n: int, keys: np.ndarray, rows: Block, weight: np.ndarray, complete: bool) -> RowSample:
        return self._typed(super()._smallest(n, keys, rows, weight, complete))

    def _typed(self, sample: Sample) -> RowSample:
        return RowSample(**{f.name: getattr(sample, f.name) for f in fields(Sample)})


@dataclass(frozen=True)
class CollectedRows(Statistic):
    """Every row in the order of the data; `finish` drops duplicates if `distinct`."""

    distinct: bool = True
    n: int = 0
    rows: Any = None

    def of(self, block: Block) -> CollectedRows:
        # The memory of the block belongs to the source, which may use it again.
        weight = np.ones(len(block)) if block.weight is None else block.weight
        return CollectedRows(self.distinct, len(block), Block(block.X.copy(), None, weight))

    def _merge(self, other: CollectedRows) -> CollectedRows:
        return CollectedRows(self.distinct, self.n + other.n, concatenate(self.rows, other.rows))

    def finish(self) -> SampledRows:
        if self.rows is None:
            raise ValueError("No rows: there is nothing to choose landmarks from.")
        X, weight = self.rows.X, self.rows.weight
        if not self.distinct:
            return SampledRows(X, None, weight, True)
        _, first, codes = np.unique(hash_rows(identities(X)), return_index=True, return_inverse=True)
        order = np.argsort(first)
        return SampledRows(take_rows(X, first[order]), None, np.bincount(codes, weight)[order], True)
