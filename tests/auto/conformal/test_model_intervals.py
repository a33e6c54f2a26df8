"""Intervals and sets of fitted models: shapes, files, reports, and clear errors."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

import mercer
from mercer._runtime.errors import MercerError, ParameterError
from mercer.auto import MercerClassifier, MercerRegressor


@pytest.fixture(scope="module")
def regression():
    X, y = load_diabetes(return_X_y=True)
    return mercer.fit(X, y, effort="fast", report=False), X


@pytest.fixture(scope="module")
def classes():
    X, y = load_breast_cancer(return_X_y=True)
    return mercer.fit(X[:, :8], y, effort="fast", report=False), X[:, :8], y


def test_intervals_and_sets_survive_a_file(regression, classes, tmp_path):
    for model, data, verb in ((*regression, "predict_interval"), (*classes[:2], "predict_set")):
        model.save(tmp_path / "model.mercer")
        again = mercer.load(tmp_path / "model.mercer")
        for level in (0.5, 0.9):
            np.testing.assert_array_equal(getattr(model, verb)(data, level), getattr(again, verb)(data, level))


def test_report_states_the_coverage_of_the_holdout(regression, classes):
    found = regression[0].report()["intervals"]
    assert found["kind"] == "intervals"
    assert found["method"].startswith("CV+")
    assert found["coverage"]["low"] <= 0.9 <= found["coverage"]["high"]
    assert [each["level"] for each in found["levels"]] == [0.5, 0.8, 0.9, 0.95]
    assert "held-out rows" in found["sentence"]
    sets = classes[0].report()["intervals"]
    assert sets["kind"] == "sets"
    assert sets["coverage"]["high"] >= 0.9


def test_sets_have_a_column_for_each_class_and_are_never_empty(classes):
    model, X, y = classes
    sets = model.predict_set(X)
    assert sets.shape == (len(X), 2)
    assert sets.dtype == bool
    assert sets.any(axis=1).all()
    assert sets[np.arange(len(y)), y].mean() >= 0.9
    assert model.predict_set(X, 0.99).sum() > model.predict_set(X, 0.8).sum()


def test_several_targets_have_an_interval_each():
    X, y = load_diabetes(return_X_y=True)
    model = mercer.fit(X, np.column_stack([y, 2 * y + X[:, 0]]), effort="fast", report=False)
    ends = model.predict_interval(X[:7])
    assert ends.shape == (7, 2, 2)
    assert np.all(ends[..., 0] < ends[..., 1])


def test_estimators_have_intervals_and_sets_without_a_holdout():
    X, y = load_diabetes(return_X_y=True)
    regressor = MercerRegressor(effort="fast").fit(X[:300], y[:300])
    ends = regressor.predict_interval(X[300:])
    inside = (y[300:] >= ends[:, 0]) & (y[300:] <= ends[:, 1])
    assert inside.mean() > 0.9 - 3 * np.sqrt(0.9 * 0.1 / len(inside))
    X, y = load_breast_cancer(return_X_y=True)
    sets = MercerClassifier(effort="fast").fit(X[:400], y[:400]).predict_set(X[400:], per_class=True)
    inside = sets[np.arange(len(sets)), y[400:]]
    assert inside.mean() > 0.9 - 3 * np.sqrt(0.9 * 0.1 / len(inside))


def test_texts_have_intervals_and_sets():
    rng = np.random.default_rng(0)
    words = np.array([f"word{k}" for k in range(2500)])
    texts = [" ".join(rng.choice(words, 12)) for _ in range(600)]
    labels = np.array(["yes" if text.count("1") > 10 else "no" for text in texts])
    numbers = np.array([text.count("1") for text in texts]) + rng.normal(size=600)
    model = mercer.fit({"note": texts}, labels, roles={"note": "text"}, effort="fast", report=False)
    assert model.predict_set({"note": texts[:5]}).shape == (5, 2)
    model = mercer.fit({"note": texts}, numbers, roles={"note": "text"}, effort="fast", report=False)
    assert model.predict_interval({"note": texts[:5]}).shape == (5, 2)


def test_mistakes_are_refused(regression, classes):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        regression[0].predict_interval(regression[1], level=90)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        classes[0].predict_set(classes[1], level=0)
    with pytest.raises(MercerError, match="predict_set"):
        classes[0].predict_interval(classes[1])
    with pytest.raises(MercerError, match="predict_interval"):
        regression[0].predict_set(regression[1])


def test_models_of_old_files_ask_for_a_refit(regression):
    model, X = regression
    before, model.predictor.calibration = model.predictor.calibration, None
    try:
        with pytest.raises(MercerError, match="Fit it again"):
            model.predict_interval(X)
    finally:
        model.predictor.calibration = before
