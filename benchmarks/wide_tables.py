"""`mercer.fit` on tables with fewer rows than columns, against linear models of scikit-learn.

A dense signal depends on all columns, a sparse one on five. Scores are those of 2,000 new rows. Times are of one thread
and one run. The search of Mercer tries more than a linear model; the others fit one.
"""

from __future__ import annotations

import os
import time
import warnings

import numpy as np
from sklearn.linear_model import LassoCV, LogisticRegressionCV, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from benchmarks.harness import size, table, threads

SIZES = size(((120, 3000), (1000, 2000), (300, 10_000)), ((60, 80),))
EFFORT = os.environ.get("MERCER_BENCH_WIDE_EFFORT", size("normal", "fast"))
NEW = size(2000, 200)
_ROWS: list[list] = []


def run():
    _ROWS.clear()
    rng = np.random.default_rng(9)
    warm = rng.normal(size=(60, 80))
    with threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers warn of what is new in their next version, and of slow convergence
        mercer.fit(warm, warm[:, 0], effort="fast")
        for n, p in SIZES:
            for signal in ("dense", "sparse", "noise"):
                _quantity(*_problem(n, p, signal), signal)
            _classes(*_problem(n, p, "dense"))
    columns = ["table", "RidgeCV", "LassoCV", "LogisticRegressionCV", "Mercer", "CPU s of Mercer"]
    table(f"R2 (accuracy of three classes) of {NEW:,} new rows", columns, _ROWS)


def _problem(n: int, p: int, signal: str):
    """Columns that share eight factors, a target, and new rows for the scores."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + NEW, p)) + 0.7 * rng.normal(size=(n + NEW, 8)) @ rng.normal(size=(8, p))
    noise = rng.normal(size=n + NEW)
    y = {
        "dense": lambda: X @ rng.normal(size=p) / np.sqrt(p) + 0.5 * noise,
        "sparse": lambda: X[:, :5] @ np.array([2.0, -1.5, 1.0, 1.0, -1.0]) + noise,
        "noise": lambda: noise,
    }[signal]()
    return X[:n], y[:n], X[n:], y[n:]


def _quantity(X, y, new, truth, signal: str):
    alphas = np.geomspace(1e-2, 1e6, 30)
    peers = {
        "RidgeCV": make_pipeline(StandardScaler(), RidgeCV(alphas)),
        "LassoCV": make_pipeline(StandardScaler(), LassoCV(cv=5, max_iter=2000, tol=1e-3)),
    }
    if X.size > 1e6:
        del peers["LassoCV"]  # minutes
    results = {name: _timed(lambda peer=peer: peer.fit(X, y)) for name, peer in peers.items()}
    results["mercer"] = _timed(lambda: mercer.fit(X, y, effort=EFFORT))
    total = np.sum((truth - truth.mean()) ** 2)
    scores = {name: 1 - np.sum((model.predict(new) - truth) ** 2) / total for name, (model, _) in results.items()}
    _show(f"{len(X)} x {X.shape[1]:,}, {signal}", scores, results)


def _classes(X, y, new, truth):
    cuts = np.quantile(y, [1 / 3, 2 / 3])
    label, right = np.digitize(y, cuts), np.digitize(truth, cuts)
    results = {"mercer": _timed(lambda: mercer.fit(X, label, effort=EFFORT))}
    if X.size <= 1e6:
        peer = make_pipeline(StandardScaler(), LogisticRegressionCV(Cs=np.geomspace(1e-6, 1.0, 7), cv=5, max_iter=200))
        results["LogisticRegressionCV"] = _timed(lambda: peer.fit(X, label))
    scores = {name: np.mean(model.predict(new) == right) for name, (model, _) in results.items()}
    _show(f"{len(X)} x {X.shape[1]:,}, three classes", scores, results)


def _timed(work):
    start = time.process_time()
    made = work()
    return made, time.process_time() - start


def _show(title: str, scores: dict, results: dict):
    parts = [f"{name} {scores[name]:.3f} ({results[name][1]:.1f} s)" for name in results]
    print(f"    {title:30s} " + "  ".join(parts), flush=True)
    names = ("RidgeCV", "LassoCV", "LogisticRegressionCV", "mercer")
    found = [round(float(scores[name]), 4) if name in scores else None for name in names]
    _ROWS.append([title, *found, round(results["mercer"][1], 1)])
