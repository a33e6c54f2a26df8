"""How much work a search may do."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from mercer.auto.boosting import Growth


@dataclass(frozen=True)
class Effort:
    """Sizes of a search: trees, waves to search with and to end with, rows to search on, multiples of the median."""

    growth: Growth
    n_seeds: int = 1
    n_bins: int = 16
    search_waves: int = 256
    search_rows: int = 4000
    most_waves: int = 2048
    multiples: tuple[float, ...] = (0.35, 0.7, 1.4)
    kernels: tuple[str, ...] = ("Gaussian", "Laplace")
    metric_rows: int = 4000
    metric_waves: int = 256
    n_rounds: int = 3
    most_features: int = 1_000_000


EFFORTS = {
    "fast": Effort(
        Growth(n_trees=150, rate=0.1, patience=15, max_bins=64),
        search_waves=128,
        search_rows=2000,
        most_waves=512,
        multiples=(0.5, 1.0),
        kernels=("Gaussian",),
        metric_rows=2000,
        metric_waves=128,
        n_rounds=2,
    ),
    "normal": Effort(Growth(n_trees=600, rate=0.08)),
    "high": Effort(
        Growth(n_trees=900, rate=0.04, patience=50),
        n_seeds=3,
        n_bins=24,
        most_waves=4096,
        multiples=(0.25, 0.5, 1.0, 2.0),
        kernels=("Gaussian", "Laplace", "Matern"),
        metric_rows=12_000,
        metric_waves=768,
    ),
}


def sized(effort: Effort, n: int, n_outputs: int) -> Effort:
    """The effort that data of this size deserve: few rows cannot tell many candidates apart, many classes need many
    trees each round."""
    growth = effort.growth
    if n_outputs > 2:  # rounds cost a tree per class: fewer and longer steps
        share = max(0.25, 2.0 / n_outputs)
        growth = replace(growth, n_trees=max(60, int(growth.n_trees * share)), rate=min(0.2, growth.rate / share))
    if n < 500:
        growth = replace(growth, n_trees=min(growth.n_trees, 60), least_rows=5.0, max_leaves=8, patience=10)
        return replace(
            effort, growth=growth, search_waves=64, most_waves=128, multiples=(1.0,), kernels=("Gaussian",), n_rounds=0
        )
    return replace(effort, growth=growth)


class Clock:
    """A time budget in seconds, None without end; `now` tells the time.

    >>> clock = Clock(10.0, now=iter([0.0, 4.0, 4.0]).__next__)
    >>> clock.left(), clock.allows(0.3)
    (6.0, False)
    """

    def __init__(self, budget: float | None = None, now=time.perf_counter):
        self.budget, self.now = budget, now
        self.start = now()

    def spent(self) -> float:
        return self.now() - self.start

    def left(self) -> float:
        """Seconds until the end, infinite without a budget."""
        return math.inf if self.budget is None else self.budget - self.spent()

    def part(self, share: float) -> Clock:
        """A clock that started with this one and has a share of its time."""
        other = Clock(None if self.budget is None else share * self.budget, self.now)
        other.start = self.start
        return other

    def allows(self, share: float) -> bool:
        """True while less than this share of the budget is spent."""
        return self.budget is None or self.spent() < share * self.budget
