"""RandomFeatures against the bare matrix product and RBFSampler: n = 50,000, d = 64, 4,096 outputs."""

from __future__ import annotations

import numpy as np
from sklearn.kernel_approximation import RBFSampler

from benchmarks.harness import busy_core, measure, show, size, threads
from mercer.expand import RandomFeatures
from mercer.kernels import Gaussian

N, D, OUT = size((50_000, 64, 4096), (300, 16, 64))


def run() -> None:
    for dtype in (np.float32, np.float64):
        X = np.random.default_rng(0).normal(size=(N, D)).astype(dtype)
        for n in (1, 2):
            with threads(n):
                rows = measure(methods(X), "bare product")
            show(f"{dtype.__name__}, {n} thread(s), n={N:,}, d={D}, {OUT} outputs", rows, check(X))
    wide()
    busy()


def methods(X):
    W = np.random.default_rng(1).normal(size=(D, OUT)).astype(X.dtype)
    half = np.ascontiguousarray(W[:, : OUT // 2])
    pairs = RandomFeatures(Gaussian(8.0), n_components=OUT).fit(X)
    phase = RandomFeatures(Gaussian(8.0), n_components=OUT, pairing="phase").fit(X)
    peer = RBFSampler(gamma=1 / 128, n_components=OUT, random_state=0).fit(X)
    return {
        "bare product": lambda: X @ W,
        "bare product to half the columns": lambda: X @ half,
        "RandomFeatures (cos-sin)": lambda: pairs.transform(X),
        "RandomFeatures (phase)": lambda: phase.transform(X),
        "scikit-learn RBFSampler": lambda: peer.transform(X),
    }


def check(X):
    """Check that every map estimates the same kernel, with an error that its variance explains."""
    return errors(
        X[:500],
        Gaussian(8.0),
        {
            "cos-sin": RandomFeatures(Gaussian(8.0), n_components=OUT),
            "phase": RandomFeatures(Gaussian(8.0), n_components=OUT, pairing="phase"),
            "RBFSampler": RBFSampler(gamma=1 / 128, n_components=OUT, random_state=0),
        },
    )


def errors(rows, kernel, maps):
    """Check the root mean square errors of Z Z' against the kernel, and return them in words."""
    exact, found = kernel(rows), []
    for name, features in maps.items():
        Z = features.fit_transform(rows)
        error = np.sqrt(np.mean((Z @ Z.T - exact) ** 2))
        assert error < 3 / OUT**0.5, (name, error)
        found.append(f"{name} {error:.4f}")
    return f"error of the kernel (root mean square): {', '.join(found)}"


def wide():
    """Rows of thousands of columns: structured frequencies need neither the product nor the memory of dense ones."""
    X = np.random.default_rng(0).normal(size=size((2_000, 2048), (50, 128))).astype(np.float32)
    maps = {
        way: RandomFeatures(Gaussian(64.0), n_components=OUT, sampling=way).fit(X)
        for way in ("orthogonal", "structured")
    }
    with threads(1):
        rows = measure({way: lambda m=m: m.transform(X) for way, m in maps.items()}, "orthogonal", 3)
    same = errors(X[:500], Gaussian(64.0), maps)
    show(f"wide rows (float32), 1 thread, n={len(X):,}, d={X.shape[1]}, {OUT} outputs", rows, same)


def busy():
    """The transform must not slow down much when another process uses one core."""
    X = np.random.default_rng(0).normal(size=(N, D)).astype(np.float32)
    features = RandomFeatures(Gaussian(8.0), n_components=OUT).fit(X)
    with threads(1):
        alone = measure({"one thread, machine quiet": lambda: features.transform(X)}, "one thread, machine quiet")
    with busy_core(), threads(2):
        taken = measure({"two threads, one core busy": lambda: features.transform(X)}, "two threads, one core busy")
    taken[0].ratio, taken[0].user_ratio = taken[0].wall / alone[0].wall, taken[0].user / max(alone[0].user, 0.01)
    with threads(1):
        one = features.transform(X[:5000])
    with threads(2):
        assert np.array_equal(features.transform(X[:5000]), one)
    show("one core kept busy by another process (float32)", alone + taken, "the same bits on one and two threads")
