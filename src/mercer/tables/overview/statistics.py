"""Statistics of one pass over a table: moments of columns, a sample of rows with their positions, the target."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from mercer import _numeric
from mercer._numeric.block import Block, concatenate
from mercer.source import Columns
from mercer.source.arrow import kind_of
from mercer.stats import Statistic, Together
from mercer.stats.sample import SAMPLE_ROWS, SampledRows
from mercer.tables.profile import TableProfile

#: Rows that are sampled with their positions.
ORDERED_ROWS = 2048
#: The name of the target where it has none.
TARGET = "target"


class MeanAndSd(NamedTuple):
    """The mean and the standard deviation (of divisor n - 1) of a column; None where they are not finite."""

    mean: float | None
    sd: float | None


@dataclass(frozen=True)
class NumberMoments(Statistic):
    """Mean and standard deviation of the columns of numbers; `finish` gives {name: MeanAndSd}.

    Missing values are left out. Sums of squares are about the mean and merge as in Chan, Golub and LeVeque (1979).

    >>> NumberMoments().of(Block(Columns.of({"age": [30, None, 34]}))).finish()
    {'age': MeanAndSd(mean=32.0, sd=2.8284271247461903)}
    """

    n: int = 0
    names: tuple[str, ...] = ()
    present: Any = None
    mean: Any = None
    squares: Any = None

    def of(self, block: Block) -> NumberMoments:
        table = block.X.table
        names = tuple(f.name for f in table.schema if kind_of(f.type) in ("integer", "number"))
        if len(block) == 0 or not names:
            return NumberMoments(len(block))
        values = np.stack([table[name].cast(pa.float64(), safe=False).to_numpy() for name in names])
        missing = np.isnan(values)
        present = (~missing).sum(axis=1)
        with np.errstate(all="ignore"):  # what overflows has no finite moments
            values[missing] = 0.0
            mean = values.sum(axis=1) / np.maximum(present, 1)
            away = values - mean[:, None]
            away[missing] = 0.0
            squares = np.einsum("ij,ij->i", away, away)
        return NumberMoments(len(block), names, present, mean, squares)

    def _merge(self, other: NumberMoments) -> NumberMoments:
        if not self.names:
            return NumberMoments(self.n + other.n)
        present = self.present + other.present
        fraction = other.present / np.maximum(present, 1)
        with np.errstate(all="ignore"):
            away = other.mean - self.mean
            squares = self.squares + other.squares + away * away * fraction * self.present
            mean = self.mean + away * fraction
        return NumberMoments(self.n + other.n, self.names, present, mean, squares)

    def finish(self) -> dict[str, MeanAndSd]:
        found = {}
        for j, name in enumerate(self.names):
            n, mean, squares = int(self.present[j]), float(self.mean[j]), float(self.squares[j])
            sd = float(np.sqrt(squares / (n - 1))) if n > 1 and np.isfinite(squares) else None
            found[name] = MeanAndSd(mean if n and np.isfinite(mean) else None, sd)
        return found


class OrderedRows(NamedTuple):
    """Sampled rows with their targets and positions, in an order that is independent of the positions."""

    X: Columns
    y: np.ndarray | None
    positions: np.ndarray
    complete: bool

    def column(self, name: str) -> SampledRows:
        """The values of a column, all of weight 1."""
        values = self.X.array(name)
        return SampledRows(values, None, np.ones(len(values)), self.complete)


@dataclass(frozen=True)
class OrderSample(Statistic):
    """A uniform sample of rows with their positions: those whose positions have the smallest hashes (bottom-k)."""

    size: int = ORDERED_ROWS
    n: int = 0
    keys: Any = None
    positions: Any = None
    rows: Any = None

    def of(self, block: Block) -> OrderSample:
        positions = np.arange(block.start, block.start + len(block), dtype=np.uint64)
        rows = Block(block.X, None if block.y is None or block.y.ndim != 1 else block.y)
        return self._smallest(len(block), _numeric.splitmix64(positions, 1), positions, rows)

    def _merge(self, other: OrderSample) -> OrderSample:
        keys, positions = (
            np.concatenate(pair) for pair in ((self.keys, other.keys), (self.positions, other.positions))
        )
        return self._smallest(self.n + other.n, keys, positions, concatenate(self.rows, other.rows))

    def _smallest(self, n: int, keys: np.ndarray, positions: np.ndarray, rows: Block) -> OrderSample:
        order = _numeric.hash_order(keys)[: self.size]
        return OrderSample(self.size, n, keys[order], positions[order], rows.rows(order))

    def finish(self) -> OrderedRows:
        if self.rows is None:
            raise ValueError("No rows: an empty data set cannot be sampled.")
        return OrderedRows(self.rows.X, self.rows.y, self.positions, self.n <= self.size)


@dataclass(frozen=True)
class OfTarget(Statistic):
    """Profile, moments and a sample of the target as a column named "target"; `finish` gives None without one target.

    `Sample` would not do: of rows with equal columns it keeps one target.
    """

    n: int = 0
    column: Together = field(
        default_factory=lambda: Together(
            profile=TableProfile(), moments=NumberMoments(), sample=OrderSample(SAMPLE_ROWS)
        )
    )

    def of(self, block: Block) -> OfTarget:
        if block.y is None or np.ndim(block.y) != 1:
            return OfTarget()
        return OfTarget(len(block), self.column.of(Block(Columns.of({TARGET: block.y}), start=block.start)))

    def _merge(self, other: OfTarget) -> OfTarget:
        return OfTarget(self.n + other.n, self.column.merge(other.column))

    def finish(self) -> dict[str, Any] | None:
        return self.column.finish() if self.n else None


def unweighted(block: Block) -> Block:
    """The same rows without weights: they are counted one by one."""
    return Block(block.X, block.y, None, block.start, block.raw)
