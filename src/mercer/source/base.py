"""`map` and `fold`, written once over the tasks that read the blocks of a source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple, Self

import numpy as np

from mercer._numeric.block import Block, collected
from mercer._runtime.blas import single_threaded_blas
from mercer._runtime.errors import Location, RowError
from mercer._runtime.pool import ordered_map
from mercer.source.accumulator import BLOCK_ROWS, PART_ROWS, Accumulator
from mercer.source.engine import Engine, accumulate_on, as_engine, blocks_on, remaining
from mercer.source.portions import SentBlocks
from mercer.source.progress import report_progress
from mercer.source.recording import fold_record


class BlockTask(NamedTuple):
    """One block to be read: its number of rows, and a function that reads it on any thread."""

    rows: int
    read: Callable[[], Block]


class Source(ABC):
    """Rows in memory, in files, in a stream or on a cluster."""

    #: Names of the columns, if they have any.
    names: list[str] | None = None
    #: Number of rows; None for a stream that has not been counted.
    n_rows: int | None = None
    #: Whether the columns were computed by an estimator instead of read.
    derived: bool = False
    #: Kind of each column (see `mercer.source.table.KINDS`), where the rows are a table as read.
    schema: dict[str, str] | None = None
    #: Name of the column that the targets come from.
    target: str | None = None
    #: Remarks on the data, made while reading.
    notes: Sequence[str] = ()
    #: Rows of the input, counted from 0, that were left out, and those in which bad values were replaced.
    skipped_rows: Sequence[int] = ()
    repaired_rows: Sequence[int] = ()
    #: File, line, reason and text of each skipped row.
    rejected: Sequence[tuple[str, Any, str, str]] = ()
    #: The `mercer.io.Dialect` of a text file.
    dialect: Any = None
    #: First row of each group of rows that is read at once, and the number of rows; None where any row can be read.
    bounds: list[int] | None = None
    #: The `mercer.stats.folds.FoldPlan` of the rows; None lets their hashes decide on folds alike.
    fold_plan: Any = None
    #: Left out of what is sent to workers; `reader` is what they need.
    stays_here = True
    _engine: Engine | None = None

    @property
    def engine(self) -> Engine | None:
        """Where folds over this source and sources mapped from it run; None for the threads of this process."""
        return self._engine

    def on(self, engine: Any) -> Self:
        """The same rows, folded on an engine: "threads", an executor of concurrent.futures or a Dask client."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._engine = as_engine(engine)
        return other

    @abstractmethod
    def tasks(self) -> Iterator[BlockTask]:
        """The blocks of BLOCK_ROWS rows, counted from the first row of the data (the last may be shorter)."""

    def locate(self, row: int) -> Location:
        """The file and line of a row, for messages."""
        return Location(row=row)

    def input_rows(self, start: int, stop: int) -> np.ndarray:
        """The numbers in the input of the rows from `start` to `stop`, both counted without the skipped ones."""
        return self.numbers_in_input(np.arange(start, stop))

    def numbers_in_input(self, rows: Any) -> np.ndarray:
        """The numbers in the input of some rows, which are counted without the skipped ones."""
        skipped = np.asarray(self.skipped_rows, dtype=np.int64)
        before = skipped - np.arange(len(skipped))  # rows kept before each skipped one
        return np.asarray(rows) + np.searchsorted(before, rows, side="right")

    def map(self, function: Callable[[Block], Block]) -> Source:
        """The same rows, each block passed through `function` when it is read."""
        return MappedSource(self, function)

    def where(self, keep: Callable[[Block], np.ndarray]) -> Source:
        """The rows for which the mask `keep(block)` is true."""

        def kept(block: Block) -> Block:
            mask = keep(block)
            return block if mask.all() else block.rows(mask)

        chosen = self.map(kept)
        chosen.schema = self.schema
        return chosen

    def origin(self) -> tuple[Source, tuple[Callable[[Block], Block], ...]]:
        """The source as read, and the maps applied to its blocks since."""
        return self, ()

    def reader(self) -> Any:
        """What workers of an engine read the blocks of `portions` with; None if portions hold the rows."""
        return None

    def portions(self) -> Iterator[tuple[int, Any]]:
        """Number of rows and portion (see `mercer.source.portions`) of each part."""
        tasks = self.tasks()
        while part := list(islice(tasks, PART_ROWS // BLOCK_ROWS)):
            yield sum(task.rows for task in part), SentBlocks([task.read() for task in part])

    def blocks(self) -> Iterator[Block]:
        """All blocks in order, read and mapped on all cores."""
        with self._locating():
            yield from ordered_map(lambda task: task.read(), self.tasks())

    def collect(self) -> Block:
        """All rows in memory as one block; it keeps the hashes of the rows as read, not the rows as read."""
        return collected(self.blocks())

    def fold(self, statistic: Any) -> Any:
        """The statistic of all rows: the same bits on any engine and any number of threads."""
        return self.accumulate(statistic).result()

    def accumulate(self, statistic: Any) -> Accumulator:
        """Like `fold`, in a form that more rows can be added to and that merges with others."""
        record = fold_record(self, statistic)
        if self.engine is not None:
            return accumulate_on(self.engine, self, statistic, record)
        total = Accumulator(statistic)
        done, total.subtrees = record.restored()
        tasks = remaining(((task.rows, task) for task in self.tasks()), done)
        pieces = self._one_by_one(total, tasks) if statistic.parallel_inside else self._all_cores(total, tasks)
        with self._locating():
            for rows, part in pieces:
                done += rows
                total.push(part, rows)
                report_progress(done, self.n_rows)
                if total.part_rows == 0:
                    record.part_done(done, total.subtrees)
        total.close()
        record.finished(done, total.subtrees)
        return total

    @contextmanager
    def _locating(self) -> Iterator[None]:
        """Add file and line to errors inside, whose rows are counted from the first row of the data."""
        try:
            yield
        except RowError as error:
            raise error.located(self.origin()[0].locate) from error

    def _one_by_one(self, total: Accumulator, tasks: Iterator[tuple[int, BlockTask]]) -> Iterator[tuple[int, Any]]:
        with single_threaded_blas():
            for rows, task in tasks:
                yield rows, total.part.absorb(task.read())

    def _all_cores(self, total: Accumulator, tasks: Iterator[tuple[int, BlockTask]]) -> Iterator[tuple[int, Any]]:
        of = total.empty.of
        for rows, piece in ordered_map(lambda task: (task[0], of(task[1].read())), tasks, type(total.empty)):
            yield rows, total.part.merge(piece)


class RowSource(Source):
    """A source whose rows can be read by position."""

    n_rows: int

    @abstractmethod
    def read(self, start: int, stop: int) -> Block:
        """The rows from `start` up to, not including, `stop`."""

    def tasks(self) -> Iterator[BlockTask]:
        for start in range(0, self.n_rows, BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, self.n_rows)
            yield BlockTask(stop - start, lambda start=start, stop=stop: self.read(start, stop))  # type: ignore[misc]

    def halves(self) -> tuple[Source, Source]:
        """Split at the root of the merge tree: fitted separately and merged, the halves give the same bits."""
        parts = -(-self.n_rows // PART_ROWS)
        cut = PART_ROWS << (parts - 1).bit_length() - 1 if parts > 1 else self.n_rows
        return SliceSource(self, 0, cut), SliceSource(self, cut, self.n_rows)


class MappedSource(Source):
    """A source seen through a function of blocks."""

    def __init__(self, parent: Source, function: Callable[[Block], Block]):
        self.parent, self.function = parent, function
        self.names, self.n_rows, self.derived = parent.names, parent.n_rows, parent.derived
        self.fold_plan = parent.fold_plan
        self.skipped_rows, self.repaired_rows = parent.skipped_rows, parent.repaired_rows

    def locate(self, row: int) -> Location:
        return self.parent.locate(row)

    def numbers_in_input(self, rows: Any) -> np.ndarray:
        return self.parent.numbers_in_input(rows)

    @property
    def engine(self) -> Engine | None:
        return self._engine if self._engine is not None else self.parent.engine

    def origin(self) -> tuple[Source, tuple[Callable[[Block], Block], ...]]:
        root, maps = self.parent.origin()
        return root, (*maps, self.function)

    def blocks(self) -> Iterator[Block]:
        return super().blocks() if self.engine is None else blocks_on(self.engine, self)

    def tasks(self) -> Iterator[BlockTask]:
        for rows, read in self.parent.tasks():
            yield BlockTask(rows, lambda read=read: self.function(read()))  # type: ignore[misc]


class SliceSource(RowSource):
    """The rows [first, last) of another source."""

    def __init__(self, parent: RowSource, first: int, last: int):
        self.parent, self.first = parent, first
        self.names, self.n_rows, self.derived = parent.names, last - first, parent.derived
        self._engine = parent.engine

    def read(self, start: int, stop: int) -> Block:
        return self.parent.read(self.first + start, self.first + stop)
