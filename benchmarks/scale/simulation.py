"""Slow and failing workers, simulated: how long a fold takes, relative to healthy workers.

Parts are submitted in order, at most `ahead` for each worker beyond the first that has not ended, as
`mercer.source.engine` does. A part that takes longer than twice the longest so far plus five seconds is started once
more on another worker, as `mercer.source.dask` does. The parts of a worker that dies start anew elsewhere.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from benchmarks.harness import size, table
from benchmarks.scale.options import Options

_AHEAD, _TIMES, _SECONDS = 8, 2.0, 5.0


@dataclass
class Cluster:
    """Workers of one thread: `speed` factors of the time of a part, and failures per second of work."""

    speed: np.ndarray
    failures: float = 0.0
    restart: float = 30.0
    again: bool = True
    seed: int = 0
    #: Parts that were computed, also those whose result was lost or not needed.
    computed: int = field(default=0, init=False)

    def run(self, parts: int, seconds: float) -> float:
        """Seconds until all parts have ended, each of about `seconds`."""
        rng = np.random.default_rng(self.seed)
        free = [(0.0, worker) for worker in range(len(self.speed))]
        heapq.heapify(free)
        ends, longest = np.full(parts, np.inf), 0.0
        window, opened = _AHEAD * len(self.speed), 0.0
        for part in range(parts):
            if part >= window:  # the window moves when its first part has ended
                opened = max(opened, float(ends[part - window]))
            end, alone = self._computed(rng, free, opened, seconds)
            late = opened + _TIMES * longest + _SECONDS
            if self.again and end > late:
                end = min(end, self._computed(rng, free, late, seconds)[0])
            else:
                longest = max(longest, alone)
            ends[part] = end
        return float(ends.max())

    def _computed(
        self, rng: np.random.Generator, free: list[tuple[float, int]], start: float, seconds: float
    ) -> tuple[float, float]:
        """The end of a part on the next free worker, and its time there; one that dies costs what it had done."""
        while True:
            at, worker = heapq.heappop(free)
            begin, needed = max(at, start), seconds * self.speed[worker] * rng.lognormal(0.0, 0.1)
            self.computed += 1
            fails = self.failures and rng.random() < -np.expm1(-self.failures * needed)
            if not fails:
                heapq.heappush(free, (begin + needed, worker))
                return begin + needed, needed
            lost = begin + needed * rng.random()
            heapq.heappush(free, (lost + self.restart, worker))
            start = lost


def stragglers(options: Options) -> None:
    """A fold of 10^9 rows, 15,259 parts of 0.12 s, on 100 workers."""
    parts, seconds, n = size(15_259, 1000), 0.12, 100
    even = np.ones(n)
    one, tenth, stuck = even.copy(), even.copy(), even.copy()
    one[0], tenth[:10], stuck[0] = 10.0, 3.0, 1e6
    cases = {
        "healthy workers": Cluster(even),
        "one worker 10 times slower": Cluster(one),
        "10 of 100 workers 3 times slower": Cluster(tenth),
        "one worker stuck": Cluster(stuck),
        "a failure of each worker per hour": Cluster(even, failures=1 / 3600),
        "a failure of each worker per minute": Cluster(even, failures=1 / 60),
    }
    ideal = parts * seconds / n
    rows = []
    for name, cluster in cases.items():
        took = cluster.run(parts, seconds)
        more = cluster.computed / parts - 1
        rows.append([name, round(took, 1), round(took / ideal, 2), f"{more:.2%}"])
    title = f"simulated: {parts:,} parts of {seconds} s on {n} workers, {ideal:.1f} s of work each"
    table(title, ["workers", "s", "x the work", "parts computed again"], rows)
