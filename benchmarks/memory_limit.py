"""Growth of a process during `mercer.fit` on a file, relative to the gigabytes that `memory=` allows.

Each fit runs in its own process, on a streamed Parquet file. The growth is the largest resident size minus that before
the fit, after all imports and a small fit. Set MERCER_BENCH_MEMORY_EFFORT to "normal" or "high" for larger searches.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import mercer
from benchmarks.harness import size, table

EFFORT = os.environ.get("MERCER_BENCH_MEMORY_EFFORT", "fast")
TABLES = size(((400_000, 30), (100_000, 100)), ((2000, 3),))
TASKS = size(("quantity", "classes"), ("classes",))
LIMITS = size((0.3, 0.5, 1.0), (0.3,))
#: Rows of a row group.
_GROUP = 20_000


def run():
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n_rows, n_columns in TABLES:
            for task in TASKS:
                path = _table(Path(folder) / f"{n_rows}_{n_columns}_{task}.parquet", n_rows, n_columns, task)
                for limit in LIMITS:
                    growth = _measured(path, limit)
                    shape = f"{n_rows:,} x {n_columns}, {task}"
                    rows.append([shape, limit, round(growth, 3), round(growth / limit, 2)])
                    print(f"  {shape:28s} {limit:4.1f} {growth:6.2f} {growth / limit:6.2f}", flush=True)
    table(f"growth of the process, effort={EFFORT!r}", ["table", "memory=, GB", "growth, GB", "fraction"], rows)


def _table(path: Path, n_rows: int, n_columns: int, task: str) -> Path:
    """Cosines, products and a linear part, written one row group at a time."""
    rng = np.random.default_rng(0)
    slope = 0.3 * rng.normal(size=n_columns)
    names = [f"x{j}" for j in range(n_columns)]
    kind = pa.float64() if task == "quantity" else pa.int64()
    with pq.ParquetWriter(path, pa.schema([*((name, pa.float64()) for name in names), ("y", kind)])) as writer:
        for start in range(0, n_rows, _GROUP):
            X = rng.normal(size=(min(_GROUP, n_rows - start), n_columns))
            y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X @ slope + 0.5 * rng.normal(size=len(X))
            y = y if task == "quantity" else (y > 0).astype(np.int64)
            writer.write_table(pa.table({**dict(zip(names, X.T.copy(), strict=True)), "y": y}))
    return path


def _measured(path: Path, limit: float) -> float:
    """Growth of a separate process in gigabytes."""
    command = [sys.executable, "-m", "benchmarks.memory_limit", str(path), str(limit), EFFORT]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def _grow(path: str, limit: float, effort: str) -> float:
    rng = np.random.default_rng(0)
    for label in (rng.normal(size=300), rng.integers(0, 2, 300)):
        mercer.fit(rng.normal(size=(300, 4)), label, effort="fast")
    before = _resident()
    mercer.fit(path, "y", effort=effort, memory=limit)
    return _resident() - before


def _resident() -> float:
    """The largest resident size so far in gigabytes; macOS counts bytes, Linux kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9


if __name__ == "__main__":
    print(_grow(sys.argv[1], float(sys.argv[2]), sys.argv[3]))
