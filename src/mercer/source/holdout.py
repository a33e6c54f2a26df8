"""Rows set aside for the last word: a holdout that no block size, order or machine can change."""

from __future__ import annotations

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer.source.base import Source

#: Holdout and folds must not read the same bits of a row's hash: with one seed for both, a holdout of a fifth would
#: be one of five folds, and the training rows would be left with four.
_HOLDOUT_SEED = 0x484F4C444F5554
_GRAIN = 1 << 32


def in_holdout(block: Block, share: float = 0.25, seed: int = 0) -> np.ndarray:
    """Mask of the rows of a block that belong to the holdout: about `share` of the distinct rows.

    A row is placed by the hash of its values as read, so it lands on the same side however the data are cut, mapped
    or ordered, and equal rows always land together.

    >>> X = np.arange(20.0).reshape(10, 2)
    >>> whole, half = Block(X), Block(X[5:] * 100, raw=X[5:])
    >>> bool(np.all(in_holdout(whole)[5:] == in_holdout(half)))
    True
    """
    if not 0 < share < 1:
        raise ValueError(f"The share of the holdout must lie between 0 and 1, not {share!r}.")
    place = _numeric.buckets(_numeric.splitmix64(_numeric.splitmix64(block.ids, seed), _HOLDOUT_SEED), _GRAIN)
    return place < share * _GRAIN


def split_holdout(source: Source, share: float = 0.25, seed: int = 0) -> tuple[Source, Source]:
    """The rows to learn from and the rows to judge by: two sources over one, nothing copied."""
    learn = source.where(lambda block: ~in_holdout(block, share, seed))
    judge = source.where(lambda block: in_holdout(block, share, seed))
    return learn, judge


def split_by_place(source: Source, share: float, seed: int = 0) -> tuple[Source, Source]:
    """The same by the place of a row among all: for tables of few different rows, where equal rows must part."""

    def chosen(block: Block) -> np.ndarray:
        places = np.arange(block.start, block.start + len(block), dtype=np.uint64)
        return _numeric.buckets(_numeric.splitmix64(places, seed), _GRAIN) < share * _GRAIN

    return source.where(lambda block: ~chosen(block)), source.where(chosen)
