"""Residuals of every solver over families of matrices, in units of rounding: below 30 as in LAPACK's tests, or warned.

The ratios are normwise backward errors (Anderson et al. 1999, LAPACK Working Note 41; Higham 2002, sections 7.1, 20.7).
"""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from matrices import FAMILIES, M, N, family, in_units
from mercer._numeric.linalg import dense
from mercer._runtime.errors import DataError
from mercer.kernels import Gaussian, Linear
from mercer.learn import PCA
from mercer.linear import RidgeRegressor
from mercer.machines import KernelPCA, KernelRegressor
from mercer.select import Lasso
from mercer.source import MemorySource

EPS = np.finfo(float).eps
LIMIT = 30.0
SEEDS = range(20 if os.environ.get("MERCER_TEST_LENGTH") == "long" else 1)
norm = np.linalg.norm

every_family = pytest.mark.parametrize("name", FAMILIES)
every_seed = pytest.mark.parametrize("seed", SEEDS)


def targets(X, seed=0):
    """Targets with a part in the span of the columns and a part outside."""
    X = in_units(X)[0]
    rng = np.random.default_rng(seed + 1)
    return X @ rng.normal(size=X.shape[1]) + 0.1 * np.abs(X).max() * rng.normal(size=len(X))


def centered(values):
    return values - values.mean(axis=0)


def stationarity(X, y, coef, alpha=0.0):
    """||X'(y - X w) - alpha w|| in units of rounding, for centered columns and targets of ordinary size."""
    X, y = centered(X), centered(y)
    gradient = X.T @ (y - X @ coef) - alpha * coef
    return norm(gradient) / (EPS * M * (norm(X) * norm(y) + (norm(X) ** 2 + np.max(alpha)) * norm(coef)))


def fitted(model, *rows):
    """The fitted model, whether it warned, and whether it refused the unit of a column."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(*rows)
        except DataError as error:
            return (None, True) if error.column is not None else pytest.fail(str(error))
    assert {each.category for each in caught} <= {ConvergenceWarning}
    return model, bool(caught)


@every_family
@every_seed
@pytest.mark.parametrize("streamed", [False, True], ids=["memory", "stream"])
def test_least_squares(name, seed, streamed):
    X = family(name, seed)
    y = targets(X, seed)
    rows = [MemorySource(X, y).map(lambda block: block)] if streamed else [X, y]
    model, warned = fitted(RidgeRegressor(alpha=0.0), *rows)
    if model is not None:
        X, unit = in_units(X)
        assert warned or stationarity(X, y, model.coef_ * unit) < LIMIT


RIDGES = {
    "small penalty": {"alpha": 1e-8},
    "penalty": {"alpha": 1.0},
    "path": {"alpha": [1e-6, 1e-3, 1.0]},
    "leave-one-out": {"alpha": [1e-6, 1e-3, 1.0], "scoring": "loo"},
    "blocks": {"alpha": 1.0, "blocks": [0] * (N // 2) + [1] * (N - N // 2), "block_penalties": {0: 1.0, 1: 100.0}},
}


@every_family
@every_seed
@pytest.mark.parametrize("how", RIDGES)
def test_ridge(name, seed, how):
    X = family(name, seed)
    y = targets(X, seed)
    model, warned = fitted(RidgeRegressor(**RIDGES[how]), X, y)
    if model is not None:
        alpha = model.alpha_ * (np.repeat([1.0, 100.0], N // 2) if how == "blocks" else 1.0)
        X, unit = in_units(X)
        assert warned or stationarity(X, y, model.coef_ * unit, alpha / unit / unit) < LIMIT


@every_family
@every_seed
def test_lasso(name, seed):
    """KKT conditions: |X'r| / n <= alpha, and the gap alpha ||w||_1 - w'X'r / n is below the tolerance."""
    X = family(name, seed)
    y = targets(X, seed)
    model, warned = fitted(Lasso(n_alphas=10), X, y)
    if model is not None:
        X, unit = in_units(X)
        X, y, alpha, coef = centered(X), centered(y), model.alpha_ / unit, model.coef_ * unit
        slope = X.T @ (y - X @ coef) / len(X)
        assert warned or np.all(np.abs(slope) <= 1.001 * alpha + LIMIT * EPS * norm(X) * norm(y))
        assert warned or alpha * np.abs(coef).sum() - coef @ slope <= 1e-4 * (y @ y) / len(X)


