"""The same bits however rows arrive: in memory, in seven blocks, in merged halves, from a file, on any threads."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable

import numpy as np

from benchmarks.harness import size, table, threads
from mercer._numeric.block import Block
from mercer.expand import RandomFeatures
from mercer.kernels import Gaussian
from mercer.linear import RidgeRegressor
from mercer.normalize import Standardize
from mercer.source import MemorySource, ParquetSource, StreamSource

N, D, OUT = size((150_000, 10, 256), (140_000, 3, 16))


def run() -> None:
    rng = np.random.default_rng(0)
    X = 100.0 + rng.normal(size=(N, D)) * np.geomspace(0.1, 10, D)
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=N)
    bounds = np.sort(rng.integers(0, N, size=6)).tolist()
    pieces = [slice(a, b) for a, b in zip([0, *bounds], [*bounds, N], strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        ways: dict[str, Callable] = {
            "in memory": lambda: fitted(MemorySource(X, y)),
            "in memory, one thread": lambda: on_one_thread(lambda: fitted(MemorySource(X, y))),
            "seven blocks": lambda: fitted(StreamSource(lambda: (Block(X[p], y[p]) for p in pieces))),
            "Parquet file": lambda: fitted(ParquetSource(written(folder, X, y), target="y")),
            "halves, merged": lambda: merged(MemorySource(X, y)),
        }
        results = {name: way() for name, way in ways.items()}
    reference = results["in memory"]
    rows = [[name, "yes" if bits == reference else "NO"] for name, bits in results.items()]
    table(f"{N:,} x {D}: the same bits as in memory", ["rows come from", "same bits"], rows)
    assert all(bits == reference for bits in results.values())


def fitted(source) -> bytes:
    scale = Standardize().fit(source)
    features = RandomFeatures(Gaussian(3.0), n_components=OUT).fit(scale.transform(source))
    ridge = RidgeRegressor().fit(features.transform(scale.transform(source)))
    return bits(scale, ridge)


def merged(source) -> bytes:
    halves = source.halves()
    first, second = (Standardize().fit(half) for half in halves)
    scale = first.merge(second)
    features = RandomFeatures(Gaussian(3.0), n_components=OUT).fit(scale.transform(source))
    one, other = (RidgeRegressor().fit(features.transform(scale.transform(half))) for half in halves)
    return bits(scale, one.merge(other))


def bits(scale, ridge) -> bytes:
    learned = (scale.mean_, scale.scale_, ridge.coef_, ridge.intercept_, ridge.losses_)
    return b"".join(np.asarray(value).tobytes() for value in learned)


def on_one_thread(function):
    with threads(1):
        return function()


def written(folder, X, y):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = os.path.join(folder, "rows.parquet")
    columns = {f"x{j}": X[:, j] for j in range(D)}
    pq.write_table(pa.table({**columns, "y": y}), path, row_group_size=40_000)
    return path
