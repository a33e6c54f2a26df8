"""The two verbs of a source, written once over the tasks that read its blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mercer._numeric.block import Block
from mercer._runtime.pool import ordered_map, single_threaded_blas
from mercer.source.accumulator import BLOCK_ROWS, PART_ROWS, Accumulator
from mercer.source.progress import tell


class Task(NamedTuple):
    """One block to be read: how many rows it has in the data, and how to get it (on any thread)."""

    rows: int
    read: Callable[[], Block]


class Source(ABC):
    """Rows in memory, in files, in a stream or on a cluster.

    `names` are the names of the columns, or None. `n_rows` is None for a stream that nobody has counted. `derived`
    says that the columns were made by an estimator, not read.
    """

    names: list[str] | None = None
    n_rows: int | None = None
    derived: bool = False

    @abstractmethod
    def tasks(self) -> Iterator[Task]:
        """The blocks of BLOCK_ROWS rows, counted from the first row of the data (the last may be shorter)."""

    def map(self, function: Callable[[Block], Block]) -> Source:
        """The same rows, each block passed through `function` when it is read."""
        return MappedSource(self, function)

    def where(self, keep: Callable[[Block], object]) -> Source:
        """The rows for which `keep(block)`, a mask, is true."""
        return self.map(lambda block: block.rows(keep(block)))

    def blocks(self) -> Iterator[Block]:
        """All blocks in order, read and mapped on all cores."""
        yield from ordered_map(lambda task: task.read(), self.tasks())

    def fold(self, statistic):
        """The statistic of all rows: the same bits on any number of threads."""
        return self.accumulate(statistic).result()

    def accumulate(self, statistic) -> Accumulator:
        """Like `fold`, in a form that more rows can be added to and that merges with others."""
        total, done = Accumulator(statistic), 0
        pieces = self._one_by_one(total) if statistic.parallel_inside else self._all_cores(total)
        for rows, part in pieces:
            done += rows
            total.push(part, rows)
            tell(done, self.n_rows)
        total.close()
        return total

    def _one_by_one(self, total: Accumulator):
        with single_threaded_blas():
            for task in self.tasks():
                yield task.rows, total.part.absorb(task.read())

    def _all_cores(self, total: Accumulator):
        of = total.empty.of
        for rows, piece in ordered_map(lambda task: (task.rows, of(task.read())), self.tasks(), type(total.empty)):
            yield rows, total.part.merge(piece)


class RowSource(Source):
    """A source whose rows can be read by position."""

    n_rows: int

    @abstractmethod
    def read(self, start: int, stop: int) -> Block:
        """The rows from `start` up to, not including, `stop`."""

    def tasks(self):
        for start in range(0, self.n_rows, BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, self.n_rows)
            yield Task(stop - start, lambda start=start, stop=stop: self.read(start, stop))

    def halves(self) -> tuple[Source, Source]:
        """The source cut in two where its merge tree is: fitted apart and merged, the halves give its very bits."""
        parts = -(-self.n_rows // PART_ROWS)
        cut = PART_ROWS << (parts - 1).bit_length() - 1 if parts > 1 else self.n_rows
        return SliceSource(self, 0, cut), SliceSource(self, cut, self.n_rows)


class MappedSource(Source):
    """A source seen through a function of blocks."""

    def __init__(self, parent: Source, function: Callable[[Block], Block]):
        self.parent, self.function = parent, function
        self.names, self.n_rows, self.derived = parent.names, parent.n_rows, parent.derived

    def tasks(self):
        for rows, read in self.parent.tasks():
            yield Task(rows, lambda read=read: self.function(read()))


class SliceSource(RowSource):
    """The rows [first, last) of another source."""

    def __init__(self, parent: RowSource, first: int, last: int):
        self.parent, self.first = parent, first
        self.names, self.n_rows, self.derived = parent.names, last - first, parent.derived

    def read(self, start, stop):
        return self.parent.read(self.first + start, self.first + stop)
