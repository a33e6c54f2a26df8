"""Forward selection against bare products X'q (the memory bandwidth), fastcan and scikit-learn, with equal results."""

from __future__ import annotations

import os
import time

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import OrthogonalMatchingPursuit as PeerPursuit

from benchmarks.harness import measure, show, size, threads
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
    show(f"{CHOSEN} of {COLUMNS:,} columns, n={ROWS:,}, float64, 1 thread", rows)


def narrow() -> None:
    """10 of 200 columns of 5,000 rows."""
    n, d, k = NARROW
    X, y = _planted(n, d, k)
    ours = GreedySelector(k).fit(X, y)
    methods = {"GreedySelector": lambda: GreedySelector(k).fit(X, y)}
    if _fastcan(k) is not None:
        methods["fastcan FastCan"] = lambda: _fastcan(k).fit(X, y)
    show(f"{k} of {d} columns, n={n:,}, 1 thread", measure(methods, "GreedySelector", repeats=REPEATS))
    wall, user = time.perf_counter(), os.times().user
    peer = SequentialFeatureSelector(LinearRegression(), n_features_to_select=k, cv=5).fit(X, y)
    wall, user = time.perf_counter() - wall, os.times().user - user
    assert np.array_equal(peer.get_support(), ours.support_), "scikit-learn selected other columns"
    fast = min(_user(lambda: GreedySelector(k).fit(X, y)) for _ in range(5))
    ratio = f"{user / max(fast, 1e-6):.0f} x GreedySelector (best of 5)"
    print(f"  SequentialFeatureSelector(cv=5) {wall:.2f} s wall {user:.2f} s user: {ratio}")


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
    show(f"{rounds} rounds over stumps, {n:,} x {d}, 1 thread", measure(methods, "AdaBoost", repeats=1))
    ours, peer = AdaBoost(rounds).fit(X, y), AdaBoostClassifier(n_estimators=rounds).fit(X, y)
    print(f"  accuracy on the training rows: {ours.score(X, y):.4f} and {peer.score(X, y):.4f}")


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
    print(
        f"\n100 of {WIDTH:,} columns of a stream of {len(X):,} rows: {wall:.1f} s wall for one pass and the selection, "
        f"{chosen:.3f} s of CPU for the selection; the stream was opened {len(passes)} times (a probe of its first "
        "block, and the pass)"
    )
    assert set(model.path_.feature[: size(40, 10)]) <= set(range(50))


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
