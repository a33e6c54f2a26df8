"""Families of matrices that are hard for solvers, after those of LAPACK's tests and Higham (2002), chapter 28."""

from __future__ import annotations

import numpy as np

M, N = 60, 8


def orthonormal(rng, m=M, n=N):
    return np.linalg.qr(rng.normal(size=(m, n)))[0]


def kahan(n=N, angle=1.2):
    """Upper triangular; its smallest singular value is far below its smallest diagonal entry (Kahan 1966)."""
    s, c = np.sin(angle), np.cos(angle)
    return np.diag(s ** np.arange(n)) @ (np.eye(n) - c * np.triu(np.ones((n, n)), 1))


def arrow(n=N):
    A = np.diag(np.arange(1.0, n + 1))
    A[0], A[:, 0] = 1.0, 1.0
    return A


def with_last(X, column):
    return np.column_stack([X[:, :-1], column])


def hilbert(m=M, n=N):
    return 1.0 / (np.arange(m)[:, None] + np.arange(n) + 1.0)


#: name -> X of a generator of random numbers
FAMILIES = {
    "random": lambda rng: rng.normal(size=(M, N)),
    "graded columns": lambda rng: rng.normal(size=(M, N)) * np.geomspace(1, 1e-10, N),
    "rows of all sizes": lambda rng: rng.normal(size=(M, N)) * np.geomspace(1e-8, 1e8, M)[:, None],
    "rank-deficient": lambda rng: rng.normal(size=(M, 3)) @ rng.normal(size=(3, N)),
    "duplicated columns": lambda rng: np.tile(rng.normal(size=(M, N // 2)), 2),
    "zero column": lambda rng: with_last(rng.normal(size=(M, N)), np.zeros(M)),
    "nearly collinear": lambda rng: (lambda X: with_last(X, X[:, 0] + 1e-9 * X[:, -1]))(rng.normal(size=(M, N))),
    "given singular values": lambda rng: (orthonormal(rng) * np.geomspace(1, 1e-12, N)) @ orthonormal(rng, N),
    "Hilbert": lambda rng: hilbert(),
    "Vandermonde": lambda rng: np.vander(np.linspace(0, 1, M), N + 1)[:, :-1],
    "Kahan": lambda rng: orthonormal(rng) @ kahan(),
    "arrow": lambda rng: orthonormal(rng) @ arrow(),
    "1e150": lambda rng: 1e150 * rng.normal(size=(M, N)),
    "1e-150": lambda rng: 1e-150 * rng.normal(size=(M, N)),
}


def family(name, seed=0):
    return FAMILIES[name](np.random.default_rng(seed))


def in_units(X):
    """X over the power of two that brings its largest entry to one, and that power."""
    unit = 2.0 ** np.frexp(np.abs(X).max())[1]
    return X / unit, unit
