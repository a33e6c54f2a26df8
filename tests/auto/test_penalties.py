"""Penalties per block: exact K-fold losses and slopes, and a search that finds what a grid finds."""

import numpy as np
import pytest

from mercer.auto.ridge.penalties import Equations, best_penalties, fit_blocks
from mercer.auto.rows.training import TrainingRows


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 9))
    Y = X[:, :2] @ rng.normal(size=(2, 2)) + 0.5 * rng.normal(size=(150, 2))
    return TrainingRows(X, Y, rng.integers(0, 2**60, 150).astype(np.uint64))


BLOCKS = np.array([0, 0, 1, 1, 1, 1, 2, 2, 2])


def equations(rows):
    return Equations(rows.gram(lambda span: rows.X[span]), BLOCKS)


def test_the_loss_is_that_of_direct_cross_validation(rows):
    penalties = np.array([0.3, 5.0, 40.0])
    total = 0.0
    for k in range(5):
        out = rows.folds == k
        Z, Y = rows.X[~out], rows.Y[~out]
        mean, y_mean = Z.mean(axis=0), Y.mean(axis=0)
        A = (Z - mean).T @ (Z - mean) + np.diag(penalties[BLOCKS])
        W = np.linalg.solve(A, (Z - mean).T @ (Y - y_mean))
        total += np.sum((rows.Y[out] - y_mean - (rows.X[out] - mean) @ W) ** 2)
    assert equations(rows).score(penalties).loss == pytest.approx(total / 150, rel=1e-10)


def test_the_slope_is_the_derivative(rows):
    system, point = equations(rows), np.log([0.3, 5.0, 40.0])
    slope = system.score(np.exp(point)).slope
    for b in range(3):
        step = 1e-5 * np.eye(3)[b]
        ends = [system.score(np.exp(point + sign * step), slope=False).loss for sign in (1, -1)]
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(slope[b], rel=1e-6, abs=1e-10)


def test_the_search_is_no_worse_than_a_grid(rows):
    system = equations(rows)
    _, found = best_penalties(system, steps=40)
    grid = np.geomspace(0.01, 1e4, 7)
    best = min(system.score(np.array([a, b, c]), slope=False).loss for a in grid for b in grid for c in grid)
    assert found.loss <= best * 1.001


def test_weights_of_all_rows_solve_the_normal_equations(rows):
    fitted = fit_blocks(rows.gram(lambda span: rows.X[span]), BLOCKS)
    rest = rows.Y - rows.X @ fitted.coef - fitted.intercept
    slope = rows.X.T @ rest - fitted.penalties[BLOCKS][:, None] * fitted.coef
    assert np.abs(slope).max() < 1e-8 * np.abs(rows.X.T @ rows.Y).max()
    assert np.abs(rest.sum(axis=0)).max() < 1e-8


def test_penalties_that_drown_in_rounding_are_raised():
    """Chosen on fewer rows, they may leave the equations of all rows without a solution."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)).astype(np.float32) @ rng.normal(size=(5, 200)).astype(np.float32)
    rows = TrainingRows(X, X[:, :1] + 1.0, rng.integers(0, 2**60, 60).astype(np.uint64))
    system = Equations(rows.gram(lambda span: rows.X[span]), np.zeros(200, dtype=int))
    coef, intercept = system.weights(np.array([1e-30]))
    np.testing.assert_allclose(X @ coef + intercept, rows.Y, atol=1e-2)
