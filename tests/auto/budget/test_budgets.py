"""Budgets of time and memory, with a clock that the test sets."""

import functools

import numpy as np
import pytest

import mercer
from clocks import Hours
from mercer.auto import fitting
from mercer.auto.budget import memory
from mercer.auto.budget.clock import Clock
from mercer.auto.budget.progress import Steps
from mercer.auto.final.all_rows import sample_of
from mercer.auto.text.sparse_linear import fit_sparse
from mercer.auto.text.sparse_model import encode_training_rows
from mercer.io import read_table
from mercer.tables import TableEncoder


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.normal(size=n)
    return {"a": a, "b": b}, np.sin(2 * a) + b + 0.1 * rng.normal(size=n)


def on_a_clock(monkeypatch, step):
    hours = Hours(step)
    monkeypatch.setattr(fitting, "Clock", functools.partial(Clock, now=hours))
    return hours


def test_without_time_only_the_linear_block_is_tried(monkeypatch):
    on_a_clock(monkeypatch, 100.0)
    data, y = table()
    report = mercer.fit(data, y, effort="fast", time_budget=50).report()
    assert [each["stage"] for each in report["candidates"]] == ["columns"]
    assert "fitted to the training rows without the holdout" in " ".join(report["notes"])
    assert "refit" not in report["seconds"]


def test_with_time_every_stage_runs_without_notes(monkeypatch):
    on_a_clock(monkeypatch, 1e-6)
    data, y = table()
    report = mercer.fit(data, y, effort="fast", time_budget=50).report()
    unlimited = mercer.fit(data, y, effort="fast").report()
    assert report["notes"] == []
    assert "refit" in report["seconds"]
    assert [each["name"] for each in report["candidates"]] == [each["name"] for each in unlimited["candidates"]]


def test_no_refit_if_it_would_exceed_the_time_budget(monkeypatch):
    data, y = table()
    monkeypatch.setattr(Steps, "seconds_of", lambda steps, fractions: 49.0)
    assert mercer.fit(data, y, effort="fast", time_budget=50).report()["notes"]
    monkeypatch.setattr(Steps, "seconds_of", lambda steps, fractions: 0.1)
    assert not mercer.fit(data, y, effort="fast", time_budget=50).report()["notes"]


def test_a_part_of_a_clock_starts_with_it():
    hours = Hours(1.0)
    clock = Clock(10.0, hours)  # started at 1
    part = clock.part(0.5)
    assert part.left() == 5.0 - (hours.time - 1)
    assert Clock().left() == Clock().part(0.5).left() == np.inf


def documents(n=200):
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(900)])
    label = rng.integers(0, 2, n)
    texts = [" ".join([*rng.choice(words, 12), "good" if k else "bad"]) for k in label]
    return texts, label


def test_penalties_of_text_terms_are_tried_within_the_time():
    texts, label = documents()
    encoder = TableEncoder(roles={"text": "text"})
    X = encoder.fit_transform({"text": texts}, label)
    ids = np.arange(len(texts), dtype=np.uint64)
    tried = {
        step: fit_sparse(X, label, ids, np.unique(label), 0, clock=Clock(10.0, Hours(step)))[0] for step in (1e-9, 4)
    }
    assert [len(model.candidates) for model in tried.values()] == [5, 1]


def test_texts_are_compared_with_the_most_frequent_class():
    texts, label = documents(400)
    report = mercer.fit({"text": texts}, np.array(["no", "yes"])[label], roles={"text": "text"}).report()
    scores = report["holdout"]
    assert scores["baseline"] == "the most frequent class"
    assert scores["model"]["value"] > 0.9 > scores["linear"]["value"]
    assert "terms" in report["seconds"]


def test_texts_beside_numbers_are_compared_with_the_numbers():
    texts, label = documents(400)
    data = {"text": texts, "noise": np.random.default_rng(1).normal(size=400)}
    model = mercer.fit(
        data, label.astype(float) + 0.5 * label, effort="fast", roles={"text": "text"}, task="regression"
    )
    scores = model.report()["holdout"]
    assert scores["baseline"] == "linear model of the columns that are not text"
    assert scores["gain"]["low"] > 0


def test_rows_encoded_like_others_take_their_penalties():
    texts, label = documents(400)
    data = {"text": texts, "noise": np.arange(400.0)}
    first, _ = encode_training_rows(read_table(data, label), {"text": "text"}, True, 0)
    again, _ = encode_training_rows(read_table(data, label), {"text": "text"}, True, 0, like=first)
    assert [score.model.alpha for score in again.columns] == [score.model.alpha for score in first.columns]
    assert again.candidates == first.candidates


@pytest.fixture(scope="module")
def sampled():
    data, y = table(6000)
    kinds = dict.fromkeys(data, "number")
    gigabytes = 1e-6 * 1500 / memory.rows_in(memory.usable(1e-6), kinds, fitting.effort_of("fast"))
    return mercer.fit(data, y, effort="fast", memory=gigabytes), data, y


def test_the_search_of_a_larger_table_uses_a_sample_and_notes_it(sampled):
    model, _, _ = sampled
    notes = model.report()["notes"]
    assert "6,000 rows" in notes[0]
    assert "1,500 of them" in notes[0]
    assert notes[1] == "Trees, bins and random features come from the sample, the linear weights from all rows."
    assert model.report()["holdout"]["n"] > 1000
    assert model.report()["holdout"]["model"]["value"] > 0.9


def test_weights_of_all_rows_are_those_of_one_ridge(sampled):
    """On rows outside the sample and in it, these with their out-of-fold scores."""
    model, data, y = sampled
    predictor = model.predictor
    penalty = predictor.penalties[predictor.features.block_of_column]
    source, rest = sample_of(read_table(data, y), 0.25, 0)
    X = [model.encoder.transform(block.X) for block in rest.blocks()]
    targets = [block.y for block in rest.blocks()]
    inside = np.concatenate([block.y for block in source.blocks()])
    Z = np.vstack([predictor.features.features(x) for x in X]).astype(float)
    known = predictor.features.features(
        np.vstack([model.encoder.transform(block.X) for block in source.blocks()]), predictor.result.scores
    )
    Z, t = np.vstack([Z, known]), np.concatenate([*targets, inside])
    Z, t = Z - Z.mean(axis=0), t - t.mean()
    expected = np.linalg.solve(Z.T @ Z + np.diag(penalty), Z.T @ t)

    def risk(w):
        return np.sum((t - Z @ w) ** 2) + np.sum(penalty * w**2)

    # Penalties P are ten times the rounding E of the float32 products at least, and then the excess risk is
    # (E w)' (A + P)^-1 (E w) <= w' P w / 100; the same for the rounding of the products with the target.
    excess = risk(predictor.coef[:, 0]) - risk(expected)
    assert excess < 0.02 * np.sum(penalty * expected**2)
