"""The best subset equals the best of all subsets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mercer.select import BestSubset, GreedySelector


def errors(X, y, k, w, intercept=True):
    """Mean squared error of every subset of k columns."""
    root = np.sqrt(w)[:, None]
    ones = [np.ones((len(y), 1))] if intercept else []
    found = {}
    for columns in itertools.combinations(range(X.shape[1]), k):
        A = root * np.hstack([X[:, columns], *ones])
        left = root[:, 0] * y - A @ np.linalg.lstsq(A, root[:, 0] * y, rcond=None)[0]
        found[columns] = left @ left / w.sum()
    return found


@pytest.mark.parametrize("intercept", [True, False])
def test_branch_and_bound_equals_enumeration(intercept):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 8)) @ rng.normal(size=(8, 8)) + rng.normal(size=8)
        y, w, k = rng.normal(size=30) + X[:, 2], rng.uniform(0.5, 2.0, 30), 1 + seed % 6
        found = errors(X, y, k, w, intercept)
        model = BestSubset(k, fit_intercept=intercept).fit(X, y, w)
        assert tuple(model.get_support(indices=True)) == min(found, key=found.get)
        assert model.risk_ == pytest.approx(min(found.values()), rel=1e-8)
        assert w @ (y - model.predict(X)) ** 2 / w.sum() == pytest.approx(model.risk_, rel=1e-7)


def test_fewer_rows_than_columns_and_copies_of_columns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(7, 10)), rng.normal(size=7)
    found = errors(X, y, 3, np.ones(7))
    assert tuple(BestSubset(3).fit(X, y).get_support(indices=True)) == min(found, key=found.get)
    X = rng.normal(size=(30, 4))
    X = np.column_stack([X, X[:, 0], X[:, 1] + X[:, 2], np.full(30, 2.0)])
    y = X[:, 5] + 0.1 * rng.normal(size=30)
    assert BestSubset(1).fit(X, y).get_support(indices=True).tolist() == [5]
    assert BestSubset(2).fit(X, y).risk_ == pytest.approx(min(errors(X, y, 2, np.ones(30)).values()), rel=1e-6)


def test_it_beats_greedy_selection_on_a_misleading_column():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 500))
    X = np.column_stack([a, b, a + b + 0.5 * rng.normal(size=500)])
    y = a + b
    assert GreedySelector(k=2).fit(X, y).support_[2]
    exact = BestSubset(2).fit(X, y)
    assert exact.get_support(indices=True).tolist() == [0, 1]
    assert exact.risk_ < 1e-12


def test_forty_columns_are_searched_without_enumeration():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 40)) @ (np.eye(40) + 0.3 * rng.normal(size=(40, 40)))
    y = X[:, :10] @ rng.normal(size=10) + 5.0 * rng.normal(size=500)
    model = BestSubset(10).fit(X, y)
    assert model.n_nodes_ < 30_000  # of 847,660,528 subsets
    assert model.risk_ <= GreedySelector(k=10).fit(X, y).path_.risk[-1] + 1e-12


def test_limits_are_errors():
    rng = np.random.default_rng(3)
    with pytest.raises(ValueError, match="up to 50 columns"):
        BestSubset(2).fit(rng.normal(size=(80, 51)), rng.normal(size=80))
    with pytest.raises(ValueError, match="depend on each other"):
        BestSubset(12).fit(rng.normal(size=(15, 30)), rng.normal(size=15))
    with pytest.raises(ValueError, match="whole number"):
        BestSubset(0).fit(rng.normal(size=(9, 3)), rng.normal(size=9))
