"""Rows in memory, and rows that arrive block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from mercer._numeric.block import Block, concatenate, take_rows
from mercer.source.accumulator import BLOCK_ROWS
from mercer.source.base import BlockTask, RowSource, Source


class MemorySource(RowSource):
    """An array, CSR matrix or frame in memory, with targets and weights if there are any. Nothing is copied.

    Use it through `read`, which also takes frames and Bunch objects; estimators take arrays themselves.

    >>> import numpy as np
    >>> from mercer.stats import Moments
    >>> MemorySource(np.array([[1.0], [2.0], [6.0]])).fold(Moments()).finish().mean
    array([3.])
    """

    #: The `RowKeys` of the rows, where splits do not go by the rows themselves.
    keys: Any = None

    def __init__(self, X: Any, y: Any = None, weight: Any = None, names: list[str] | None = None):
        self.X, self.y, self.weight = X, y, weight
        self.n_rows = X.shape[0]
        self.names = names if names is not None else _column_names(X)
        self._tables: dict[int, Any] = {}
        for what, given in (("y", y), ("weight", weight)):
            if given is not None and len(given) != self.n_rows:
                raise ValueError(f"X has {self.n_rows} rows but {what} has {len(given)} entries.")

    @classmethod
    def of(cls, block: Block) -> MemorySource:
        """The rows of a block as a source of their own."""
        made = cls(block.X, block.y, block.weight)
        made.keys = block.raw if hasattr(block.raw, "split_keys") else None
        return made

    def collect(self) -> Block:
        """All rows as one block, which shares their memory."""
        return self.read(0, self.n_rows)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_tables": {}}

    def _rows(self, start: int, stop: int) -> Any:
        """Some rows; blocks of a table are kept, for these know the hashes of their rows, which each pass asks for."""
        if stop != min(start + BLOCK_ROWS, self.n_rows) or not hasattr(self.X, "row_hashes"):
            return take_rows(self.X, slice(start, stop))
        if start not in self._tables:
            self._tables[start] = take_rows(self.X, slice(start, stop))
        return self._tables[start]

    def read(self, start: int, stop: int) -> Block:
        rows = slice(start, stop)
        return Block(
            self._rows(start, stop),
            None if self.y is None else np.asarray(self.y[rows]),
            None if self.weight is None else np.asarray(self.weight[rows]),
            start,
            None if self.keys is None else self.keys[rows],
        )


class StreamSource(Source):
    """Blocks of any lengths from a function that restarts the stream each time it is called.

    Use it for rows that a program makes or receives, if it can make them again: estimators of several passes restart
    the stream. Rows that come once need `partial_fit` instead.

    >>> import numpy as np
    >>> from mercer.stats import Moments
    >>> stream = StreamSource(lambda: (Block(np.full((3, 1), float(i))) for i in range(5)))
    >>> stream.fold(Moments()).finish().mean
    array([2.])
    """

    def __init__(self, start: Callable[[], Iterable[Block]], names: list[str] | None = None, n_rows: int | None = None):
        self.start, self.names, self.n_rows = start, names, n_rows

    def tasks(self) -> Iterator[BlockTask]:
        for block in regular_blocks(self.start()):
            yield BlockTask(len(block), lambda block=block: block)  # type: ignore[misc]


def regular_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """The same rows in blocks of BLOCK_ROWS, the last one shorter."""
    pending: Block | None = None
    seen = 0
    for block in blocks:
        pending = block if pending is None else concatenate(pending, block)
        while len(pending) >= BLOCK_ROWS:
            yield _starting_at(seen, pending.rows(slice(0, BLOCK_ROWS)))
            seen += BLOCK_ROWS
            pending = pending.rows(slice(BLOCK_ROWS, None))
    if pending is not None and len(pending):
        yield _starting_at(seen, pending)


def _starting_at(start: int, block: Block) -> Block:
    block.start = start
    return block


def _column_names(X: Any) -> list[str] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(name) for name in columns]
