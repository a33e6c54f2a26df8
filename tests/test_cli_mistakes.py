"""Mistakes of users: messages name the problem, its position and the remedy, and no partial file is left."""

import gzip
import os

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import cli
from mercer._runtime.errors import Message, Setting
from mercer.cli.messages import in_options


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
    "words for numbers": (
        {},
        ("--target", "town", "--task", "regress"),
        ["'Bern', which is not a number", "--task classification"],
    ),
    "numbers for classes": ({}, ("--task", "classify"), ["'y' is continuous", "--task regression"]),
    "declared type": ({"a": {6: "oops"}}, ("--type", "a=number"), ["line 8", "'a' holds 'oops'", "--missing"]),
    "a type that is none": ({}, ("--type", "a"), ["COLUMN=TYPE"]),
    "no such target": ({}, ("--target", "Y"), ["no column named 'Y'", "Did you mean 'y'"]),
    "no such folder": ({}, ("-o", "nowhere/m.mercer"), ["nowhere does not exist"]),
    "a folder for a file": ({}, ("-o", "."), ["is a directory"]),
    "the data for the model": ({}, ("-o", "rows.csv"), ["--output rows.csv would overwrite an input file"]),
    "a model in a pipe": ({}, ("-o", "-"), ["name a file with --output"]),
    "target too large": ({"y": {9: "1e200"}}, (), ["'y' is 1e+200 at", "line 11", "divide it by a power of ten"]),
    "target for weight": ({}, ("--weight", "y"), ["'y' cannot be the target and the weight at once"]),
    "words for weights": ({}, ("--weight", "town"), ["A weight is '", "line 2", "Weights are numbers"]),
    "no such weight": ({}, ("--weight", "b"), ["no column named 'b' (given as --weight)", "'town'"]),
    "a role that is none": ({}, ("--role", "a=nummer"), ["--role a=nummer", "is not one of number, category"]),
    "a role of no column": ({}, ("--role", "b=id"), ["--role b=id", "no such column"]),
    "a role for the target": ({}, ("--role", "y=number"), ["--role y=number", "no such column to learn from"]),
    "text of numbers": ({}, ("--role", "a=text"), ["'a' holds numbers", "--type a=text"]),
    "a type of no kind": ({}, ("--type", "a=float"), ["--type a=float", "is not one of boolean"]),
    "a type of no column": ({}, ("--type", "b=text"), ["no column named 'b' (given as --type)"]),
    "a decimal that is none": ({}, ("--decimal", "x"), ["--decimal must be '.' or ','"]),
    "no number for a time": ({}, ("--time-budget", "nan"), ["--time-budget", "nan is not a number"]),
    "no such encoding": ({}, ("--encoding", "klingon"), ["'klingon' is not an encoding"]),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named_and_located(name, tmp_path, monkeypatch, capsys):
    changes, more, expected = MISTAKES[name]
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, rows(), **changes)
    assert run("fit", path, "--target", "y", "--quiet", *more) in (1, 2)
    printed = capsys.readouterr().err
    assert not [part for part in expected if part not in printed], printed
    assert "Traceback" not in printed
    assert sorted(os.listdir(tmp_path)) == ["rows.csv"]


#: Files that are not tables: how they begin, and parts of the message.
NO_TABLES = {
    "empty": (b"", ["is empty"]),
    "header alone": (b"a,y\n", ["has no rows below its header"]),
    "cut off gzip": (gzip.compress(b"a,y\n" + 999 * b"1,2\n")[:-9], ["cut off or damaged", "pack it again"]),
    "damaged gzip": (b"\x1f\x8b" + bytes(50), ["cut off or damaged"]),
    "a workbook": (b"PK\x03\x04" + bytes(99), ["Excel workbook", "as CSV or Parquet"]),
    "a model": (b"PK\x03\x04" + bytes(26) + b"manifest.json", ["is a model file of Mercer", "mercer predict"]),
    "json": (b'[{"a": 1}, {"a": 2}]', ["looks like JSON", "as CSV or Parquet"]),
    "bytes": (bytes(range(256)) * 8, ["no text", "--encoding"]),
    "cut off parquet": (b"PAR1" + bytes(99), ["cannot be read as Parquet", "cut off"]),
    "short rows": (b"a,y\n1,2\n3\n", ["line 3: 1 fields", "--on-bad-rows skip", "or --on-bad-rows null"]),
    "years for names": (b"2019,2020\n1.5,2.5\n3.5,4.5\n", ["no column named 'y'", "taken for values: --header"]),
    "another delimiter": (b"a y\n1 2\n3 4\n", ["no column named 'y'", "one column, 'a y'", "--delimiter"]),
    "open quote": (b'a,y\n1,2\n"3,4\n5,6\n', ["line 3", "never closed", "--quote none"]),
}


