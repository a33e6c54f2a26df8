"""Dates as numbers: linear time, and the phases of the year, the week and the day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from mercer._runtime.errors import Location, RowError
from mercer.tables.profile import ColumnProfile
from mercer.tables.values import times_of

_CYCLES = ("month", "weekday", "hour")
_DAY = 86_400_000_000  # microseconds
_FIRST_MONDAY = 4  # days after 1970-01-01


@dataclass(frozen=True)
class DateParts:
    """A date as linear time, -1 to 1 over the range of fit, and the sine and cosine of its cycles.

    sin and cos of 2 pi times the elapsed fraction of the year (by months and days), the week and the day, for each
    cycle with more than one phase in fit; missing is 0. `low` and `high` are microseconds since 1970.
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
        parts = [f"{cycle}-{function}" for cycle in self.cycles for function in ("sin", "cos")]
        return [[f"{self.column}:{part}" for part in ("time", *parts)]]

    def encode(self, values: Any, folds: np.ndarray | None = None, start: int = 0) -> np.ndarray:
        times = values.times(self.column)
        missing = np.isnat(times)
        ticks = np.where(missing, self.low, times.view(np.int64))
        half = max((self.high - self.low) / 2.0, 1.0)
        out = np.empty((len(ticks), 1 + 2 * len(self.cycles)))
        out[:, 0] = np.minimum(np.maximum((ticks - self.low - half) / half, -3.0), 3.0)
        if self.cycles:
            days = ticks // _DAY
            angle = 2 * np.pi * np.array([cycle_phase(ticks, days, cycle) for cycle in self.cycles])
            out[:, 1::2], out[:, 2::2] = np.sin(angle).T, np.cos(angle).T
        out[missing] = 0.0
        return out

    def decoded(self, time: np.ndarray) -> np.ndarray:
        """The dates that are encoded as linear time, as datetime64 in microseconds."""
        half = max((self.high - self.low) / 2.0, 1.0)
        return np.rint(self.low + half + half * np.asarray(time)).astype(np.int64).view("M8[us]")

    @classmethod
    def learned(cls, profile: ColumnProfile, sample: Any) -> DateParts:
        """The range from all rows; the cycles with more than one phase from a sample."""
        try:
            times = times_of(sample.X, profile.name)
        except RowError as error:
            raise error.located(lambda row: Location(row=int(sample.positions[row]))) from error
        ticks = times[~np.isnat(times)].view(np.int64)
        cycles = tuple(cycle for cycle in _CYCLES if len(np.unique(cycle_phase(ticks, ticks // _DAY, cycle))) > 1)
        return cls(profile.name, *_range(profile), cycles)


def cycle_phase(ticks: np.ndarray, days: np.ndarray, cycle: str) -> np.ndarray:
    """The elapsed fraction of the cycle at times in microseconds and in days since 1970."""
    if cycle == "month":
        months = days.view("M8[D]").astype("M8[M]")
        elapsed = (days - months.astype("M8[D]").view(np.int64)) / 31.0
        return (months.view(np.int64) % 12 + elapsed) / 12.0
    if cycle == "weekday":
        return (days - _FIRST_MONDAY) % 7 / 7.0
    return (ticks - _DAY * days) / _DAY


def _range(profile: ColumnProfile) -> tuple[int, int]:
    """The range in microseconds; dates written as text are compared as text, which has the same order."""
    ends = (profile.low, profile.high) if profile.kind == "date" else (min(profile.values), max(profile.values))
    low, high = (pa.array([end]).cast(pa.timestamp("us")).cast(pa.int64())[0].as_py() for end in ends)
    return low, high
