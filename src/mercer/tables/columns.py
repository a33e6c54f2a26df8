"""The numbers that columns become. Each encoder is a few learned values and `encode`, rows in, numbers out.

An encoder says from which `columns` it makes what `kind` of features, with which `names`, a list per column. Neighbors
of a kind that has `encode_all` are encoded together.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer.normalize.ranks import quantiles
from mercer.source import Columns
from mercer.source.row_error import RowError
from mercer.tables.facts import ColumnFacts

FEW = 32  # rows: below, Python's own dictionaries are quicker than Arrow's
_HUGE = 1e150  # its square is still a number


@dataclass(frozen=True)
class ColumnBlock:
    """Output columns [start, stop) were made from `column` in its role; `kind` says how."""

    column: str
    role: str
    kind: str
    start: int
    stop: int


@dataclass(frozen=True)
class Squashed:
    """z / sqrt(1 + (z/3)^2) with z = (x - median) / IQR, so |z| < 3 (Holzmüller et al. 2024); missing becomes 0.

    Where the quartiles agree the scale is half the range.
    """

    column: str
    center: float
    scale: float
    kind = "number"

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def names(self) -> list[list[str]]:
        return [[self.column]]

    @staticmethod
    def encode_all(parts: list[Squashed], table: Columns, start=0) -> np.ndarray:
        """All columns of numbers at once."""
        x = np.empty((len(table), len(parts)))
        for j, part in enumerate(parts):
            x[:, j] = numbers(table, part.column)
        _refuse_infinity(x, parts, start)
        center, scale = np.array([part.center for part in parts]), np.array([part.scale for part in parts])
        with np.errstate(over="ignore"):
            z = (0.5 * x - 0.5 * center) / np.where(scale > 0, 0.5 * scale, np.inf)
        z = np.clip(z, -_HUGE, _HUGE)
        z /= np.sqrt(1.0 + (z / 3.0) ** 2)
        z[np.isnan(x)] = 0.0
        return z

    @classmethod
    def learned(cls, facts: ColumnFacts, sample) -> Squashed:
        """From a sample of rows; the range is that of all rows."""
        return cls(facts.name, *_center_and_scale(facts, numbers(sample.X, facts.name), sample.weight))


def _refuse_infinity(x, parts, start):
    bad = np.isinf(x)
    if bad.any():
        row, j = np.argwhere(bad)[0].tolist()
        name, remedy = parts[j].column, ". Make it missing, or drop the row."
        raise RowError(f"Column {name!r} contains infinity, first at ", start + row, remedy)


def _center_and_scale(facts: ColumnFacts, values, weight) -> tuple[float, float]:
    present = ~np.isnan(values)
    values, weight = values[present], weight[present]
    if len(values) == 0:  # so rarely present that the sample has none
        values, weight = np.array(facts.levels, dtype=np.float64), np.asarray(facts.counts, dtype=np.float64)
    low, middle, high = quantiles(values, weight, [0.25, 0.5, 0.75])
    half = 0.5 * high - 0.5 * low
    if half == 0:
        return float(middle), 0.5 * float(facts.high) - 0.5 * float(facts.low)
    return float(middle), float(2.0 * half if half < 0.25 * np.finfo(float).max else half)


@dataclass(frozen=True)
class MissingFlag:
    """1 where the value is missing, else 0."""

    column: str
    kind = "missing"

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def names(self) -> list[list[str]]:
        return [[f"{self.column}=missing"]]

    @staticmethod
    def encode_all(parts: list[MissingFlag], table: Columns, start=0) -> np.ndarray:
        """The flags of all columns at once."""
        flags = np.zeros((len(table), len(parts)))
        for j, part in enumerate(parts):
            column = table.table[part.column]
            if column.null_count:
                flags[:, j] = pc.is_null(column).to_numpy()
        return flags


@dataclass(frozen=True)
class Indicators:
    """One indicator per level; pooled levels share "other", unseen ones are all zeros.

    `others` are the pooled levels that fit has seen; None: whatever was not kept, for there were too many to list.
    """

    column: str
    levels: tuple
    others: tuple | None
    kind = "onehot"

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def names(self) -> list[list[str]]:
        return [[f"{self.column}={level}" for level in (*self.levels, *(["other"] * self._pools))]]

    @property
    def _pools(self) -> bool:
        return self.others is None or len(self.others) > 0

    def encode(self, table: Columns, folds=None, start=0) -> np.ndarray:
        place = self._places(table.table[self.column])
        out = np.zeros((len(table), len(self.levels) + self._pools))
        rows = np.flatnonzero(place >= 0)
        out[rows, place[rows]] = 1.0
        return out

    def _places(self, column) -> np.ndarray:
        """The indicator of each row, -1 for none."""
        known, pool = len(self.levels), len(self.levels) if self.others is None else -1
        levels = (*self.levels, *(self.others or ()))
        if len(column) <= FEW:
            at = {level: min(i, known) for i, level in enumerate(levels)}
            return np.array([-1 if v is None else at.get(v, pool) for v in column.to_pylist()], dtype=np.intp)
        place = pc.fill_null(pc.index_in(column, pa.array(levels, column.type)), -1).to_numpy()
        place = np.minimum(place, known)
        if pool >= 0:
            place[(place < 0) & pc.is_valid(column).to_numpy()] = pool
        return place

    @classmethod
    def learned(cls, facts: ColumnFacts, max_onehot: int, rare: int) -> Indicators:
        """The most frequent levels, in sorted order, and the rest."""
        counts = np.asarray(facts.counts)
        kept = [level for level, count in zip(facts.levels, counts, strict=True) if count >= rare][:max_onehot]
        if len(kept) < 2:  # everything is rare: then nothing is
            kept = facts.levels[:max_onehot]
        chosen = set(kept)
        others = tuple(level for level in facts.levels if level not in chosen) if facts.exact else None
        return cls(facts.name, tuple(sorted(kept)), others)


def encode_parts(encoders, table: Columns, folds=None, start: int = 0) -> list:
    """What each encoder makes of the rows of a table, in order."""
    parts = []
    for kind, run in groupby(encoders, type):
        if hasattr(kind, "encode_all"):
            parts.append(kind.encode_all(list(run), table, start))
        else:
            parts += [encoder.encode(table, folds, start) for encoder in run]
    return parts


def numbers(table: Columns, name: str) -> np.ndarray:
    """A column of numbers or booleans as float64 with NaN where missing."""
    column = table.table[name]
    if column.type != pa.float64():
        column = column.cast(pa.float64(), safe=False)  # whole numbers beyond 2^53 to the nearest
    return column.to_numpy()
