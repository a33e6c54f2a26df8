"""The rows of one part as they are sent to an engine, and what the engine does with them.

A portion is one part of a source, PART_ROWS rows counted from the first row of the data: the positions of its blocks in
files that the worker reads itself, or the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mercer._numeric.block import Block, concatenate


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


class DelayedChunks(NamedTuple):
    """Chunks of a Dask collection, computed where they are needed.

    Parameters
    ----------
    chunks : values, or delayed values, of each chunk one after the other (features, perhaps targets and weights)
    width : how many values a chunk has
    bounds : first row of each chunk in the data, and the end of the last one
    spans : first row and last row (not included) of each block
    convert : a function of the values of a chunk that gives a `Block`
    """

    chunks: list[Any]
    width: int
    bounds: list[int]
    spans: list[tuple[int, int]]
    convert: Callable[..., Block]

    def values(self) -> Iterator[list[Any]]:
        """The values of each chunk."""
        for i in range(0, len(self.chunks), self.width):
            yield [computed(value) for value in self.chunks[i : i + self.width]]

    def blocks(self, reader: Any) -> Iterator[Block]:
        """The blocks: chunks are computed one after the other, and cut at the bounds of blocks."""
        chunks = ((first, self.convert(*values)) for first, values in zip(self.bounds, self.values(), strict=False))
        first, chunk = next(chunks)
        for start, stop in self.spans:
            block, begin = None, start
            while begin < stop:
                if begin >= first + len(chunk):
                    first, chunk = next(chunks)
                end = min(stop, first + len(chunk))
                piece = chunk.rows(slice(begin - first, end - first))
                block, begin = piece if block is None else concatenate(block, piece), end
            if block is not None:
                block.start = start
                yield block


def computed(value: Any) -> Any:
    """The value of a delayed value of Dask, computed by this thread; other values as they are."""
    return value.compute(scheduler="synchronous") if hasattr(value, "__dask_graph__") else value


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


class RowKeys(RowHashes):
    """The hashes of rows, and named keys by which splits divide them.

    "group" is the key of a row's group, "time" its time, "part" its part of the folds of a splitter, and "split" the
    key by which it is held out or sampled, where that is not the hash of the row.
    """

    def __init__(self, hashes: np.ndarray, keys: dict[str, np.ndarray]):
        super().__init__(hashes)
        self.keys = keys

    @property
    def split_keys(self) -> np.ndarray:
        """The key of each row that holdout and samples go by: rows of equal keys stay together."""
        return self.keys.get("split", self.hashes)

    def __getitem__(self, selection: Any) -> RowKeys:
        return RowKeys(self.hashes[selection], {name: each[selection] for name, each in self.keys.items()})

    def stacked(self, *below: Any) -> RowKeys:
        """The hashes and keys of several tables, in order."""
        keys = {name: np.concatenate([each, *(more.keys[name] for more in below)]) for name, each in self.keys.items()}
        return RowKeys(np.concatenate([self.hashes, *(more.row_hashes() for more in below)]), keys)


def _without_raw(block: Block) -> Block:
    if block.raw is block.X:
        return block
    raw = block.raw if isinstance(block.raw, RowHashes) else RowHashes(block.ids)
    return Block(block.X, block.y, block.weight, block.start, raw)
