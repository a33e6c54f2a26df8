"""Scores of models on other rows follow the metric of the fit."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import mercer
from mercer.auto.diagnostics.other_data import evaluate_on

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = X[:, 0] + 0.5 * RNG.normal(size=300)
LABELS = np.where(X[:, 0] + RNG.normal(size=300) > 0.5, "yes", "no")
NEW = RNG.normal(size=(200, 3))
NEW_Y = NEW[:, 0] + 0.5 * RNG.normal(size=200)
NEW_LABELS = np.where(NEW[:, 0] + RNG.normal(size=200) > 0.5, "yes", "no")
WEIGHT = RNG.uniform(0.5, 2.0, size=200)
COSTS = {"false_positive": 1, "false_negative": 5}
NUMBERS = {
    "r2": metrics.r2_score,
    "rmse": lambda *args, **kw: -metrics.root_mean_squared_error(*args, **kw),
    "mae": lambda *args, **kw: -metrics.mean_absolute_error(*args, **kw),
    "pinball": lambda *args, **kw: -metrics.mean_pinball_loss(*args, **kw),
    "neg_median_absolute_error": lambda *args, **kw: -metrics.median_absolute_error(*args, **kw),
}
CLASSES = ("accuracy", "balanced_accuracy", "f1", "auc", "log_loss", "brier", "neg_log_loss")


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal rows", "weights"])
@pytest.mark.parametrize("metric", NUMBERS)
def test_regression_follows_the_metric(metric, weight):
    model = mercer.fit(X, Y, effort="fast", report=False, metric=metric)
    expected = NUMBERS[metric](NEW_Y, model.predict(NEW), sample_weight=weight)
    np.testing.assert_allclose(model.score(NEW, NEW_Y, weight), expected, rtol=1e-12)
    estimator = mercer.MercerRegressor(effort="fast", metric=metric).fit(X, Y)
    expected = NUMBERS[metric](NEW_Y, estimator.predict(NEW), sample_weight=weight)
    np.testing.assert_allclose(estimator.score(NEW, NEW_Y, weight), expected, rtol=1e-12)


def of_classes(metric, model):
    p, predicted = model.predict_proba(NEW)[:, 1], model.predict(NEW)
    yes = NEW_LABELS == "yes"
    return {
        "accuracy": lambda: metrics.accuracy_score(NEW_LABELS, predicted),
        "balanced_accuracy": lambda: metrics.balanced_accuracy_score(NEW_LABELS, predicted),
        "f1": lambda: metrics.f1_score(NEW_LABELS, predicted, pos_label="yes"),
        "auc": lambda: metrics.roc_auc_score(yes, p),
        "log_loss": lambda: -metrics.log_loss(yes, p),
        "neg_log_loss": lambda: -metrics.log_loss(yes, p),
        "brier": lambda: -metrics.brier_score_loss(yes, p),
    }[metric]()


@pytest.mark.parametrize("metric", CLASSES)
def test_classification_follows_the_metric(metric):
    model = mercer.fit(X, LABELS, effort="fast", report=False, metric=metric)
    np.testing.assert_allclose(model.score(NEW, NEW_LABELS), of_classes(metric, model), rtol=1e-12)
    estimator = mercer.MercerClassifier(effort="fast", metric=metric).fit(X, LABELS)
    np.testing.assert_allclose(estimator.score(NEW, NEW_LABELS), of_classes(metric, estimator), rtol=1e-12)


def test_costs_lead_where_no_metric_is_given(tmp_path):
    model = mercer.fit(X, LABELS, effort="fast", report=False, costs=COSTS)
    predicted = model.predict(NEW)
    cost = np.where(predicted == NEW_LABELS, 0, np.where(NEW_LABELS == "yes", 5, 1)).mean()
    np.testing.assert_allclose(model.score(NEW, NEW_LABELS), -cost, rtol=1e-12)
    model.save(tmp_path / "model.mercer")
    np.testing.assert_allclose(mercer.load(tmp_path / "model.mercer").score(NEW, NEW_LABELS), -cost, rtol=1e-12)


def test_functions_are_called_by_estimators_and_not_kept_by_models():
    scorer = metrics.make_scorer(metrics.max_error, greater_is_better=False)
    estimator = mercer.MercerRegressor(effort="fast", metric=scorer).fit(X, Y)
    assert estimator.score(NEW, NEW_Y) == scorer(estimator, NEW, NEW_Y)
    model = mercer.fit(X, Y, effort="fast", report=False, metric=scorer)
    assert model.score(NEW, NEW_Y) == metrics.r2_score(NEW_Y, model.predict(NEW))


def frame(rows, y):
    return pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2], "y": y})


@pytest.mark.parametrize(("metric", "y", "new"), [("mae", Y, NEW_Y), ("log_loss", LABELS, NEW_LABELS)])
def test_reports_and_comparisons_follow_the_metric(metric, y, new):
    model = mercer.fit(frame(X, y), "y", effort="fast", report=False, metric=metric)
    rows = frame(NEW, new)
    found = evaluate_on(model, rows)
    assert found["metric"] == metric
    np.testing.assert_allclose(-found["model"]["value"], model.score(rows), rtol=1e-12)
    score = model.compare(rows).score
    before = model.report()["holdout"]["model"]["value"]
    assert score["metric"] == metric
    assert score["holdout"] == before
    np.testing.assert_allclose(score["loss"], score["new"] - before, rtol=1e-12)  # a larger error is a loss
