"""Linear models: a ridge path against one Gram product; logistic regression against scikit-learn, at equal loss."""

from __future__ import annotations

import os
import time

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from benchmarks.harness import difference, measure, show, size, table
from mercer.linear import LogisticClassifier, RidgeRegressor

ROWS = int(os.environ.get("MERCER_BENCH_ROWS", size("200000", "600")))
COLUMNS = size(1000, 20)


def run():
    for dtype in (np.float64, np.float32):
        ridge_path(dtype)
    logistic()


def ridge_path(dtype, d=size(2000, 60), n_alphas=100):
    """All penalties on five folds and the refit, relative to the product X'X that any method needs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, d)).astype(dtype)
    y = X[:, :50] @ rng.normal(size=50) + rng.normal(size=ROWS)
    path = RidgeRegressor(np.geomspace(1e-2, 1e6, n_alphas), n_folds=5)
    rows = measure({"X.T @ X": lambda: X.T @ X, "RidgeRegressor": lambda: path.fit(X, y)}, "X.T @ X", repeats=3)
    peer = Ridge(path.alpha_).fit(X, y)
    error = difference(path.predict(X[:500]), peer.predict(X[:500]))
    assert error < (1e-8 if dtype is np.float64 else 1e-2), error
    same = f"chosen penalty {path.alpha_:.3g}; predictions differ from those of Ridge by {error:.0e} of the largest"
    title = f"ridge path, {n_alphas} penalties x 5 folds, {ROWS:,} x {d:,} {np.dtype(dtype).name}, 2 threads"
    show(title, rows, same)


def logistic():
    X, y = _problem(ROWS, COLUMNS)
    alpha = 1.0
    rows = _measure(
        {
            "mercer LogisticClassifier": LogisticClassifier(alpha, tol=1e-4),
            "scikit-learn lbfgs": LogisticRegression(C=1 / (2 * alpha), tol=1e-4, max_iter=500),
            "scikit-learn newton-cholesky": LogisticRegression(C=1 / (2 * alpha), solver="newton-cholesky", tol=1e-4),
        },
        X,
        y,
        lambda model: _log_objective(model, X, y, alpha),
    )
    columns = ["solver", "wall s", "CPU s", "excess of the mean objective", "steps"]
    table(f"logistic regression, {ROWS:,} x {COLUMNS:,} float32, alpha = {alpha:g}", columns, rows)


def _problem(n, d):
    """Correlated columns of different variances, as lifts produce them."""
    rng = np.random.default_rng(0)
    mix = rng.normal(size=(d, d)) * np.geomspace(1.0, 0.03, d)[:, None] / np.sqrt(d)
    X = np.empty((n, d), dtype=np.float32)
    for start in range(0, n, 8192):
        stop = min(start + 8192, n)
        X[start:stop] = rng.normal(size=(stop - start, d)) @ mix
    score = X @ (2.0 * rng.normal(size=d)).astype(np.float32)
    return X, (score / score.std() + rng.logistic(size=n) * 0.5 > 0).astype(int)


def _measure(methods, X, y, objective):
    done = {}
    for name, model in methods.items():
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(X, y)
        spent = time.perf_counter() - wall, time.process_time() - cpu
        done[name] = *spent, objective(model), int(np.max(model.n_iter_))
    best = min(value for _, _, value, _ in done.values())
    rows = [
        [name, round(wall, 2), round(cpu, 2), float(f"{(value - best) / len(X):.2g}"), steps]
        for name, (wall, cpu, value, steps) in done.items()
    ]
    assert all(row[3] < 1e-2 for row in rows), rows
    return rows


def _log_objective(model, X, y, alpha):
    score = X.astype(np.float64) @ model.coef_[0] + model.intercept_
    return np.sum(np.logaddexp(0.0, np.where(y == 1, -score, score))) + alpha * np.sum(model.coef_**2)
