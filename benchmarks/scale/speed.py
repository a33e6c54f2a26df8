"""Streaming against its lower bound, and Dask workers against threads."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import size, table
from benchmarks.scale.generate import workplace
from benchmarks.scale.options import Options
from mercer.expand import RandomFeatures
from mercer.kernels import Gaussian
from mercer.linear import RidgeRegressor
from mercer.source import ParquetSource
from mercer.stats import Gram

_D, _GROUP, _REPEATS, _FEATURES = size((100, 65_536, 3, 1024), (5, 500, 1, 16))


def throughput(options: Options) -> None:
    """Gram matrices of five folds from a file, against reading its row groups and one product of each block."""
    with workplace(options.folder) as folder:
        for dtype in (np.float32, np.float64):
            source = ParquetSource(_written(folder, options.rows, dtype), target="y", dtype=dtype)
            ways = {
                "reading and the bare product": lambda source=source: _bare(source),
                "one Gram matrix": lambda source=source: source.fold(Gram(1)),
                "five Gram matrices by hash": lambda source=source: source.fold(Gram(5)),
            }
            _compare(f"{options.rows:,} x {_D} {np.dtype(dtype)}", ways)


def _bare(source: ParquetSource) -> None:
    total = np.zeros((len(source.names) + 1,) * 2)
    for block in source.blocks():
        Z = np.column_stack([block.X, np.ones(len(block), block.X.dtype)])
        for start in range(0, len(Z), 1024):
            rows = Z[start : start + 1024]
            total += rows.T @ rows


def _compare(title: str, ways: dict[str, Callable[[], Any]]) -> None:
    best: dict[str, tuple[float, float]] = {}
    for _ in range(_REPEATS):
        for name, way in ways.items():
            wall, cpu = time.perf_counter(), time.process_time()
            way()
            spent = (time.perf_counter() - wall, time.process_time() - cpu)
            best[name] = tuple(map(min, zip(best.get(name, spent), spent, strict=True)))  # type: ignore[assignment]
    reference = next(iter(best.values()))
    rows = [
        [name, *(round(each, 2) for each in (wall, cpu, wall / reference[0], cpu / reference[1]))]
        for name, (wall, cpu) in best.items()
    ]
    table(f"throughput, {title}", ["method", "wall s", "CPU s", "x wall", "x CPU"], rows)


def _written(folder: str, n: int, dtype: Any) -> str:
    path, rng = os.path.join(folder, f"{n}-{np.dtype(dtype)}.parquet"), np.random.default_rng(0)
    names = [f"x{j}" for j in range(_D)]
    kind = pa.from_numpy_dtype(np.dtype(dtype))
    with pq.ParquetWriter(path, pa.schema([*((name, kind) for name in names), ("y", pa.float64())])) as out:
        for start in range(0, n, _GROUP):
            X = rng.normal(size=(min(_GROUP, n - start), _D)).astype(dtype)
            out.write_table(pa.table({**dict(zip(names, X.T.copy(), strict=True)), "y": X[:, 0].astype(float)}))
    return path


def workers(options: Options) -> None:
    """Random features and their Gram matrix, a fit bound by computing: threads, and one and two workers in turn."""
    with workplace(options.folder) as folder:
        source = ParquetSource(_written(folder, options.rows, np.float32), target="y", dtype=np.float32)
        ways = {
            "threads": lambda: _fitted(source, time.process_time),
            "1 Dask worker": lambda: _fitted_on(1, source, folder),
            "2 Dask workers": lambda: _fitted_on(2, source, folder),
        }
        runs = [{name: way() for name, way in ways.items()} for _ in range(_REPEATS)]
    times = {name: np.median([run[name][:2] for run in runs], axis=0) for name in ways}
    here, one, two = times.values()
    columns = ["where", "wall s", "CPU s", "speed, of one worker", "CPU, of threads"]
    found = [
        [name, *(round(float(each), 2) for each in (wall, cpu, one[0] / wall, cpu / here[1]))]
        for name, (wall, cpu) in times.items()
    ]
    table(f"random features and ridge of {options.rows:,} rows", columns, found)
    speed, cost = one[0] / two[0], two[1] / here[1]
    print(f"    two workers are {speed:.2f} x as fast as one, with {cost:.2f} x the CPU of threads", flush=True)
    print(f"    the same bits everywhere: {len({coef for run in runs for *_, coef in run.values()}) == 1}", flush=True)


def _fitted_on(n: int, source: ParquetSource, folder: str) -> tuple[float, float, bytes]:
    """The fit on a local cluster of n workers, whose CPU counts as well."""
    from distributed import Client, LocalCluster

    from mercer.source.dask import lean_workers

    local = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "local_directory": folder}
    with lean_workers():
        started = LocalCluster(n_workers=n, threads_per_worker=1, **local)
    with started as cluster, Client(cluster) as client:
        _fitted(source.on(client), time.process_time)  # new workers import and allocate: 1.6 s the first time
        return _fitted(source.on(client), lambda: time.process_time() + sum(client.run(time.process_time).values()))


def _fitted(source: Any, cpu: Callable[[], float]) -> tuple[float, float, bytes]:
    """Seconds of wall time and of CPU of the fit, and the bytes of its coefficients."""
    features = RandomFeatures(Gaussian(10.0), n_components=_FEATURES).fit(source)
    wall, before = time.perf_counter(), cpu()
    ridge = RidgeRegressor().fit(features.transform(source))
    return time.perf_counter() - wall, cpu() - before, ridge.coef_.tobytes()
