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
        moments = np.where(missing, np.datetime64(self.low, "us"), moments)
        half = max((self.high - self.low) / 2.0, 1.0)
        out = np.empty((len(moments), 1 + 2 * len(self.cycles)))
        out[:, 0] = np.clip((moments.astype(np.int64) - self.low - half) / half, -3.0, 3.0)
        for i, cycle in enumerate(self.cycles):
            angle = 2 * np.pi * cycle_phase(moments, cycle)
            out[:, 1 + 2 * i], out[:, 2 + 2 * i] = np.sin(angle), np.cos(angle)
        out[missing] = 0.0
        return out

    @classmethod
    def learned(cls, facts: ColumnFacts, sample) -> DateParts:
        """The range of all rows; which cycles turn, from a sample."""
        moments = moments_of(sample.X, facts.name)
        moments = moments[~np.isnat(moments)]
        turning = tuple(cycle for cycle in _CYCLES if len(np.unique(cycle_phase(moments, cycle))) > 1)
        return cls(facts.name, *_ticks(facts), turning)


def cycle_phase(moments: np.ndarray, cycle: str) -> np.ndarray:
    """Where in its cycle each moment is, as a share of a turn."""
    days = moments.astype("M8[D]")
    if cycle == "month":
        months = days.astype("M8[M]")
        passed = (days - months.astype("M8[D]")).astype(np.int64) / 31.0
        return (months.astype(np.int64) % 12 + passed) / 12.0
    if cycle == "weekday":
        return (days.astype(np.int64) - _FIRST_MONDAY) % 7 / 7.0
    return (moments.astype(np.int64) % _DAY) / _DAY


def _ticks(facts: ColumnFacts) -> tuple[int, int]:
    """The range in microseconds; dates written as text are compared as text, whose order is theirs."""
    ends = (facts.low, facts.high) if facts.kind == "date" else (min(facts.levels), max(facts.levels))
    low, high = (pa.array([end]).cast(pa.timestamp("us")).cast(pa.int64())[0].as_py() for end in ends)
    return low, high
