"""Rows gathered into memory for learners that need all of them at once."""

from __future__ import annotations

from functools import reduce

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block, concatenate
from mercer.source import Source

#: The choice of rows must not depend on the bits of a row's hash that choose its fold.
_SAMPLE_SEED = 0x4741544845524544
_N_BUCKETS = 1 << 32


def gather(source: Source, max_rows: int, seed: int) -> Block:
    """All rows of a source as one block, or about `max_rows` of them if there are more.

    Rows are chosen by their hashes: the same ones for any cut of the data, and equal rows together.
    """
    n = count_rows(source)
    kept = source if n <= max_rows else source.where(lambda block: _is_kept(block, max_rows / n, seed))
    blocks = [block for block in kept.blocks() if len(block)]
    if not blocks:
        raise ValueError("There are no rows to learn from.")
    return _joined(blocks)


def count_rows(source: Source) -> int:
    """The number of rows, counted in a pass if it is not known."""
    if source.n_rows is not None:
        return source.n_rows
    return sum(len(block) for block in source.map(_without_columns).blocks())


def _without_columns(block: Block) -> Block:
    return Block(np.empty((len(block), 0)))


def _is_kept(block: Block, fraction: float, seed: int) -> np.ndarray:
    keys = _numeric.splitmix64(_numeric.splitmix64(block.ids, seed), _SAMPLE_SEED)
    return _numeric.buckets(keys, _N_BUCKETS) < fraction * _N_BUCKETS


def _joined(blocks: list[Block]) -> Block:
    """One block of all, joined in pairs so that no row is copied more than log2(blocks) times."""
    while len(blocks) > 1:
        blocks = [reduce(concatenate, blocks[i : i + 2]) for i in range(0, len(blocks), 2)]
    return blocks[0]
