"""The Lasso: optimality conditions, scikit-learn's solutions, and the same path from a Gram matrix and from columns."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso as Reference

from mercer._numeric.hashing.rows import fold_of
from mercer.select import Lasso, lasso_path
from mercer.select.lasso import datafit
from mercer.select.lasso.datafit import ColumnDatafit, GramDatafit
from mercer.select.lasso.path import solve_path
from mercer.source import MemorySource


@pytest.fixture(autouse=True)
def _sparse_stays_sparse(monkeypatch):
    """Do not convert small sparse data to dense."""
    monkeypatch.setattr(datafit, "_MAX_DENSE_ENTRIES", 0)


def problem(n=80, d=30, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1:] += 0.7 * X[:, :-1]
    coef = np.zeros(d)
    coef[:4] = [2.0, -1.0, 0.5, 1.0]
    return X + offset, X @ coef + 0.5 * rng.normal(size=n) + 3.0


SOLVERS = pytest.mark.parametrize("solver", ["gram", "columns"])


@SOLVERS
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_optimality_conditions_and_scikit_learn(solver, storage, weighted):
    X, y = problem(offset=1.0)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    model = Lasso(alpha=0.1, solver=solver, tol=1e-14).fit(storage(X), y, weight)
    n = weight.sum()
    r = y - X @ model.coef_ - model.intercept_
    q = X.T @ (weight * r) / n
    assert abs(weight @ r) <= 1e-9 * n
    assert np.all(np.abs(q) <= 0.1 * (1 + 1e-6))
    np.testing.assert_allclose(q[model.support_], 0.1 * np.sign(model.coef_[model.support_]), rtol=1e-6)
    peer = Reference(alpha=0.1, tol=1e-12, max_iter=100_000).fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(model.predict(storage(X)), peer.predict(X), atol=1e-4)
    np.testing.assert_array_equal(model.get_support(), model.coef_ != 0)


@SOLVERS
def test_one_column_is_soft_thresholding(solver):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=50), rng.normal(size=50)
    x, y = x - x.mean(), y - y.mean()
    c, s = x @ y / 50, x @ x / 50
    for fraction in (0.2, 0.999, 1.001):
        model = Lasso(alpha=fraction * abs(c), solver=solver, tol=1e-15).fit(x[:, None], y)
        expected = np.sign(c) * max(abs(c) - fraction * abs(c), 0.0) / s
        assert abs(model.coef_[0] - expected) <= 1e-12
        assert (model.coef_[0] == 0) == (fraction > 1)


@SOLVERS
def test_the_path_starts_at_the_smallest_penalty_that_selects_nothing(solver):
    X, y = problem()
    model = Lasso(solver=solver, n_alphas=30).fit(X, y)
    alpha_max = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    assert model.path_.alphas[0] == pytest.approx(alpha_max, rel=1e-12)
    assert model.path_.coefs[[0]].nnz == 0
    assert Lasso(alpha=0.999 * alpha_max, solver=solver).fit(X, y).support_.sum() == 1
    assert np.all(model.path_.gaps <= 1e-6 * y.var())
    assert np.all(model.path_.gaps >= -1e-12 * y.var())
    assert model.dual_gap_ == model.path_.gaps[model.path_.alphas == model.alpha_]


@pytest.mark.parametrize("n", [60, 400])
def test_columns_in_memory_and_gram_matrices_give_the_same_path(n):
    X, y = problem(n=n, d=300, offset=1e4)  # an offset that forces centered copies
    gram = Lasso(solver="gram", n_alphas=20, eps=1e-2, tol=1e-10).fit(X, y)
    columns = Lasso(solver="columns", n_alphas=20, eps=1e-2, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(np.asarray(gram.path_), np.asarray(columns.path_), atol=2e-4)
    np.testing.assert_allclose(gram.path_.losses, columns.path_.losses, rtol=1e-3)
    sparse_model = Lasso(solver="columns", n_alphas=20, eps=1e-2, tol=1e-10).fit(sparse.csr_array(X - 1e4), y)
    np.testing.assert_allclose(np.asarray(sparse_model.path_), np.asarray(columns.path_), atol=2e-4)


@pytest.mark.parametrize("n", [200, 20])
def test_the_path_without_cross_validation(n):
    X, y = problem(n=n, d=30, offset=5.0)
    X[:, 7] = 3.0
    weight = np.random.default_rng(2).integers(1, 3, n).astype(float)
    whole = Lasso(n_alphas=15, eps=1e-2, tol=1e-10).fit(X, y, weight).path_
    for solver, storage in (("auto", np.asarray), ("columns", np.asarray), ("gram", sparse.csr_array)):
        alone = lasso_path(storage(X), y, n_alphas=15, eps=1e-2, tol=1e-10, solver=solver, sample_weight=weight)
        np.testing.assert_allclose(alone.alphas, whole.alphas, rtol=1e-9)
        np.testing.assert_allclose(np.asarray(alone), np.asarray(whole), atol=1e-3 if n == 20 else 1e-4)
        assert alone.losses is None
    assert len(lasso_path(X, y, alphas=[0.1, 1.0])) == 2


def test_screened_columns_have_correlations_below_the_penalty():
    """Columns that `residual_correlations` skips are below the penalty, and those it computes are exact."""
    X, y = problem(n=50, d=400)
    data = ColumnDatafit(np.asfortranarray(X), y)
    centered, target = X - X.mean(axis=0), y - y.mean()
    rng = np.random.default_rng(3)
    screened = 0
    for step in range(40):
        columns = np.arange(3)
        w = np.array([2.0, -1.0, 0.5]) * (1 - 0.9**step) + 0.01 * rng.normal(size=3)
        q = centered.T @ (target - centered[:, columns] @ w)
        penalty = 0.8 * np.abs(q).max()
        found = data.residual_correlations(columns, w, penalty)
        outside = np.setdiff1d(np.arange(400), found.indices)
        screened += len(outside)
        assert np.all(np.abs(q[outside]) <= penalty * (1 + 1e-9))
        np.testing.assert_allclose(found.exact, q[found.indices], atol=1e-8)
    assert screened > 0


def test_working_sets_grow_until_nothing_violates():
    X, y = problem(n=100, d=500)
    X, y = X - X.mean(axis=0), y - y.mean()
    penalty = 0.02 * np.abs(X.T @ y).max()
    by_columns = solve_path(ColumnDatafit(X, y), [penalty], 1e-10)
    by_gram = solve_path(GramDatafit(X.T @ X, X.T @ y, y @ y), [penalty], 1e-10)
    for (solution,), gaps in (by_columns, by_gram):
        columns, w = solution
        q = X.T @ (y - X[:, columns] @ w)
        assert np.abs(q).max() <= penalty * (1 + 1e-3)
        assert gaps[0] <= 1e-10 * (y @ y)


@SOLVERS
@pytest.mark.parametrize("debias", [False, True])
def test_scores_are_those_of_refits_without_each_fold(solver, debias):
    X, y = problem(n=60, d=6)
    alphas = [0.5, 0.1, 0.02]
    model = Lasso(alphas, solver=solver, debias=debias, tol=1e-12, n_folds=3).fit(X, y)
    fold = fold_of(MemorySource(X).read(0, 60).ids, 3, 0)
    expected = np.zeros(3)
    for k in range(3):
        for a, alpha in enumerate(alphas):
            part = Lasso(alpha, solver=solver, debias=debias, tol=1e-12).fit(X[fold != k], y[fold != k])
            expected[a] += np.sum((y[fold == k] - part.predict(X[fold == k])) ** 2) / 60
    np.testing.assert_allclose(model.path_.losses, expected, rtol=1e-6)
    assert model.alpha_ == alphas[int(np.argmin(expected))]


def test_debiasing_is_least_squares_on_the_support():
    X, y = problem()
    model = Lasso(alpha=0.3, debias=True).fit(X, y)
    A = np.column_stack([X[:, model.support_], np.ones(len(y))])
    np.testing.assert_allclose(model.coef_[model.support_], np.linalg.lstsq(A, y)[0][:-1], rtol=1e-8)


def test_planted_columns_are_found_and_named():
    X, y = problem(n=300, d=40)
    model = Lasso().fit(X, y)
    assert set(range(4)) <= set(np.flatnonzero(model.support_))
    assert model.score(X, y) > 0.9
    assert list(model.path_.entered()[:1]) == [int(np.argmax(np.abs(np.corrcoef(X.T, y)[-1, :-1])))]
    assert len(np.unique(model.path_.entered())) == len(model.path_.entered())


def test_many_columns_are_solved_in_memory_and_refuse_partial_fit(monkeypatch):
    from mercer.select.lasso import lasso

    monkeypatch.setattr(lasso, "GRAM_COLUMNS", 20)
    X, y = problem()
    assert np.array_equal(Lasso(alpha=0.1).fit(X, y).coef_, Lasso(alpha=0.1, solver="columns").fit(X, y).coef_)
    with pytest.raises(ValueError, match="solver='gram'"):
        Lasso(alpha=0.1).partial_fit(X, y)
    with pytest.raises(AttributeError, match="several passes"):
        Lasso(solver="columns").partial_fit(X, y)


def test_constant_targets_and_columns():
    X, y = problem(n=20, d=5)
    constant = Lasso().fit(X, np.full(20, 7.0))
    assert not constant.support_.any()
    assert constant.predict(X).tolist() == [7.0] * 20
    for solver in ("gram", "columns"):
        same = Lasso(alpha=0.01, solver=solver).fit(np.column_stack([np.full(20, 1e9 + 0.1), X]), y)
        assert same.coef_[0] == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0.0}, "alpha must be None, a positive number or several, not 0.0"),
        ({"alpha": []}, "alpha must be None, a positive number"),
        ({"alpha": "auto"}, "alpha must be None, a positive number or several, not 'auto'"),
        ({"alpha": True}, "alpha must be None, a positive number or several, not True"),
        ({"solver": "lars"}, "solver must be"),
        ({"eps": 2.0}, "eps must lie"),
        ({"n_folds": 1}, "n_folds must be"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        Lasso(**parameters).fit(X, y)


@pytest.mark.filterwarnings("ignore:.*encountered in.*:RuntimeWarning")
def test_overflow_is_an_error_and_lack_of_convergence_a_warning():
    X, y = problem()
    with pytest.raises(ValueError, match="overflow"):
        Lasso(alpha=1.0).fit(1e200 * X, y)
    data = ColumnDatafit(X, y)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        solve_path(data, [0.1], 1e-15, max_sweeps=6)
