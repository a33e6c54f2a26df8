"""`Model.compare`, `mercer.compare` and `mercer compare`: models, files, frames, and mistakes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import cli
from mercer.auto.shift.reference import reference_of
from mercer.io import read_table


def houses(n=240, seed=0, shift=0.0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "area": random.normal(100, 20, n) + shift,
        "city": np.array(["Bern", "Oslo", "Rome"])[random.integers(0, 3, n)],
        "built": pd.Timestamp("2000-01-01") + pd.to_timedelta(random.integers(0, 9000, n), unit="D"),
        "number": np.arange(n),
        "words": [" ".join(random.choice(["big", "old", "sunny", "quiet", "new"], 8)) + f" {k}" for k in range(n)],
    })  # fmt: skip
    frame["price"] = frame["area"] * np.where(frame["city"] == "Bern", 3.0, 2.0) + random.normal(size=n)
    return frame


@pytest.fixture(scope="module")
def model():
    return mercer.fit(houses().drop(columns="words"), "price", effort="fast", report=False)


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    model.save(folder / "houses.mercer")
    houses().to_csv(folder / "old.csv", index=False)
    houses(200, 1).to_csv(folder / "same.csv", index=False)
    houses(200, 1, shift=30.0).to_csv(folder / "moved.csv", index=False)
    return folder


def test_a_model_compares_rows_with_those_of_its_fit(model):
    same, moved = model.compare(houses(200, 1)), model.compare(houses(200, 1, shift=30.0))
    assert not same.changed
    assert moved.changed
    assert moved.columns["column"].tolist()[0] == "area"
    assert moved.columns.columns.tolist() == ["column", "test", "statistic", "p_value", "q_value"]
    assert moved.columns["p_value"].is_monotonic_increasing
    assert set(moved.columns["column"]) == {"area", "city", "built"}  # a running number identifies rows
    assert len(moved.rows) == 10
    assert moved.n_new == 200
    assert moved.n_old == 240
    assert "area" in repr(moved)


def test_scores_where_the_rows_have_targets(model):
    found = model.compare(houses(200, 1)).score
    assert found["loss"] == pytest.approx(found["holdout"] - found["new"])
    assert found["new"] == pytest.approx(
        model.score(houses(200, 1).drop(columns=["price", "words"]), houses(200, 1)["price"])
    )
    assert model.compare(houses(200, 1).drop(columns="price")).score is None
    some = houses(200, 1)
    some.loc[3:, "price"] = np.nan
    assert "3 rows" in model.compare(some).score["sentence"]


def test_a_saved_model_compares_alike(model, folder):
    loaded = mercer.load(folder / "houses.mercer")
    frame = houses(200, 2)
    assert loaded.compare(frame).to_dict() == model.compare(frame).to_dict()
    json.dumps(model.compare(frame).to_dict(), allow_nan=False)


def test_a_model_without_a_reference_says_what_to_do(folder):
    loaded = mercer.load(folder / "houses.mercer")
    loaded.reference = None
    with pytest.raises(ValueError, match="compare the new rows"):
        loaded.compare(houses(20, 1))


def test_an_estimator_compares_too():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    estimator = mercer.MercerRegressor(effort="fast").fit(X, X[:, 0])
    assert not estimator.model_.compare(random.normal(size=(100, 3))).changed
    assert estimator.model_.compare(random.normal(size=(100, 3)) + 1).changed


def test_a_model_of_texts_compares():
    frame = pd.DataFrame({"words": houses(300)["words"], "y": np.arange(300) % 2})
    model = mercer.fit(frame, "y", effort="fast", report=False)
    other = pd.DataFrame({"words": houses(200, 1)["words"]})
    assert not model.compare(other).changed
    assert model.compare(pd.DataFrame({"words": ["other words in another language"] * 200})).changed


def test_blocks_of_any_length_count_alike(tmp_path):
    frame = houses(9000, 3)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=1000)
    reference = reference_of(read_table(houses()), {"area": "number", "city": "category"})
    from mercer.auto.shift.reference import counts_of

    one = counts_of(read_table(frame), reference)
    other = counts_of(read_table(str(tmp_path / "rows.parquet")), reference)
    assert all(np.array_equal(a, b) for a, b in zip(one[1], other[1], strict=True))
    np.testing.assert_allclose(one[2].mean, other[2].mean, rtol=0, atol=1e-12)


def test_the_reference_of_many_rows_is_a_sample_of_bounded_size():
    random = np.random.default_rng(0)
    reference = reference_of(read_table({"x": random.normal(size=70_000)}), {"x": "number"})
    assert 18_000 < reference.n < 22_000


def run(*arguments):
    return cli._run([str(each) for each in arguments])


@pytest.mark.parametrize("old", ["houses.mercer", "old.csv"])
def test_the_command_line_prints_json(folder, old, capsys):
    assert run("compare", folder / old, folder / "moved.csv", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["p_value"] < 0.01
    assert found["columns"][0]["column"] in ("area", "price")
    assert all(each["line"] == each["row"] + 2 for each in found["rows"])
    assert run("compare", folder / old, folder / "same.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["p_value"] > 0.01


def test_the_command_line_prints_a_table_and_writes_a_page(folder, capsys):
    page = folder / "page.html"
    assert run("compare", folder / "houses.mercer", folder / "moved.csv", "--html", page) == 0
    out, err = capsys.readouterr()
    assert "The data have changed" in out
    assert "area" in out
    assert err == ""
    text = page.read_text(encoding="utf-8")
    assert "The data have changed" in text
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text
    assert "moved.csv" in text


def test_mistakes_are_named(folder, capsys):
    assert run("compare", folder / "houses.mercer", folder / "nothing.csv") == 1
    assert "no such file" in capsys.readouterr().err
    houses().drop(columns="area").to_csv(folder / "lacks.csv", index=False)
    assert run("compare", folder / "houses.mercer", folder / "lacks.csv") == 1
    assert "'area' is missing" in capsys.readouterr().err
    pd.DataFrame({"other": [1.0, 2.0]}).to_csv(folder / "other.csv", index=False)
    assert run("compare", folder / "old.csv", folder / "other.csv") == 1
    assert "no column in common" in capsys.readouterr().err
    (folder / "broken.mercer").write_bytes(b"PK")
    assert run("compare", folder / "broken.mercer", folder / "same.csv") == 1
    assert "not a model file" in capsys.readouterr().err
    assert run("compare", folder / "old.csv", folder / "same.csv", "--html", folder / "old.csv") == 2