@every_family
@every_seed
@pytest.mark.parametrize("solver", ["exact", "auto"])
def test_principal_components(name, seed, solver):
    X = family(name, seed)
    model, warned = fitted(PCA(3, solver=solver), X)
    if model is not None:
        X, unit = in_units(X)
        V = model.components_.astype(float).T
        C = centered(X).T @ centered(X) / (M - 1)
        values = model.explained_variance_ / unit / unit
        assert norm(V.T @ V - np.eye(3)) / (EPS * N) < LIMIT
        assert warned or norm(C @ V - V * values) / (EPS * M * norm(C)) < LIMIT


KERNELS = [Linear() + 1, Gaussian(1.0)]


@every_family
@every_seed
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("alpha", [1e-6, 1.0])
def test_kernel_ridge(name, seed, kernel, alpha):
    X = family(name, seed)
    y = targets(X, seed)
    model, warned = fitted(KernelRegressor(kernel, alpha=alpha), X, y)
    if model is not None:
        K = kernel(X)
        K, unit = in_units(K + alpha * np.eye(M))
        residual = norm(K @ (model.dual_coef_.ravel() * unit) - y)
        assert warned or residual / (EPS * M * (norm(K) * norm(model.dual_coef_ * unit) + norm(y))) < LIMIT


@every_family
@every_seed
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_kernel_principal_components(name, seed, kernel):
    """Squared lengths of the scores of the rows are the largest eigenvalues of the centered similarities."""
    X = family(name, seed)
    model, warned = fitted(KernelPCA(kernel, n_components=2), X)
    if model is not None:
        K, unit = in_units(kernel(X))
        largest = np.sort(np.linalg.eigvalsh(centered(centered(K).T)))[::-1][:2]
        scores = centered(model.transform(X)) / np.sqrt(unit)
        lengths = np.sum(scores**2, axis=0)
        assert warned or norm(lengths - largest) / (EPS * M * norm(K)) < LIMIT


def test_equal_eigenvalues_are_found():
    K = np.eye(M) - 1.0 / M
    values, vectors = dense.eigh(K, subset_by_index=[M - 2, M - 1])
    np.testing.assert_allclose(values, 1.0)
    np.testing.assert_allclose(K @ vectors, vectors, atol=1e-14)
    assert PCA(2).fit(np.linalg.qr(K)[0][:, :6]).components_.shape == (2, 6)


@every_family
@every_seed
def test_the_door(name, seed):
    """Factors multiply to the matrix, orthogonal ones are orthogonal, solutions solve."""
    A, _ = in_units(family(name, seed))
    size = EPS * M * norm(A)
    Q, R = dense.qr(A)
    assert norm(Q @ R - A) / size < LIMIT
    Q, R, order = dense.pivoted_qr(A)
    assert norm(Q @ R - A[:, order]) / size < LIMIT
    U, s, V = dense.svd(A, full_matrices=False)
    assert norm(U * s @ V - A) / size < LIMIT
    assert norm(U.T @ U - np.eye(N)) / (EPS * M) < LIMIT
    assert norm(A @ dense.pinv(A) @ A - A) / (size * max(1.0, norm(A) * norm(dense.pinv(A)))) < LIMIT
    G = A.T @ A
    values, vectors = dense.eigh(G)
    assert norm(G @ vectors - vectors * values) / (EPS * N * norm(G)) < LIMIT
    x = dense.lstsq(A, targets(A, seed))
    y = targets(A, seed)
    assert norm(A.T @ (y - A @ x)) / (EPS * M * (norm(A) * norm(y) + norm(A) ** 2 * norm(x))) < LIMIT
    S = G + np.eye(N)
    for x in (dense.solve(S, A.T @ y), dense.cho_solve(dense.cho_factor(S), A.T @ y)):
        assert norm(S @ x - A.T @ y) / (EPS * N * (norm(S) * norm(x) + norm(A.T @ y))) < LIMIT
