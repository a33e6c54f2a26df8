"""Blocks of rows, the unit in which sources are read, transformed and reduced."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass
class Block:
    """Consecutive rows of a data set.

    Parameters
    ----------
    X : array, CSR matrix or table of n rows
        The rows after the transformations so far.
    y, weight : arrays of n entries or None
        Target and non-negative weight of each row.
    start : int
        Index of the first row in the data set, for messages.
    raw : array, CSR matrix or table or None
        The rows *as read*, by default X. Their hash identifies a row (`ids`) through all transformations.
    """

    X: Any
    y: np.ndarray | None = None
    weight: np.ndarray | None = None
    start: int = 0
    raw: Any = None
    #: Cached hashes of the rows; selected rows keep theirs.
    _ids: np.ndarray | None = field(default=None, init=False, repr=False, compare=False)
    #: Indices of the rows in the data set, where they are not consecutive.
    _positions: np.ndarray | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.raw is None:
            self.raw = self.X

    def __len__(self) -> int:
        return self.X.shape[0]

    @property
    def ids(self) -> np.ndarray:
        """64-bit hash of each row as read: the same for equal rows in any block and on any machine."""
        from mercer._numeric.hashing.rows import hash_rows

        if self._ids is None:
            self._ids = hash_rows(self.raw)
        return self._ids

    @property
    def split_keys(self) -> np.ndarray:
        """The key of each row by which it is held out or sampled: its hash, unless rows of a group stay together."""
        return self.raw.split_keys if hasattr(self.raw, "split_keys") else self.ids

    @property
    def positions(self) -> np.ndarray:
        """The index of each row in the data set."""
        return np.arange(self.start, self.start + len(self)) if self._positions is None else self._positions

    def rows(self, selection: Any) -> Block:
        """Select rows by a slice, an index array or a mask."""
        start = self.start + (selection.start or 0) if isinstance(selection, slice) else self.start
        chosen = Block(
            take_rows(self.X, selection),
            None if self.y is None else self.y[selection],
            None if self.weight is None else self.weight[selection],
            start,
            None if self.raw is self.X else take_rows(self.raw, selection),
        )
        chosen._ids = None if self._ids is None else self._ids[selection]
        consecutive = self._positions is None and isinstance(selection, slice) and selection.step in (None, 1)
        chosen._positions = None if consecutive else self.positions[selection]
        return chosen

    def with_X(self, X: Any) -> Block:
        """Return the same rows with transformed features X."""
        new = replace(self, X=X)
        new._ids, new._positions = self._ids, self._positions
        return new

    def with_weight(self, weight: np.ndarray | None) -> Block:
        """Return the same rows with other weights."""
        new = replace(self, weight=weight)
        new._ids, new._positions = self._ids, self._positions
        return new

    def keyed(self, X: Any, raw: Any) -> Block:
        """Return the same rows with features X, identified by the hashes of `raw`."""
        new = replace(self, X=X, raw=raw)
        new._positions = self._positions
        return new


def take_rows(table: Any, selection: Any) -> Any:
    """Select rows of an array, a sparse matrix or a pandas-like table."""
    return table.iloc[selection] if hasattr(table, "iloc") else table[selection]


def concatenate(first: Block, second: Block) -> Block:
    """Concatenate the rows of two blocks."""
    return Block(
        stack_rows([first.X, second.X]),
        stack_rows([first.y, second.y]),
        stack_rows([first.weight, second.weight]),
        first.start,
        stack_rows([first.raw, second.raw]) if first.raw is not first.X or second.raw is not second.X else None,
    )


def collected(blocks: Iterable[Block]) -> Block:
    """One block of all rows, in order; the rows as read are not kept, only their hashes and keys."""
    from mercer._numeric.hashing.rows import hash_rows

    first: Block | None = None
    X, y, weight, ids = [], [], [], []
    keys = []
    for block in blocks:
        if len(block):
            first = first or block
            X.append(block.X)
            y.append(block.y)
            weight.append(block.weight)
            ids.append(None if block.raw is block.X else block.ids)
            keys.append(block.raw if hasattr(block.raw, "split_keys") else None)
    if first is None:
        raise ValueError("The source has no rows.")
    if len(X) == 1:
        return first
    known = None
    if any(part is not None for part in ids):
        known = np.concatenate([hash_rows(rows) if part is None else part for rows, part in zip(X, ids, strict=True)])
    whole = Block(stack_rows(X), stack_rows(y), stack_rows(weight), first.start, stack_rows(keys))
    whole._ids = known
    return whole


def stack_rows(parts: list) -> Any:
    """The rows of tables, CSR matrices, arrays or vectors, in order; None if there are none. Empties the list.

    Arrays are copied one by one and released, so there are never two copies of all of them.
    """
    first = parts[0]
    if first is None:
        return None
    if hasattr(first, "stacked"):  # a table of named columns
        return first.stacked(*parts[1:])
    if hasattr(first, "tocsr"):
        from scipy import sparse

        return sparse.vstack(parts, format="csr")
    if not isinstance(first, np.ndarray) or first.ndim < 2 or any(part.dtype != first.dtype for part in parts):
        return np.concatenate(parts)
    out, stop = np.empty_like(first, shape=(sum(map(len, parts)), *first.shape[1:])), 0
    first = None
    while parts:
        part = parts.pop(0)
        out[stop : stop + len(part)] = part
        stop += len(part)
    return out
