"""The rows of one part as they are sent to an engine, and what the engine does with them.

A portion is one part of a source, PART_ROWS rows counted from the first row of the data: the positions of its blocks in
files that the worker reads itself, or the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mercer._numeric.block import Block


class FilePositions(NamedTuple):
    """Blocks that a worker reads from files: first row and last row (not included) of each."""

    spans: list[tuple[int, int]]

    def blocks(self, reader: Any) -> Iterator[Block]:
        """The blocks, read one after the other."""
        return (reader.read(start, stop) for start, stop in self.spans)


class SentBlocks(NamedTuple):
    """Blocks that travel with their rows."""

    rows: list[Block]

    def blocks(self, reader: Any) -> Iterator[Block]:
        """The blocks."""
        return iter(self.rows)


@dataclass(frozen=True)
class PartReader:
    """Reads the blocks of a portion and passes each through the maps of the source."""

    reader: Any
    maps: tuple[Callable[[Block], Block], ...]

    def mapped(self, portion: Any) -> Iterator[Block]:
        """The blocks of a portion, mapped."""
        for block in portion.blocks(self.reader):
            for function in self.maps:
                block = function(block)
            yield block


@dataclass(frozen=True)
class PartFold(PartReader):
    """The statistic of a portion: its blocks are absorbed in order, as `Accumulator` does."""

    statistic: Any

    def __call__(self, portion: Any) -> Any:
        state = empty = self.statistic
        for block in self.mapped(portion):
            state = state.absorb(block) if empty.parallel_inside else state.merge(empty.of(block))
        return state


@dataclass(frozen=True)
class PartRows(PartReader):
    """The mapped blocks of a portion; of the rows as read only their hashes are returned."""

    def __call__(self, portion: Any) -> list[Block]:
        return [_without_raw(block) for block in self.mapped(portion)]


class RowHashes:
    """Stands for rows as read, of which only the hashes are known."""

    def __init__(self, hashes: np.ndarray):
        self.hashes = hashes
        self.shape = (len(hashes), 0)

    def __len__(self) -> int:
        return len(self.hashes)

    def __getitem__(self, selection: Any) -> RowHashes:
        return RowHashes(self.hashes[selection])

    def row_hashes(self) -> np.ndarray:
        """The hash of each row."""
        return self.hashes

    def stacked(self, *below: RowHashes) -> RowHashes:
        """The hashes of several tables, in order."""
        return RowHashes(np.concatenate([self.hashes, *(each.row_hashes() for each in below)]))


def _without_raw(block: Block) -> Block:
    if block.raw is block.X:
        return block
    return Block(block.X, block.y, block.weight, block.start, RowHashes(block.ids))
