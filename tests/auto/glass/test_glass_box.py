"""Explainable models: exact contributions, a scorecard that reproduces predictions, nothing that cannot be read."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer._runtime.errors import DataError, MercerError
from mercer.auto.features.terms import terms_block

N = 700


def table(seed=0, n=N):
    """Numbers with gaps, categories with gaps, dates, and targets that depend on all of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(18, 90, n),
            "income": rng.lognormal(10, 1, n),
            "city": rng.choice(["Bern", "Oslo", "Rome"], n),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "flag": rng.integers(0, 2, n).astype(bool),
        }
    )
    y = np.abs(frame.age - 50) / 10 + 2.0 * (frame.city == "Bern") + 3 * np.log(frame.income) * (frame.flag - 0.5)
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "city"] = None
    frame["y"] = y + 2.0 * frame.age.isna() + 0.2 * rng.normal(size=n)
    frame["two"] = np.where(frame.y > frame.y.median(), "high", "low")
    frame["three"] = np.digitize(frame.y, np.quantile(frame.y, [0.3, 0.6]))
    frame["weight"] = rng.uniform(0.5, 2, n)
    return frame


COLUMNS = ["age", "income", "city", "day", "flag"]
TASKS = ("y", "two", "three")


@pytest.fixture(scope="module")
def models():
    frame = table()
    return {
        target: mercer.fit(frame[[*COLUMNS, target, "weight"]], target, weight="weight", explainable=True, max_pairs=3)
        for target in TASKS
    }


def points_of(model, frame):
    """The sums of the points that a reader of the scorecard finds for the rows of a frame, one column per output."""
    card = model.scorecard()
    outputs = card["class"].unique() if "class" in card else [None]
    block = terms_block(model.predictor.features)
    codes = block.tables.codes(model.map_encoded(frame, lambda X: X))
    total = np.zeros((len(frame), len(outputs)))
    for o, output in enumerate(outputs):
        shown = card if output is None else card[card["class"] == output]
        total[:, o] += shown.points[shown.feature == "(intercept)"].item()
        for j, name in enumerate(block.details.columns):
            total[:, o] += shown.points[shown.feature == name].to_numpy()[codes[:, j]]
        for pair, name in zip(block.tables.pairs, block.term_names()[len(block.tables.axes) :], strict=True):
            cells = shown.points[shown.feature == name].to_numpy().reshape(pair.values.shape[:2])
            total[:, o] += cells[pair.first_level[codes[:, pair.first]], pair.second_level[codes[:, pair.second]]]
    return total


@pytest.mark.parametrize("target", TASKS)
def test_contributions_add_up_exactly_and_name_pairs(models, target):
    model, new = models[target], table(1, 60)[COLUMNS]
    found = model.explain(new)
    np.testing.assert_allclose(found.baseline + found.contributions.sum(axis=1), found.prediction, rtol=0, atol=1e-12)
    if target == "y":
        np.testing.assert_allclose(found.prediction, model.predict(new), rtol=0, atol=1e-12)
    else:
        probability = model.predict_proba(new).max(axis=1)
        np.testing.assert_allclose(found.probability, probability, rtol=0, atol=1e-12)
    pairs = [name for name in found.columns if " x " in name]
    assert set(found.columns) - set(pairs) == set(COLUMNS)
    assert len(pairs) <= 3
    assert all(set(name.split(" x ")) <= set(COLUMNS) for name in pairs)


@pytest.mark.parametrize("target", TASKS)
def test_the_scorecard_reproduces_predictions(models, target):
    model, new = models[target], table(2, 80)[COLUMNS]
    total = points_of(model, new)
    if target == "y":
        np.testing.assert_allclose(total[:, 0], model.predict(new), rtol=0, atol=1e-12)
    elif target == "two":
        np.testing.assert_allclose(1 / (1 + np.exp(-total[:, 0])), model.predict_proba(new)[:, 1], rtol=0, atol=1e-12)
    else:
        odds = np.exp(total - total.max(axis=1, keepdims=True))
        np.testing.assert_allclose(odds / odds.sum(axis=1, keepdims=True), model.predict_proba(new), atol=1e-12)


