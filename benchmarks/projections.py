"""Projections against scikit-learn's and against the dense products they replace."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import hadamard
from sklearn.feature_extraction import FeatureHasher
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

from benchmarks.harness import measure, show, size, threads
from benchmarks.sequences import same_table
from mercer import _numeric
from mercer.project import FeatureHashing, GaussianProjection, HadamardProjection, SparseProjection


def run() -> None:
    for n in (1, 2):
        with threads(n):
            sparse_rows(n)
            dense_rows(n)
    with threads(1):
        transforms()
        names()


def sparse_rows(n_threads, n=size(20_000, 50), d=size(1_000_000, 5000), stored=100, m=1024, s=8):
    """CSR rows: no fit and nothing stored, against a stored matrix of the same density."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, d, size=(n, stored)), axis=1).astype(np.int32).ravel()
    rows = np.arange(0, n * stored + 1, stored, dtype=np.int32)
    X = sparse.csr_matrix((rng.normal(size=n * stored).astype(np.float32), columns, rows), shape=(n, d))
    X.sum_duplicates()
    ours, peer = SparseProjection(m, s).fit(X), peer_of(d, m, s)
    same = same_lengths(X, ours.transform(X), peer.transform(X), m=m)
    rows = measure(
        {
            "scikit-learn SparseRandomProjection": lambda: peer.transform(X),
            "SparseProjection": lambda: ours.transform(X),
        },
        "SparseProjection",
        repeats=3,
    )
    show(
        f"CSR {n:,} x {d:,}, {stored} stored per row -> {m}, {s} nonzeros per column, {n_threads} thread(s)", rows, same
    )


def same_lengths(X, *projected, m):
    """Check that each random matrix keeps squared lengths as theory says; the matrices themselves are different draws.

    Each ratio has mean 1 and a variance of about 2/m. Rows share the matrix, so their mean may be off by as much as one
    row: five standard deviations are allowed.
    """
    lengths = np.asarray(X.power(2).sum(axis=1) if sparse.issparse(X) else (X**2).sum(axis=1)).ravel()
    worst = 0.0
    for Z in projected:
        Z = Z.toarray() if sparse.issparse(Z) else Z
        ratios = (Z.astype(np.float64) ** 2).sum(axis=1) / lengths
        worst = max(worst, abs(ratios.mean() - 1), abs(ratios.std() - np.sqrt(2 / m)))
    assert worst < 5 * np.sqrt(2 / m), worst
    return f"mean of |z|^2/|x|^2 within {worst:.4f} of 1 for all, its deviation as close to sqrt(2/m)"


def peer_of(d, m, s):
    """A SparseRandomProjection as its fit would leave it (which takes 17 s at a million columns)."""
    rng = np.random.default_rng(1)
    peer = SparseRandomProjection(m, density=s / m)
    signs = rng.choice([-1.0, 1.0], size=d * s) / np.sqrt(s)
    entries = (signs, (rng.integers(0, m, size=d * s), np.repeat(np.arange(d), s)))
    peer.components_ = sparse.csr_matrix(entries, shape=(m, d))
    peer.n_components_, peer.n_features_in_, peer._n_features_out = m, d, m
    return peer


def dense_rows(n_threads, n=size(4000, 40), d=size(4096, 256), m=size(1024, 64)):
    """Dense rows: every projection against the Gaussian one of scikit-learn."""
    X = np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)
    maps = [GaussianRandomProjection(m, random_state=0), GaussianProjection(m), SparseProjection(m)]
    maps = [a.fit(X) for a in [*maps, HadamardProjection(m)]]
    methods = {type(a).__name__: lambda a=a: a.transform(X) for a in maps}
    same = same_lengths(X, *(a.transform(X) for a in maps), m=m)
    rows = measure(methods, "GaussianRandomProjection", repeats=5)
    show(f"dense {n:,} x {d:,} float32 -> {m}, {n_threads} thread(s)", rows, same)


def transforms(entries=size(1 << 21, 1 << 13)):
    """H S x, once and three times in a row, against the dense product of the same shape."""
    for dtype in (np.float32, np.float64):
        for d in (512, 1024, 2048, 4096):
            X = np.random.default_rng(0).normal(size=(entries // d, d)).astype(dtype)
            W, out = np.random.default_rng(1).normal(size=(d, d)).astype(dtype), np.empty_like(X)
            signs = np.random.default_rng(2).choice(np.array([-1, 1], dtype), (3, d))
            same = same_products(X[:8], signs, d)
            rows = measure(
                {
                    f"dense product, d={d}": lambda X=X, W=W, out=out: np.matmul(X, W, out=out),
                    "H S": lambda X=X, S=signs[:1], out=out: _numeric.hadamard_signs(X, S, out),
                    "H S H S H S": lambda X=X, S=signs, out=out: _numeric.hadamard_signs(X, S, out),
                },
                "H S H S H S",
            )
            show(f"{dtype.__name__}, {len(X):,} rows, one thread", rows, same)


def same_products(X, signs, d):
    """Check the fast transforms of a few rows against products with the Hadamard matrix."""
    expected, H = X.astype(np.float64), hadamard(d) / np.sqrt(d)
    for sign in signs:
        expected = (expected * sign) @ H
    got = np.empty_like(X)
    _numeric.hadamard_signs(X, signs, got)
    error = np.abs(got - expected).max() / np.abs(expected).max()
    assert error < 64 * np.finfo(X.dtype).eps, error
    return f"H S H S H S equals the product with the matrix up to {error:.1e}"


def names(n=size(5000, 50), tokens=100):
    """Rows of tokens against scikit-learn's FeatureHasher."""
    words = np.array([f"word{k}" for k in range(50_000)])
    drawn = np.minimum(np.random.default_rng(0).zipf(1.3, size=(n, tokens)), len(words)) - 1
    rows = [words[row].tolist() for row in drawn]
    ours, peer = FeatureHashing(), FeatureHasher(2**18, input_type="string")
    methods = {
        "scikit-learn FeatureHasher": lambda: peer.transform(rows),
        "FeatureHashing": lambda: ours.transform(rows),
    }
    same = same_table(ours.transform(rows), peer.transform(rows))
    show(f"{n:,} rows of {tokens} tokens, one thread", measure(methods, "FeatureHashing", repeats=5), same)
