"""A command with its resident size over time, sampled through /proc."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass, field

from benchmarks.scale.limits import enforced

_INTERVAL = 0.25
_BARS = " .:-=+*#%@"


@dataclass
class Watched:
    """Exit code, wall and CPU seconds, and (seconds, gigabytes) of the resident size."""

    code: int
    wall: float
    cpu: float
    curve: list[tuple[float, float]] = field(default_factory=list)

    @property
    def peak(self) -> float:
        return max((size for _, size in self.curve), default=0.0)

    def bins(self, n: int = 40) -> list[float]:
        """The largest resident size in each of `n` equal parts of the time."""
        end = max(self.wall, 1e-9)
        found = [0.0] * n
        for seconds, size in self.curve:
            at = min(n - 1, int(n * seconds / end))
            found[at] = max(found[at], size)
        return found

    def drawn(self, limit: float) -> str:
        """The curve as characters, from blank (nothing) to @ (the limit)."""
        return "".join(_BARS[min(len(_BARS) - 1, int(len(_BARS) * size / limit))] for size in self.bins())


def watch(command: list[str], limit: float | None = None) -> Watched:
    """Run a command; the kernel enforces `limit` in gigabytes (see `benchmarks.scale.limits`)."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    curve = []
    with enforced(limit) as (_, limited):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=limited)
        while process.poll() is None:
            size = _resident(process.pid)
            if size:
                curve.append((time.monotonic() - start, size))
            time.sleep(_INTERVAL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Watched(process.returncode, time.monotonic() - start, cpu, curve)


def mercer(*arguments: object) -> list[str]:
    """The command line of Mercer in this environment."""
    return [sys.executable, "-m", "mercer", *map(str, arguments)]


def _resident(process: int) -> float:
    try:
        with open(f"/proc/{process}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0
