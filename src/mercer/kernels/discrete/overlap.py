"""Kernels on sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._numeric.linalg.distances import is_sparse
from mercer.kernels.base import Kernel
from mercer.kernels.dot import inner_products
from mercer.kernels.rows import KernelInput, matching_numbers


@dataclass
class Overlap(Kernel):
    """k(A, B) = |A and B|: how many items two sets have in common.

    Rows are sets, or lists and tuples of hashable tokens in which a repeated token counts once. A CSR
    matrix or a numeric array is read as one column per item: non-zero means present. The feature map
    is the indicator of every item, the distance is the square root of the number of items in one set
    only, and ``Overlap().normalized()`` is the cosine (Ochiai) similarity.

    Use it where it matters which items are present, not how often; for counts take `Linear` on `TextFeatures`. Large
    sets resemble everything, so normalize sets of different sizes. Time grows with the items that pairs of rows share.

    >>> from mercer.kernels import Overlap
    >>> Overlap()([{"red", "round"}, {"round"}, set()])
    array([[2., 1., 0.],
           [1., 1., 0.],
           [0., 0., 0.]])
    >>> Overlap()(["a rose is a rose".split()], ["a tulip is a tulip".split()])
    array([[2.]])
    """

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        if is_table(X) and is_table(Y):
            A, B = matching_numbers(X, Y)
            A = presence(A)
            return inner_products(A, A if Y is X else presence(B))
        column_of: dict = {}
        A = incidence(X, column_of, grow=True)
        B = A if Y is X else incidence(Y, column_of, grow=False)
        return inner_products(A, B)

    def _diag(self, X: KernelInput) -> np.ndarray:
        if is_table(X):
            sizes = np.asarray(presence(X.numbers).sum(axis=1))
            return sizes.astype(X.numbers.dtype, copy=False)
        return np.array([len(tokens_of(item, i, X.name)) for i, item in enumerate(sets_of(X))], dtype=float)


def is_table(rows: KernelInput) -> bool:
    """Whether the rows are numbers, one column per item, rather than collections of tokens."""
    if is_sparse(rows.raw):
        return True
    kind = getattr(getattr(rows.raw, "dtype", None), "kind", None)
    if kind is None and hasattr(rows.raw, "dtypes"):  # a data frame: numeric if NumPy finds it so
        kind = np.asarray(rows.raw).dtype.kind
    return kind is not None and kind in "biuf"


def presence(A: Any) -> Any:
    """1 where there is a non-zero, 0 elsewhere."""
    if not is_sparse(A):
        return (A != 0).astype(A.dtype)
    present = A.copy()
    present.data = (A.data != 0).astype(A.dtype)
    return present


def sets_of(rows: KernelInput) -> list[Any]:
    """The items; of a table of objects, the cells of its only column."""
    if len(getattr(rows.raw, "shape", ())) != 2:
        return rows.items
    if rows.raw.shape[1] != 1:
        raise ValueError(
            f"{rows.name} is a table with {rows.raw.shape[1]} columns of objects: "
            "choose the one that holds the sets with Overlap().on(column)"
        )
    return [row[0] for row in rows.items]


def incidence(rows: KernelInput, column_of: dict[Any, int], grow: bool) -> Any:
    """CSR indicator of every item; unknown items are dropped unless the vocabulary may grow."""
    from scipy.sparse import csr_array

    indices: list[int] = []
    ends = [0]
    for i, item in enumerate(sets_of(rows)):
        for token in tokens_of(item, i, rows.name):
            column = column_of.setdefault(token, len(column_of)) if grow else column_of.get(token)
            if column is not None:
                indices.append(column)
        ends.append(len(indices))
    shape = (len(ends) - 1, max(len(column_of), 1))
    matrix = csr_array((np.ones(len(indices)), np.array(indices, dtype=np.intp), ends), shape=shape)
    matrix.sort_indices()
    return matrix


def tokens_of(item: Any, row: int, name: str) -> frozenset:
    """The set of tokens of one row."""
    if isinstance(item, str | bytes):
        raise ValueError(
            f"row {row} of {name} is the string {item!r:.60}: split it into tokens first, for example with .split()"
        )
    try:
        return frozenset(item)
    except TypeError:
        raise ValueError(
            f"row {row} of {name} is {item!r:.60} ({type(item).__name__}), not a collection of hashable tokens"
        ) from None
