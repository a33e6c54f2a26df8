"""The path of the Lasso ends where the folds say so, with the penalty that the whole path has."""

import numpy as np
import pytest

from mercer.select import Lasso
from mercer.select.lasso import cross_validation, early_stop
from mercer.select.lasso.early_stop import path_end
from mercer.select.lasso.path import LassoPathSolver, solve_path


def design(n, d, k, rho, noise, seed):
    """Columns correlated as an autoregression, k of them with a weight."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    w = np.zeros(d)
    w[rng.choice(d, k, replace=False)] = rng.normal(size=k)
    return X, X @ w + noise * rng.normal(size=n)


DESIGNS = [
    (80, 30, 4, 0.7, 0.5),
    (100, 300, 5, 0.5, 1.0),
    (100, 300, 0, 0.0, 1.0),
    (60, 300, 60, 0.3, 0.2),
    (300, 40, 40, 0.9, 0.5),
    (150, 200, 20, 0.8, 3.0),
    (50, 20, 3, 0.95, 2.0),
]


@pytest.mark.parametrize("shape", DESIGNS)
@pytest.mark.parametrize("solver", ["gram", "columns"])
def test_the_penalty_is_that_of_the_whole_path(shape, solver, monkeypatch):
    for seed in range(2):
        X, y = design(*shape, seed)
        stopped = Lasso(solver=solver).fit(X, y)
        with monkeypatch.context() as patch:
            patch.setattr(early_stop, "path_end", lambda alphas, losses: len(losses))
            whole = Lasso(solver=solver).fit(X, y)
        assert stopped.alpha_ == whole.alpha_
        assert len(whole.path_) == 100
        end = len(stopped.path_)
        np.testing.assert_array_equal(stopped.path_.alphas, whole.path_.alphas[:end])
        assert len(stopped.path_.losses) == len(stopped.path_.gaps) == len(np.asarray(stopped.path_)) == end


def test_noise_ends_early_and_weights_without_noise_never():
    assert len(Lasso().fit(*design(100, 300, 0, 0.0, 1.0, 0)).path_) < 50
    assert len(Lasso().fit(*design(300, 40, 40, 0.9, 0.5, 0)).path_) == 100


def test_penalties_that_are_given_are_all_solved():
    X, y = design(100, 300, 0, 0.0, 1.0, 0)
    given = np.geomspace(1.0, 1e-3, 40)
    assert len(Lasso(given, solver="columns").fit(X, y).path_) == 40


@pytest.mark.parametrize(
    ("cross_validated", "solver"),
    [(cross_validation.RowCrossValidation, "columns"), (cross_validation.GramCrossValidation, "gram")],
)
def test_the_end_does_not_depend_on_the_round(cross_validated, solver, monkeypatch):
    X, y = design(100, 150, 5, 0.5, 1.0, 1)
    lengths, penalties = set(), set()
    for size in (1, 7, 100):
        monkeypatch.setattr(cross_validated, "round_size", size)
        model = Lasso(solver=solver, tol=1e-9).fit(X, y)
        lengths.add(len(model.path_))
        penalties.add(model.alpha_)
    assert len(lengths) == len(penalties) == 1
    assert lengths.pop() < 100


def test_a_path_in_parts_is_the_path():
    X, y = design(60, 100, 5, 0.5, 1.0, 0)
    problem = cross_validation.ColumnDatafit(X, y)
    penalties = np.abs(problem.b).max() * np.geomspace(1.0, 0.01, 30)
    solver = LassoPathSolver(1e-12)
    parts = [solver.advance(cross_validation.ColumnDatafit(X, y), penalties[i : i + 7]) for i in range(0, 30, 7)]
    whole, _ = solve_path(problem, penalties, 1e-12)
    assert np.all(np.concatenate([each for _, each in parts]) <= 1e-12 * problem.yy)
    for (columns, w), (others, v) in zip([each for some, _ in parts for each in some], whole, strict=True):
        dense = np.zeros((2, 100))
        dense[0, columns], dense[1, others] = w, v
        np.testing.assert_allclose(dense[0], dense[1], atol=1e-4)


def losses(total, spread):
    """Two folds whose losses differ by a spread around half of the total."""
    total, spread = np.asarray(total, dtype=float), np.asarray(spread, dtype=float)
    return np.column_stack([total / 2 - spread, total / 2 + spread])


def test_a_path_ends_after_a_factor_of_two_of_clearly_worse_penalties():
    alphas = 2.0 ** -np.arange(0, 4, 0.25)
    total = [5, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
    assert path_end(alphas, losses(total, np.zeros(16))) == 8  # penalties 3 to 7 span 2^(-0.25 * 4)
    assert path_end(alphas[:5], losses(total[:5], np.zeros(5))) == 5
    # a rise within one standard error, or one that is interrupted, ends nothing
    assert path_end(alphas, losses(total, np.arange(16) * 2.0)) == 16
    interrupted = [5, 3, 1, 2, 3, 4, 3.5, 4, 5, 6, 5.5, 5, 4, 5, 6, 7]
    assert path_end(alphas, losses(interrupted, np.zeros(16))) == 16
    again = [5, 3, 2, 3, 4, 1.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert path_end(alphas, losses(again, np.zeros(16))) == 12
