"""A uniform sample of rows that does not depend on how the data are split."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block, concatenate, take_rows
from mercer._numeric.hashing.rows import distinct_hashes
from mercer.stats.base import Statistic

SAMPLE_ROWS, MIN_ROWS = 16_384, 512


@dataclass(frozen=True)
class SampledRows:
    """The result of `Sample`: distinct rows, the target and total weight of each; `complete` if these are all."""

    X: np.ndarray
    y: np.ndarray | None
    weight: np.ndarray
    complete: bool


@dataclass(frozen=True)
class Sample(Statistic):
    """Bottom-k: the `size` distinct rows with the smallest hashes (Cohen and Kaplan 2007).

    Hashes are those of the rows as read, so the sample is uniform over distinct rows and is the same for any block
    size, order of merging, thread or machine. Equal rows are one entry whose weight is their number.

    Use it for quantiles, bins, bandwidths and whatever else a uniform sample of the rows gives. A sum over all rows
    needs a statistic of its own instead. The state has `size` rows.

    >>> import numpy as np
    >>> from mercer._numeric.block import Block
    >>> rows = np.arange(1000.0)[:, None]
    >>> left, right = Sample(5).of(Block(rows[:300])), Sample(5).of(Block(rows[300:]))
    >>> both, whole = left.merge(right), Sample(5).of(Block(rows))
    >>> sorted(both.rows.X[:, 0].tolist()), sorted(whole.rows.X[:, 0].tolist())
    ([136.0, 162.0, 287.0, 675.0, 694.0], [136.0, 162.0, 287.0, 675.0, 694.0])
    """

    size: int = SAMPLE_ROWS
    seed: int = 0
    n: int = 0
    keys: Any = None
    rows: Any = None
    weight: Any = None
    complete: bool = True
    #: Entries, rows times columns, beyond which the sample has fewer rows (but at least `MIN_ROWS`).
    max_entries: int | None = None

    def of(self, block: Block) -> Sample:
        if self.max_entries is not None:
            most = max(MIN_ROWS, self.max_entries // max(block.X.shape[1], 1))
            return Sample(min(self.size, most), self.seed).of(block)
        weight = np.ones(len(block)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        if not np.all(weight > 0):
            block, weight = block.rows(weight > 0), weight[weight > 0]
        if len(block) == 0:
            return Sample(self.size, self.seed)
        keys = _numeric.splitmix64(block.ids, self.seed)
        return self._smallest(len(block), keys, Block(block.X, block.y), weight, True)

    def _merge(self, other: Sample) -> Sample:
        # Keys above the last one of a full sample cannot be among the smallest of both.
        last = min((s.keys[-1] for s in (self, other) if len(s.keys) == s.size), default=None)
        mine, theirs = self._up_to(last), other._up_to(last)
        keys = np.concatenate([mine.keys, theirs.keys])
        weight = np.concatenate([mine.weight, theirs.weight])
        both = mine.complete and theirs.complete
        return self._smallest(self.n + other.n, keys, concatenate(mine.rows, theirs.rows), weight, both)

    def _up_to(self, last: Any) -> Sample:
        if last is None or self.keys[-1] <= last:
            return self
        kept = slice(0, np.searchsorted(self.keys, last, side="right"))
        return replace(self, keys=self.keys[kept], rows=self.rows.rows(kept), weight=self.weight[kept], complete=False)

    def _smallest(self, n: int, keys: np.ndarray, rows: Block, weight: np.ndarray, complete: bool) -> Sample:
        first, counts, order = distinct_hashes(keys)
        if len(first) < len(keys):  # weights of equal rows are added in their order
            weight = np.bincount(np.repeat(np.arange(len(first)), counts), weight[order])
        else:
            weight = weight[order]
        complete = complete and len(first) <= self.size
        first = first[: self.size]
        rows = Block(take_rows(rows.X, first), None if rows.y is None else rows.y[first])
        return Sample(self.size, self.seed, n, keys[first], rows, weight[: self.size], complete)

    def finish(self) -> SampledRows:
        if self.rows is None:
            raise ValueError("No rows: an empty data set cannot be sampled.")
        return SampledRows(self.rows.X, self.rows.y, self.weight, self.complete)
