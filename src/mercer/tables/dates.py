"""Points in time as numbers: how far along, and where in the year, the week and the day."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from mercer.tables.facts import ColumnFacts
from mercer.tables.values import moments_of

_CYCLES = ("month", "weekday", "hour")
_DAY = 86_400_000_000  # microseconds
_FIRST_MONDAY = 4  # days after 1970-01-01


@dataclass(frozen=True)
class DateParts:
    """A point in time as linear time, -1 to 1 over the range of fit, and the cycles that the data go through.

    sin and cos of 2 pi times the share of the year (by months and days), the week and the day that has passed, each
    where more than one occurs in fit; missing is 0. `low` and `high` are microseconds since 1970.
    """

    column: str
    low: int
    high: int
    cycles: tuple[str, ...]
    kind = "date"

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def names(self) -> list[list[str]]:
        parts = [f"{cycle}-{wave}" for cycle in self.cycles for wave in ("sin", "cos")]
        return [[f"{self.column}:{part}" for part in ("time", *parts)]]

    def encode(self, values, folds=None, start=0) -> np.ndarray:
        moments = values.moments(self.column)
        missing = np.isnat(moments)
        ticks = np.where(missing, self.low, moments.view(np.int64))
        half = max((self.high - self.low) / 2.0, 1.0)
        out = np.empty((len(ticks), 1 + 2 * len(self.cycles)))
        out[:, 0] = np.minimum(np.maximum((ticks - self.low - half) / half, -3.0), 3.0)
        if self.cycles:
            days = ticks // _DAY
            angle = 2 * np.pi * np.array([cycle_phase(ticks, days, cycle) for cycle in self.cycles])
            out[:, 1::2], out[:, 2::2] = np.sin(angle).T, np.cos(angle).T
        out[missing] = 0.0
        return out

    @classmethod
    def learned(cls, facts: ColumnFacts, sample) -> DateParts:
        """The range of all rows; which cycles turn, from a sample."""
        moments = moments_of(sample.X, facts.name)
        ticks = moments[~np.isnat(moments)].view(np.int64)
        turning = tuple(cycle for cycle in _CYCLES if len(np.unique(cycle_phase(ticks, ticks // _DAY, cycle))) > 1)
        return cls(facts.name, *_ticks(facts), turning)


def cycle_phase(ticks: np.ndarray, days: np.ndarray, cycle: str) -> np.ndarray:
    """Where in its cycle each moment, in microseconds and in days since 1970, is: as a share of a turn."""
    if cycle == "month":
        months = days.view("M8[D]").astype("M8[M]")
        passed = (days - months.astype("M8[D]").view(np.int64)) / 31.0
        return (months.view(np.int64) % 12 + passed) / 12.0
    if cycle == "weekday":
        return (days - _FIRST_MONDAY) % 7 / 7.0
    return (ticks - _DAY * days) / _DAY


def _ticks(facts: ColumnFacts) -> tuple[int, int]:
    """The range in microseconds; dates written as text are compared as text, whose order is theirs."""
    ends = (facts.low, facts.high) if facts.kind == "date" else (min(facts.levels), max(facts.levels))
    low, high = (pa.array([end]).cast(pa.timestamp("us")).cast(pa.int64())[0].as_py() for end in ends)
    return low, high
