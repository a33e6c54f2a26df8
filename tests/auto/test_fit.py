"""`mercer.fit`: honest scores, explicit features, explanations that add up."""

import numpy as np
import pytest

import mercer
from mercer.auto.fitting import sizes


def table(n=700, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    data = {
        "size": rng.normal(size=n),
        "age": rng.uniform(0, 9, n),
        "city": rng.choice(["Bern", "Oslo", "Rome"], n),
        "idle": rng.normal(size=n),
    }
    data["size"][::50] = np.nan
    y = np.sin(2 * np.nan_to_num(data["size"])) + (data["age"] > 4) * (data["city"] == "Oslo")
    return data, y + noise * rng.normal(size=n)


@pytest.fixture(scope="module")
def regression():
    data, y = table()
    return mercer.fit(data, y, effort="fast"), data, y


@pytest.fixture(scope="module")
def classes():
    data, y = table()
    labels = np.digitize(y, [-0.3, 0.6]).astype(str)
    return mercer.fit(data, labels, effort="fast"), data, labels


def rows(data, span):
    return {name: column[span] for name, column in data.items()}


def test_the_search_beats_the_linear_model_on_the_holdout(regression):
    model, _, _ = regression
    held = model.report()["holdout"]
    assert held["metric"] == "R2"
    assert held["gain"]["low"] > 0
    assert held["model"]["value"] > 0.8 > held["linear"]["value"]


def test_new_rows_score_what_the_holdout_promised(regression):
    model, _, _ = regression
    data, y = table(seed=1)
    left = 1 - np.mean((model.predict(data) - y) ** 2) / np.var(y)
    assert abs(left - model.report()["holdout"]["model"]["value"]) < 0.1


def test_noise_shows_no_skill():
    rng = np.random.default_rng(0)
    data, _ = table(900)
    data["code"] = rng.integers(0, 300, 900).astype(str)
    held = mercer.fit(data, rng.normal(size=900), effort="fast").report()["holdout"]
    assert abs(held["model"]["value"]) < 4 * np.sqrt(2 / held["n"])


def test_the_model_is_linear_in_its_features(regression, classes):
    model, data, _ = regression
    Z = model.transform(data).astype(float)
    assert Z.shape[1] == len(model.get_feature_names_out()) == model.predictor.dictionary.width
    np.testing.assert_allclose(model.predict(data), Z @ model.predictor.coef[:, 0] + model.predictor.intercept[0])
    model, data, labels = classes
    p = model.predict_proba(data)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.array_equal(model.classes_[p.argmax(axis=1)], model.predict(data))
    assert np.mean(model.predict(data) == labels) > 0.7


def test_contributions_add_up(regression, classes):
    for model, data, _ in (regression, classes):
        told = model.explain(rows(data, slice(3, 4)))
        assert set(told.contributions) == set(data)
        assert told.baseline + sum(told.contributions.values()) == pytest.approx(told.prediction)
    model, data, _ = regression
    assert model.explain(rows(data, slice(3, 4))).prediction == pytest.approx(model.predict(rows(data, slice(3, 4)))[0])
    with pytest.raises(ValueError, match="one row"):
        model.explain(data)
    with pytest.raises(ValueError, match="none of the classes"):
        classes[0].explain(rows(classes[1], slice(0, 1)), output="7")


def test_importance_finds_the_idle_column(regression):
    importance = regression[0].importance()
    assert sum(importance.values()) == pytest.approx(1.0)
    assert min(importance, key=importance.get) == "idle"
    assert importance["size"] > 0.3


def test_the_report_accounts_for_everything(regression):
    report = regression[0].report()
    assert {"task", "holdout", "blocks", "candidates", "seconds", "schema", "importance"} <= set(report)
    kept = {each["stage"] for each in report["candidates"] if each["kept"]}
    assert "columns" in kept
    assert all(each["why"] or each["stage"] == "columns" for each in report["candidates"])
    assert report["schema"]["city"] == {"kind": "text", "role": "category"}


def test_a_file_and_its_rows_give_the_same_model(tmp_path):
    data, y = table(300)
    path = tmp_path / "table.csv"
    lines = [",".join([*data, "y"])]
    lines += [",".join(map(str, row)).replace("nan", "") for row in zip(*data.values(), y, strict=True)]
    path.write_text("\n".join(lines))
    whole = mercer.fit(str(path), "y", effort="fast", holdout=0.0)
    data["size"] = [None if np.isnan(x) else x for x in data["size"]]
    other = mercer.fit(data, y, effort="fast", holdout=0.0)
    np.testing.assert_allclose(whole.predict(data), other.predict(data), rtol=1e-9)
    with pytest.warns(UserWarning, match="'y'"):  # a column that the model does not know is left out, and said
        again = whole.predict(str(path))
    np.testing.assert_allclose(again, whole.predict(data), rtol=1e-12)


def test_the_short_way_for_numbers_is_the_long_way():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[::7, 1] = np.nan
    model = mercer.fit(X, np.nan_to_num(X[:, 1]) + X[:, 0] ** 2, effort="fast", holdout=0.0)
    names = list(model.encoder.schema_)
    long = model.encoder.transform(dict(zip(names, X.T, strict=True)))
    np.testing.assert_array_equal(model._encoded(X), long)


def test_budgets_are_kept():
    data, y = table()
    model = mercer.fit(data, y, effort="fast", max_features=40, holdout=0.0)
    assert model.predictor.dictionary.width <= 40
    model = mercer.fit(data, y, effort="normal", time_budget=1e-6, holdout=0.0)
    assert [each["stage"] for each in model.report()["candidates"]] == ["columns"]


def test_errors_say_what_to_do():
    data, y = table(60)
    with pytest.raises(ValueError, match="effort must be one of fast"):
        mercer.fit(data, y, effort="huge")
    with pytest.raises(ValueError, match="task must be one of"):
        mercer.fit(data, y, task="cluster")
    with pytest.raises(ValueError, match="holdout"):
        mercer.fit(data, y, holdout=1.5)
    with pytest.raises(ValueError, match="max_features"):
        sizes("fast", 0)
    with pytest.raises(AttributeError, match="no probabilities"):
        mercer.fit(data, y, effort="fast", holdout=0.0).predict_proba(data)
