"""Filters against SciPy and scikit-learn on 50,000 x 100, with the same ranking."""

from __future__ import annotations

import os

import numpy as np
from scipy import stats
from sklearn.feature_selection import f_classif, mutual_info_classif

from benchmarks.harness import measure, once, show, size, threads
from mercer.select import FilterSelector

ROWS = int(os.environ.get("MERCER_BENCH_ROWS", size("50000", "300")))
COLUMNS = size(100, 8)


def run() -> None:
    X, y = problem(ROWS, COLUMNS)
    labels = (y > 0).astype(int)
    with threads(1):
        spearman(X, y)
        pearson(X, labels)
        information(X, labels)


def problem(n, d):
    """Columns from useful to useless, with different nonlinearities."""
    rng = np.random.default_rng(0)
    signal = rng.normal(size=n)
    X = signal[:, None] * np.geomspace(2.0, 0.05, d) + rng.normal(size=(n, d))
    X[:, ::4] = X[:, ::4] ** 3
    X[:, 1::4] = np.exp(X[:, 1::4])
    return X, signal + 0.3 * rng.normal(size=n)


def spearman(X, y):
    peer, ours = [], []
    rows = measure(
        {
            "SciPy spearmanr, column by column": lambda: peer.append([stats.spearmanr(x, y)[0] for x in X.T]),
            "FilterSelector('spearman')": lambda: ours.append(FilterSelector("spearman").fit(X, y).correlations_),
        },
        "FilterSelector('spearman')",
        repeats=3,
    )
    error = np.abs(np.array(peer[0]) - ours[0]).max()
    assert error < 1e-9, error
    show(f"Spearman, {X.shape[0]:,} x {X.shape[1]}, 1 thread", rows, f"largest difference {error:.1e}")


def pearson(X, labels):
    """F of two classes is a function of the correlation: F = r^2 (n - 2) / (1 - r^2)."""
    r = FilterSelector("pearson", target="classes").fit(X, labels).correlations_
    expected = f_classif(X, labels)[0]
    error = np.abs(r**2 * (len(X) - 2) / (1 - r**2) / expected - 1).max()
    assert error < 1e-6, error
    rows = measure(
        {
            "scikit-learn f_classif": lambda: f_classif(X, labels),
            "FilterSelector('pearson')": lambda: FilterSelector("pearson", target="classes").fit(X, labels),
        },
        "FilterSelector('pearson')",
        repeats=3,
    )
    same = f"F from the correlations equals that of f_classif up to {error:.1e}"
    show(f"Pearson with classes, {X.shape[0]:,} x {X.shape[1]}, 1 thread", rows, same)


def information(X, labels):
    """Run scikit-learn once: it takes a minute. It estimates the information from neighbors, ours from bins."""
    theirs = []
    model = FilterSelector("mutual_information")
    name = "FilterSelector('mutual_information')"
    (row,) = measure({name: lambda: model.fit(X, labels)}, name, 3)
    peer = once(
        "scikit-learn mutual_info_classif", lambda: theirs.extend(mutual_info_classif(X, labels, random_state=0)), row
    )
    agreement = stats.spearmanr(theirs, model.scores_)[0]
    assert agreement > size(0.95, 0.3), agreement
    same = f"rank correlation of the scores {agreement:.3f}"
    show(f"mutual information, {X.shape[0]:,} x {X.shape[1]}, 1 thread", [row, peer], same)
