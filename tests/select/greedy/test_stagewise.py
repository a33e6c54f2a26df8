"""Greedy selection for classification losses: the refit, line and gradient rules."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, minimize, minimize_scalar
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression

from mercer.select import GreedySelector
from mercer.select.greedy.line_search import best_hinge_steps, best_steps
from mercer.select.greedy.refits import fit_weights
from mercer.select.greedy.risks import MAX_STEP, RISKS, ExponentialRisk, HingeRisk, LogisticRisk

LOSSES = ["logistic", "hinge", "exponential"]


def problem(seed=0, n=150, d=8):
    """Labels that depend on three of the columns, with so much noise that they are not separable."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.2 * rng.normal(size=(d, d))) + rng.normal(size=d)
    score = 0.8 * X[:, 1] - 1.5 * X[:, d // 2] + 0.5 * X[:, d - 2]
    y = np.where(score - score.mean() + 1.5 * rng.logistic(size=n) > 0, "yes", "no")
    return X, y


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("step", "refit"), [("refit", True), ("line", True), ("gradient", True), ("line", False)])
def test_the_risk_falls_at_every_step(loss, step, refit):
    X, y = problem(n=80, d=5)
    w = np.random.default_rng(1).uniform(0.5, 2.0, 80)
    model = GreedySelector(k=5, loss=loss, step=step, refit=refit).fit(X, y, w)
    assert is_classifier(model)
    assert model.classes_.tolist() == ["no", "yes"]
    assert np.all(np.diff(model.path_.risk) <= 1e-8)
    f = model.decision_function(X)
    risk = RISKS[loss]().value(np.where(y == "yes", 1.0, -1.0), f, w)
    assert model.path_.risk[-1] == pytest.approx(risk, abs=1e-3)  # up to the penalty
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize("loss", LOSSES)
def test_refits_try_every_candidate(loss):
    X, y = problem(2, n=60, d=5)
    sign, ones = np.where(y == "yes", 1.0, -1.0), np.ones(60)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model = GreedySelector(k=3, loss=loss).fit(X, y)
    chosen = []
    for feature, risk in zip(model.path_.feature, model.path_.risk, strict=True):
        found = {
            j: fit_weights(RISKS[loss](), Z[:, [*chosen, j]], sign, ones, 1e-3, True).objective
            for j in range(5)
            if j not in chosen
        }
        chosen.append(min(found, key=found.get))
        assert feature == chosen[-1]
        assert risk == pytest.approx(found[feature], rel=1e-6)


def test_logistic_refits_are_maximum_likelihood():
    X, y = problem(3)
    model = GreedySelector(k=3, loss="logistic", alpha=1e-9).fit(X, y)
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X[:, model.support_], y)
    np.testing.assert_allclose(model.coef_[:, model.support_], peer.coef_, rtol=1e-4)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-3, atol=1e-4)


