"""Coordinate descent for the Lasso: both twins reach the minimum, and their gap proves it."""

import numpy as np
import pytest

from mercer import _numeric
from mercer._numeric.solvers import lasso as definition

MODULES = pytest.mark.parametrize("module", [_numeric, definition])


def problem(n=40, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    y = X[:, :3] @ [3.0, -2.0, 1.0] + rng.normal(size=n)
    return X, y


def descend(module, X, y, penalty, tolerance=1e-12, max_sweeps=10_000):
    G, b = X.T @ X, X.T @ y
    w, q = np.zeros(len(b)), b.copy()
    gap, sweeps = module.lasso_descent(G, b, y @ y, penalty, w, q, tolerance * (y @ y), max_sweeps)
    return w, q, gap, sweeps


@MODULES
@pytest.mark.parametrize("fraction", [0.9, 0.3, 0.01])
def test_the_minimum_satisfies_its_optimality_conditions(module, fraction):
    X, y = problem()
    penalty = fraction * np.abs(X.T @ y).max()
    w, q, gap, _ = descend(module, X, y, penalty)
    np.testing.assert_allclose(q, X.T @ (y - X @ w), atol=1e-9 * (y @ y))
    assert -1e-12 * (y @ y) <= gap <= 1e-12 * (y @ y)
    # A gap g bounds ||r - r*||^2 by 2 g, hence every correlation's error by ||x_j|| sqrt(2 g).
    slack = np.linalg.norm(X, axis=0) * np.sqrt(2e-12 * (y @ y))
    assert np.all(np.abs(q) <= penalty + slack)
    used = w != 0
    assert np.all(np.abs(q[used] - penalty * np.sign(w[used])) <= 2 * slack[used])


def test_twins_agree():
    for seed in range(5):
        X, y = problem(seed=seed)
        penalty = 0.1 * np.abs(X.T @ y).max()
        ours, theirs = (descend(module, X, y, penalty)[0] for module in (_numeric, definition))
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


@MODULES
def test_a_strided_gram_matrix_and_an_empty_one(module):
    X, y = problem()
    larger = np.full((20, 20), np.nan)
    larger[:12, :12] = X.T @ X
    b = X.T @ y
    w, q = np.zeros(12), b.copy()
    module.lasso_descent(larger[:12, :12], b, y @ y, 5.0, w, q, 1e-10, 1000)
    np.testing.assert_allclose(w, descend(module, X, y, 5.0)[0], atol=1e-5)
    nothing = np.zeros(0)
    assert module.lasso_descent(np.zeros((0, 0)), nothing, 4.0, 1.0, nothing.copy(), nothing.copy(), 0.0, 10)[0] == 0.0


@MODULES
def test_constant_columns_stay_out_and_sweeps_are_limited(module):
    X, y = problem()
    X[:, 4] = 0.0
    w, _, _, sweeps = descend(module, X, y, 1e-3, tolerance=1e-300, max_sweeps=12)
    assert w[4] == 0.0
    assert sweeps == 12


def test_wrong_shapes_are_refused():
    if not _numeric.compiled:
        pytest.skip("the definition does not check shapes")
    with pytest.raises(ValueError, match="G must be square"):
        _numeric.lasso_descent(np.eye(3), np.ones(2), 1.0, 1.0, np.zeros(2), np.zeros(2), 0.0, 1)
    with pytest.raises(ValueError, match="C-ordered"):
        _numeric.lasso_descent(
            np.asfortranarray(np.ones((2, 2)))[:, ::-1], *[np.ones(2), 1.0, 1.0], *[np.zeros(2)] * 2, 0.0, 1
        )
