"""Scales from data to pixels, and round ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from mercer.report.format import number, visible

Ticks = list[tuple[float, str]]
_DAY = 86400.0


@dataclass(frozen=True)
class LinearScale:
    """pixel = start + (value - low) / (high - low) * (end - start)."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, n: int = 5) -> Ticks:
        """About n multiples of 1, 2, 2.5 or 5 times a power of ten."""
        step = nice_step(0.75 * (self.high - self.low) / max(n, 1))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(i * step, tick_label(i * step, step)) for i in range(first, last + 1)]


@dataclass(frozen=True)
class LogScale:
    """pixel linear in the logarithm of the value."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        fraction = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return self.start + fraction * (self.end - self.start)

    def ticks(self, n: int = 5) -> Ticks:
        """Powers of ten, with 2 and 5 between them where there are few."""
        low, high = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        every = max(1, round((high - low) / max(n, 1)))
        factors = (1, 2, 5) if high - low <= n / 2 else (1, 3) if high - low <= n else (1,)
        values = [factor * 10.0**power for power in range(low, high + 1, every) for factor in factors]
        return [(value, tick_label(value, value)) for value in values if self.low * 0.999 <= value <= self.high * 1.001]


@dataclass(frozen=True)
class BandScale:
    """Equal bands for n categories: the pixel of the middle of band i."""

    n: int
    start: float
    end: float

    @property
    def band(self) -> float:
        return (self.end - self.start) / max(self.n, 1)

    def __call__(self, index: float) -> float:
        return self.start + (index + 0.5) * self.band


Scale = LinearScale | LogScale | BandScale


def nice_step(step: float) -> float:
    """The smallest of 1, 2, 2.5, 5 and 10 times a power of ten that is at least `step`."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10, 20) if factor * power >= step * (1 - 1e-9))


def tick_label(value: float, step: float) -> str:
    """The value with the decimals of the step; thousands and millions as k and M."""
    size = abs(value)
    if size >= 1e12 or 0 < size < 1e-4:
        return number(value, 2)
    for unit, suffix in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if size >= unit:
            divisor = 1e3 if suffix == "k" else unit
            return f"{value / divisor:.4g}{suffix}".replace("-", "−")
    return number(round(value, max(0, 2 - math.floor(math.log10(step)))), 6).replace("-", "−")


def extent(values: Iterable[float | None], zero: bool = False) -> tuple[float, float]:
    """Smallest and largest of the finite values, never equal: constants get room on both sides."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low > 1e-12 * max(abs(low), abs(high)):
        return low, high
    room = abs(low) / 2 or 1.0
    return low - room, high + room


def linear_scale(
    values: Iterable[float | None], start: float, end: float, zero: bool = False, pad: float = 0.04
) -> LinearScale:
    """A linear scale that shows all values, with some room at the ends."""
    low, high = extent(values, zero)
    room = pad * (high - low)
    keep_zero = zero and low == 0.0
    return LinearScale(low if keep_zero else low - room, high + room, start, end)


def log_scale(values: Iterable[float | None], start: float, end: float) -> LogScale:
    """A logarithmic scale that shows all positive values."""
    positive = [value for value in values if value is not None and math.isfinite(value) and value > 0]
    low, high = (min(positive), max(positive)) if positive else (1.0, 10.0)
    if high / low < 1.2:
        low, high = low / 2, high * 2
    return LogScale(low / 1.15, high * 1.15, start, end)


def as_numbers(values: Sequence[Any]) -> tuple[str, list[float]]:
    """("number" | "date" | "category", positions): dates as seconds, categories as their indices."""
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return "number", [float(value) for value in values]
    moments = [_timestamp(value) for value in values]
    if values and None not in moments:
        return "date", [moment for moment in moments if moment is not None]
    return "category", [float(i) for i in range(len(values))]


def _timestamp(value: Any) -> float | None:
    if not isinstance(value, str) or not 10 <= len(value) <= 35:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def date_ticks(scale: LinearScale, n: int = 4) -> Ticks:
    """Up to n moments at equal distances, written as precisely as their distance needs."""
    days = (scale.high - scale.low) / _DAY
    pattern = "%Y" if days > 365 * 2 * n else "%Y-%m" if days > 60 * n else "%Y-%m-%d" if days > n else "%H:%M"
    found: Ticks = []
    for i in range(n):
        moment = scale.low + (i + 0.5) / n * (scale.high - scale.low)
        try:
            found.append((moment, datetime.fromtimestamp(moment, UTC).strftime(pattern)))
        except (OverflowError, ValueError, OSError):
            return []
    return found


def band_ticks(labels: Sequence[Any], limit: int = 12, n: int | None = None) -> Ticks:
    """One tick per category; of more than n categories only some."""
    every = 1 if n is None else max(1, math.ceil(len(labels) / n))
    return [(float(i), visible(label, limit)) for i, label in enumerate(labels) if i % every == 0]


def thinned(n: int, most: int) -> list[int]:
    """At most `most` indices below n at equal distances, first and last included."""
    if n <= most:
        return list(range(n))
    return sorted({round(i * (n - 1) / (most - 1)) for i in range(most)})
