"""Statistics accumulated in an order that depends on the data alone.

Rows are grouped into blocks of BLOCK_ROWS and parts of PART_ROWS, counted from the first row of the data. Blocks of a
part are absorbed one after the other; parts merge along the binary tree of their index, like the carries of a binary
counter. So the result has the same bits for any size of the pieces given, any number of threads and any engine.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from mercer._numeric.block import Block, concatenate

BLOCK_ROWS = 8192
PART_ROWS = 8 * BLOCK_ROWS


class Accumulator:
    """The statistics of the rows so far: complete subtrees, the part being filled, and rows short of a block."""

    #: Left out of what is sent to workers.
    stays_here = True

    def __init__(self, empty: Any):
        self.empty = empty
        self.subtrees: list[tuple[int, Any]] = []
        self.part: Any = empty
        self.part_rows = 0
        self.pending: Block | None = None

    def add(self, block: Block) -> None:
        """Add the rows of a block of any length; rows short of a full block are kept pending."""
        if len(block) == 0:
            return
        rows = block if self.pending is None else concatenate(self.pending, block)
        whole = len(rows) - len(rows) % BLOCK_ROWS
        for start in range(0, whole, BLOCK_ROWS):
            self.push(self.part.absorb(rows.rows(slice(start, start + BLOCK_ROWS))), BLOCK_ROWS)
        self.pending = rows.rows(slice(whole, len(rows))) if whole < len(rows) else None

    def push(self, part: Any, rows: int) -> None:
        """Set the statistic of the current part, now `rows` longer."""
        self.part, self.part_rows = part, self.part_rows + rows
        if self.part_rows >= PART_ROWS:
            self._close_part()

    def close(self) -> None:
        """Add the pending rows too. Rows added later start a new part."""
        if self.pending is not None:
            rows, self.pending = self.pending, None
            self.push(self.part.absorb(rows), len(rows))
        if self.part_rows:
            self._close_part()

    def merge(self, other: Accumulator) -> Accumulator:
        """The statistics of both, the rows of `other` coming after those of `self`; neither is changed."""
        mine, theirs = self._closed(), other._closed()
        for level, statistic in theirs.subtrees:
            mine._add_subtree(level, statistic)
        return mine

    def result(self) -> Any:
        """The statistic of all rows so far; the accumulator is not changed."""
        total: Any = None
        for _, statistic in reversed(self._closed().subtrees):
            total = statistic if total is None else statistic.merge(total)
        return self.empty if total is None else total

    def _closed(self) -> Accumulator:
        other = copy(self)
        other.subtrees = list(self.subtrees)
        other.part = self.part.fresh()
        other.close()
        return other

    def _close_part(self) -> None:
        self._add_subtree(0, self.part)
        self.part, self.part_rows = self.empty, 0

    def _add_subtree(self, level: int, statistic: Any) -> None:
        while self.subtrees and self.subtrees[-1][0] == level:
            statistic = self.subtrees.pop()[1].merge(statistic)
            level += 1
        self.subtrees.append((level, statistic))
