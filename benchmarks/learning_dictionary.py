"""Sparse codes, learned dictionaries and principal components against other libraries, on one thread.

SPAMS is included if it is installed (pip install spams-bin). MERCER_BENCH_ROWS sets the signals to code (50,000).
"""

from __future__ import annotations

import importlib.util
import os

import numpy as np
from sklearn.datasets import load_sample_images
from sklearn.decomposition import PCA as SklearnPCA
from sklearn.decomposition import MiniBatchDictionaryLearning, SparseCoder

from benchmarks.harness import measure, show, size, threads
from mercer.learn import PCA, SparseCoding, extract_patches

N = int(os.environ.get("MERCER_BENCH_ROWS", size("50000", "500")))
SPAMS = importlib.util.find_spec("spams") is not None


def run() -> None:
    with threads(1):
        for dtype in (np.float64, np.float32):
            coding(dtype)
        learning()
        for dtype in (np.float64, np.float32):
            components(dtype)


def unit(A):
    return A / np.linalg.norm(A, axis=1, keepdims=True)


def coding(dtype, n_atoms=size(512, 64), d=64, nonzeros=8):
    """8 of 512 atoms for random signals; no code may have a larger error."""
    rng = np.random.default_rng(0)
    D = unit(rng.normal(size=(n_atoms, d))).astype(dtype)
    X = rng.normal(size=(N, d)).astype(dtype)
    few = X[: max(N // 50, 20)]
    ours = SparseCoding(dictionary=D, nonzeros=nonzeros).fit(X[:1])
    peer = SparseCoder(D, transform_algorithm="omp", transform_n_nonzero_coefs=nonzeros)
    methods = {"SparseCoding": lambda: ours.transform(X)}
    if SPAMS:
        import spams

        columns, atoms = np.asfortranarray(X.T), np.asfortranarray(D.T)
        methods["SPAMS omp"] = lambda: spams.omp(columns, atoms, L=nonzeros, eps=0.0, numThreads=1)
    errors = {"SparseCoding": _error(X, ours.transform(X), D), "SparseCoder": _error(few, peer.transform(few), D)}
    if SPAMS:
        errors["SPAMS"] = _error(X, methods["SPAMS omp"]().T.tocsr(), D)
        assert errors["SparseCoding"] <= errors["SPAMS"] * (1 + 1e-4)
    assert _error(few, ours.transform(few), D) <= errors["SparseCoder"] * size(1.0, 1.1)
    same = "mean squared errors: " + ", ".join(f"{name} {error:.5f}" for name, error in errors.items())
    what = f"{nonzeros} of {n_atoms} atoms, {d} features, {np.dtype(dtype).name}"
    show(f"sparse codes of {N:,} signals, {what}", measure(methods, "SparseCoding"), same)
    small = {"SparseCoding": lambda: ours.transform(few), "SparseCoder omp": lambda: peer.transform(few)}
    show(f"sparse codes of {len(few):,} signals, {what}", measure(small, "SparseCoding"), same)


def _error(X, codes, D):
    return float(np.mean((X - codes @ D) ** 2))


def patches(n=size(10_000, 300)):
    """Patches of 8 x 8 of the photographs that come with scikit-learn, without brightness and contrast."""
    images = np.stack([image.mean(axis=2) for image in load_sample_images().images])
    X = extract_patches(images, 8, n_patches=n)
    X = X - X.mean(axis=1, keepdims=True)
    return X / (X.std(axis=1, keepdims=True) + 2.5)


def learning(n_atoms=size(256, 16), nonzeros=size(8, 3)):
    """A dictionary for patches of photographs; the objective is the mean squared error of codes of 8 atoms."""
    X = patches()
    learners = {"SparseCoding": lambda: SparseCoding(n_atoms, nonzeros, n_epochs=3).fit(X).dictionary_}
    peer = MiniBatchDictionaryLearning(n_atoms, alpha=1.0, batch_size=256, max_iter=1, random_state=0)
    learners["MiniBatchDictionaryLearning"] = lambda: unit(peer.fit(X).components_)
    if SPAMS:
        import spams

        columns, start = np.asfortranarray(X.T), np.asfortranarray(unit(X[:n_atoms]).T)
        settings = {"mode": 3, "lambda1": nonzeros, "batchsize": 512, "iter": 200, "numThreads": 1, "verbose": False}
        learners["SPAMS trainDL"] = lambda: np.ascontiguousarray(spams.trainDL(columns, D=start, **settings).T)
    learned = {}

    def keep(name):
        learned[name] = learners[name]()

    rows = measure({name: lambda name=name: keep(name) for name in learners}, "SparseCoding", 3)
    error = {}
    for name, D in learned.items():
        coder = SparseCoding(dictionary=D, nonzeros=nonzeros).fit(X)
        error[name] = 64 * float(np.mean((X - coder.inverse_transform(coder.transform(X))) ** 2))
    assert error["SparseCoding"] <= min(error.values()) * size(1.0001, 2.0)
    same = "mean squared error of a patch: " + ", ".join(f"{name} {value:.4f}" for name, value in error.items())
    show(f"dictionary of {n_atoms} atoms for 10,000 x 64 patches, {nonzeros} per code", rows, same)


def components(dtype, n=size(100_000, 500), d=size(500, 30), k=size(50, 5)):
    X = np.random.default_rng(0).normal(size=(n, d)).astype(dtype) * np.geomspace(5, 1, d).astype(dtype)
    ours, peer = PCA(k), SklearnPCA(k, svd_solver="covariance_eigh")
    rows = measure(
        {"one product X'X": lambda: X.T @ X, "PCA": lambda: ours.fit(X), "scikit-learn PCA": lambda: peer.fit(X)},
        "one product X'X",
    )
    worst = np.abs(ours.explained_variance_ / peer.explained_variance_ - 1).max()
    assert worst < 1e-5
    same = f"largest relative difference of the variances {worst:.1e}"
    show(f"{k} components of {n:,} x {d}, {np.dtype(dtype).name}", rows, same)
