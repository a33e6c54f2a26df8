"""`mercer fit` of a file larger than its memory: the resident size over time."""

from __future__ import annotations

import os

from benchmarks.scale.generate import workplace, write_both
from benchmarks.scale.options import Options
from benchmarks.scale.watch import Watched, mercer, watch

#: Memory of the process before any rows, in gigabytes: interpreter, NumPy, SciPy, scikit-learn, pyarrow.
_BASE = 0.17


def memory(options: Options) -> None:
    """Fit a CSV file and the same as Parquet with `--memory` such that the resident size stays below the limit.

    The kernel enforces the limit in every second run: by a memory control group where this process may make one.
    """
    with workplace(options.folder) as folder:
        text, parquet, n = write_both(folder, options.gigabytes)
        sizes = [os.path.getsize(path) / 1e9 for path in (text, parquet)]
        print(f"{n:,} rows, {sizes[0]:.2f} GB of CSV, {sizes[1]:.2f} GB of Parquet, limit {options.limit:g} GB")
        for effort in options.efforts:
            for path in (text, parquet):
                for enforced in (False, True) if options.enforced else (False,):
                    _show(path, effort, options.limit, enforced, folder)


def _show(path: str, effort: str, limit: float, enforced: bool, folder: str) -> None:
    out = os.path.join(folder, "m.mercer")
    allowed = max(0.1, limit - _BASE)
    command = mercer("fit", path, "--target", "y", "--effort", effort, "--memory", allowed, "--quiet", "-o", out)
    found = watch(command, limit if enforced else None)
    name = f"{effort} {os.path.splitext(path)[1][1:]}{' enforced' if enforced else ''}"
    print(f"  {name:<26} {'ok' if found.code == 0 else f'FAILED ({found.code})'} {_line(found, limit)}", flush=True)


def _line(found: Watched, limit: float) -> str:
    bins = [size for size in found.bins() if size]
    half = len(bins) // 2
    growth = max(bins[half:], default=0.0) / max(bins[:half], default=1.0)
    times = f"{found.wall:7.1f} s wall {found.cpu:7.1f} s CPU"
    return f"{times}  peak {found.peak:5.2f} GB  second half / first {growth:4.2f}  |{found.drawn(limit)}|"
