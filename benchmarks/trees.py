"""Boosted trees of `TreeFeatures` beside those of scikit-learn: as many trees and leaves, on one thread."""

from __future__ import annotations

import os

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import accuracy_score, r2_score

from benchmarks.harness import race, show, threads
from mercer.learn import TreeFeatures

REPEATS = int(os.environ.get("MERCER_BENCH_REPEATS", "3"))
TREES, LEAVES = 100, 24


def run() -> None:
    with threads(1):
        scores("quantity, 20,000 x 20", *problem(20_000, 20))
        scores("two classes, 20,000 x 20", *problem(20_000, 20, classes=2))
        scores("seven classes, 10,000 x 20", *problem(10_000, 20, classes=7))
        leaves("leaves, 5,000 x 10", *problem(5000, 10))


def problem(n, d, classes=0):
    """Rows and a target of steps and interactions; half of the rows are for testing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n, d))
    score = (
        2 * np.maximum(X[:, 0], X[:, 1])
        + np.sin(2 * X[:, 2]) * (X[:, 3] > 0)
        + 0.5 * X[:, 4]
        + 0.5 * rng.normal(size=2 * n)
    )
    y = np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score) if classes else score
    return X[:n], y[:n], X[n:], y[n:]


def scores(title, X, y, X_test, y_test) -> None:
    is_class = y.dtype.kind == "i"
    kind = HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor
    peer = kind(max_iter=TREES, max_leaf_nodes=LEAVES, early_stopping=False)
    ours = TreeFeatures("score", n_trees=TREES, max_leaves=LEAVES)
    rows = race({kind.__name__: lambda: peer.fit(X, y), "TreeFeatures": lambda: ours.fit(X, y)}, kind.__name__, REPEATS)
    show(f"{title}: fit", rows)
    if not is_class:
        print(
            f"  R2: {r2_score(y_test, peer.predict(X_test)):.4f}, {r2_score(y_test, ours.transform(X_test)[:, 0]):.4f}"
        )
        return
    margins = ours.transform(X_test)
    codes = (margins[:, 0] > 0).astype(int) if margins.shape[1] == 1 else margins.argmax(axis=1)
    mine = accuracy_score(y_test, ours.classes_[codes])
    print(f"  accuracy: {accuracy_score(y_test, peer.predict(X_test)):.4f}, {mine:.4f}")


def leaves(title, X, y, X_test, _) -> None:
    peer = GradientBoostingRegressor(n_estimators=TREES, max_leaf_nodes=LEAVES, max_depth=None)
    ours = TreeFeatures("leaves", n_trees=TREES // 2, max_leaves=LEAVES)  # two ensembles, of half as many trees each
    contestants = {
        "GradientBoosting, fit and apply": lambda: peer.fit(X, y).apply(X_test),
        "TreeFeatures": lambda: ours.fit(X, y).transform(X_test),
    }
    show(f"{title}: fit, and the leaves of other rows", race(contestants, next(iter(contestants)), 1))
