"""`mercer predict` on many rows: rows per second, and the resident size over time."""

from __future__ import annotations

import os

import numpy as np

import mercer as package
from benchmarks.scale.generate import table, workplace, write_parquet
from benchmarks.scale.options import Options
from benchmarks.scale.watch import mercer, watch


def predict(options: Options) -> None:
    """Predict with a model of effort `fast`, from Parquet to Parquet and to CSV."""
    with workplace(options.folder) as folder:
        path, model = os.path.join(folder, "new.parquet"), os.path.join(folder, "m.mercer")
        package.fit(table(np.random.default_rng(0), 100_000), "y", effort="fast", report=False).save(model)
        for n in (options.predicted // 4, options.predicted):
            write_parquet(path, n)
            for form in ("parquet", "csv"):
                out = os.path.join(folder, f"out.{form}")
                found = watch(mercer("predict", model, path, "--quiet", "-o", out))
                start = watch(mercer("predict", model, path, "--help"))
                rate, busy = n / found.wall / 1e6, (found.cpu - start.cpu) / n * 1e6
                shown = f"{rate:5.2f} million rows/s wall, {busy:5.2f} s CPU per million rows"
                print(
                    f"  {n:>11,} rows to {form:<8} {shown}  peak {found.peak:5.2f} GB  |{found.drawn(1.0)}|", flush=True
                )
