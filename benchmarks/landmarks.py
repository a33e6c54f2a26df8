"""Landmarks against its two matrix products and Nystroem; with ridge, against Nystroem and Ridge on many rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
from sklearn.kernel_approximation import Nystroem

from benchmarks.harness import difference, measure, show, size, table, threads
from mercer.expand import Landmarks
from mercer.kernels import Gaussian

N, D, OUT = size((50_000, 50, 1000), (500, 5, 50))
RIDGE_ROWS = int(os.environ.get("MERCER_BENCH_ROWS", size("200000", "1000")))
RIDGE_COLUMNS, RIDGE_BANDWIDTH = 10, 3.0
RIDGE_LANDMARKS = min(2000, RIDGE_ROWS // 20)
MORE_CENTERS = RIDGE_LANDMARKS * 9 // 8
DRAWS, DRAW_ROWS, DRAW_CENTERS = size(8, 2), min(20_000, RIDGE_ROWS), min(1000, RIDGE_ROWS // 20)


def run() -> None:
    for dtype in (np.float32, np.float64):
        X = np.random.default_rng(0).normal(size=(N, D)).astype(dtype)
        compared = methods(X)
        for n in (1, 2):
            with threads(n):
                rows = measure(compared, "two bare products")
            title = f"transform, {dtype.__name__}, {n} thread(s), n={N:,}, d={D}, {OUT} landmarks"
            show(title, rows, both_are_nystroem(X))
    choosing()
    draws()
    ridge()


def methods(X):
    rng = np.random.default_rng(1)
    first, second = (rng.normal(size=shape).astype(X.dtype) for shape in ((D, OUT), (OUT, OUT)))
    ours = Landmarks(OUT, Gaussian(10.0), "uniform").fit(X)
    peer = Nystroem(gamma=1 / 200, n_components=OUT, random_state=0).fit(X[:5000])
    return {
        "two bare products": lambda: (X @ first) @ second,
        "Landmarks": lambda: ours.transform(X),
        "scikit-learn Nystroem": lambda: peer.transform(X),
    }


def choosing() -> None:
    """The residual trace, and the time of the choice, on clusters of very different sizes."""
    rng = np.random.default_rng(0)
    sizes = rng.pareto(0.8, size=300) + 0.05
    X = 4 * rng.normal(size=(300, 10))[rng.choice(300, size=size(20_000, 600), p=sizes / sizes.sum())]
    X = X + 0.3 * rng.normal(size=X.shape)
    ways = ("rpcholesky", "uniform", "kmeans")
    fits = {how: (lambda how=how: Landmarks(300, Gaussian(1.5), how).fit(X)) for how in ways}
    left = [[how, float(Landmarks(300, Gaussian(1.5), how).fit(X).residual(X).mean())] for how in ways]
    same = "fraction of the trace that is left: " + ", ".join(f"{how} {value:.4f}" for how, value in left)
    show("fit on 20,000 rows of 300 clusters, 300 landmarks", measure(fits, "uniform", repeats=2), same)
    table("fraction of the trace that 300 landmarks leave", ["choice", "left"], left)


def both_are_nystroem(X):
    """Nystroem features of the same landmarks give the same approximate kernel: K_b (K_bb)^-1 K_b'."""
    some, few = X[:200].astype(np.float64), 40
    peer = Nystroem(gamma=1 / 200, n_components=few, random_state=0).fit(X[:2000].astype(np.float64))
    ours = Landmarks(few, Gaussian(10.0), landmarks=peer.components_).fit(X[:2000].astype(np.float64))
    error = difference(ours.transform(some) @ ours.transform(some).T, peer.transform(some) @ peer.transform(some).T)
    assert error < 1e-6, error
    return f"with equal landmarks the approximate kernels differ by {error:.0e} of the largest value"