def test_hinge_refits_solve_the_linear_program():
    X, y = problem(4, n=60, d=3)
    sign = np.where(y == "yes", 1.0, -1.0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    alpha = 1e-3
    fit = fit_weights(HingeRisk(), Z, sign, np.ones(60), alpha, True)
    # variables v (free), b (free), slack xi: minimize sum of xi with y (Z v + b) + xi >= 1
    rows = -np.hstack([sign[:, None] * Z, sign[:, None], np.eye(60)])
    bounds = [(None, None)] * 4 + [(0, None)] * 60
    best = linprog([0.0] * 4 + [1.0] * 60, A_ub=rows, b_ub=-np.ones(60), bounds=bounds)
    assert best.fun <= 60 * fit.objective + 1e-9 <= best.fun + alpha * best.x[:3] @ best.x[:3] + 1e-6
    # The gradient is that of a minimum: it balances the penalty, and is zero for the intercept.
    np.testing.assert_allclose(fit.gradient @ Z, -2 * alpha / 60 * fit.v, atol=1e-9)
    assert abs(fit.gradient.sum()) < 1e-12


def test_exponential_refits_minimize_log_mean_exp():
    X, y = problem(5, n=60, d=3)
    sign, w = np.where(y == "yes", 1.0, -1.0), np.random.default_rng(0).uniform(0.5, 2.0, 60)
    fit = fit_weights(ExponentialRisk(), X, sign, w, 1e-9, True)
    best = minimize(lambda p: np.log(w @ np.exp(-sign * (X @ p[:3] + p[3])) / w.sum()), np.zeros(4), tol=1e-12)
    assert fit.objective == pytest.approx(best.fun, abs=1e-8)


@pytest.mark.parametrize("risk", [LogisticRisk(), ExponentialRisk()])
def test_line_searches_along_many_columns_equal_scalar_searches(risk):
    X, y = problem(6, n=60, d=4)
    sign, w, f = np.where(y == "yes", 1.0, -1.0), np.random.default_rng(0).uniform(0.5, 2.0, 60), 0.3 * X[:, 0]
    eta, values = best_steps(risk, X, sign, f, w)
    for j in range(4):
        best = minimize_scalar(lambda t, j=j: risk.value(sign, f + t * X[:, j], w))
        assert values[j] <= best.fun + 1e-12
        assert eta[j] == pytest.approx(best.x, abs=1e-6)


def test_steps_of_the_hinge_move_the_intercept_too():
    X, y = problem(7, n=60, d=4)
    sign, w, f = np.where(y == "yes", 1.0, -1.0), np.random.default_rng(0).uniform(0.5, 2.0, 60), 0.3 * X[:, 0]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    eta, shift, values = best_hinge_steps(Z, sign, f, w)
    for j in range(4):
        rows = -np.hstack([(sign * Z[:, j])[:, None], sign[:, None], np.eye(60)])
        best = linprog(
            np.append([0.0, 0.0], w), A_ub=rows, b_ub=sign * f - 1.0, bounds=[(None, None)] * 2 + [(0, None)] * 60
        )
        assert values[j] == pytest.approx(best.fun / w.sum(), abs=1e-6)
        assert HingeRisk().value(sign, f + eta[j] * Z[:, j] + shift[j], w) == pytest.approx(values[j])


def test_the_gradient_rule_is_the_score_test():
    """At the start g^2 / (2 H) is n r^2 / 2 per row: the squared correlation of each column with the labels."""
    X, y = problem(8)
    model = GreedySelector(k=1, loss="logistic", step="gradient").fit(X, y)
    r = np.array([np.corrcoef(x, y == "yes")[0, 1] for x in X.T])
    assert model.path_.feature[0] == np.argmax(r**2)
    assert model.path_.gain[0] == pytest.approx(0.5 * np.max(r**2), rel=1e-9)


def test_the_three_rules_agree_on_orthogonal_signs():
    """Orthogonal columns of -1 and +1: refit, line and gradient then rank the columns alike."""
    H = np.array([[1.0]])
    for _ in range(5):
        H = np.block([[H, H], [H, -H]])
    rng = np.random.default_rng(9)
    y = np.where(2.0 * H[:, 3] + H[:, 7] + rng.normal(size=32) > 0, 1, 0)
    for loss in ("logistic", "exponential"):
        firsts = {
            int(GreedySelector(k=1, loss=loss, step=step, fit_intercept=False).fit(H[:, 1:], y).path_.feature[0])
            for step in ("refit", "line", "gradient")
        }
        assert len(firsts) == 1


@pytest.mark.parametrize("loss", LOSSES)
def test_separable_classes_have_finite_weights(loss):
    X = np.linspace(-1.0, 1.0, 40)[:, None] + np.array([0.0, 5.0])
    X[:, 1] = np.random.default_rng(0).normal(size=40)
    y = X[:, 0] > 0.1
    for step, refit in (("refit", True), ("line", False)):
        model = GreedySelector(k=2, loss=loss, step=step, refit=refit).fit(X, y)
        assert model.path_.feature[0] == 0
        assert np.isfinite(model.coef_).all()
    assert refit or np.abs(model.coef_[0] * X.std(axis=0)).max() <= 3 * MAX_STEP


@pytest.mark.parametrize("step", ["gradient", "refit"])
def test_groups_and_forced_columns(step):
    X, y = problem(10, n=200, d=8)
    groups = [0, 1, 0, 2, 1, 2, 1, 3]  # group 1 holds the three columns that matter
    for loss in LOSSES:
        model = GreedySelector(k=1, loss=loss, step=step, groups=groups, include=[7]).fit(X, y)
        assert model.path_.feature.tolist() == [1]
        assert model.get_support(indices=True).tolist() == [1, 4, 6, 7]
    with pytest.raises(ValueError, match="no single line"):
        GreedySelector(loss="logistic", step="line", groups=groups).fit(X, y)


def test_folds_and_criteria_stop_before_the_noise():
    X, y = problem(11, n=400, d=12)
    folds = GreedySelector(k=12, loss="logistic", step="gradient", stop="folds").fit(X, y)
    bic = GreedySelector(k=12, loss="logistic", step="gradient", stop="bic").fit(X, y)
    for model in (folds, bic):
        assert model.support_[[1, 6]].all()
        assert model.n_steps_ == 1 + np.argmin(model.path_.score) < 10
    p = np.arange(1, 13) + 1
    np.testing.assert_allclose(bic.path_.score, 800 * bic.path_.risk + p * np.log(400), rtol=1e-12)


def test_weights_equal_repeated_rows_and_sparse_equals_dense():
    X, y = problem(12, n=60)
    w = np.random.default_rng(0).integers(0, 4, 60)
    for loss, step in (("logistic", "refit"), ("exponential", "line"), ("hinge", "gradient")):
        weighted = GreedySelector(k=2, loss=loss, step=step).fit(X, y, w)
        repeated = GreedySelector(k=2, loss=loss, step=step).fit(X.repeat(w, axis=0), y.repeat(w))
        stored = GreedySelector(k=2, loss=loss, step=step).fit(sparse.csr_array(X), y, w)
        for other in (repeated, stored):
            np.testing.assert_allclose(other.path_.risk, weighted.path_.risk, rtol=1e-6)
            np.testing.assert_allclose(other.coef_, weighted.coef_, rtol=1e-3, atol=1e-4)
