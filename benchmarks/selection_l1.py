"""Paths of the Lasso against celer, skglm and scikit-learn, at equal duality gap.

All start from the same columns (in Fortran order or CSC) and solve the same 50 penalties; each
centers dense columns. The gap of every solution is computed afterwards by one formula, relative to the variance of y.
"""

from __future__ import annotations

import os
import warnings
from functools import cache

import numpy as np
from scipy import sparse

from benchmarks.harness import SMOKE, measure, show, size, threads
from mercer.select import lasso_path

REPEATS = int(os.environ.get("MERCER_BENCH_REPEATS", size("3", "1")))
TOL = float(os.environ.get("MERCER_BENCH_GAP", "1e-4"))


def run() -> None:
    warnings.filterwarnings("ignore")
    with threads(1):
        for design in os.environ.get("MERCER_BENCH_DESIGNS", "wide,tall,text").split(","):
            compare(*{"wide": wide, "tall": tall, "text": text}[design]())


def compare(title, X, y, ratio):
    y = y - y.mean()
    most = np.abs(X.T @ y).max() / len(y)
    alphas = most * np.geomspace(1.0, ratio, 50)
    found: dict[str, np.ndarray] = {}

    def keep(name, solve):
        def once():
            found[name] = solve(X, y, alphas)

        return once

    methods = {"mercer": keep("mercer", ours)}
    for name, solve in peers().items():
        methods[name] = keep(name, solve)
    rows = measure(methods, "mercer", REPEATS)
    gaps = {
        name: max(gap(X, y, w, alpha) for w, alpha in zip(coefs, alphas, strict=True)) for name, coefs in found.items()
    }
    assert gaps["mercer"] <= TOL, gaps
    same = ", ".join(
        f"{name} {worst:.1e} ({np.count_nonzero(found[name][-1])} columns)" for name, worst in gaps.items()
    )
    title = f"{title}, 50 penalties to {ratio:g} of the largest, asked gap {TOL:g}"
    show(title, rows, f"largest gap, and columns in the last solution: {same}")


def ours(X, y, alphas):
    return np.asarray(lasso_path(X, y, alphas=alphas, tol=TOL))


@cache
def peers():
    """The other libraries that are installed."""
    found = {}
    try:
        if SMOKE:
            raise ImportError("compiling takes longer than the small problems")
        from celer import celer_path

        found["celer"] = lambda X, y, alphas: celer_path(centered(X), y, "lasso", alphas=alphas, tol=TOL)[1].T
    except ImportError:
        print("  celer is not installed: pip install celer")
    try:
        if SMOKE:
            raise ImportError("compiling takes longer than the small problems")
        from skglm.datafits import Quadratic
        from skglm.penalties import L1
        from skglm.solvers import AndersonCD

        def skglm(X, y, alphas):
            # Its tolerance is on the gradient: sqrt(tol) of the largest penalty comes near the same gap.
            solver = AndersonCD(tol=0.1 * TOL**0.5 * alphas[0], fit_intercept=False, max_epochs=10_000)
            return solver.path(centered(X), y, Quadratic(), L1(1.0), alphas=alphas)[1].T

        found["skglm"] = skglm
    except ImportError:
        print("  skglm is not installed: pip install skglm")
    from sklearn.linear_model import lasso_path as reference

    found["scikit-learn"] = lambda X, y, alphas: (
        reference(centered(X), y, alphas=alphas, tol=TOL, precompute="auto")[1].T
    )
    return found


def centered(X):
    """Dense columns minus their means; sparse columns are not centered here."""
    return X if sparse.issparse(X) else X - X.mean(axis=0)


def gap(X, y, w, alpha):
    n, used = len(y), np.flatnonzero(w)
    mean = np.asarray(X.mean(axis=0)).ravel()
    best = np.inf
    # Other libraries do not center sparse columns: the gap of each is that of the problem it solves.
    for shift in (mean, np.zeros_like(mean)):
        r = y - (X[:, used] @ w[used] - shift[used] @ w[used])
        q = np.abs(np.asarray(X.T @ r) - shift * r.sum()).max()
        shrink = min(1.0, n * alpha / q)
        primal = r @ r / (2 * n) + alpha * np.abs(w).sum()
        best = min(best, primal - (shrink * (y @ r) - 0.5 * shrink**2 * (r @ r)) / n)
    return best / (y @ y / n)


def planted(X, rng, columns, scale=1.0, among=None):
    w = np.zeros(X.shape[1])
    w[rng.choice(among or X.shape[1], columns, replace=False)] = scale * rng.normal(size=columns)
    y = X @ w
    return y + 0.5 * y.std() * rng.normal(size=len(y))


def correlated(n, d, rng, rho=0.5):
    X = np.asfortranarray(rng.normal(size=(n, d)))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def wide(n=size(1000, 60), d=size(20_000, 100)):
    rng = np.random.default_rng(0)
    X = correlated(n, d, rng)
    return f"wide dense {n:,} x {d:,}", X, planted(X, rng, 50), 1e-2


def tall(n=size(50_000, 300), d=size(500, 60)):
    rng = np.random.default_rng(1)
    X = correlated(n, d, rng)
    return f"tall dense {n:,} x {d:,}", X, planted(X, rng, 50), 1e-3


def text(n=size(10_000, 200), d=size(50_000, 2500), words=size(100, 20)):
    """Documents of words with Zipf's frequencies, weighted by tf-idf."""
    rng = np.random.default_rng(2)
    frequency = 1.0 / np.arange(1, d + 1) ** 0.9
    drawn = rng.choice(d, size=n * words, p=frequency / frequency.sum())
    X = sparse.csr_array((np.ones(n * words), (np.repeat(np.arange(n), words), drawn)), shape=(n, d))
    X.sum_duplicates()
    seen = np.bincount(X.indices, minlength=d)
    X.data = (1 + np.log(X.data)) * (np.log((1 + n) / (1 + seen)) + 1)[X.indices]
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sparse.csc_matrix(sparse.diags(1 / length) @ X)
    return f"sparse text {n:,} x {d:,}", X, planted(X, rng, 100, scale=3.0, among=2000), 1e-2
