"""Rows and pairs to measure on: the same ones however the data are stored or cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block, take_rows
from mercer._numeric.hashing.rows import hash_rows
from mercer._runtime.checks import refuse_missing
from mercer.source import Source
from mercer.stats import Sample

CHUNK = 512  # pairs measured at a time


@dataclass(frozen=True)
class SampledTable:
    """Distinct rows in the order of their hashes; `complete` if there were no more."""

    rows: Any
    complete: bool

    def __len__(self) -> int:
        return self.rows.shape[0] if hasattr(self.rows, "shape") else len(self.rows)

    def take(self, selection: np.ndarray | slice) -> Any:
        """Some of the rows, in the form in which they came."""
        if hasattr(self.rows, "shape"):
            return take_rows(self.rows, selection)
        return self.rows[selection] if isinstance(selection, slice) else [self.rows[i] for i in selection]


@dataclass(frozen=True)
class RowPairs:
    """Pairs of different rows of a table: row first[b] with row second[b]."""

    table: SampledTable
    first: np.ndarray
    second: np.ndarray
    kind: str

    def __len__(self) -> int:
        return len(self.first)

    def chunks(self) -> Iterator[tuple[Any, Any]]:
        """The rows of the pairs, some pairs at a time."""
        for start in range(0, len(self), CHUNK):
            some = slice(start, start + CHUNK)
            yield self.table.take(self.first[some]), self.table.take(self.second[some])


def sample_rows(X: Any, size: int, seed: int) -> SampledTable:
    """The `size` distinct rows with the smallest hashes, of an array, CSR matrix, frame or `Source` (one pass).

    A sequence of other objects is sampled by position.
    """
    if isinstance(X, Source):
        found = X.map(_without_missing).fold(Sample(size, seed)).finish()
        return SampledTable(found.X, found.complete)
    if not hasattr(X, "shape"):
        order = np.random.default_rng(seed).permutation(len(X))
        return SampledTable([X[i] for i in order[:size]], len(X) <= size)
    X = X.tocsr() if hasattr(X, "tocsr") else X
    if hasattr(X, "dtype"):
        refuse_missing(X)
    # What `Sample` does, by index, so that a frame stays a frame.
    keys, first = np.unique(_numeric.splitmix64(hash_rows(X), seed), return_index=True)
    return SampledTable(take_rows(X, first[:size]), len(keys) <= size)


def draw_pairs(X: Any, n_pairs: int, seed: int) -> RowPairs:
    """`n_pairs` random pairs of different rows of X.

    Of more than 2 n_pairs distinct rows, that many are sampled and every row is used once, so the pairs are as
    independent as the rows. Of fewer rows, pairs are drawn independently among all; and when there are no more than
    `n_pairs` of them, all are taken.
    """
    table = sample_rows(X, 2 * n_pairs, seed)
    n = len(table)
    if n < 2:
        raise ValueError(f"A certificate needs two different rows, got {n}.")
    if not table.complete:
        return RowPairs(table, np.arange(0, n - 1, 2), np.arange(1, n, 2), "sampled rows")
    if n * (n - 1) // 2 <= n_pairs:
        return RowPairs(table, *np.triu_indices(n, 1), "all pairs")
    rng = np.random.default_rng([seed, 1])
    first = rng.integers(n, size=n_pairs)
    second = (first + rng.integers(1, n, size=n_pairs)) % n
    return RowPairs(table, first, second, "sampled pairs")


def _without_missing(block: Block) -> Block:
    if len(block) and getattr(getattr(block.X, "dtype", None), "kind", "") == "f":
        refuse_missing(block.X, start=block.start)
    return block
