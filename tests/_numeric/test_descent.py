"""Compiled sweeps agree with their definitions, on dense rows and on CSR."""

import numpy as np
import pytest
from scipy import sparse

from mercer import _numeric
from mercer._numeric.solvers import descent


def rows(dtype=np.float64, n=60, d=11, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.5)).astype(dtype)
    return X, sparse.csr_matrix(X), rng


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_hinge_sweeps(dtype, rho):
    X, S, rng = rows(dtype)
    X[3], S = 0.0, sparse.csr_matrix(np.where(np.arange(60)[:, None] == 3, 0, X).astype(dtype))
    sign, upper = np.where(rng.integers(0, 2, 60), 1.0, -1.0), rng.uniform(0.5, 2.0, 60)
    results = []
    for module, arguments in ((descent, (X,)), (_numeric, (X,)), (_numeric, (S.data, S.indices, S.indptr))):
        beta, w, b = np.zeros(60), np.zeros(11), 0.0
        sweep = module.hinge_sweep if len(arguments) == 1 else module.hinge_sweep_csr
        for seed in range(4):
            order = np.random.default_rng(seed).permutation(60)
            b, worst = sweep(*arguments, sign, upper, order, beta, w, b, 0.5, rho)
        results.append((beta, w, b, worst))
        np.testing.assert_allclose(w, 0.5 * X.T.astype(float) @ (beta * sign), atol=1e-12)
        np.testing.assert_allclose(b, rho * (beta @ sign), atol=1e-12)
    for other in results[1:]:
        for mine, theirs in zip(results[0], other, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_perceptron_sweeps(n_classes):
    X, _, rng = rows()
    X = np.round(4 * X)  # integers, so that every way to add gives the same
    S = sparse.csr_matrix(X)
    label = rng.integers(0, n_classes, 60)
    results = []
    for module, arguments in ((descent, (X,)), (_numeric, (X,)), (_numeric, (S.data, S.indices, S.indptr))):
        K = 1 if n_classes == 2 else n_classes
        W, b, U, c = np.zeros((K, 11)), np.zeros(K), np.zeros((K, 11)), np.zeros(K)
        sweep = module.perceptron_sweep if len(arguments) == 1 else module.perceptron_sweep_csr
        mistakes = [sweep(*arguments, label, np.arange(60), W, b, U, c, 60.0 * e) for e in (0, 1)]
        results.append((*mistakes, W, b, U, c))
    for other in results[1:]:
        for mine, theirs in zip(results[0], other, strict=True):
            assert np.array_equal(mine, theirs)


def test_sweeps_refuse_what_is_out_of_range():
    X, S, _ = rows()
    one, zero = np.ones(60), np.zeros(60)
    with pytest.raises((ValueError, IndexError)):
        _numeric.hinge_sweep(X, one, one, np.array([60]), zero, np.zeros(11), 0.0, 1.0, 0.0)
    with pytest.raises((ValueError, IndexError)):
        _numeric.hinge_sweep(X, one, one, np.arange(60), zero, np.zeros(10), 0.0, 1.0, 0.0)
    with pytest.raises((ValueError, IndexError)):
        _numeric.hinge_sweep_csr(S.data, S.indices, S.indptr, one, one, np.arange(60), zero, np.zeros(5), 0.0, 1.0, 0.0)
