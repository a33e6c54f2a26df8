"""Holdout rows: the same ones for any block size, order of the rows or machine."""

from __future__ import annotations

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer._runtime.errors import ParameterError
from mercer.source.base import Source

#: Holdout and folds must not read the same bits of a row's hash: with one seed for both, a holdout of a fifth would
#: be one of five folds, and the training rows would be left with four.
_HOLDOUT_SEED = 0x484F4C444F5554
_RESOLUTION = 1 << 32


def in_holdout(block: Block, fraction: float = 0.25, seed: int = 0) -> np.ndarray:
    """Mask of the rows of a block that belong to the holdout: about `fraction` of the distinct rows.

    A row is assigned by the hash of its values as read, so the assignment does not depend on how the data are cut,
    mapped or ordered, and equal rows are assigned together.

    Use it in a source or a statistic of your own; `split_holdout` is for everything else.

    >>> X = np.arange(20.0).reshape(10, 2)
    >>> whole, half = Block(X), Block(X[5:] * 100, raw=X[5:])
    >>> np.flatnonzero(in_holdout(whole)).tolist(), np.flatnonzero(in_holdout(half)).tolist()
    ([0, 1, 2, 6], [1])
    """
    if not 0 < fraction < 1:
        raise ParameterError("fraction", fraction, "of the holdout must lie between 0 and 1")
    return _is_chosen(_numeric.splitmix64(block.split_keys, seed), fraction, _HOLDOUT_SEED)


def split_holdout(source: Source, fraction: float = 0.25, seed: int = 0) -> tuple[Source, Source]:
    """The training rows and the holdout rows: two sources over one, nothing copied.

    A hash of its values decides where a row goes. So equal rows stay together, the order of rows does not matter, and
    `fraction` is met up to the chance of the draw.

    Use it for rows that are independent of each other, also in files that do not fit into memory. Rows of groups or of
    a time series need `mercer.fit(groups=...)` or `time=` instead, as hashes would put neighbors on both sides.

    >>> import numpy as np
    >>> from mercer import read, split_holdout
    >>> rows = np.random.default_rng(0).normal(size=(1000, 2))
    >>> train, holdout = split_holdout(read(rows))
    >>> len(train.collect()), len(holdout.collect())
    (744, 256)
    """
    train = source.where(lambda block: ~in_holdout(block, fraction, seed))
    holdout = source.where(lambda block: in_holdout(block, fraction, seed))
    return train, holdout


def split_by_position(source: Source, fraction: float, seed: int = 0) -> tuple[Source, Source]:
    """The same by the position of a row: for tables of few distinct rows, whose equal rows must be separated."""

    def chosen(block: Block) -> np.ndarray:
        return _is_chosen(np.arange(block.start, block.start + len(block), dtype=np.uint64), fraction, seed)

    return source.where(lambda block: ~chosen(block)), source.where(chosen)


def _is_chosen(keys: np.ndarray, fraction: float, seed: int) -> np.ndarray:
    return _numeric.buckets(_numeric.splitmix64(keys, seed), _RESOLUTION) < fraction * _RESOLUTION
