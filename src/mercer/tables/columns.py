"""The numbers that one column becomes. Each encoder is a few learned values and `encode`, rows in, numbers out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer.normalize.ranks import quantiles
from mercer.source import Columns
from mercer.tables.facts import ColumnFacts

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
    def names(self) -> list[str]:
        return [self.column]

    def encode(self, table: Columns, folds=None, start=0) -> np.ndarray:
        x = numbers(table, self.column)
        if np.isinf(x).any():
            row = int(np.flatnonzero(np.isinf(x))[0])
            raise ValueError(
                f"Column {self.column!r} contains infinity, first at row {start + row}. "
                "Make it missing, or drop the row."
            )
        if self.scale == 0:
            return np.zeros((len(x), 1))
        with np.errstate(over="ignore"):
            z = np.clip((0.5 * x - 0.5 * self.center) / (0.5 * self.scale), -_HUGE, _HUGE)
        z = z / np.sqrt(1.0 + (z / 3.0) ** 2)
        return np.where(np.isnan(x), 0.0, z)[:, None]

    @classmethod
    def learned(cls, facts: ColumnFacts, values: np.ndarray, weight: np.ndarray) -> Squashed:
        """From a sample of the column's present values; the range is that of all rows."""
        if len(values) == 0:  # so rarely present that the sample has none
            values, weight = np.array(facts.levels, dtype=np.float64), np.asarray(facts.counts, dtype=np.float64)
        low, middle, high = quantiles(values, weight, [0.25, 0.5, 0.75])
        half = 0.5 * high - 0.5 * low
        scale = 2.0 * half if 0 < half < 0.25 * np.finfo(float).max else 0.0
        if half == 0:
            scale = 0.5 * float(facts.high) - 0.5 * float(facts.low)
        elif scale == 0.0:
            scale = half
        return cls(facts.name, float(middle), float(scale))


@dataclass(frozen=True)
class MissingFlag:
    """1 where the value is missing, else 0."""

    column: str
    kind = "missing"

    @property
    def names(self) -> list[str]:
        return [f"{self.column}=missing"]

    def encode(self, table: Columns, folds=None, start=0) -> np.ndarray:
        return pc.is_null(table.table[self.column]).to_numpy().astype(np.float64)[:, None]


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
    def names(self) -> list[str]:
        other = ["other"] if self.others is None or self.others else []
        return [f"{self.column}={_label(level)}" for level in self.levels] + [f"{self.column}={word}" for word in other]

    def encode(self, table: Columns, folds=None, start=0) -> np.ndarray:
        column = table.table[self.column]
        out = np.zeros((len(table), len(self.names)))
        place = self._places(column, self.levels)
        if self.others is None:
            place[(place < 0) & pc.is_valid(column).to_numpy()] = len(self.levels)
        elif self.others:
            place[self._places(column, self.others) >= 0] = len(self.levels)
        rows = np.flatnonzero(place >= 0)
        out[rows, place[rows]] = 1.0
        return out

    @staticmethod
    def _places(column, levels) -> np.ndarray:
        return pc.fill_null(pc.index_in(column, pa.array(levels, column.type)), -1).to_numpy().copy()

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


@dataclass(frozen=True)
class DateParts:
    """A point in time as linear time in [-1, 1] over the range of fit, and the cycles that the data go through.

    sin and cos of the month, the day of the week and the hour, each where more than one occurs in fit; missing is 0.
    """

    column: str
    low: int
    high: int
    cycles: tuple[str, ...]
    kind = "date"

    @property
    def names(self) -> list[str]:
        parts = [f"{cycle}-{wave}" for cycle in self.cycles for wave in ("sin", "cos")]
        return [f"{self.column}:{part}" for part in ("time", *parts)]

    def encode(self, table: Columns, folds=None, start=0) -> np.ndarray:
        moments = pc.cast(table.table[self.column], pa.timestamp("us"))
        missing = pc.is_null(moments).to_numpy()
        ticks = pc.fill_null(pc.cast(moments, pa.int64()), self.low).to_numpy().astype(np.float64)
        half = max((self.high - self.low) / 2.0, 1.0)
        parts = [np.clip((ticks - self.low - half) / half, -3.0, 3.0)]
        for cycle in self.cycles:
            angle = 2 * np.pi * cycle_phase(moments, cycle)
            parts += [np.sin(angle), np.cos(angle)]
        return np.where(missing[:, None], 0.0, np.stack(parts, axis=1))

    @classmethod
    def learned(cls, facts: ColumnFacts, moments) -> DateParts:
        """The range of all rows; which cycles turn, from a sample of moments."""
        moments = moments.drop_null()
        turning = [cycle for cycle in _CYCLES if len(np.unique(cycle_phase(moments, cycle))) > 1]
        return cls(facts.name, *_ticks(facts), tuple(turning))


_CYCLES = ("month", "weekday", "hour")


def cycle_phase(moments, cycle: str) -> np.ndarray:
    """Where in its cycle each moment is, as a share of a turn; 0 where missing."""
    if cycle == "month":
        phase = pc.divide(pc.cast(pc.subtract(pc.day_of_year(moments), 1), pa.float64()), 366.0)
    elif cycle == "weekday":
        phase = pc.divide(pc.cast(pc.day_of_week(moments), pa.float64()), 7.0)
    else:
        minutes = pc.add(pc.multiply(pc.hour(moments), 60), pc.minute(moments))
        phase = pc.divide(pc.cast(minutes, pa.float64()), 1440.0)
    return pc.fill_null(phase, 0.0).to_numpy(zero_copy_only=False)


def _ticks(facts: ColumnFacts) -> tuple[int, int]:
    """The range in microseconds; dates written as text are compared as text, whose order is theirs."""
    ends = (facts.low, facts.high) if facts.kind == "date" else (min(facts.levels), max(facts.levels))
    low, high = (pa.array([end]).cast(pa.timestamp("us")).cast(pa.int64())[0].as_py() for end in ends)
    return low, high


def numbers(table: Columns, name: str) -> np.ndarray:
    """A column of numbers or booleans as float64 with NaN where missing."""
    return pc.fill_null(pc.cast(table.table[name], pa.float64()), np.nan).to_numpy()


def _label(level: Any) -> str:
    return str(level)
