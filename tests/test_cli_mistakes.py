"""What a user may get wrong: every message says what, where and what to do, and nothing half-written is left."""

import os

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import cli
from mercer.cli.wording import in_options


def run(*arguments):
    return cli._run([str(argument) for argument in arguments])


def rows(n=120):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=n).round(4), "town": rng.choice(["Bern", "Oslo"], n)})
    return frame.assign(y=(frame["a"] * 2 + (frame["town"] == "Oslo")).round(4))


def written(folder, frame, **changes):
    """The rows as CSV, with some cells (column to {row: text}) replaced."""
    frame = frame.astype(object)
    for column, cells in changes.items():
        for row, text in cells.items():
            frame.loc[row, column] = text
    frame.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    how = ("--target", "y", "--effort", "fast", "-o", folder / "m.mercer", "--quiet")
    assert run("fit", written(folder, rows()), *how) == 0
    return folder / "m.mercer"


def words(name):
    return rows().assign(y=[f"words number {i}" for i in range(120)]) if name == "words" else rows()


MISTAKES = {
    "missing target": ({"y": {49: None}}, (), ["line 51", "'y' is missing", "--on-bad-rows skip"]),
    "infinite target": ({"y": {49: "inf"}}, (), ["line 51", "'y' is inf", "drop the row"]),
    "infinite number": ({"a": {9: "inf"}}, (), ["Column 'a'", "line 11", "Make it missing"]),
    "words for numbers": ({}, ("--target", "town", "--task", "regress"), ["'Bern', which is no number", "--task"]),
    "numbers for classes": ({}, ("--task", "classify"), ["'y' is a quantity", "--task regress"]),
    "declared type": ({"a": {6: "oops"}}, ("--type", "a=number"), ["line 8", "'a' holds 'oops'", "--missing"]),
    "a type that is none": ({}, ("--type", "a"), ["COLUMN=TYPE"]),
    "no such target": ({}, ("--target", "Y"), ["no column named 'Y'", "Did you mean 'y'"]),
    "no such folder": ({}, ("-o", "nowhere/m.mercer"), ["nowhere does not exist"]),
    "a folder for a file": ({}, ("-o", "."), ["is a directory"]),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named_and_placed(name, tmp_path, monkeypatch, capsys):
    changes, more, expected = MISTAKES[name]
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, rows(), **changes)
    assert run("fit", path, "--target", "y", "--quiet", *more) in (1, 2)
    said = capsys.readouterr().err
    assert not [part for part in expected if part not in said], said
    assert "Traceback" not in said
    assert sorted(os.listdir(tmp_path)) == ["rows.csv"]


def test_a_target_of_free_text_is_no_class(tmp_path, capsys):
    assert run("fit", written(tmp_path, words("words")), "--target", "y", "--quiet") == 1
    assert "classes must repeat" in capsys.readouterr().err


def test_a_target_alone_predicts_nothing(tmp_path, capsys):
    assert run("fit", written(tmp_path, rows()[["y"]]), "--target", "y", "--quiet") == 1
    assert "no column beside the target 'y'" in capsys.readouterr().err


def test_rows_without_target_can_be_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, rows(), y={3: None, 7: None})
    assert run("fit", path, "--target", "y", "--quiet", "--effort", "fast", "--on-bad-rows", "skip") == 0
    assert "2 bad rows were left out" in capsys.readouterr().out
    assert "5,the target 'y' is missing" in (tmp_path / "rows.csv.rejected.csv").read_text()


def test_one_word_in_a_column_of_numbers_is_noticed(tmp_path, capsys):
    assert run("inspect", written(tmp_path, rows(), a={6: "oops"})) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "'a' is text because of 'oops' in row 7" in said
    assert "--type 'a=number'" in said
    assert run("inspect", written(tmp_path, rows(), a={6: "oops"}), "--missing", "oops") == 0
    assert "because" not in capsys.readouterr().out


@pytest.mark.parametrize("value", ["yes", 3.25])
def test_a_target_that_never_changes(value, tmp_path, capsys):
    path = written(tmp_path, rows().assign(y=value))
    assert run("fit", path, "--target", "y", "--effort", "fast", "--quiet", "-o", tmp_path / "m.mercer") == 0
    assert "in every row" in capsys.readouterr().out
    assert set(mercer.load(tmp_path / "m.mercer").predict(rows().drop(columns="y")).tolist()) == {value}


def test_five_rows_give_a_report_of_numbers(tmp_path, capsys):
    how = ("--target", "y", "--effort", "fast", "--json", "-o", tmp_path / "m.mercer")
    assert run("fit", written(tmp_path, rows(5)), *how) == 0
    assert capsys.readouterr().err == ""


def test_prediction_names_the_line_of_a_wrong_value(model, tmp_path, capsys):
    path = written(tmp_path, pd.concat([rows()] * 40, ignore_index=True), a={4700: "oops"})
    assert run("predict", model, path, "-o", tmp_path / "out.csv", "--quiet") == 1
    assert "line 4702 holds 'oops'" in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()


def test_a_quantity_has_no_probabilities(model, tmp_path, capsys):
    assert run("predict", model, written(tmp_path, rows()), "--proba") == 2
    assert "--proba" in capsys.readouterr().err


def test_interrupted_writing_leaves_nothing(tmp_path, monkeypatch, capsys):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    path = written(tmp_path, rows())
    assert run("fit", path, "--target", "y", "--effort", "fast", "-o", tmp_path / "m.mercer") == 1
    assert "stopped" in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["rows.csv"]


def test_remedies_are_options_on_the_command_line():
    assert in_options("roles={'zip': 'id'} or types={'zip': 'text'}") == "--role 'zip=id' or --type 'zip=text'"
    assert in_options("say quote='' or encoding='latin-1'") == "say --quote none or --encoding latin-1"
