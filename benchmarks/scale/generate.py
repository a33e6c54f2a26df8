"""A table of numbers and one category, as CSV and as Parquet, written block by block."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from benchmarks.harness import size

D, BLOCK = 20, size(65_536, 1000)
_CITIES = np.array([f"city{i}" for i in range(40)])


def table(rng: np.random.Generator, n: int) -> pa.Table:
    """Sines, a product, a linear part and effects of a category."""
    fixed = np.random.default_rng(7)
    slope, effect = 0.3 * fixed.normal(size=D), fixed.normal(size=len(_CITIES))
    X, city = rng.normal(size=(n, D)).round(5), rng.integers(0, len(_CITIES), n)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X @ slope + effect[city] + 0.5 * rng.normal(size=n)
    return pa.table({**{f"x{j}": X[:, j] for j in range(D)}, "city": _CITIES[city], "y": y.round(5)})


def write_both(folder: str, gigabytes: float) -> tuple[str, str, int]:
    """Paths of a CSV file of that size and of the same rows as Parquet, and the number of rows."""
    paths, rng, n = (
        (os.path.join(folder, "rows.csv"), os.path.join(folder, "rows.parquet")),
        np.random.default_rng(0),
        0,
    )
    schema = table(rng, 1).schema
    with open(paths[0], "wb") as text, pq.ParquetWriter(paths[1], schema) as parquet:
        while text.tell() < gigabytes * 1e9:
            rows = table(rng, BLOCK)
            csv.write_csv(rows, text, csv.WriteOptions(include_header=n == 0))
            parquet.write_table(rows)
            n += BLOCK
    return *paths, n


def write_parquet(path: str, n: int, seed: int = 1) -> str:
    """A Parquet file of `n` rows."""
    rng = np.random.default_rng(seed)
    with pq.ParquetWriter(path, table(rng, 1).schema) as out:
        for start in range(0, n, BLOCK):
            out.write_table(table(rng, min(BLOCK, n - start)))
    return path


@contextmanager
def workplace(folder: str | None) -> Iterator[str]:
    """A folder for generated files, removed at the end."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="scale-") as made:
        yield made
