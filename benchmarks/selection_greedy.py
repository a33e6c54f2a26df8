"""Forward selection against bare products X'q (the memory bandwidth), fastcan and scikit-learn, with equal results."""

from __future__ import annotations

import os
import time

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import OrthogonalMatchingPursuit as PeerPursuit

from benchmarks.harness import measure, once, show, size, table, threads
from mercer._numeric.block import Block
from mercer.select import AdaBoost, GreedySelector, OrthogonalMatchingPursuit
from mercer.source import StreamSource

ROWS, COLUMNS, CHOSEN = size((2000, 20_000, 100), (200, 60, 8))
NARROW = size((5000, 200, 10), (200, 12, 3))
STUMPS = size((10_000, 50, 100), (200, 5, 5))
WIDTH = int(os.environ.get("MERCER_BENCH_COLUMNS", size("5000", "120")))
REPEATS = int(os.environ.get("MERCER_BENCH_REPEATS", size("3", "1")))


def run() -> None:
    with threads(1):
        wide()
        narrow()
        boosting()
    streamed()


def _planted(n, d, informative, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, :informative] @ rng.normal(size=informative) + rng.normal(size=n)


def wide() -> None:
    """100 of 20,000 columns: at least one product with X is needed per selected column."""
    X, y = _planted(ROWS, COLUMNS, CHOSEN)
    q = np.random.default_rng(1).normal(size=ROWS)

    def limit():
        for _ in range(CHOSEN):
            X.T @ q

    methods = {
        "100 products X'q": limit,
        "GreedySelector": lambda: GreedySelector(CHOSEN).fit(X, y),
        "OrthogonalMatchingPursuit": lambda: OrthogonalMatchingPursuit(CHOSEN).fit(X, y),
        "scikit-learn OMP (another rule)": lambda: PeerPursuit(n_nonzero_coefs=CHOSEN).fit(X, y),
    }
    ours = set(GreedySelector(CHOSEN).fit(X, y).get_support(indices=True))
    fastcan = _fastcan(CHOSEN)
    if fastcan is not None:
        methods["fastcan FastCan"] = lambda: _fastcan(CHOSEN).fit(X, y)
        assert set(np.flatnonzero(fastcan.fit(X, y).get_support())) == ours, "fastcan chose other columns"
    else:
        print("fastcan is not installed (pip install fastcan): left out")
    rows = measure(methods, "100 products X'q", repeats=REPEATS)
    same = "FastCan chose the same columns; the others follow another rule" if fastcan else "FastCan is not installed"
    show(f"{CHOSEN} of {COLUMNS:,} columns, n={ROWS:,}, float64, 1 thread", rows, f"{same}, {_explained(X, y)}")


def narrow() -> None:
    """10 of 200 columns of 5,000 rows."""
    n, d, k = NARROW
    X, y = _planted(n, d, k)
    ours = GreedySelector(k).fit(X, y)
    methods = {"GreedySelector": lambda: GreedySelector(k).fit(X, y)}
    if _fastcan(k) is not None:
        methods["fastcan FastCan"] = lambda: _fastcan(k).fit(X, y)
    rows = measure(methods, "GreedySelector", repeats=REPEATS)
    peer = SequentialFeatureSelector(LinearRegression(), n_features_to_select=k, cv=5)
    rows.append(once("scikit-learn SequentialFeatureSelector(cv=5)", lambda: peer.fit(X, y), rows[0]))
    assert np.array_equal(peer.get_support(), ours.support_), "scikit-learn selected other columns"
    show(f"{k} of {d} columns, n={n:,}, 1 thread", rows, "the same columns")


def _explained(X, y) -> str:
    """R2 of the columns that the rules chose."""
    chosen = {
        "greedy": GreedySelector(CHOSEN).fit(X, y).support_,
        "our pursuit": OrthogonalMatchingPursuit(CHOSEN).fit(X, y).support_,
        "scikit-learn's": PeerPursuit(n_nonzero_coefs=CHOSEN).fit(X, y).coef_ != 0,
    }
    return "R2 " + ", ".join(
        f"{name} {LinearRegression().fit(X[:, which], y).score(X[:, which], y):.4f}" for name, which in chosen.items()
    )


def boosting() -> None:
    """100 rounds over stumps."""
    rng = np.random.default_rng(0)
    n, d, rounds = STUMPS
    X = rng.normal(size=(n, d)).round(2)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n) > 0).astype(int)
    methods = {
        "AdaBoost": lambda: AdaBoost(rounds).fit(X, y),
        "scikit-learn AdaBoostClassifier": lambda: AdaBoostClassifier(n_estimators=rounds).fit(X, y),
    }
    rows = measure(methods, "AdaBoost", repeats=1)
    ours, peer = AdaBoost(rounds).fit(X, y), AdaBoostClassifier(n_estimators=rounds).fit(X, y)
    scores = ours.score(X, y), peer.score(X, y)
    assert abs(scores[0] - scores[1]) < size(0.02, 0.2), scores
    same = f"accuracy on the training rows: {scores[0]:.4f}, {scores[1]:.4f} (scikit-learn)"
    show(f"{rounds} rounds over stumps, {n:,} x {d}, 1 thread", rows, same)


def streamed() -> None:
    """Selection from a Gram matrix of many columns: the pass over the data, and the selection."""
    length = size(8192, 512)
    X, y = _planted(2 * length, WIDTH, 50)
    passes = []

    def start():
        passes.append(1)
        return (Block(X[i : i + length], y[i : i + length]) for i in range(0, len(X), length))

    model = GreedySelector(100)
    wall = time.perf_counter()
    model.fit(StreamSource(start))
    wall = time.perf_counter() - wall
    learned = model._accumulator.result().finish()
    chosen = _user(lambda: model._finish(learned))
    assert len(passes) <= 2, "a probe of the first block, and the pass"
    assert set(model.path_.feature[: size(40, 10)]) <= set(range(50))
    title = f"100 of {WIDTH:,} columns of a stream of {len(X):,} rows, one pass"
    table(title, ["wall s", "CPU s of the selection alone"], [[round(wall, 1), round(chosen, 3)]])


def _user(work) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def _fastcan(k):
    try:
        from fastcan import FastCan
    except ImportError:
        return None
    return FastCan(k, verbose=0)


if __name__ == "__main__":
    run()
