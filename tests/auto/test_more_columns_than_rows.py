"""Tables with fewer rows than columns, from end to end."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

import mercer
from mercer.auto.budget.effort import EFFORTS, sized
from mercer.auto.final.baselines import linear
from mercer.auto.rows import encoding
from mercer.auto.rows.encoding import EncodedRows
from mercer.learn.trees.training_data import ColumnScreen


def table(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 2.0 * rng.normal(size=(n, 5)) @ rng.normal(size=(5, p))
    return X, X @ rng.normal(size=p) / np.sqrt(p)


def test_regression_with_more_columns_than_rows():
    X, signal = table(300, 400)
    model = mercer.fit(X[:150], signal[:150], effort="fast")
    predicted = model.predict(X[150:])
    ridge = RidgeCV(np.geomspace(1e-3, 1e5, 20)).fit(X[:150], signal[:150]).predict(X[150:])
    # Columns are squashed at three times their quartiles, which a signal that is linear everywhere pays for.
    assert np.mean((predicted - signal[150:]) ** 2) < 1.25 * np.mean((ridge - signal[150:]) ** 2)
    assert len(model.importance()) == 400
    explained = model.explain(dict(zip(model.schema, X[200].tolist(), strict=True)))
    assert explained.prediction == pytest.approx(predicted[50], abs=1e-4)


def test_classification_with_more_columns_than_rows():
    X, signal = table(300, 400)
    label = np.digitize(signal, np.quantile(signal, [1 / 3, 2 / 3]))
    model = mercer.fit(X[:150], label[:150], effort="fast")
    assert np.mean(model.predict(X[150:]) == label[150:]) > 0.6
    assert model.predict_proba(X[150:]).sum(axis=1) == pytest.approx(1)


def test_noise_shows_no_skill():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 500)), rng.normal(size=120)
    model = mercer.fit(X, y, effort="fast")
    new = rng.normal(size=(2000, 500))
    assert np.var(model.predict(new)) < 0.25  # of a target of variance one


def test_too_many_columns_of_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(encoding, "_MAX_COLUMNS", 100)
    X, y = table(130, 120)
    mercer.fit(X[:100], y[:100], effort="fast", holdout=0)
    with pytest.raises(ValueError, match="for more than 100 rows the search takes 100 at most"):
        mercer.fit(X, y, effort="fast", holdout=0)


def test_small_trees_grow_on_screened_columns():
    effort = sized(EFFORTS["normal"], 1000, 1, wide=True)
    assert len(effort.tree_params) == 1
    assert effort.tree_params[0].max_screened_columns > 0
    assert sized(EFFORTS["normal"], 1000, 1).tree_params == EFFORTS["normal"].tree_params
    X, y = table(50, 200)
    rows = np.arange(10, 50)
    best = ColumnScreen(X).best(np.arange(200), rows, y[rows], 20)
    size = np.sqrt(np.mean((X - X.mean(axis=0)) ** 2, axis=0))
    correlation = np.abs((y[rows] - y[rows].mean()) @ ((X - X.mean(axis=0)) / size)[rows])
    np.testing.assert_array_equal(best, np.sort(np.argsort(-correlation)[:20]))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_linear_baseline_is_the_ridge_of_the_penalty_that_was_found(weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 90)).astype(np.float32).astype(float)
    y = X[:, :5].sum(axis=1) + 3.0
    weight = rng.integers(1, 4, 60).astype(float) if weighted else None
    rows = EncodedRows(X, y, np.arange(60, dtype=np.uint64), weight=weight)
    found = linear(rows, False, 0, penalty=7.0)
    w = np.ones(60) if weight is None else weight
    Z, t = (each - np.average(each, axis=0, weights=w) for each in (X, y))
    exact = np.linalg.solve((Z.T * w) @ Z + 7.0 * np.eye(90), (Z.T * w) @ t)
    np.testing.assert_allclose(found.coef[:, 0], exact, atol=1e-6)
    np.testing.assert_allclose(found.intercept[0], np.average(y - X @ exact, weights=w))
    model = mercer.fit(X, y, effort="fast", report=False)
    assert model.report()["holdout"]["linear"]["value"] > 0
