"""RandomFeatures of polynomial kernels beside PolynomialCountSketch: 20,000 rows of 256 columns to 4,096 outputs."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.kernel_approximation import PolynomialCountSketch

from benchmarks.harness import race, show, threads
from mercer.expand import RandomFeatures
from mercer.kernels import Polynomial

N, D, OUT = 20_000, 256, 4096
SEEDS = 5


def run() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    for dtype in (np.float32, np.float64):
        for degree in (2, 3):
            rows = X.astype(dtype)
            for n in (1, 2):
                with threads(n):
                    show(
                        f"degree {degree}, {dtype.__name__}, {n} thread(s)",
                        race(contestants(rows, degree), "Mercer", 3),
                    )
            compare_errors(rows[:400], degree)
    thin = sparse.random(N, 100_000, density=1e-3, format="csr", random_state=0)
    with threads(1):
        show("degree 2, CSR 20,000 x 100,000 with 100 entries per row", race(contestants(thin, 2, 1024), "Mercer", 3))


def contestants(X, degree, n_components=OUT):
    ours, peer = maps(degree, n_components, 0)
    ours.fit(X)
    peer.fit(X)
    return {"Mercer": lambda: ours.transform(X), "scikit-learn": lambda: peer.transform(X)}


def maps(degree, n_components, seed):
    return (
        RandomFeatures(Polynomial(degree), n_components, random_state=seed),
        PolynomialCountSketch(degree=degree, gamma=1.0, coef0=1.0, n_components=n_components, random_state=seed),
    )


def compare_errors(X, degree):
    """Root mean square error of the kernel over all pairs of rows and a few seeds: equal, up to chance."""
    exact = Polynomial(degree)(X)
    errors = []
    for seed in range(SEEDS):
        features = (features.fit_transform(X) for features in maps(degree, OUT, seed))
        errors.append([np.sqrt(np.mean((Z @ Z.T - exact) ** 2)) for Z in features])
    ours, theirs = np.mean(errors, axis=0)
    print(f"  root mean square error of the kernel: Mercer {ours:.4f}, scikit-learn {theirs:.4f}")
    assert ours < 1.1 * theirs
