"""RandomFeatures of polynomial kernels against PolynomialCountSketch: 20,000 rows of 256 columns to 4,096 outputs."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.kernel_approximation import PolynomialCountSketch

from benchmarks.harness import measure, show, size, threads
from mercer.expand import RandomFeatures
from mercer.kernels import Polynomial

N, D, OUT = size((20_000, 256, 4096), (200, 16, 512))
TRIED = size((1028, 1280, 1536, 2048, 3072, OUT, 4352), (256, OUT))
SEEDS = size(10, 3)


def run() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    for dtype in size((np.float32, np.float64), (np.float32,)):
        for degree in size((2, 3), (2,)):
            equal_columns(X.astype(dtype), degree)
            equal_error(X.astype(dtype), degree, "rows of norm 1")
            equal_error(4 * X.astype(dtype), degree, "rows of norm 4, beside which the offset is small")
    thin = sparse.random(
        *size((1000, 100_000), (20, 2000)), density=1e-3, format="csr", random_state=0
    )  # scikit-learn makes it dense
    with threads(1):
        rows = measure(methods(thin, 2, OUT // 4), "Mercer", 3)
    show("degree 2, CSR 1,000 x 100,000 with 100 entries per row", rows, compared(thin, 2, OUT // 4))


def equal_columns(X, degree):
    for n in (1, 2):
        with threads(n):
            title = f"degree {degree}, {X.dtype}, {n} thread(s)"
            show(title, measure(methods(X, degree), "Mercer", 3), compared(X, degree, OUT))


def compared(X, degree, n_components):
    """Check that the estimates of the kernel are as good as scikit-learn's with as many columns."""
    ours, theirs = errors(X, degree, n_components, n_components)
    assert ours < 1.1 * theirs
    return f"error of the kernel (root mean square): Mercer {ours:.4g}, scikit-learn {theirs:.4g}"


def equal_error(X, degree, which):
    """The smallest tried number of Mercer's columns whose measured error is no larger than scikit-learn's."""
    for few in TRIED:
        ours, theirs = errors(X, degree, few)
        if ours <= theirs:
            break
    sizes = f"{few} columns (error {ours:.4g}) against {OUT} ({theirs:.4g})"
    for n in (1, 2):
        with threads(n):
            title = f"equal error: degree {degree}, {X.dtype}, {n} thread(s), {which}, {sizes}"
            same = f"error of the kernel (root mean square): Mercer {ours:.4g}, scikit-learn {theirs:.4g}"
            show(title, measure(methods(X, degree, few, OUT), "Mercer", 3), same)


def methods(X, degree, n_components=OUT, of_peer=None):
    ours, peer = maps(degree, n_components, 0, of_peer)
    ours.fit(X)
    peer.fit(X)
    return {"Mercer": lambda: ours.transform(X), "scikit-learn": lambda: peer.transform(X)}


def maps(degree, n_components, seed, of_peer=None):
    peer = of_peer or n_components
    return (
        RandomFeatures(Polynomial(degree), n_components=n_components, random_state=seed),
        PolynomialCountSketch(degree=degree, gamma=1.0, coef0=1.0, n_components=peer, random_state=seed),
    )


def errors(X, degree, n_components=OUT, of_peer=OUT):
    """Root mean square errors of the kernel over all pairs of 400 rows and a few seeds: Mercer's and scikit-learn's."""
    rows = X[:400]
    exact = Polynomial(degree)(rows)
    squares = []
    for seed in range(SEEDS):
        features = (features.fit_transform(rows) for features in maps(degree, n_components, seed, of_peer))
        squares.append([np.mean((_dense(Z @ Z.T) - exact) ** 2) for Z in features])
    return np.sqrt(np.mean(squares, axis=0))


def _dense(A):
    return A.toarray() if sparse.issparse(A) else A
