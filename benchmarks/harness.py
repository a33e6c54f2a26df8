"""Times of several methods that compute the same, measured in turn: medians, and ratios to a reference.

`size(full, small)` is the size of a problem: the small one where MERCER_BENCH_SMOKE is set, as in the tests.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import record

SMOKE = bool(os.environ.get("MERCER_BENCH_SMOKE"))
REPEATS = int(os.environ.get("MERCER_BENCH_REPEATS", "1" if SMOKE else "7"))


def size(full: Any, small: Any) -> Any:
    """The full size of a problem, or the small one of a smoke test."""
    return small if SMOKE else full


def data_file(name: str, folder: str | None = None) -> Path | None:
    """The Parquet file of a set in the folder that `--data` names, or None; prints that it is left out if not there."""
    folder = folder or os.environ.get("MERCER_BENCH_DATA")
    path = Path(folder or "", f"{name}.parquet")
    if folder and path.exists():
        return path
    print(f"{name}: left out, there is no {path.name} (give its folder with --data)")
    return None


@dataclass
class Row:
    """One line of the results: name, median times, and ratios to the reference.

    `user` is CPU time outside the kernel of the operating system. Results in new memory cause page faults, whose cost
    on a virtual machine varies tenfold within seconds and does not depend on the method.
    """

    name: str
    wall: float
    user: float
    ratio: float
    user_ratio: float

    def __str__(self):
        times = f"{self.wall:9.4f} s wall {self.user:9.4f} s user"
        return f"{self.name:<44} {times}   {self.ratio:6.2f} x wall {self.user_ratio:6.2f} x user"


def measure(methods: dict[str, Callable[[], object]], reference: str, repeats: int = REPEATS) -> list[Row]:
    """Median times of the methods, run in turn so that noise affects all alike."""
    repeats = min(repeats, REPEATS) if SMOKE else repeats
    keep_freed_memory()
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in methods}
    for method in methods.values():
        method()
    for _ in range(repeats):
        for name, method in methods.items():
            wall, user = time.perf_counter(), os.times().user
            method()
            times[name].append((time.perf_counter() - wall, os.times().user - user))
    medians = {name: tuple(map(statistics.median, zip(*runs, strict=True))) for name, runs in times.items()}
    slow, busy = medians[reference]
    tick = 0.01  # the clock of user time; below it a ratio means nothing
    return [
        Row(name, wall, user, wall / slow, user / busy if busy >= tick else wall / slow)
        for name, (wall, user) in medians.items()
    ]


@cache
def keep_freed_memory() -> None:
    """Let the process keep the memory it has freed, so that no method pays for page faults caused by another."""
    import ctypes

    with suppress(OSError, AttributeError):  # glibc only
        libc = ctypes.CDLL("libc.so.6")
        no_mmap, never_trim = (-4, 0), (-1, -1)
        libc.mallopt(*no_mmap)
        libc.mallopt(*never_trim)


def once(name: str, method: Callable[[], object], reference: Row) -> Row:
    """One run of a method that takes too long for several, relative to a measured row."""
    wall, user = time.perf_counter(), os.times().user
    method()
    wall, user = time.perf_counter() - wall, os.times().user - user
    return Row(name, wall, user, wall / reference.wall, user / max(reference.user, 0.01))


def difference(ours: Any, theirs: Any) -> float:
    """The largest difference of two arrays, relative to the largest value."""
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def show(title: str, rows: list[Row], same: str) -> None:
    """Print and record a comparison; `same` says how the results of the methods were compared, and what came out."""
    print(f"\n{title}")
    for row in rows:
        print(f"  {row}")
    print(f"  {same}")
    reference = min(rows, key=lambda row: abs(row.ratio - 1)).name
    entry = {"title": title, "reference": reference, "rows": [asdict(row) for row in rows], "same": same}
    record.add("comparisons", entry)


def table(title: str, columns: list[str], rows: list[list[Any]]) -> None:
    """Print and record a table of figures, such as scores; the first column is the name of the row."""
    print(f"\n{title}")
    widths = [max(len(_cell(each)) for each in column) for column in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        cells = [_cell(each).rjust(width) for each, width in zip(row, widths, strict=True)]
        print("  " + "  ".join([cells[0].strip().ljust(widths[0]), *cells[1:]]))
    record.add("figures", {"title": title, "columns": columns, "rows": rows})


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@contextmanager
def threads(n: int):
    """Run everything on n threads: Mercer's pool, BLAS and OpenMP."""
    import sklearn.ensemble  # noqa: F401  a limit binds the libraries that are loaded, and this loads that of OpenMP
    from threadpoolctl import threadpool_limits

    before = os.environ.get("MERCER_THREADS")
    os.environ["MERCER_THREADS"] = str(n)
    try:
        with threadpool_limits(n):
            yield
    finally:
        os.environ.pop("MERCER_THREADS")
        if before is not None:
            os.environ["MERCER_THREADS"] = before


@contextmanager
def busy_core():
    """Keep one core busy with another process."""
    process = multiprocessing.get_context("spawn").Process(target=_spin, daemon=True)
    process.start()
    time.sleep(0.5)
    try:
        yield
    finally:
        process.terminate()
        process.join()


def _spin():
    while True:
        pass