@pytest.mark.parametrize("name", NO_TABLES)
def test_files_that_are_no_tables_are_named(name, tmp_path, capsys):
    content, expected = NO_TABLES[name]
    (tmp_path / "rows").write_bytes(content)
    assert (
        run(
            "inspect",
            tmp_path / "rows",
            *(("--target", "y") if name in ("another delimiter", "years for names") else ()),
        )
        == 1
    )
    printed = capsys.readouterr().err
    assert not [part for part in [str(tmp_path / "rows"), *expected] if part not in printed], printed


#: New rows for the model of a and town, and parts of the message.
NEW_ROWS = {
    "another case": ("A,town\n1,Bern\n", ["new.csv: the column 'a' is missing", "'A' is there"]),
    "two columns": ("x\n1\n", ["the column 'a' is missing (and 1 more: 'town')", "'a', 'town'"]),
    "no rows": ("a,town\n", ["no rows"]),
    "infinity": ("a,town\ninf,Bern\n", ["'a' contains infinity", "new.csv, line 2"]),
}


@pytest.mark.parametrize("name", NEW_ROWS)
def test_new_rows_that_cannot_be_predicted(name, model, tmp_path, capsys):
    text, expected = NEW_ROWS[name]
    (tmp_path / "new.csv").write_text(text)
    assert run("predict", model, tmp_path / "new.csv", "-o", tmp_path / "out.csv") == 1
    printed = capsys.readouterr().err
    assert not [part for part in expected if part not in printed], printed
    assert sorted(os.listdir(tmp_path)) == ["new.csv"]


@pytest.mark.parametrize(("name", "expected"), [("out.xlsx", "not written as .xlsx"), ("new.csv", "would overwrite")])
def test_predictions_are_not_written_anywhere(name, expected, model, tmp_path, capsys):
    path = written(tmp_path, rows()).rename(tmp_path / "new.csv")
    assert run("predict", model, path, "-o", tmp_path / name) in (1, 2)
    assert expected in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["new.csv"]


def test_text_stays_text_in_a_short_file(tmp_path, capsys):
    frame = rows().assign(town=["True", "1.50", "u"] * 40)
    frame["y"] = (frame["town"] == "True") * 2.0 + (frame["town"] == "1.50") * 1.0 + 0.1 * frame["a"]
    model = tmp_path / "m.mercer"
    how = ("--target", "y", "--effort", "fast", "-o", model, "--quiet", "--json")
    assert run("fit", written(tmp_path, frame), *how) == 0
    expected = mercer.load(model).predict(frame.head(3).drop(columns="y"))
    for row in range(3):
        path = written(tmp_path, frame.iloc[[row]].drop(columns="y"))
        assert run("predict", model, path, "-o", tmp_path / "out.csv") == 0
        assert pd.read_csv(tmp_path / "out.csv")["prediction"][0] == pytest.approx(expected[row], rel=1e-6)
        np.testing.assert_allclose(mercer.load(model).predict(path), expected[[row]], rtol=1e-6)


def test_whole_numbers_beyond_the_exact_ones_of_floats(tmp_path, capsys):
    path = written(tmp_path, rows().assign(k=[2**53 + 3 * i for i in range(120)][::-1]))
    how = ("--target", "y", "--effort", "fast", "-o", tmp_path / "m.mercer", "--role", "k=number")
    assert run("fit", path, *how) == 0
    assert run("predict", tmp_path / "m.mercer", path, "-o", tmp_path / "out.csv", "--quiet") == 0
    assert capsys.readouterr().err == ""


def test_a_leaking_column_is_reported(tmp_path, capsys):
    frame = rows()
    path = written(tmp_path, frame.assign(copy=frame["y"]))
    assert run("fit", path, "--target", "y", "--effort", "fast", "-o", tmp_path / "m.mercer") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "target-copy A column equals the target (copy). Leave it out: --role copy=id." in printed


def test_rare_classes_are_reported(tmp_path, capsys):
    path = written(tmp_path, rows().assign(y=["b", "c", "c"] + ["a", "d", "d"] * 39))
    assert run("fit", path, "--target", "y", "--effort", "fast", "-o", tmp_path / "m.mercer") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "classes of fewer than 5 rows, too few to learn or to evaluate: 'b' (1), 'c' (2)." in printed


@pytest.mark.parametrize(
    ("names", "shown"),
    [(["yes", "no", " Yes"], "' Yes' and 'yes'"), (["yes", "no", "NO"], "'NO' and 'no'"), (["yes", "no", "n"], None)],
)
def test_classes_that_differ_only_in_blanks_or_case_are_noted(tmp_path, capsys, names, shown):
    path = written(tmp_path, rows().assign(y=names * 40))
    assert run("fit", path, "--target", "y", "--effort", "fast", "-o", tmp_path / "m.mercer") == 0
    printed = " ".join(capsys.readouterr().out.split())
    note = f"classes that differ only in blanks or case, which are learned as different ones: {shown}."
    assert (note in printed) == (shown is not None)
    assert ("differ only in blanks" in printed) == (shown is not None)