def test_bins_of_the_scorecard_are_in_the_units_of_the_table(models):
    model, new = models["y"], table(3, 200)[COLUMNS]
    card = model.scorecard()
    assert card.columns.tolist()[:3] == ["feature", "bin", "points"]
    block = terms_block(model.predictor.features)
    codes = block.tables.codes(model.map_encoded(new, lambda X: X))
    for name in ("age", "income"):
        shown = card[card.feature == name].reset_index(drop=True)
        present = new[name].notna().to_numpy()
        rows = shown.iloc[codes[:, block.details.columns.index(name)][present]]
        values = new[name].to_numpy()[present]
        assert np.all((rows.lower.to_numpy() < values) & (values <= rows.upper.to_numpy()))
    assert card[card.feature == "age"].bin.iloc[-1] == "(missing)"
    assert {"Bern", "Oslo", "Rome", "(unseen)", "(missing)"} == set(card[card.feature == "city"].bin)
    assert card[card.feature == "city"].rows.sum() == pytest.approx(table().weight.sum())


@pytest.mark.parametrize("target", TASKS)
def test_models_have_nothing_but_terms_and_survive_files_and_pipelines(models, target, tmp_path):
    model, new = models[target], table(4, 60)[COLUMNS]
    assert [block["kind"] for block in model.report()["blocks"]] == ["terms"]
    model.save(tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    assert loaded.scorecard().equals(model.scorecard())
    np.testing.assert_array_equal(model.to_pipeline().predict(new), model.predict(new))
    np.testing.assert_allclose(
        model.transform(new) @ model.predictor.coef + model.predictor.intercept,
        model.predictor.scores(model.map_encoded(new, lambda X: X)),
        rtol=1e-12,
    )


@pytest.mark.parametrize("target", TASKS)
def test_onnx_predicts_the_same(target):
    pytest.importorskip("onnxruntime")
    frame = table()[["age", "income", "city", "flag", target]]
    model = mercer.fit(frame, target, explainable=True, effort="fast", report=False)
    model.to_onnx(check=frame.drop(columns=target))


def test_scores_are_close_to_those_of_the_truth_and_noise_stays_noise():
    frame = table(n=1500)[[*COLUMNS, "y"]]
    model = mercer.fit(frame, "y", explainable=True, report=False)
    assert model.report()["holdout"]["model"]["value"] > 0.98
    assert "income x flag" in model.explain(frame.iloc[0].drop("y")).contributions
    rng = np.random.default_rng(0)
    noise = mercer.fit(rng.normal(size=(600, 4)), rng.normal(size=600), explainable=True, report=False)
    assert noise.report()["holdout"]["model"]["value"] > -0.1
    points = np.var(noise.predict(rng.normal(size=(500, 4))))
    assert points < 0.1


def test_no_pairs_are_taken_where_none_are_allowed():
    frame = table()[[*COLUMNS, "y"]]
    model = mercer.fit(frame, "y", explainable=True, max_pairs=0, effort="fast", report=False)
    assert not [name for name in model.explain(frame.iloc[0].drop("y")).contributions if " x " in name]


def test_texts_are_left_out_with_a_note_and_texts_alone_are_refused():
    frame = table()[["age", "y"]]
    rng = np.random.default_rng(0)
    words = [" ".join(rng.choice(["red", "green", "blue", "old", "new", "fine"], 12)) for _ in range(N)]
    frame["story"] = words
    model = mercer.fit(frame, "y", explainable=True, effort="fast", report=False)
    assert any("'story': text is left out" in str(note) for note in model.report()["notes"])
    assert set(model.explain({"age": 30.0, "story": "red"}).contributions) == {"age"}
    with pytest.raises(DataError, match="All columns are texts"):
        mercer.fit(frame[["story", "y"]], "y", explainable=True, effort="fast", report=False)


def test_estimators_take_the_options_by_name():
    frame = table()
    model = mercer.MercerRegressor(explainable=True, max_pairs=1, effort="fast").fit(frame[COLUMNS], frame.y)
    assert len(model.model_.scorecard()) > 10
    with pytest.raises(ValueError, match="max_pairs"):
        mercer.MercerRegressor(explainable=True, max_pairs=-1).fit(frame[COLUMNS], frame.y)


def test_other_models_have_no_scorecard():
    model = mercer.fit(table()[["age", "income", "y"]], "y", effort="fast", report=False)
    with pytest.raises(MercerError, match="Only explainable models have a scorecard"):
        model.scorecard()


@pytest.mark.parametrize("n", [3, 12, 45])
def test_few_rows_have_a_model(n):
    frame = table(n=n)[["age", "city", "y"]]
    model = mercer.fit(frame, "y", explainable=True, holdout=0, report=False)
    assert np.isfinite(model.predict(frame)).all()
    found = model.explain_all(frame.drop(columns="y"))
    np.testing.assert_allclose(found.baseline + found.contributions.sum(axis=1), model.predict(frame), atol=1e-9)
