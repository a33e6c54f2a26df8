"""`mercer predict` on many rows: rows per second, and the resident size over time."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import mercer as package
from benchmarks.harness import size
from benchmarks.harness import table as record_table
from benchmarks.scale.generate import table, workplace, write_parquet
from benchmarks.scale.options import Options
from benchmarks.scale.watch import mercer, watch


def predict(options: Options) -> None:
    """Predict with a model of effort `fast`, from Parquet to Parquet and to CSV.

    The second line of each format counts the rows beyond the first: without the time to start.
    """
    rows: list[list[Any]] = []
    with workplace(options.folder) as folder:
        path, model = os.path.join(folder, "new.parquet"), os.path.join(folder, "m.mercer")
        package.fit(table(np.random.default_rng(0), size(100_000, 1000)), "y", effort="fast", report=False).save(model)
        for form in size(("parquet", "csv"), ("csv",)):
            out, before = os.path.join(folder, f"out.{form}"), (0, 0.0, 0.0)
            for n in (options.predicted // 4, options.predicted):
                write_parquet(path, n)
                found = watch(mercer("predict", model, path, "--quiet", "-o", out))
                more, wall, cpu = n - before[0], found.wall - before[1], found.cpu - before[2]
                speed = f"{more / wall / 1e6:5.2f} million rows/s wall, {cpu / more * 1e6:5.2f} s CPU per million rows"
                memory = f"peak {found.peak:5.2f} GB  |{found.drawn(1.0)}|"
                print(f"  {n:>11,} rows to {form:<8} {speed}  {memory}", flush=True)
                before = (n, found.wall, found.cpu)
                speeds = round(more / wall / 1e6, 2), round(cpu / more * 1e6, 2)
                rows.append([f"{n:,} rows to {form}", *speeds, round(found.peak, 2)])
    columns = ["predict", "million rows/s, wall", "CPU s per million", "peak, GB"]
    record_table("mercer predict on a file", columns, rows)
