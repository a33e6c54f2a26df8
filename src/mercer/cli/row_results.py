"""Results for blocks of rows, computed on any thread or machine and written in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mercer._numeric.block import Block
from mercer._runtime.errors import RowError

if TYPE_CHECKING:
    from mercer.cli.streaming import RowSelection


@dataclass(frozen=True)
class RowResults:
    """The selected rows of a block, the columns computed for them, their indices in the data, and unseen categories.

    `n_read` counts the rows of the block, selected or not.
    """

    rows: Any
    columns: Any
    index: Any
    unseen: dict[str, Any]
    n_read: int

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
    """

    model: Any
    compute: Callable[[Any, Any], Any]
    selection: RowSelection
    shown: list[str]
    carried: list[str] | None

    def __call__(self, block: Block) -> Block:
        chosen = self.selection.within(block.start, len(block))
        rows = block.X if len(chosen) == len(block) else block.X[chosen]
        index, columns, unseen = block.start + chosen, None, {}
        if len(chosen):
            seen = rows.select(self.shown)
            try:
                columns = self.compute(self.model, seen)
            except RowError as error:
                row = int(index[error.row or 0])
                raise (
                    error if error.file is not None else RowError(error.before, row, *error.after, **error.known)
                ) from error
            unseen = self.model.unseen_categories(seen)
        rows = rows if self.carried is None else rows.select(self.carried)
        return Block(RowResults(rows, columns, index, unseen, len(block)), start=block.start)


def show_warnings(source: Any, function: RowFunction) -> None:
    """Let this process warn of what the columns of a source lack or have in excess, as workers do unseen."""
    from mercer.source.table import first_block

    block = first_block(source)
    if block is not None:
        function.model.unseen_categories(block.X[:1].select(function.shown))
