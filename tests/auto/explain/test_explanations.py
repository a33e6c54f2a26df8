"""Explanations add up to what the model predicts, for one row and for many."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.auto.explain.contributions import contributions, contributions_of_rows
from mercer.auto.explain.explanation import Explanation
from mercer.auto.explain.rows import explain_rows

N = 400


def table():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"size": rng.normal(size=N), "age": rng.integers(0, 50, N).astype(float)})
    frame["town"] = rng.choice(["Bern", "Oslo", "Rome"], N)
    frame.loc[::9, "age"] = np.nan
    score = np.sin(2 * frame["size"]) + 0.02 * frame["age"].fillna(20) + (frame["town"] == "Oslo")
    return frame, score.to_numpy(), rng


@pytest.fixture(scope="module")
def regression():
    frame, score, rng = table()
    data = frame.assign(price=score + 0.1 * rng.normal(size=N))
    return mercer.fit(data, "price", effort="fast"), frame


@pytest.fixture(scope="module", params=[2, 3])
def classes(request):
    frame, score, rng = table()
    noisy = score + 0.5 * rng.normal(size=N)
    labels = np.array(["low", "medium", "high"])[np.digitize(noisy, [0.5, 1.5][: request.param - 1])]
    return mercer.fit(frame, labels, effort="fast"), frame


def assert_adds_up(found):
    np.testing.assert_allclose(found.baseline + found.contributions.sum(axis=1), found.prediction, rtol=1e-9)
    for each in found:
        assert each.baseline + sum(each.contributions.values()) == pytest.approx(each.prediction, rel=1e-9)
        sizes = [abs(value) for value in each.contributions.values()]
        assert sizes == sorted(sizes, reverse=True)


def test_contributions_to_numbers_add_up_to_predict(regression):
    model, frame = regression
    found = model.explain(frame)
    assert len(found) == N
    np.testing.assert_allclose(found.prediction, model.predict(frame), rtol=1e-9)
    assert_adds_up(found)
    assert (found[0].unit, found[0].output, found[0].probability) == ("price", None, None)
    assert found[0].baseline_description == "the mean row of the training data"
    np.testing.assert_array_equal(found.baseline, model.predictor.scores(model.baseline[None])[0, 0])


def test_contributions_to_classes_add_up_to_predict_proba(classes):
    model, frame = classes
    assert model.predictor.temperature != 1.0  # else this would test nothing
    p = model.predict_proba(frame)
    found = [model.explain(frame, output=name) for name in model.classes_]
    for each, column in zip(found, p.T, strict=True):
        assert_adds_up(each)
        np.testing.assert_allclose(each.probability, column, rtol=1e-12)
    if len(found) == 2:
        for each, column in zip(found, p.T, strict=True):
            np.testing.assert_allclose(each.prediction, np.log(column / (1 - column)), rtol=1e-9)
        assert found[1][0].unit == f"log-odds of '{model.classes_[1]}'"
    else:
        scores = np.exp(np.stack([each.prediction for each in found], axis=1))
        np.testing.assert_allclose(scores / scores.sum(axis=1, keepdims=True), p, rtol=1e-9)
    predicted = model.explain(frame)
    assert [each.output for each in predicted] == model.predict(frame).tolist()
    np.testing.assert_allclose(predicted.probability, p.max(axis=1), rtol=1e-12)


def test_a_row_has_the_same_explanation_alone_and_among_others(classes, regression):
    for model, frame in (classes, regression):
        many = model.explain(frame.iloc[:40])
        assert [model.explain(frame.iloc[[i]]) for i in (0, 5, 39)] == [many[0], many[5], many[-1]]
        assert many[2:4] == [many[2], many[3]]
        with pytest.raises(IndexError, match="none of index 40"):
            many[40]


def test_a_file_is_explained_like_its_frame(regression, tmp_path):
    model, frame = regression
    frame.to_csv(tmp_path / "rows.csv", index=False)
    np.testing.assert_allclose(
        model.explain(str(tmp_path / "rows.csv")).contributions, model.explain(frame).contributions, rtol=1e-12
    )


def test_columns_for_a_frame(classes, regression):
    model, frame = regression
    wide = pd.DataFrame(model.explain(frame).to_dict())
    assert list(wide) == ["baseline", "prediction", "size", "age", "town"]
    np.testing.assert_allclose(wide.drop(columns="prediction").sum(axis=1), wide["prediction"], rtol=1e-9)
    model, frame = classes
    wide = pd.DataFrame(model.explain(frame).to_dict())
    assert list(wide) == ["baseline", "prediction", "output", "probability", "size", "age", "town"]


def test_a_column_called_baseline_keeps_a_name_of_its_own():
    rng = np.random.default_rng(0)
    data = {"baseline": rng.normal(size=80), "x": rng.normal(size=80)}
    found = mercer.fit(data, data["baseline"] + data["x"], effort="fast", holdout=0.0).explain(data)
    assert list(found.to_dict()) == ["baseline", "prediction", "baseline_contribution", "x"]


def test_the_text_fits_eighty_columns(classes):
    model, frame = classes
    lines = str(model.explain(frame.iloc[[3]])).splitlines()
    assert "probability" in lines[0]
    assert len(lines) == 5
    many = Explanation(1.0, 22.0, {f"a long name of a column, number {i}": 1.5 for i in range(14)})
    lines = str(many).splitlines()
    assert lines[-1].split() == ["others", "+3", "+" * 16]
    assert max(map(len, lines)) <= 80


def test_thousands_of_columns_add_up_as_well(monkeypatch, regression):
    model, frame = regression
    few = model.explain(frame.iloc[:5])
    monkeypatch.setattr("mercer.auto.explain.rows._MANY_COLUMNS", 1)
    many = model.explain(frame.iloc[:5])
    assert_adds_up(many)
    np.testing.assert_allclose(many.contributions, few.contributions, atol=1e-4)  # features in float32


@pytest.mark.parametrize("entries", [1, 500])
def test_contributions_do_not_depend_on_the_batch_size(regression, monkeypatch, entries):
    model, frame = regression
    X = model.map_encoded(frame.iloc[:20], lambda X: X)
    at_once = explain_rows(model, X).contributions
    monkeypatch.setattr("mercer.auto.explain.contributions._PATH_ENTRIES", entries)
    np.testing.assert_array_equal(explain_rows(model, X).contributions, at_once)


def test_a_product_is_split_evenly():
    def scores(X):
        return X[:, :1] * X[:, 1:2]

    groups = {"a": np.array([0]), "b": np.array([1])}
    base, parts = contributions_of_rows(scores, np.array([[2.0, 3.0], [1.0, -1.0]]), np.zeros(2), groups)
    np.testing.assert_allclose(parts[:, :, 0], [[3.0, 3.0], [-0.5, -0.5]])
    assert contributions(scores, np.array([2.0, 3.0]), np.zeros(2), groups)[1].ravel().tolist() == [3.0, 3.0]
    assert base.tolist() == [0.0]
