"""`mercer.fit`: unbiased scores, explicit features, explanations that add up."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.auto.fitting import effort_of


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
    scores = model.report()["holdout"]
    assert scores["metric"] == "R2"
    assert scores["gain"]["low"] > 0
    assert scores["model"]["value"] > 0.8 > scores["linear"]["value"]


def test_the_score_on_new_rows_is_near_that_of_the_holdout(regression):
    model, _, _ = regression
    data, y = table(seed=1)
    r2 = 1 - np.mean((model.predict(data) - y) ** 2) / np.var(y)
    assert abs(r2 - model.report()["holdout"]["model"]["value"]) < 0.1


def test_noise_shows_no_skill():
    rng = np.random.default_rng(0)
    data, _ = table(900)
    data["code"] = rng.integers(0, 300, 900).astype(str)
    scores = mercer.fit(data, rng.normal(size=900), effort="fast").report()["holdout"]
    assert abs(scores["model"]["value"]) < 4 * np.sqrt(2 / scores["n"])


def test_the_model_is_linear_in_its_features(regression, classes):
    model, data, _ = regression
    Z = model.transform(data).astype(float)
    assert Z.shape[1] == len(model.get_feature_names_out()) == model.predictor.features.width
    np.testing.assert_allclose(model.predict(data), Z @ model.predictor.coef[:, 0] + model.predictor.intercept[0])
    model, data, labels = classes
    p = model.predict_proba(data)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.array_equal(model.classes_[p.argmax(axis=1)], model.predict(data))
    assert np.mean(model.predict(data) == labels) > 0.7


def test_contributions_add_up(regression, classes):
    for model, data, _ in (regression, classes):
        explained = model.explain(rows(data, slice(3, 4)))
        assert set(explained.contributions) == set(data)
        assert explained.baseline + sum(explained.contributions.values()) == pytest.approx(explained.prediction)
    model, data, _ = regression
    assert model.explain(rows(data, slice(3, 4))).prediction == pytest.approx(model.predict(rows(data, slice(3, 4)))[0])
    with pytest.raises(ValueError, match="none of the classes"):
        classes[0].explain(rows(classes[1], slice(0, 1)), output="7")


def test_importance_finds_the_idle_column(regression):
    importance = regression[0].importance()
    assert sum(importance.values()) == pytest.approx(1.0)
    assert min(importance, key=importance.get) == "idle"
    assert importance["size"] > 0.3


def test_the_report_lists_candidates_blocks_and_schema(regression):
    report = regression[0].report()
    assert {"task", "holdout", "blocks", "candidates", "seconds", "schema", "importance"} <= set(report)
    kept = {each["stage"] for each in report["candidates"] if each["kept"]}
    assert "columns" in kept
    assert all(each["why"] or each["stage"] == "columns" for each in report["candidates"])
    assert report["schema"]["city"] == {"kind": "text", "role": "category"}


def test_repr_shows_task_size_and_score(regression):
    first, second, third = repr(regression[0]).splitlines()
    assert first.startswith("Mercer model: regression from 4 columns, linear on ")
    assert second.startswith("Holdout of 136 rows: R2 0.9")
    assert "the columns themselves (7 encoded)" in third
    without = mercer.fit({"a": np.arange(20.0)}, np.arange(20.0), effort="fast", holdout=0)
    assert repr(without).splitlines()[1] == "No holdout: the score on new rows is unknown"


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
    np.testing.assert_allclose(
        whole.predict(str(path)), whole.predict(data), rtol=1e-12
    )  # the target is a known column
    with pytest.warns(UserWarning, match="'y'"):  # an unknown column is ignored with a warning
        again = other.predict(str(path))
    np.testing.assert_allclose(again, other.predict(data), rtol=1e-12)


def test_arrays_of_numbers_are_encoded_like_tables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[::7, 1] = np.nan
    model = mercer.fit(X, np.nan_to_num(X[:, 1]) + X[:, 0] ** 2, effort="fast", holdout=0.0)
    names = list(model.encoder.schema_)
    by_column = model.encoder.transform(dict(zip(names, X.T, strict=True)))
    np.testing.assert_array_equal(model._encoded(X), by_column)


def test_budgets_are_kept():
    data, y = table()
    model = mercer.fit(data, y, effort="fast", max_features=40, holdout=0.0)
    assert model.predictor.features.width <= 40
    model = mercer.fit(data, y, effort="normal", time_budget=1e-6, holdout=0.0)
    assert [each["stage"] for each in model.report()["candidates"]] == ["columns"]


def test_errors_say_what_to_do():
    data, y = table(60)
    with pytest.raises(ValueError, match="effort must be one of fast"):
        mercer.fit(data, y, effort="huge")
    with pytest.raises(ValueError, match="task must be 'classification' or 'regression'"):
        mercer.fit(data, y, task="cluster")
    with pytest.raises(ValueError, match="holdout"):
        mercer.fit(data, y, holdout=1.5)
    with pytest.raises(ValueError, match="max_features"):
        effort_of("fast", 0)
    with pytest.raises(AttributeError, match="no probabilities"):
        mercer.fit(data, y, effort="fast", holdout=0.0).predict_proba(data)


def test_several_targets_are_learned_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    Y = np.column_stack([np.sin(2 * X[:, 0]), 10 * X[:, 1]])
    model = mercer.fit(X, Y, effort="fast")
    assert model.predict(X).shape == Y.shape
    assert model.report()["holdout"]["model"]["value"] > 0.95
    graph = model.to_onnx()
    assert [each.name for each in graph.graph.output] == ["prediction"]
    for index in (0, 1):
        explained = model.explain(X[:1], output=index)
        assert explained.prediction == pytest.approx(model.predict(X[:1])[0, index], abs=1e-5)
    with pytest.raises(ValueError, match="index of a target, 0 to 1"):
        model.explain(X[:1], output=2)
    again = mercer.MercerRegressor(effort="fast").fit(X, Y)
    assert again.predict(X[:5]).shape == (5, 2)
    assert again.score(X, Y) > 0.95


def test_one_row_in_any_form_is_explained():
    frame = pd.DataFrame({"a": np.linspace(0, 1, 60), "c": ["u", "v"] * 30})
    model = mercer.fit(frame, np.sin(6 * frame["a"]) + (frame["c"] == "u"), effort="fast")
    expected = model.explain(frame.iloc[[7]])
    for row in (frame.iloc[7].to_dict(), frame.iloc[7], {"a": [frame["a"][7]], "c": ["v"]}):
        assert model.explain(row) == expected


def test_rows_without_names_are_those_of_the_fit():
    rows = np.array([[i, "uv"[i % 2]] for i in range(60)], dtype=object)
    model = mercer.fit(rows, np.arange(60) % 2 + 0.01 * np.arange(60), effort="fast")
    assert model.predict(rows.tolist()[:3]).tolist() == model.predict(rows[:3]).tolist()
    with pytest.raises(ValueError, match="X has 1 features, but fit has seen 2"):
        model.predict(rows[:3, :1])


@pytest.mark.parametrize("wrong", [{"time_budget": -1}, {"memory": 0}, {"time_budget": float("nan")}])
def test_budgets_are_positive(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be positive"):
        mercer.fit({"a": [1, 2, 3]}, [1, 2, 3], **wrong)


@pytest.mark.parametrize("seed", [None, np.random.RandomState(0)])
def test_random_state_may_be_none_or_a_generator(seed):
    model = mercer.fit({"a": np.arange(40.0)}, np.arange(40.0), effort="fast", random_state=seed)
    assert model.predict({"a": [1.0]}).shape == (1,)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classify", [False, True])
def test_a_table_of_two_different_rows(seed, classify):
    """Equal rows stay together, unless that would hold out all rows of a category."""
    rng = np.random.default_rng(seed)
    c = rng.choice([f"u{seed}", f"v{seed}"], 80)
    y = (c == c[0]) + 0.1 * rng.normal(size=80)
    model = mercer.fit({"c": c, "y": y > 0.5 if classify else y}, "y", effort="fast")
    found = model.predict({"c": [c[0], next(category for category in c if category != c[0])]})
    np.testing.assert_allclose(found.astype(float), [1, 0], atol=0.1)
    assert model.report()["holdout"]["model"]["value"] > 0.9
    assert "only 2 distinct rows among 80" in model.report()["notes"][0]


def test_columns_of_new_rows_may_come_in_any_order():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=80), "c": rng.choice(["u", "v"], 80), "n": rng.integers(1, 4, 80)})
    frame["y"] = frame["a"] + (frame["c"] == "u")
    model = mercer.fit(frame, "y", weight="n", effort="fast")
    expected = model.predict(frame[["a", "c"]])
    for rows in (frame, frame[["c", "a"]], frame[["c", "y", "a"]].to_dict("list"), frame.to_records()[["c", "a"]]):
        np.testing.assert_array_equal(model.predict(rows), expected)  # target and weight are known columns: no warning
        np.testing.assert_array_equal(model.predict(rows[:3] if hasattr(rows, "ndim") else rows)[:3], expected[:3])
    assert model.predict(frame.iloc[5])[0] == expected[5]
    assert model.unseen_categories(frame[["c", "a", "y"]]) == {}
    with pytest.raises(ValueError, match="column 'c' is missing"):
        model.predict(frame[["a"]])


@pytest.mark.parametrize("size", [1e40, 1e-140])
def test_weights_that_overflow_or_vanish(size):
    X, y = np.arange(60.0).reshape(-1, 1), np.arange(60.0)
    with pytest.raises(ValueError, match="a power of ten"):
        mercer.fit(X, y, weight=np.full(60, size), effort="fast")
    with pytest.raises(ValueError, match="a power of ten"):
        mercer.MercerRegressor(effort="fast").fit(X, y, np.full(60, size))


def test_several_targets_are_numbers():
    with pytest.raises(ValueError, match="The target has 2 columns"):
        mercer.fit({"a": np.arange(40.0)}, np.full((40, 2), "u"), effort="fast")


@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_few_rows_are_all_training_rows(n):
    """There is no holdout; integers that do not repeat are no classes."""
    frame = pd.DataFrame({"a": np.arange(n) * 1.5, "y": 3 * np.arange(n)})
    model = mercer.fit(frame, "y", effort="fast")
    assert model.task == ("classification" if n == 2 else "regression")
    assert "holdout" not in model.report()
    assert f"{n} rows are too few for a holdout" in " ".join(model.report()["notes"])
    assert np.isfinite(model.predict(frame)).all()


@pytest.mark.parametrize("wrong", [{"holdout": "a"}, {"time_budget": "5"}, {"max_features": 2.5}, {"memory": True}])
def test_options_that_are_no_numbers(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        mercer.fit({"a": [1, 2, 3]}, [1, 2, 3], **wrong)