def test_names_of_a_file_do_not_steer_the_terminal(tmp_path, capsys):
    (tmp_path / "rows.csv").write_text("\x1b[31ma,b\n" + "1,\x1b]0;x\x07\n" * 9 + "2,z\n")
    assert run("inspect", tmp_path / "rows.csv") == 0
    assert run("inspect", tmp_path / "rows.csv", "--target", "\x1b[31m") == 1
    out, err = capsys.readouterr()
    assert "\\x1b[31ma" in out
    assert "\x1b" not in out + err


def test_internal_errors_are_one_line(tmp_path, monkeypatch, capsys):
    def broken(*_, **__):
        raise KeyError("lost")

    monkeypatch.setattr("mercer.report.inspect.gather_inspection", broken)
    assert run("inspect", tmp_path) == 1
    printed = capsys.readouterr().err
    assert "Internal error (KeyError: 'lost')" in printed
    assert printed.count("\n") == 1


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


def test_rows_of_parquet_without_target_can_be_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = rows()
    frame.loc[[3, 7], "y"] = np.nan
    frame.to_parquet("rows.parquet", row_group_size=50)
    how = ("--target", "y", "--quiet", "--effort", "fast")
    assert run("fit", "rows.parquet", *how) == 1
    assert "The target column 'y' is missing in rows.parquet, row 3" in capsys.readouterr().err
    assert run("fit", "rows.parquet", *how, "--on-bad-rows", "skip") == 0
    out = capsys.readouterr().out
    assert "rows.parquet: 118 rows" in out
    assert "2 bad rows were left out" in out
    assert "rows.parquet,row 7,the target 'y' is missing" in (tmp_path / "rows.parquet.rejected.csv").read_text()


def test_too_few_features_are_reported(tmp_path, capsys):
    how = ("--target", "y", "--effort", "fast", "--max-features", 1, "-o", tmp_path / "m.mercer")
    assert run("fit", written(tmp_path, rows()), *how) == 0
    assert "features, more than --max-features 1 allows" in " ".join(capsys.readouterr().out.split())


def test_one_word_in_a_column_of_numbers_is_reported(tmp_path, capsys):
    assert run("inspect", written(tmp_path, rows(), a={6: "oops"})) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "'a' is text because of 'oops' in row 7" in printed
    assert "--type a=number" in printed
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


def test_regression_has_no_probabilities(model, tmp_path, capsys):
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
    for setting, option in (
        (Setting("roles", "id", key="zip"), "--role zip=id"),
        (Setting("roles", key="zip"), "--role zip"),
        (Setting("types", "text", key="zip code"), "--type 'zip code=text'"),
        (Setting("quote", ""), "--quote none"),
        (Setting("delimiter", "\t"), "--delimiter tab"),
        (Setting("header", True), "--header"),
        (Setting("missing", "?", item=True), "--missing '?'"),
        (Setting("encoding", "cp1252", "latin-1"), "--encoding cp1252 or --encoding latin-1"),
        (Setting("holdout"), "--holdout"),
    ):
        assert in_options(Message("Use ", setting, ".")) == f"Use {option}."


def test_columns_of_lists_are_left_out_of_parquet(tmp_path, capsys):
    frame = rows().assign(tags=[["x", "y"]] * 120)
    frame.to_parquet(tmp_path / "rows.parquet")
    how = ("--target", "y", "--effort", "fast", "--quiet", "-o", tmp_path / "m.mercer")
    assert run("fit", tmp_path / "rows.parquet", *how) == 0
    assert "Column 'tags' is left out: list<" in capsys.readouterr().out
    assert run("predict", tmp_path / "m.mercer", tmp_path / "rows.parquet", "-o", tmp_path / "out.csv") == 0
    assert len(pd.read_csv(tmp_path / "out.csv")) == 120


def test_numbers_stored_as_text_are_reported(tmp_path, capsys):
    frame = rows()
    frame["a"] = [f"{'$€'[i % 2]}{1000 + 37 * i:,}" for i in range(120)]
    assert run("inspect", written(tmp_path, frame), "--target", "y") == 0
    assert "Numbers stored as text (number-as-text, 1) Read as text: 'a' (such as '" in " ".join(
        capsys.readouterr().out.split()
    )


def test_numbers_with_a_currency_are_read_and_reported(tmp_path, capsys):
    frame = rows()
    frame["a"] = [f"${1000 + 37 * i:,}" for i in range(120)]
    assert run("inspect", written(tmp_path, frame), "--target", "y") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Column 'a' is read as numbers, written as '$1,000' ($ left out, ',' separates thousands)" in out
    assert "numbers as text" not in out
