"""Permutation importance: planted columns, coverage of its intervals, and its three ways to compute scores."""

import numpy as np
import pytest

from auto.diagnostics.held_out_cases import fitted, linear_rows, mixed_table, texts
from mercer.auto.diagnostics.sections import importances


def _loss(rows, scores):
    """The root of the mean squared error, or the log-loss, as in textbooks."""
    if rows.classes is None:
        return np.sqrt(np.mean((rows.y - scores[:, 0]) ** 2))
    p = 1 / (1 + np.exp(-scores[:, 0]))
    return -np.mean(np.log(np.where(rows.y == rows.classes[1], p, 1 - p)))


@pytest.mark.parametrize("classify", [False, True])
def test_the_increase_is_that_of_shuffled_rows(classify):
    rng = np.random.default_rng(0)
    table, signal = mixed_table(300, rng)
    rows, _ = fitted(table, signal > 1 if classify else signal, classify)
    found = {each["column"]: each["increase"] for each in importances.section(rows)["columns"]}
    unit = rows.predictor.temperature if classify else 1.0
    for name in ("size", "city", "rooms"):
        increases = []
        for _ in range(200):
            other = rows.X.copy()
            other[:, rows.groups[name]] = rows.X[rng.permutation(len(rows.y))][:, rows.groups[name]]
            increases.append(_loss(rows, rows.predictor.scores(other) / unit) - _loss(rows, rows.scores))
        error = np.std(increases)
        assert found[name]["value"] == pytest.approx(np.mean(increases), abs=4 * error)
        assert found[name]["low"] < found[name]["value"] < found[name]["high"]


def test_planted_columns_come_first_and_fractions_add_up():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 40))
    y = 3 * X[:, 5] + X[:, 31] ** 2
    rows, _ = fitted({f"x{j}": column for j, column in enumerate(X.T)}, y, False)
    found = importances.section(rows)
    assert [each["column"] for each in found["columns"][:2]] == ["x5", "x31"]
    assert len(found["columns"]) == importances.MAX_COLUMNS
    assert sum(each["fraction"] for each in found["columns"]) == pytest.approx(1.0)


@pytest.mark.parametrize("classify", [False, True])
def test_intervals_of_noise_columns_cover_zero(classify):
    rng, covered, n = np.random.default_rng(2), 0, 400
    for _ in range(n):
        X = rng.normal(size=(120, 2))
        signal = X[:, 0] + rng.normal(size=120)
        rows = linear_rows(
            X, signal > 0 if classify else signal, [1.0, 0.5], classes=[False, True] if classify else None
        )
        noise = next(each for each in importances.section(rows)["columns"] if each["column"] == "x1")
        covered += noise["increase"]["low"] <= 0 <= noise["increase"]["high"]
    # Three standard errors of a rate of 95 % over the simulations.
    assert abs(covered / n - 0.95) < 3 * np.sqrt(0.95 * 0.05 / n)


def test_intervals_of_strong_columns_cover_the_increase_of_many_rows(monkeypatch):
    rng = np.random.default_rng(6)

    def increase(n):
        X = rng.normal(size=(n, 1))
        rows = linear_rows(X, X[:, 0] + rng.normal(size=n), [1.35])
        return importances.section(rows)["columns"][0]["increase"]

    with monkeypatch.context() as patch:
        patch.setattr(importances, "_MAX_ROWS", 10**6)
        patch.setattr(importances, "_ENTRIES", 10**9)
        truth = increase(200_000)["value"]
    found = [increase(150) for _ in range(400)]
    covered = np.mean([each["low"] <= truth <= each["high"] for each in found])
    assert abs(covered - 0.95) < 3 * np.sqrt(0.95 * 0.05 / 400)


def test_changes_block_by_block_give_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    table, signal = mixed_table(300, rng)
    rows, _ = fitted(table, np.digitize(signal, [0.5, 1.5]), True)
    direct = importances.section(rows)
    monkeypatch.setattr(importances, "_MANY_COLUMNS", 0)
    by_blocks = importances.section(rows)
    for one, other in zip(direct["columns"], by_blocks["columns"], strict=True):
        assert one["column"] == other["column"]
        assert one["increase"] == pytest.approx(other["increase"], abs=1e-5)


def test_columns_of_texts_are_shuffled_whole():
    rng = np.random.default_rng(4)
    noise, good = texts(400, rng, words=1500)
    text, good = texts(400, rng, words=1500)
    rows, _ = fitted({"noise": noise, "text": text}, good, True)
    first, second = importances.section(rows)["columns"]
    assert (first["column"], second["column"]) == ("text", "noise")
    assert first["increase"]["low"] > 0


def test_rows_without_weight_do_not_count():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 2))
    y = np.where(np.arange(200) < 100, X[:, 0], 50 * X[:, 1])
    rows = linear_rows(X, y, [1.0, 0.0], weight=(np.arange(200) < 100).astype(float))
    first, second = importances.section(rows)["columns"]
    assert first["column"] == "x0"
    assert second["increase"] == pytest.approx({"value": 0.0, "low": 0.0, "high": 0.0}, abs=1e-12)