def draws() -> None:
    """R2 of Falkon and of Nystroem with Ridge on the same rows, for several draws of the centers.

    One draw says little: which directions the centers span beyond those that all draws span is luck.
    """
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    from mercer.machines import KernelRegressor

    X, y = smooth_problem()
    train, test = slice(0, DRAW_ROWS), slice(RIDGE_ROWS, None)
    kernel, gamma = Gaussian(RIDGE_BANDWIDTH), 1 / (2 * RIDGE_BANDWIDTH**2)
    ways = {
        "falkon": lambda seed: KernelRegressor(
            kernel, 1e-3, "falkon", n_centers=DRAW_CENTERS, tol=1e-3, random_state=seed
        ),
        "sklearn": lambda seed: make_pipeline(
            Nystroem(gamma=gamma, n_components=DRAW_CENTERS, random_state=seed), Ridge(1e-3)
        ),
    }
    rows = []
    for who, model in ways.items():
        found = [_r2(model(seed).fit(X[train], y[train]).predict(X[test]), y[test]) for seed in range(DRAWS)]
        rows.append([who, float(np.mean(found)), float(min(found)), float(max(found))])
    title = f"R2 over {DRAWS} draws of {DRAW_CENTERS} centers, n={DRAW_ROWS:,}"
    table(title, ["method", "mean", "smallest", "largest"], rows)


def _r2(predicted, y):
    return 1 - np.mean((predicted - y) ** 2) / np.var(y)


def ridge() -> None:
    """Run each method in its own process, to measure its memory."""
    ways = {
        "mercer": "Landmarks, ridge path",
        "falkon": "Falkon",
        "falkon+": f"Falkon, {MORE_CENTERS:,} centers",
        "sklearn": "scikit-learn Nystroem, Ridge",
        "falkon64": "Falkon, float64",
        "sklearn64": "scikit-learn Nystroem, Ridge, float64",
    }
    rows = []
    for who in size(tuple(ways), ()):
        command = [sys.executable, "-m", "benchmarks.landmarks", who]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        rows.append([ways[who], *json.loads(done.stdout.splitlines()[-1])])
    if rows:
        title = f"{RIDGE_LANDMARKS:,} centers and ridge, {RIDGE_ROWS:,} x {RIDGE_COLUMNS} float32, two threads"
        table(title, ["method", "wall s", "CPU s", "MB more", "R2"], rows)


def smooth_problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(RIDGE_ROWS + 20_000, RIDGE_COLUMNS)).astype(np.float32)
    y = np.sin(X[:, 0] + X[:, 1]) + 0.5 * np.tanh(X[:, 2] * X[:, 3]) + 0.1 * rng.normal(size=len(X))
    return X, y


def one(who: str) -> None:
    """Fit and score one method, and measure its memory."""
    import resource
    import time

    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    from mercer.linear import RidgeRegressor
    from mercer.machines import KernelRegressor
    from mercer.source import MemorySource

    X, y = smooth_problem()
    X = X.astype(np.float64) if who.endswith("64") else X
    train, test = slice(0, RIDGE_ROWS), slice(RIDGE_ROWS, None)
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    with threads(2):
        if who == "mercer":
            features = Landmarks(RIDGE_LANDMARKS, Gaussian(RIDGE_BANDWIDTH)).fit(X[train])
            model = RidgeRegressor().fit(features.transform(MemorySource(X[train], y[train])))
            predicted = model.predict(features.transform(X[test]))
        elif who.startswith("falkon"):
            n_centers = MORE_CENTERS if who == "falkon+" else RIDGE_LANDMARKS
            machine = KernelRegressor(Gaussian(RIDGE_BANDWIDTH), 1e-3, "falkon", n_centers=n_centers, tol=1e-3)
            predicted = machine.fit(X[train], y[train]).predict(X[test])
        else:
            gamma = 1 / (2 * RIDGE_BANDWIDTH**2)
            peer = Nystroem(gamma=gamma, n_components=RIDGE_LANDMARKS, random_state=0)
            predicted = make_pipeline(peer, Ridge(1e-3)).fit(X[train], y[train]).predict(X[test])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) / 1024
    score = _r2(predicted, y[test])
    print(json.dumps([round(wall, 1), round(cpu, 1), round(memory), round(float(score), 4)]))


if __name__ == "__main__":
    one(sys.argv[1])
