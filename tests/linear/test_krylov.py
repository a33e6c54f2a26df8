"""The Krylov space of the normal equations: the solutions of a direct solver, or the reduction where it is cheaper."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mercer import _numeric
from mercer._numeric.block import Block
from mercer.linear import RidgeRegressor
from mercer.linear.optimize.krylov import Krylov, KrylovWithBounds
from mercer.linear.ridge.factor import Tridiagonal
from mercer.stats import Gram

ALPHAS = np.array([1e-3, 1.0, 30.0, 1e5])


def normal_of(X, Y):
    return Gram(2).of(Block(X, Y)).finish().total


def assert_solved(ready, normal, alphas):
    G, B, _ = normal.about(*normal.means())
    for alpha, W in zip(alphas, ready.solutions(alphas), strict=True):
        A = G + alpha * np.eye(len(G))
        # the backward error of a solver that is stable, and the error of the weights that follows from it
        error = 100 * np.finfo(float).eps * np.linalg.norm(G, 2)
        assert np.linalg.norm(A @ W - B) <= error * np.linalg.norm(W) + 1e-13 * np.linalg.norm(B)
        np.testing.assert_allclose(W, np.linalg.solve(A, B), rtol=0, atol=1e-12 * np.linalg.cond(A) * np.abs(W).max())


@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("n", [3000, 20000])
def test_a_few_steps_solve_features_of_like_strength(n, targets):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 300)) + 2.0
    normal = normal_of(X, X[:, :5] @ rng.normal(size=(5, targets)) + rng.normal(size=(n, targets)))
    ready = Krylov.of(normal, ALPHAS[0])
    if n == 20000:
        assert isinstance(ready, Krylov)
        assert ready.basis.shape[1] < 20
    assert_solved(ready, normal, ALPHAS)


def test_strengths_that_fall_over_decades_are_reduced():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 300)) * np.geomspace(1.0, 1e-4, 300)
    normal = normal_of(X, rng.normal(size=1000))
    assert isinstance(Krylov.of(normal, 1e-6), Tridiagonal)
    assert isinstance(Krylov.of(normal, 1e5), Krylov)  # under such a penalty all strengths are alike
    assert_solved(Krylov.of(normal, 1e-6), normal, np.array([1e-6, 1.0]))
    assert_solved(Krylov.of(normal, 1e5), normal, np.array([1e5, 1e7]))


def test_an_exhausted_space_is_the_end():
    """Rows in four directions only: the space has four dimensions at most, and less for some of the targets."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4, 400))[rng.integers(4, size=500)]
    Y = np.column_stack([X @ rng.normal(size=400), np.zeros(500), X[:, 0]])
    normal = normal_of(X, Y)
    ready = Krylov.of(normal, ALPHAS[0])
    assert isinstance(ready, Krylov)
    assert ready.basis.shape[1] <= 5
    assert_solved(ready, normal, ALPHAS)
    assert not np.any(ready.solutions(ALPHAS)[:, :, 1])


def test_a_matrix_that_is_not_positive_is_not_trusted():
    rng = np.random.default_rng(0)
    normal = normal_of(rng.normal(size=(100, 200)), rng.normal(size=100))
    np.fill_diagonal(normal.G, normal.G.diagonal() - 1e4)
    ready = Krylov.of(normal, 1.0)
    assert isinstance(ready, Tridiagonal)
    assert np.all(np.isnan(ready.solutions(np.array([1.0]))))


def test_scores_equal_direct_cross_validation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 200)) + 1.0
    y = X[:, :3].sum(axis=1) + rng.normal(size=6000)
    alphas = np.array([1e-2, 100.0, 1e4])
    model = RidgeRegressor(alphas, n_folds=3).fit(X, y)
    fold = _numeric.buckets(_numeric.splitmix64(Block(X).ids, 0), 3)
    for alpha, loss in zip(alphas, model.losses_, strict=True):
        errors = [y[fold == k] - Ridge(alpha).fit(X[fold != k], y[fold != k]).predict(X[fold == k]) for k in range(3)]
        np.testing.assert_allclose(loss, np.mean(np.concatenate(errors) ** 2), rtol=1e-10)


def test_the_ends_of_the_spectrum_are_known():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20000, 200)) + 2.0
    X[:, 0] *= 3.0
    normal = normal_of(X, X[:, 0] + rng.normal(size=20000))
    ready = KrylovWithBounds.of(normal, 1.0)
    assert isinstance(ready, KrylovWithBounds)
    np.testing.assert_allclose(ready.values, [0.0, Tridiagonal.of(normal).values[-1]], rtol=1e-12)


def test_a_spectrum_that_touches_zero_is_reduced():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4, 400))[rng.integers(4, size=500)]
    normal = normal_of(X, X[:, 0])
    assert isinstance(Krylov.of(normal, 1.0), Krylov)
    assert isinstance(KrylovWithBounds.of(normal, 1.0), Tridiagonal)
