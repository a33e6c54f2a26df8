"""AdaBoost is forward greedy selection on log-sum-exp."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from mercer import base as mercer_base
from mercer.select import AdaBoost, GreedySelector
from mercer.select.boosting.stumps import Stumps, thresholds_of
from mercer.source import MemorySource


def signs(seed=0, n=120, d=15):
    rng = np.random.default_rng(seed)
    H = np.where(rng.normal(size=(n, d)) > 0, 1.0, -1.0)
    y = np.where(H[:, :4] @ [1.0, 0.8, -0.6, 0.4] + rng.normal(size=n) > 0, 1.0, -1.0)
    return H, y


@pytest.mark.parametrize("weighted", [False, True])
def test_adaboost_equals_greedy_selection_by_lines_and_gradients(weighted):
    for seed in range(5):
        H, y = signs(seed)
        w = np.random.default_rng(seed).uniform(0.5, 2.0, len(y)) if weighted else None
        boosted = AdaBoost(n_rounds=12, learner="columns").fit(H, y, w)
        for step in ("line", "gradient"):
            greedy = GreedySelector(12, "exponential", step, refit=False, fit_intercept=False).fit(H, y, w)
            assert greedy.path_.feature.tolist() == boosted.feature_indices_.tolist()
            np.testing.assert_allclose(greedy.coef_, boosted.coef_, atol=1e-8)
            np.testing.assert_allclose(greedy.path_.risk, boosted.risks_, atol=1e-10)


def test_the_risk_follows_the_weighted_error_and_bounds_the_training_error():
    H, y = signs(1)
    model = AdaBoost(n_rounds=30, learner="columns").fit(H, y)
    drop = np.log(2.0 * np.sqrt(model.errors_ * (1.0 - model.errors_)))
    np.testing.assert_allclose(np.diff(model.risks_, prepend=0.0), drop, atol=1e-10)
    np.testing.assert_allclose(model.bounds_, np.exp(model.risks_), rtol=1e-9)
    f = np.zeros(len(y))
    for pick, step, bound in zip(model.feature_indices_, model.steps_, model.bounds_, strict=True):
        f += step * H[:, pick]
        assert np.mean(y * f <= 0) <= bound + 1e-12
    np.testing.assert_allclose(model.decision_function(H), f, atol=1e-12)


def test_the_smallest_gradient_is_not_a_rule():
    """The smallest |gradient|, as printed in some notes, picks the column that helps least."""
    H, y = signs(2)
    edges = np.abs(H.T @ y) / len(y)
    assert AdaBoost(n_rounds=1, learner="columns").fit(H, y).feature_indices_[0] == np.argmax(edges) != np.argmin(edges)


def test_stumps_are_those_of_a_tree_of_depth_one():
    rng = np.random.default_rng(3)
    for seed in range(5):
        X = rng.normal(size=(80, 4)).round(1)
        y = (X[:, seed % 4] + 0.5 * rng.normal(size=80) > 0.2).astype(int)
        stump = Stumps(X)
        v = np.where(y == 1, 1.0, -1.0) / 80
        edges = stump.edges(v)
        best = int(np.argmax(np.abs(edges)))
        direct = [v @ np.where(x > t, 1.0, -1.0) for x in X.T for t in np.unique(x)[:-1]]
        assert np.abs(edges).max() == pytest.approx(np.abs(direct).max(), abs=1e-12)
        assert edges[best] == pytest.approx(v @ stump.values(best), abs=1e-12)
        # A tree minimizes impurity, not the error, so its error can only be larger.
        tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
        assert (1 - np.abs(edges).max()) / 2 <= 1 - tree.score(X, y) + 1e-12


def test_thresholds_lie_between_values_of_any_precision():
    x = np.array([1.0, np.nextafter(np.float32(1.0), np.float32(2.0)), 2.0], dtype=np.float32)
    cuts = thresholds_of(x)
    assert cuts.dtype == np.float32
    assert np.all((x[:2] <= cuts) & (cuts < x[1:]))
    assert len(thresholds_of(np.arange(10_000.0))) == 255
    assert len(thresholds_of(np.ones(5))) == 0


def test_a_linear_model_on_explicit_stumps():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 6))
    y = np.where((X[:, 1] > 0.3) ^ (rng.uniform(size=300) < 0.1), "b", "a")
    model = AdaBoost(n_rounds=25).fit(X, y)
    features = model.transform(X)
    assert set(np.unique(features)) == {-1.0, 1.0}
    np.testing.assert_allclose(features @ model.coef_[0] + model.intercept_[0], model.decision_function(X))
    j, t = model.stumps_[0]
    assert j == 1
    assert model.get_feature_names_out()[0] == f"x1 > {t:.6g}"
    assert model.score(X, y) > 0.88
    assert 1 - model.score(X, y) <= model.bounds_[-1]
    np.testing.assert_array_equal(AdaBoost(25).fit(sparse.csr_array(X), y).coef_, model.coef_)
    single = AdaBoost(n_rounds=25).fit(X.astype(np.float32), y)
    assert np.mean(single.predict(X.astype(np.float32)) == model.predict(X)) == 1.0


def test_a_perfect_stump_ends_with_a_finite_weight():
    X = np.arange(20.0)[:, None]
    model = AdaBoost().fit(X, X[:, 0] > 7)
    assert model.errors_.tolist() == [0.0]
    assert np.exp(-2 * model.steps_[0]) == pytest.approx(1e-10, rel=1e-6)
    assert model.score(X, X[:, 0] > 7) == 1.0
    assert model.bounds_[-1] == 0.0


def test_boosting_ends_when_every_stump_guesses():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    model = AdaBoost().fit(X, [0, 1, 0, 1])
    assert len(model.errors_) == 0
    assert model.predict(X).tolist() == [0, 0, 0, 0]


def test_columns_must_be_signs():
    with pytest.raises(ValueError, match="row 1 of column 0 holds 2"):
        AdaBoost(learner="columns").fit(np.array([[1.0], [2.0]]), [0, 1])
    with pytest.raises(ValueError, match="'stumps' or 'columns'"):
        AdaBoost(learner="trees").fit(np.ones((2, 1)), [0, 1])


@pytest.mark.parametrize("learner", ["stumps", "columns"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_large_source_is_read_once_per_round(learner, form, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 4))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=700) > 0.5, "yes", "no")
    X = X if learner == "stumps" else np.where(X > 0.2, 1.0, -1.0)
    weight = rng.uniform(0.5, 2.0, size=700)
    expected = AdaBoost(15, learner).fit(form(X), y, sample_weight=weight)
    monkeypatch.setattr(mercer_base, "MAX_COLLECTED_ENTRIES", X.size - 1)
    found = AdaBoost(15, learner).fit(MemorySource(form(X), y, weight))
    np.testing.assert_array_equal(found.feature_indices_, expected.feature_indices_)
    for name in ("coef_", "intercept_", "risks_", "errors_", "bounds_"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found.predict(form(X)), expected.predict(form(X)))
    if learner == "stumps":
        assert found.stumps_.tolist() == expected.stumps_.tolist()
    else:
        with pytest.raises(ValueError, match="row 3 of column 1 holds 0"):
            AdaBoost(2, learner).fit(MemorySource(np.where(np.arange(2800).reshape(700, 4) == 13, 0.0, X), y))
    with pytest.raises(ValueError, match="binary"):
        AdaBoost(2, learner).fit(MemorySource(X, np.arange(700) % 3))
