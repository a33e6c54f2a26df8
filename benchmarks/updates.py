"""Updates of a model beside a new fit: seconds, the difference to a refit of the linear part, and sizes of files."""

from __future__ import annotations

import os
import tempfile
import time

import numpy as np

import mercer

ROWS = int(os.environ.get("MERCER_BENCH_ROWS", "20000"))
EFFORT = os.environ.get("MERCER_BENCH_EFFORT", "fast")


def run():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 8))
    eta = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3]
    y = eta + 0.3 * rng.normal(size=ROWS)
    old = ROWS - ROWS // 20
    head = f"  {'task':<16} {'features':>8} {'fit':>8} {'update':>8} {'forget':>8}"
    print(f"{head} {'part':>9} {'with MB':>8} {'MB':>6}")
    for task, target in (("regression", y), ("classification", (eta > 0).astype(int))):
        seconds, model = _timed(
            lambda t=target: mercer.fit(X[:old], t[:old], effort=EFFORT, report=False, updatable=True)
        )
        size = _file_size(model)
        state, model.state = model.state, None
        without = _file_size(model)
        model.state = state
        update, _ = _timed(lambda m=model, t=target: m.update(X[old:], t[old:]))
        forget, _ = _timed(lambda m=model, t=target: m.forget(X[old:], t[old:]))
        width = model.predictor.features.width
        row = f"  {task:<16} {width:8d} {seconds:8.2f} {update:8.2f} {forget:8.2f} {update / seconds:9.2%}"
        print(f"{row} {size:8.2f} {without:6.2f}", flush=True)


def _timed(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def _file_size(model):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.mercer")
        model.save(path)
        return os.path.getsize(path) / 2**20
