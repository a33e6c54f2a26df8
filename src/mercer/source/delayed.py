"""Rows of a Dask collection: chunks of any lengths that are computed when they are read."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any

from mercer._numeric.block import Block
from mercer.source.accumulator import BLOCK_ROWS, PART_ROWS
from mercer.source.base import RowSource
from mercer.source.portions import DelayedChunks, computed


def is_dask(data: Any) -> bool:
    """Whether `data` is a collection of Dask, or a list of delayed blocks."""
    if isinstance(data, (list, tuple)):
        return len(data) > 0 and all(hasattr(each, "__dask_graph__") for each in data)
    return hasattr(data, "__dask_graph__")


class DelayedSource(RowSource):
    """Rows in chunks, each computed on the engine from delayed values.

    Use it through `read`, which takes Dask arrays, Dask data frames and lists of delayed blocks.

    Parameters
    ----------
    chunks : list of lists of delayed values
        The features of each chunk, then perhaps its targets and its weights. Values that are not delayed are allowed.
    lengths : number of rows of each chunk
    convert : function of the values of a chunk that gives a `Block`
    names : names of the columns, default=None
    """

    bounds: list[int]

    def __init__(
        self,
        chunks: Sequence[Sequence[Any]],
        lengths: Sequence[int],
        convert: Callable[..., Block],
        names: list[str] | None = None,
    ):
        kept = [i for i, length in enumerate(lengths) if length]
        self.chunks, self.convert, self.names = [list(chunks[i]) for i in kept], convert, names
        self.bounds = [0, *accumulate(lengths[i] for i in kept)]
        self.n_rows = self.bounds[-1]
        self._local = threading.local()

    def read(self, start: int, stop: int) -> Block:
        (block,) = self._chunks_of([(start, stop)], self._computed).blocks(None)
        return block

    def portions(self) -> Iterator[tuple[int, DelayedChunks]]:
        for first in range(0, self.n_rows, PART_ROWS):
            last = min(first + PART_ROWS, self.n_rows)
            spans = [(start, min(start + BLOCK_ROWS, last)) for start in range(first, last, BLOCK_ROWS)]
            yield last - first, self._chunks_of(spans, lambda i: self.chunks[i])

    def _chunks_of(self, spans: list[tuple[int, int]], values: Callable[[int], list[Any]]) -> DelayedChunks:
        """The chunks that hold these rows."""
        first = bisect_right(self.bounds, spans[0][0]) - 1
        last = bisect_left(self.bounds, spans[-1][1])
        chunks = list(chain.from_iterable(values(i) for i in range(first, last)))
        return DelayedChunks(chunks, len(self.chunks[0]), self.bounds[first : last + 1], spans, self.convert)

    def _computed(self, i: int) -> list[Any]:
        """The values of chunk i, kept until this thread asks for another."""
        if getattr(self._local, "index", None) != i:
            compute = computed if self.engine is None else self.engine.compute
            self._local.values = [compute(value) for value in self.chunks[i]]
            self._local.index = i
        return self._local.values


def profile_chunks(engine: Any, chunks: Sequence[Sequence[Any]], profile: Callable[..., Any]) -> list[Any]:
    """`profile(*values)` of each chunk, computed on an engine (None: by this process)."""

    def profiled(portion: DelayedChunks) -> Any:
        (values,) = portion.values()
        return profile(*values)

    portions = [DelayedChunks(list(chunk), len(chunk), [], [], profile) for chunk in chunks]
    return [profiled(portion) for portion in portions] if engine is None else engine.map(profiled, portions)
