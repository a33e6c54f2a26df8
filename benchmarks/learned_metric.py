"""Random features in the learned metric against as many plain ones, on public data sets.

`--data` names the folder of the data: Parquet files with a column "target". The bandwidth of the plain features is
chosen by the same cross-validation, as round 0 of the learned metric, and both get the same ridge path.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.harness import data_file, size, table
from mercer.expand import RandomFeatures
from mercer.learn import LearnedMetric
from mercer.linear import RidgeClassifier, RidgeRegressor
from mercer.normalize import Impute, Standardize

SETS = ("kin8nm", "pumadyn32nm", "kin40k", "fried", "california_housing", "magic_telescope")
TRAIN_ROWS = 10_000
COLUMNS = size(1024, 32)
SPLITS = int(os.environ.get("MERCER_BENCH_SPLITS", size("3", "1")))


def run() -> None:
    found = []
    for name in SETS:
        path = data_file(name)
        if path is None:
            continue
        rows = [compare(*load(path, seed)) for seed in range(SPLITS)]
        plain, learned, seconds = np.mean([row[:3] for row in rows], axis=0)
        modes = sorted({row[4] for row in rows})
        scores = [round(float(each), 4) for each in (plain, learned, learned - plain)]
        found.append([name, *scores, round(float(seconds), 1), rows[0][3], ", ".join(modes)])
        print(f"  {found[-1]}", flush=True)
    if found:
        columns = ["set", "plain metric", "learned metric", "gain", "CPU s of the metric", "rounds", "kept"]
        title = f"R2 (accuracy) of test rows with {COLUMNS:,} random features, means of {SPLITS} splits"
        table(title, columns, found)


def load(path: Path, seed: int):
    """Standardized numeric columns and the target, split at random into training and test rows."""
    import pyarrow.parquet as pq

    frame = pq.read_table(path).to_pandas()
    y = frame.pop("target").to_numpy()
    frame = frame[[name for name in frame if not name.startswith(("split", "test_fold"))]].select_dtypes("number")
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = frame.to_numpy(dtype=np.float64)[order], y[order]
    n = min(TRAIN_ROWS, 3 * len(y) // 4)
    impute = Impute(indicators=False).fit(X[:n])
    scale = Standardize().fit(impute.transform(X[:n]))
    X = np.clip(scale.transform(impute.transform(X)), -6.0, 6.0)
    return X[:n], y[:n], X[n : n + TRAIN_ROWS], y[n : n + TRAIN_ROWS]


def compare(X, y, X_test, y_test):
    """Scores of plain and learned features, the CPU time of the metric, rounds and mode selected."""
    start = time.process_time()
    metric = LearnedMetric().fit(X, y)
    seconds = time.process_time() - start
    history = metric.history_
    first = history[history["round"] == 0]
    plain = replace(metric.kernel_.kernel, bandwidth=float(first["bandwidth"][np.argmin(first["loss"])]))
    model = RidgeRegressor() if metric.classes_ is None else RidgeClassifier()
    scores = []
    for kernel in (plain, metric.kernel_):
        features = RandomFeatures(kernel, n_components=COLUMNS, random_state=1).fit(X)
        scores.append(model.fit(features.transform(X), y).score(features.transform(X_test), y_test))
    kept = str(history["mode"][np.argmin(np.abs(history["loss"] - metric.loss_))])
    return *scores, seconds, int(history["round"].max()), kept
