"""Time budgets too short for all rows: what still comes from all of them, and what the notes say."""

import numpy as np
import pytest

import mercer
from mercer.auto import run
from mercer.auto.budget import probe, sample_size
from mercer.auto.budget.clock import Clock
from mercer.auto.final.linear_of_all import LINEAR_IS_BETTER
from mercer.auto.text import sparse_model
from mercer.io import read_table


def linear_table(n=6000, d=40, seed=0):
    """Many columns and much noise: a few hundred rows are too few, all of them are enough."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    w = rng.normal(size=d)
    return {f"x{j}": x for j, x in enumerate(X.T)}, X @ w + 10.0 * rng.normal(size=n), X, w


def notes_of(model):
    return " ".join(map(str, model.report()["notes"]))


def short(monkeypatch, seconds=1.0):
    """Let encoding seem slow."""
    monkeypatch.setattr(run, "seconds_per_row", lambda *_: seconds)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_the_linear_model_of_all_rows_is_taken_where_a_sample_finds_less(monkeypatch, task):
    short(monkeypatch)
    data, y, X, w = linear_table()
    target = y if task == "regression" else np.where(y > 0, "high", "low")
    model = mercer.fit(data, target, effort="fast", time_budget=1000)
    assert LINEAR_IS_BETTER in notes_of(model)
    assert model.predictor.features.width == 40
    signal = X @ w
    found = model.predictor.scores(model.encoder.transform(data))[:, 0]
    # By 500 rows of this noise the prediction has an error of 40 * 100 / 500 in square, a fifth of the signal.
    assert np.corrcoef(found, signal)[0, 1] ** 2 > 0.9
    assert any(each["kept"] and "all rows" in each["name"] for each in model.report()["candidates"])


def test_gram_matrices_beyond_the_memory_are_not_made(monkeypatch):
    short(monkeypatch)
    data, y, _, _ = linear_table(d=200)
    assert LINEAR_IS_BETTER in notes_of(mercer.fit(data, y, effort="fast", time_budget=1000))
    model = mercer.fit(data, y, effort="fast", time_budget=1000, memory="20MB")
    assert LINEAR_IS_BETTER not in notes_of(model)


def test_what_the_search_finds_is_kept_where_it_is_better(monkeypatch):
    short(monkeypatch)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=len(X))
    model = mercer.fit(X, y, effort="fast", time_budget=1000)
    assert LINEAR_IS_BETTER not in notes_of(model)
    assert model.report()["holdout"]["model"]["value"] > model.report()["holdout"]["linear"]["value"] + 0.2


def test_roles_come_from_all_rows(monkeypatch):
    short(monkeypatch)
    rng = np.random.default_rng(0)
    n = 6000
    # More than 100 categories, of which a sample of 625 rows shows fewer.
    common = rng.random(n) < 0.9
    code = np.where(common, rng.integers(0, 50, n), rng.integers(50, 300, n))
    data = {"code": [f"c{i}" for i in code], "x": rng.normal(size=n)}
    y = data["x"] + 0.1 * rng.normal(size=n)
    model = mercer.fit(data, y, effort="fast", time_budget=1000)
    assert model.schema["code"]["role"] == "high-cardinality"
    assert model.encoder.roles_["code"].why != "as given"


def test_roles_of_a_random_sample_where_there_is_no_time_for_all_rows(monkeypatch):
    """By 100 or 625 rows a column of 500 categories is text, by thousands it is not."""
    short(monkeypatch)
    monkeypatch.setattr(sample_size, "_ROLES_READ", 1e9)
    rng = np.random.default_rng(0)
    data = {"code": [f"c{i}" for i in rng.integers(0, 500, 8000)], "x": rng.normal(size=8000)}
    y = data["x"] + 0.1 * rng.normal(size=8000)
    probed = []
    encode = sparse_model.encode_training_rows

    def recorded(source, roles, *rest):
        probed.append(getattr(roles["code"], "role", roles["code"]))
        return encode(source, roles, *rest)

    monkeypatch.setattr(run, "encode_training_rows", recorded)
    monkeypatch.setattr(run, "seconds_per_row", lambda source, n_classes, encode, clock: encode(source) and 1.0)
    model = mercer.fit(data, y, effort="fast", time_budget=1000)
    assert "random sample of about 625" in notes_of(model)
    assert model.schema["code"]["role"] == "high-cardinality"
    assert len(probed) >= 2
    assert set(probed) == {"high-cardinality"}


def test_what_a_row_becomes_is_known_without_encoding_numbers():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    data = {"a": x, "b": np.where(x > 1, np.nan, x), "c": x > 0, "y": x}
    source = read_table(data, "y")
    assert sample_size.RowSize.measured(source, None, 0).columns == 5  # a, b, b missing, two for c
    assert sample_size.likely_roles(source, None) is None
    text = read_table({"t": [f"c{i}" for i in rng.integers(0, 300, 3000)]})
    assert sample_size.likely_roles(text, None)["t"].role == "high-cardinality"


def test_the_note_says_what_more_time_would_give(monkeypatch):
    short(monkeypatch)
    data, y, _, _ = linear_table(3000)
    model = mercer.fit(data, y, effort="fast", time_budget=1000)
    assert "About 4,800 s would be enough to search with all of them." in notes_of(model)


def test_profiles_and_diagnostics_give_way_to_the_model():
    data, y, _, _ = linear_table(600, 5)
    report = mercer.fit(data, y, effort="fast", time_budget=0.05).report()
    assert "holdout" in report
    assert "left no room for the profiles" in " ".join(map(str, report["notes"]))


def test_a_noisy_probe_counts_no_more_than_its_mean():
    # The second probe was interrupted: its difference is larger than all of its time per row.
    assert probe._slope([0, 100, 800], [0.0, -5.0, 1.0]) == 1.0 / 800
    assert probe._slope([0, 100, 800], [0.0, 1.0, 1.0]) == 0.2 / 800


def test_contention_is_wall_time_per_cpu_time():
    now = iter([0.0, 1000.0, 1000.0]).__next__
    assert Clock(10.0, now).contention() == 8.0
    assert Clock(10.0).contention() == 1.0
