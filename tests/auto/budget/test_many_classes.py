"""Hundreds and thousands of classes: confirmed first, and then within memory."""

import numpy as np
import pytest

import mercer
from mercer import cli
from mercer._runtime.errors import DataError
from mercer.auto.budget import sample_size
from mercer.auto.budget.effort import EFFORTS
from mercer.auto.budget.memory import bytes_of_outputs, usable
from mercer.auto.constants import MAX_TREE_CLASSES
from mercer.auto.rows.targets import NumericTarget, _columns
from mercer.io import read_table
from mercer.tables.leakage import _misclassified


def table(n_classes, n=None, seed=0, text=False):
    rng = np.random.default_rng(seed)
    n = n or 4 * n_classes
    labels = rng.permutation(np.arange(n) % n_classes)
    x = np.column_stack([np.cos(labels / n_classes * 6), np.sin(labels / n_classes * 6)])
    x = x + 0.01 * rng.normal(size=x.shape)
    return {"a": x[:, 0], "b": x[:, 1], "y": [f"class {i}" for i in labels] if text else labels}


def notes_of(model):
    return " ".join(map(str, model.report()["notes"]))


@pytest.mark.parametrize(("n_classes", "text"), [(101, False), (1001, True)])
def test_many_classes_need_a_yes(n_classes, text):
    data = table(n_classes, text=text)
    with pytest.raises(DataError, match=f"max_classes={n_classes}") as refused:
        mercer.fit(data, "y", task="classification")
    assert ("task='regression'" in str(refused.value)) is not text


def test_the_command_line_names_its_option(tmp_path, capsys):
    path = tmp_path / "prices.csv"
    data = table(150)
    rows = zip(data["a"], data["b"], data["y"].tolist(), strict=True)
    path.write_text("a,b,y\n" + "\n".join(f"{a},{b},{y}" for a, b, y in rows) + "\n", encoding="utf-8")
    given = ["fit", str(path), "--target", "y", "--task", "classify", "--effort", "fast", "--quiet"]
    given += ["--output", str(tmp_path / "prices.mercer")]
    assert cli._run(given) == 1
    printed = capsys.readouterr().err
    assert "--max-classes 150" in printed
    assert "--task regression" in printed
    assert cli._run([*given, "--max-classes", "150"]) == 0


def test_confirmed_classes_are_learned_without_trees():
    data = table(MAX_TREE_CLASSES + 1)
    model = mercer.fit(data, "y", task="classification", effort="fast", max_classes=101)
    assert not model.predictor.features.has("trees")
    assert len(model.classes_) == 101
    assert model.report()["holdout"]["model"]["value"] > 5 / 101  # five times the chance level


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "many"])
def test_the_number_of_classes_is_a_whole_number(wrong):
    with pytest.raises(ValueError, match="max_classes"):
        mercer.fit(table(3), "y", max_classes=wrong)


def test_rows_features_and_scores_of_classes_fit_into_memory():
    for memory in (0.5, 1.0, 4.0, 16.0):
        room = usable(memory)
        for n_classes in (50, 500, 5000):
            source = read_table(table(n_classes, 2 * n_classes), "y")
            rows, effort = sample_size.search_rows(memory, source, EFFORTS["normal"], n_classes, 1e7)
            assert rows * bytes_of_outputs(n_classes) <= room
            if n_classes > MAX_TREE_CLASSES:  # weights, with the directions that the minimizer keeps
                most = max(effort.max_fourier, 64)
                assert most <= 64 or most * n_classes * 400 <= room / 4
                assert sample_size.held_out_rows(memory, n_classes) * n_classes * 64 <= memory * 1e9 / 3 + 1
    assert sample_size.held_out_rows(None, 5000) == np.inf


def test_a_holdout_of_many_scores_is_evaluated_in_part(monkeypatch):
    monkeypatch.setattr("mercer.auto.run.held_out_rows", lambda *_: 60)
    model = mercer.fit(table(200), "y", task="classification", effort="fast", max_classes=200, report=False)
    assert "The scores of 200 classes take much memory" in notes_of(model)
    assert model.report()["holdout"]["n"] < 100


def test_hundreds_of_categories_count_as_columns():
    rng = np.random.default_rng(0)
    n = 5000
    data = {f"c{j}": rng.integers(0, 90, n).astype(str) for j in range(5)} | {"y": rng.normal(size=n)}
    source = read_table(data, "y")
    size = sample_size.RowSize.measured(source, None, 0)
    assert size.columns == 450
    rows, _ = sample_size.search_rows(4.0, source, EFFORTS["normal"], 0, 1e7)
    assert rows * 8 * 8 * 450 <= 4e9


def test_terms_of_texts_count():
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(3000)])
    data = {"text": [" ".join(words[rng.integers(0, 3000, 100)]) for _ in range(500)], "y": rng.normal(size=500)}
    size = sample_size.RowSize.measured(read_table(data, "y"), {"text": "text"}, 0)
    assert size.columns == 0
    assert 90 < size.terms < 250  # words, and pairs that occur twice


def test_the_mean_and_scale_of_many_classes_come_from_counts():
    rng = np.random.default_rng(0)
    y, weight = rng.integers(0, 300, 2000), rng.random(2000)
    for given in (None, weight):
        target = NumericTarget.of(y, True, given)
        Y = (y[:, None] == target.classes).astype(float)
        np.testing.assert_allclose(target.mean, np.average(Y, axis=0, weights=given), rtol=1e-12)
        expected = np.average(np.sum((Y - target.mean) ** 2, axis=1), weights=given)
        assert target.scale**2 == pytest.approx(expected, rel=1e-12)
        np.testing.assert_array_equal(_columns(y, target.classes), Y)
    assert not _columns(np.array([1000]), target.classes).any()  # a class that is not known


def test_leakage_of_more_classes_than_a_byte_counts(monkeypatch):
    codes = np.arange(600, dtype=np.uint8) % 64
    targets = np.arange(600) % 300
    whole = _misclassified(codes, targets)
    monkeypatch.setattr("mercer.tables.leakage._MAX_ENTRIES", 1000)
    assert _misclassified(codes, targets) == whole
