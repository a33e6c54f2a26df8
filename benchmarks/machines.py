"""Kernel machines against scikit-learn's, and Falkon in bounded memory.

MERCER_BENCH_ROWS sets the rows of the comparisons (10,000) and MERCER_BENCH_FALKON_ROWS those of Falkon (1,000,000).
"""

from __future__ import annotations

import os
import resource
import time

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from benchmarks.harness import measure, show, size, table
from mercer.kernels import Gaussian
from mercer.machines import KernelHinge, KernelRegressor

N = int(os.environ.get("MERCER_BENCH_ROWS", size("10000", "300")))
FALKON_ROWS = int(os.environ.get("MERCER_BENCH_FALKON_ROWS", size("1000000", "2000")))
D, BANDWIDTH, GAMMA = 20, 4.0, 1 / 32
CENTERS = size(2000, 100)


def run() -> None:
    falkon()  # first: the peak of memory is that of the whole process
    for dtype in (np.float64, np.float32):
        ridge(dtype)
    for alpha in (0.5, 0.05):
        hinge(alpha)


def data(n, dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D)).astype(dtype)
    return X, (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)).astype(dtype)


def falkon():
    X, y = data(FALKON_ROWS, np.float32)
    start = time.perf_counter()
    model = KernelRegressor(Gaussian(BANDWIDTH), alpha=1e-2, solver="falkon", n_centers=CENTERS, tol=1e-3).fit(X, y)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    score = float(model.score(X[:10_000], y[:10_000]))
    title = f"Falkon, n={FALKON_ROWS:,}, d={D}, {CENTERS:,} centers, float32"
    columns = ["wall s", "peak GB", "R2 of 10,000 rows", "last residual"]
    table(title, columns, [[round(seconds, 1), round(peak, 2), score, float(model.residuals_[-1])]])
    assert peak < 2.0


def ridge(dtype):
    X, y = data(N, dtype)
    ours = KernelRegressor(Gaussian(BANDWIDTH), alpha=0.1, solver="exact")
    peer = KernelRidge(alpha=0.1, kernel="rbf", gamma=GAMMA)
    rows = measure(
        {"scikit-learn KernelRidge": lambda: peer.fit(X, y), "KernelRegressor": lambda: ours.fit(X, y)},
        "scikit-learn KernelRidge",
        repeats=3,
    )
    error = np.abs(ours.predict(X[:500]) - peer.predict(X[:500])).max()
    assert error < (1e-9 if dtype is np.float64 else 1e-2), error
    same = f"largest difference of predictions {error:.1e}"
    show(f"kernel ridge, n={N:,}, d={D}, {np.dtype(dtype).name}", rows, same)


def hinge(alpha):
    X, y = data(N)
    y = y > 0
    ours = KernelHinge(Gaussian(BANDWIDTH), alpha=alpha)
    peer = SVC(C=1 / (2 * alpha), gamma=GAMMA, cache_size=1000)
    rows = measure(
        {"scikit-learn SVC": lambda: peer.fit(X, y), "KernelHinge": lambda: ours.fit(X, y)}, "scikit-learn SVC", 3
    )
    equal = np.mean(ours.predict(X) == peer.predict(X))
    assert equal > 0.97, equal
    gap = float(ours.dual_gap_[0] / ours.objective_[0])
    same = f"relative gap {gap:.1e}; {equal:.2%} of labels as SVC, which has an intercept"
    show(f"kernel hinge, n={N:,}, d={D}, alpha={alpha}", rows, same)
