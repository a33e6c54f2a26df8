"""Updates of a model beside a new fit: seconds, how exactly forgetting takes them back, and sizes of files."""

from __future__ import annotations

import os
import tempfile
import time

import numpy as np

import mercer
from benchmarks.harness import size, table

ROWS = int(os.environ.get("MERCER_BENCH_ROWS", size("20000", "1000")))
EFFORT = os.environ.get("MERCER_BENCH_EFFORT", "fast")


def run():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 8))
    eta = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3]
    y = eta + 0.3 * rng.normal(size=ROWS)
    old = ROWS - ROWS // 20
    rows = []
    for task, target in (("regression", y), ("classification", (eta > 0).astype(int))):
        seconds, model = _timed(
            lambda t=target: mercer.fit(X[:old], t[:old], effort=EFFORT, report=False, updatable=True)
        )
        size = _file_size(model)
        state, model.state = model.state, None
        without = _file_size(model)
        model.state = state
        before = _scores(model, X[:1000])
        update, _ = _timed(lambda m=model, t=target: m.update(X[old:], t[old:]))
        forget, _ = _timed(lambda m=model, t=target: m.forget(X[old:], t[old:]))
        width = model.predictor.features.width
        difference = float(np.max(np.abs(_scores(model, X[:1000]) - before)) / np.std(before))
        rows.append([task, width, seconds, update, forget, update / seconds, difference, size, without])
    columns = ["task", "features", "fit s", "update s", "forget s", "update / fit", "back", "MB", "MB without sums"]
    table(f"CPU seconds of an update with {ROWS // 20} rows after a fit of {old} rows", columns, rows)
    print("  back: largest difference of scores after the update is forgotten, in standard deviations of the scores")


def _scores(model, X):
    return model.predict(X) if model.classes_ is None else np.log(model.predict_proba(X)[:, 1])


def _timed(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def _file_size(model):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.mercer")
        model.save(path)
        return os.path.getsize(path) / 2**20
