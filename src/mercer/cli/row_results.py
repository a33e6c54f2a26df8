"""Results for blocks of rows, computed on any thread or machine and written in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer._numeric.block import Block
from mercer._runtime.errors import RowError
from mercer.source import Columns
from mercer.tables.schema import unreadable

if TYPE_CHECKING:
    from mercer.cli.streaming import RowSelection


@dataclass(frozen=True)
class RowResults:
    """The selected rows of a block, the columns computed for them, their indices in the data, and unseen categories.

    `n_read` counts the rows of the block, selected or not. `bad` maps the indices of the rows that hold values which
    the model cannot read, and which were skipped or repaired, to the first reason.
    """

    rows: Any
    columns: Any
    index: Any
    unseen: dict[str, Any]
    n_read: int
    bad: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.index)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.index), 1


@dataclass(frozen=True)
class RowFunction:
    """Maps a block of a table to a block of `RowResults`.

    shown : the columns that the model sees
    carried : the columns of the rows that are returned; None for all
    policy : whether values that the model cannot read are an "error", their rows are left out ("skip"), or they count
        as missing ("null")
    """

    model: Any
    compute: Callable[[Any, Any], Any]
    selection: RowSelection
    shown: list[str]
    carried: list[str] | None
    policy: str = "error"

    def __call__(self, block: Block) -> Block:
        chosen = self.selection.within(block.start, len(block))
        rows = block.X if len(chosen) == len(block) else block.X[chosen]
        bad: dict[int, str] = {}
        index, columns, unseen = block.start + chosen, None, {}
        seen = rows.select(self.shown)
        while len(index):
            try:
                columns = self.compute(self.model, seen)
            except RowError as error:
                seen, kept = self._without(seen, index, error, bad)
                rows, index = (rows, index) if kept.all() else (rows[kept], index[kept])
            else:
                unseen = self.model.unseen_categories(seen)
                break
        rows = rows if self.carried is None else rows.select(self.carried)
        return Block(RowResults(rows, columns, index, unseen, len(block), bad), start=block.start)

    def _without(self, seen: Any, index: Any, error: RowError, bad: dict[int, str]) -> tuple[Any, np.ndarray]:
        """The rows without the values of a column that the model refuses, and the mask of the rows that are left."""
        name = error.column
        kind = None if name is None else self.model.encoder.schema_.get(name)
        if self.policy == "error" or error.file is not None or name is None or kind is None:
            raise error.renumbered(index) from error
        values = seen.table[name]
        refused = unreadable(values, kind)
        if not refused[error.row or 0]:
            raise error.renumbered(index) from error
        for row in np.flatnonzero(refused):
            bad.setdefault(int(index[row]), f"column {name!r} holds {values[int(row)].as_py()!r}, not a {kind}")
        if self.policy == "skip":
            return seen[~refused], ~refused
        missing = pc.if_else(pa.array(refused), None, values)
        table = seen.table.set_column(seen.columns.index(name), name, missing)
        return Columns(table), np.ones(len(index), dtype=bool)


def show_warnings(source: Any, function: RowFunction) -> None:
    """Let this process warn of what the columns of a source lack or have in excess, as workers do unseen."""
    from mercer.source.table import first_block

    block = first_block(source)
    if block is not None:
        function.model.unseen_categories(block.X[:1].select(function.shown))
