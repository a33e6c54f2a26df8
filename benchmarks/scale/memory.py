"""`mercer fit` of a file larger than its memory: the resident size over time."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

from benchmarks.harness import size
from benchmarks.harness import table as record_table
from benchmarks.scale.generate import workplace, write_both
from benchmarks.scale.options import Options
from benchmarks.scale.watch import Watched, mercer, watch

#: Memory of the process before any rows, in gigabytes: interpreter, NumPy, SciPy, scikit-learn, pyarrow.
_BASE = 0.17


def memory(options: Options) -> None:
    """Fit a CSV file and the same as Parquet with `--memory` such that the resident size stays below the limit.

    With `enforced` the kernel ends a fit that goes beyond the limit: by a memory control group where one can be made.
    """
    with workplace(options.folder) as folder:
        text, parquet, n = write_both(folder, options.gigabytes)
        sizes = [os.path.getsize(path) / 1e9 for path in (text, parquet)]
        print(f"{n:,} rows, {sizes[0]:.2f} GB of CSV, {sizes[1]:.2f} GB of Parquet, limit {options.limit:g} GB")
        files = size((text, parquet), (text,))
        runs = product(options.efforts, files)
        rows = [_show(path, effort, options.limit, options.enforced, folder) for effort, path in runs]
        columns = ["fit", "ended", "wall s", "CPU s", "peak, GB", "second half / first"]
        record_table(f"fit of {n:,} rows, {sizes[0]:.2f} GB of CSV, below {options.limit:g} GB", columns, rows)


def _show(path: str, effort: str, limit: float, enforced: bool, folder: str) -> list[Any]:
    out = os.path.join(folder, "m.mercer")
    allowed = max(0.1, limit - _BASE)
    command = mercer("fit", path, "--target", "y", "--effort", effort, "--memory", allowed, "--quiet", "-o", out)
    found = watch(command, limit if enforced else None)
    name = f"{effort} {os.path.splitext(path)[1][1:]}{' enforced' if enforced else ''}"
    end = "ok" if found.code == 0 else f"FAILED ({found.code})"
    print(f"  {name:<26} {end} |{found.drawn(limit)}|", flush=True)
    return [name, end, round(found.wall, 1), round(found.cpu, 1), round(found.peak, 2), round(_growth(found), 2)]


def _growth(found: Watched) -> float:
    """The largest resident size in the second half of the time, relative to that in the first."""
    bins = [size for size in found.bins() if size]
    half = len(bins) // 2
    return max(bins[half:], default=0.0) / max(bins[:half], default=1.0)
