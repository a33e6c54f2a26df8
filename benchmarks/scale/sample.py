"""What a search on a sample costs: the score on the holdout with all rows in memory, and with samples of them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import mercer
from benchmarks.harness import size
from benchmarks.harness import table as record_table
from benchmarks.scale.generate import table, workplace
from benchmarks.scale.options import Options

#: Columns that say where a row belongs.
_NOT_FEATURES = ("split", "test_fold")
_FRACTIONS = size((1.0, 0.5, 0.25, 0.1), (1.0, 0.5))
#: Files of fewer rows are left out.
_MIN_ROWS = size(20_000, 200)


def sample(options: Options) -> None:
    """Scores on the same holdout; the linear weights come from all rows in every case."""
    rows = []
    with workplace(options.folder) as folder:
        for name, path, target in _tables(folder, options):
            for effort in options.efforts:
                scores = [_score(path, target, effort, fraction) for fraction in _FRACTIONS]
                rows.append([f"{name} {effort}", scores[0][0], *(round(value, 4) for _, value in scores)])
                print(f"  {rows[-1]}", flush=True)
    columns = ["table", "metric", *(f"{fraction:.0%}" for fraction in _FRACTIONS)]
    record_table("search on a sample: score of new rows by the fraction of rows in the sample", columns, rows)


def _score(path: str, target: str, effort: str, fraction: float) -> tuple[str, float]:
    """Metric and value of the final model on new rows: the file beside, with the ending .new.parquet."""
    n = pq.ParquetFile(path).metadata.num_rows

    def rows(*_: object) -> tuple[float, object]:
        return (np.inf if fraction == 1 else fraction * n), _[2]

    with mock.patch("mercer.auto.run.search_rows", rows):  # the number of rows that fit
        model = mercer.fit(path, target, effort=effort, holdout=0, report=False)
    new = pq.read_table(path.replace(".parquet", ".new.parquet"))
    predicted, y = model.predict(new.drop([target])), new[target].to_numpy(zero_copy_only=False)
    if model.classes_ is not None:
        return "accuracy", float(np.mean(predicted.astype(str) == y.astype(str)))
    return "R2", float(1 - np.mean((y - predicted) ** 2) / np.var(y))


def _tables(folder: str, options: Options) -> Iterator[tuple[str, str, str]]:
    rows = table(np.random.default_rng(3), options.rows)
    yield _split(folder, "generated", rows, "y")
    label = pa.array(np.where(rows["y"].to_numpy() > 0, "high", "low"))
    yield _split(folder, "generated classes", rows.set_column(rows.num_columns - 1, "y", label), "y")
    for path in sorted(glob.glob(os.path.join(options.data, "*.parquet"))) if options.data else ():
        found = pq.read_table(path)
        found = found.drop([name for name in found.column_names if name.startswith(_NOT_FEATURES)])
        target = next(
            (name for name in ("target", "y", "class", "price", "Cover_Type") if name in found.column_names), None
        )
        if target is not None and found.num_rows >= _MIN_ROWS:
            yield _split(folder, os.path.basename(path)[:-8], found, target)


def _split(folder: str, name: str, rows: pa.Table, target: str) -> tuple[str, str, str]:
    """Four fifths of the rows to fit, the others to predict."""
    order = np.random.default_rng(0).permutation(rows.num_rows)
    cut = rows.num_rows * 4 // 5
    path = os.path.join(folder, f"{name.replace(' ', '-')}.parquet")
    pq.write_table(rows.take(order[:cut]), path, row_group_size=65_536)
    pq.write_table(rows.take(order[cut:]), path.replace(".parquet", ".new.parquet"))
    return f"{name} ({cut:,} rows)", path, target
