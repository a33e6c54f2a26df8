"""Penalties per block: exact K-fold losses and gradients, and a search that finds what a grid finds."""

import numpy as np
import pytest

from mercer import _numeric
from mercer._numeric.block import Block
from mercer.linear.ridge.fold_loss import GramFoldLoss, OutOfTime
from mercer.linear.ridge.penalties import best_penalties
from mercer.source import MemorySource
from mercer.stats import Gram

BLOCKS = np.array([0, 0, 1, 1, 1, 1, 2, 2, 2])


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 9))
    return X, X[:, :2] @ rng.normal(size=(2, 2)) + 0.5 * rng.normal(size=(150, 2))


def gram_loss(X, Y, blocks=BLOCKS, *args):
    return GramFoldLoss(MemorySource(X, Y).fold(Gram()).finish(), blocks, *args)


def test_the_loss_is_that_of_direct_cross_validation(rows):
    X, Y = rows
    penalties = np.array([0.3, 5.0, 40.0])
    folds = _numeric.buckets(_numeric.splitmix64(Block(X).ids, 0), 5)
    total = 0.0
    for k in range(5):
        out = folds == k
        mean, y_mean = X[~out].mean(axis=0), Y[~out].mean(axis=0)
        A = (X[~out] - mean).T @ (X[~out] - mean) + np.diag(penalties[BLOCKS])
        W = np.linalg.solve(A, (X[~out] - mean).T @ (Y[~out] - y_mean))
        total += np.sum((Y[out] - y_mean - (X[out] - mean) @ W) ** 2)
    assert gram_loss(*rows).score(penalties).loss == pytest.approx(total / 150, rel=1e-10)


def test_the_gradient_is_the_derivative(rows):
    losses, point = gram_loss(*rows), np.log([0.3, 5.0, 40.0])
    gradient = losses.score(np.exp(point)).gradient
    for b in range(3):
        step = 1e-5 * np.eye(3)[b]
        ends = [losses.score(np.exp(point + sign * step), gradient=False).loss for sign in (1, -1)]
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(gradient[b], rel=1e-6, abs=1e-10)


def test_the_search_is_no_worse_than_a_grid(rows):
    losses = gram_loss(*rows)
    _, found = best_penalties(losses, max_iter=40)
    grid = np.geomspace(0.01, 1e4, 7)
    best = min(losses.score(np.array([a, b, c]), gradient=False).loss for a in grid for b in grid for c in grid)
    assert found.loss <= best * 1.001


def test_a_search_that_is_stopped_returns_the_best_so_far(rows):
    losses = gram_loss(*rows, BLOCKS, lambda: losses.n_factored >= 10)
    penalties, score = best_penalties(losses)
    assert losses.n_factored == 10
    assert score is losses.best[1]
    assert score.loss == gram_loss(*rows).score(penalties).loss
    with pytest.raises(OutOfTime):
        losses.score(penalties)


def test_weights_of_all_rows_solve_the_normal_equations(rows):
    X, Y = rows
    losses = gram_loss(X, Y)
    penalties, _ = best_penalties(losses)
    coef, intercept = losses.weights(penalties)
    residual = Y - X @ coef - intercept
    gradient = X.T @ residual - penalties[BLOCKS][:, None] * coef
    assert np.abs(gradient).max() < 1e-8 * np.abs(X.T @ Y).max()
    assert np.abs(residual.sum(axis=0)).max() < 1e-8


def test_penalties_below_the_rounding_error_are_raised():
    """Chosen on fewer rows, they may leave the equations of all rows without a solution."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)).astype(np.float32) @ rng.normal(size=(5, 200)).astype(np.float32)
    Y = X[:, :1] + 1.0
    coef, intercept = gram_loss(X, Y, np.zeros(200, dtype=int)).weights(np.array([1e-30]))
    np.testing.assert_allclose(X @ coef + intercept, Y, atol=1e-2)
