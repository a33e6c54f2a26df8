"""Promised and realized scores under groups and time: the holdout of a fit against fresh groups and the next period.

Each case draws a table in which rows depend on each other: rows of a group share an effect and nearly the same columns,
or the target drifts in time. One fit splits at random, one by `groups` or `time`. The promise is the score of the
holdout with its 95 % interval, the realized score is that of the model on rows of new groups, or of the period that
follows. A promise holds if it is within its interval: the realized score lies in it (its own error is small, because
the new rows are many). A plain split is off by more than two intervals if the realized score lies further from the
promise than twice the half-width on its side.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mercer
from benchmarks.harness import size, table

#: Cases of each kind.
CASES = int(os.environ.get("MERCER_BENCH_CASES", size("10", "1")))


@dataclass(frozen=True)
class Case:
    """Rows of a fit and rows that come later: columns, targets, and the option that matches the question."""

    name: str
    data: dict[str, Any]
    y: np.ndarray
    new: dict[str, Any]
    new_y: np.ndarray
    option: dict[str, Any]


def group_case(seed: int, n_groups: int = size(150, 40), n_rows: int = 6, n_new: int = size(1500, 40)) -> Case:
    """Groups with an effect of their own; their columns repeat with little noise, so rows reveal their group."""
    rng = np.random.default_rng(seed)

    def rows(k: int) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
        group = np.repeat(np.arange(k), n_rows)
        center = rng.normal(size=(k, 4))[group]
        effect = rng.normal(size=k)[group]
        X = center + 0.02 * rng.normal(size=center.shape)
        x = rng.normal(size=len(group))
        y = 0.5 * X[:, 0] + x + 1.5 * effect + 0.3 * rng.normal(size=len(group))
        return {**{f"x{j}": X[:, j] for j in range(4)}, "x": x}, y, group

    (data, y, group), (new, new_y, _) = rows(n_groups), rows(n_new)
    data, new = {**data, "customer": group}, {**new, "customer": -1 - np.arange(len(new_y))}
    return Case(f"groups {seed}", data, y, new, new_y, {"groups": "customer"})


def time_case(seed: int, n_days: int = size(120, 40), n_new: int = size(120, 40), n_rows: int = 8) -> Case:
    """A level that changes from day to day (autoregressive); a column of day numbers reveals that of known days."""
    rng = np.random.default_rng(1000 + seed)
    total = n_days + n_new
    level = np.zeros(total)
    for t in range(1, total):
        level[t] = 0.5 * level[t - 1] + rng.normal()
    number = np.repeat(np.arange(total), n_rows)
    X = rng.normal(size=(len(number), 3))
    y = 1.5 * level[number] + X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=len(number))
    day = np.datetime64("2020-01-01") + number.astype("timedelta64[D]")
    data = {**{f"x{j}": X[:, j] for j in range(3)}, "number": number.astype(np.float64), "day": day}
    cut = n_days * n_rows
    first, last = ({name: values[part] for name, values in data.items()} for part in (slice(cut), slice(cut, None)))
    return Case(f"time {seed}", first, y[:cut], last, y[cut:], {"time": "day"})


def r2(y: np.ndarray, predicted: np.ndarray) -> float:
    return float(1 - np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2))


@dataclass(frozen=True)
class Outcome:
    """A promise with its interval, and what was realized."""

    promised: float
    low: float
    high: float
    realized: float

    @property
    def distance(self) -> float:
        """The distance of promise and realized score, in half-widths of the interval on that side."""
        half = self.promised - self.low if self.realized < self.promised else self.high - self.promised
        return abs(self.realized - self.promised) / max(half, 1e-12)


def outcome(case: Case, option: dict[str, Any], metric: str | None = None) -> Outcome:
    """Fit, and compare the holdout with the rows that come later."""
    model = mercer.fit(case.data, case.y, effort="fast", report=False, metric=metric, **option)
    found = model.report()["holdout"]["model"]
    predicted = model.predict(case.new)
    realized = r2(case.new_y, predicted)
    if metric == "rmse":
        realized = float(np.sqrt(np.mean((case.new_y - predicted) ** 2)))
    return Outcome(found["value"], found["low"], found["high"], realized)


def compare(kind: str, make: Callable[[int], Case], metric: str | None) -> None:
    print(f"\n{kind}: {metric or 'r2'}, promised (95 % interval) and realized; distance in half-widths of the interval")
    held, misled, rows = 0, 0, []
    for seed in range(CASES):
        case = make(seed)
        split, plain = outcome(case, case.option, metric), outcome(case, {}, metric)
        held += split.distance <= 1
        misled += plain.distance > 2
        rows.append([case.name, *map(float, (split.promised, split.low, split.high, split.realized))])
        rows[-1] += [float(plain.promised), float(plain.realized)]
        print(
            f"{case.name:>10}  split {split.promised:7.3f} ({split.low:7.3f} to {split.high:7.3f}) "
            f"realized {split.realized:7.3f}: {split.distance:5.1f}   "
            f"plain {plain.promised:7.3f} realized {plain.realized:7.3f}: {plain.distance:6.1f}",
            flush=True,
        )
    title = f"{kind}, {metric or 'r2'}: the realized score is within the interval in {held} of {CASES} cases; a random "
    title += f"split is off by more than two intervals in {misled}"
    columns = ["case", "promised", "low", "high", "realized", "random split: promised", "realized"]
    table(title, columns, rows)


def run() -> None:
    kinds = os.environ.get("MERCER_BENCH_KINDS", "groups time").split()
    if "groups" in kinds:
        compare("groups", group_case, None)
    if "time" in kinds:
        compare("time", time_case, "rmse")


if __name__ == "__main__":
    run()
