"""`mercer predict` on files with bad rows: the output lines up with the input, and nothing is dropped silently."""

import json

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import cli


def run(*arguments):
    return cli._run([str(argument) for argument in arguments])


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=80).round(3), "b": rng.normal(size=80).round(3)})
    frame.assign(y=frame["a"]).to_csv("train.csv", index=False)
    assert run("fit", "train.csv", "--target", "y", "--effort", "fast", "--no-report", "--quiet", "-o", "m.mercer") == 0
    lines = frame.to_csv(index=False).splitlines()
    lines[4] += ",7"  # row 3 has a field too many
    lines[11] = "1.5"  # row 10 has one too few
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    return frame


def test_a_bad_row_is_an_error_by_default(model, capsys):
    capsys.readouterr()
    assert run("predict", "m.mercer", "new.csv") == 1
    assert "line 5" in capsys.readouterr().err


def test_rows_to_explain_are_chosen_by_their_numbers_in_the_file(model, capsys):
    model.to_csv("whole.csv", index=False)
    skip = ("--on-bad-rows", "skip", "--quiet")
    assert run("explain", "m.mercer", "whole.csv", "--row", "2,11,79", "-o", "whole_out.csv", "--quiet") == 0
    assert run("explain", "m.mercer", "new.csv", "--row", "2,11,79", "-o", "out.csv", *skip) == 0
    found, expected = pd.read_csv("out.csv"), pd.read_csv("whole_out.csv")
    assert found["row"].tolist() == [2, 11, 79]
    pd.testing.assert_frame_equal(found[expected.columns], expected)
    capsys.readouterr()
    assert run("explain", "m.mercer", "new.csv", "--row", "10", *skip) == 2
    assert "--row 10: this row cannot be read and was skipped." in capsys.readouterr().err
    assert run("explain", "m.mercer", "new.csv", "--row", "80", *skip) == 2
    assert "the data have 80 rows, the last is row 79" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["csv", "json"])
def test_skipped_rows_are_numbered(model, capsys, form):
    capsys.readouterr()
    output = f"out.{form}"
    assert run("predict", "m.mercer", "new.csv", "--on-bad-rows", "skip", "--keep", "a", "-o", output, "--quiet") == 0
    err = capsys.readouterr().err
    assert "2 rows were skipped: rows 3, 10 of the input, from 0." in err
    if form == "csv":
        found = pd.read_csv(output)
    else:
        with open(output) as file:
            found = pd.DataFrame([json.loads(line) for line in file])
    assert found["row"].tolist() == [row for row in range(80) if row not in (3, 10)]
    assert np.allclose(found["a"], model["a"][found["row"]])


def test_repaired_rows_are_named(model, capsys):
    capsys.readouterr()
    assert run("predict", "m.mercer", "new.csv", "--on-bad-rows", "null", "-o", "out.csv", "--quiet") == 0
    assert "2 rows were repaired: rows 3, 10 of the input, from 0." in capsys.readouterr().err
    assert len(pd.read_csv("out.csv")) == 80


VALUES = {"csv": "n.a.n.", "infinite": "-inf", "parquet": "n.a.n."}


@pytest.fixture(params=VALUES)
def unreadable(request, model):
    """A file whose rows 3 and 7 hold values that the model cannot read, and its other rows."""
    frame = model.astype(str)
    frame.loc[3, "a"] = frame.loc[7, "b"] = VALUES[request.param]
    path = "values.parquet" if request.param == "parquet" else "values.csv"
    frame.to_parquet(path) if request.param == "parquet" else frame.to_csv(path, index=False)
    return path, model.drop(index=[3, 7])


def test_a_value_that_the_model_cannot_read_is_an_error_by_default(unreadable, capsys):
    capsys.readouterr()
    assert run("predict", "m.mercer", unreadable[0]) == 1
    err = capsys.readouterr().err
    assert "values." in err
    assert "line 5" in err or "row 3" in err


@pytest.mark.parametrize("form", ["csv", "json"])
def test_rows_of_unreadable_values_are_skipped_and_numbered(unreadable, model, capsys, form):
    path, others = unreadable
    others.to_csv("others.csv", index=False)
    assert run("predict", "m.mercer", "others.csv", "-o", "expected.csv", "--quiet") == 0
    capsys.readouterr()
    given = ("--on-bad-rows", "skip", "--keep", "a", "--format", form, "-o", "out", "--quiet")
    assert run("predict", "m.mercer", path, *given) == 0
    err = capsys.readouterr().err
    assert "2 rows were skipped" in err
    assert "rows 3, 7 of the input, from 0" in err
    found = pd.read_csv("out") if form == "csv" else pd.read_json("out", lines=True)
    assert found["row"].tolist() == others.index.tolist()
    assert np.allclose(found["a"], others["a"])
    assert np.allclose(found["prediction"], pd.read_csv("expected.csv")["prediction"], rtol=1e-12)
    assert len(pd.read_csv(f"{path}.rejected.csv")) == 2


def test_unreadable_values_count_as_missing(unreadable, model, capsys):
    path, _ = unreadable
    known = model.copy()
    known.loc[3, "a"] = known.loc[7, "b"] = None
    known.to_csv("known.csv", index=False)
    assert run("predict", "m.mercer", "known.csv", "-o", "expected.csv", "--quiet") == 0
    capsys.readouterr()
    assert run("predict", "m.mercer", path, "--on-bad-rows", "null", "-o", "out.csv", "--quiet") == 0
    assert "rows 3, 7 of the input, from 0" in capsys.readouterr().err
    found, expected = pd.read_csv("out.csv")["prediction"], pd.read_csv("expected.csv")["prediction"]
    assert np.allclose(found, expected, rtol=1e-12)


def test_rows_rejected_while_reading_and_later_are_numbered_together(model, capsys):
    frame = model.astype(str)
    frame.loc[5, "b"] = "inf"
    lines = frame.to_csv(index=False).splitlines()
    lines[3] += ",7"  # row 2
    with open("both.csv", "w") as file:
        file.write("\n".join(lines) + "\n")
    capsys.readouterr()
    assert run("predict", "m.mercer", "both.csv", "--on-bad-rows", "skip", "-o", "out.csv", "--quiet") == 0
    err = capsys.readouterr().err
    assert "1 row was skipped: row 2" in err
    assert "1 row was skipped for values that the model cannot read: row 5" in err
    assert pd.read_csv("out.csv")["row"].tolist() == [row for row in range(80) if row not in (2, 5)]
    assert pd.read_csv("both.csv.rejected.csv")["line"].astype(str).tolist() == ["4", "row 5"]


@pytest.mark.parametrize("path", ["none.csv", "none.parquet"])
def test_a_file_without_a_readable_row_is_refused(model, capsys, path):
    frame = model.assign(b="x")
    frame.to_parquet(path) if path.endswith("parquet") else frame.to_csv(path, index=False)
    capsys.readouterr()
    assert run("predict", "m.mercer", path, "--on-bad-rows", "skip", "-o", "out.csv", "--quiet") == 1
    assert f"{path}: the model cannot read any row; the first: column 'b' holds 'x', not a number" in (
        capsys.readouterr().err
    )


def test_a_decimal_comma_is_read_beside_a_bad_value(model, capsys):
    text = model.to_csv(index=False, sep=";", decimal=",").splitlines()
    text[10] = "abc;1,5"  # row 9
    with open("comma.csv", "w") as file:
        file.write("\n".join(text) + "\n")
    capsys.readouterr()
    assert run("predict", "m.mercer", "comma.csv", "--on-bad-rows", "skip", "-o", "out.csv", "--quiet") == 0
    assert "1 row was skipped: row 9" in capsys.readouterr().err
    assert len(pd.read_csv("out.csv")) == 79


TARGETS = {"csv": ["abc", "inf", "1e300", ""], "parquet": [np.inf, -np.inf, 1e300, np.nan]}


@pytest.fixture(params=TARGETS)
def bad_targets(request, model):
    """A file whose rows 3, 10, 17 and 24 have targets that cannot be used, and its other rows."""
    frame = model.assign(y=model["a"])
    others, gone = frame.drop(index=[3, 10, 17, 24]), [3, 10, 17, 24]
    if request.param == "csv":
        frame = frame.astype(str)
    frame.loc[gone, "y"] = TARGETS[request.param]
    frame.to_csv("bad.csv", index=False) if request.param == "csv" else frame.to_parquet("bad.parquet")
    others.to_csv("others.csv", index=False)
    return f"bad.{request.param}", others


def told(capsys, *arguments):
    assert run(*arguments) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def test_bad_targets_of_a_report_follow_the_policy(bad_targets, capsys):
    path, others = bad_targets
    for policy in ("error", "null"):
        assert run("report", "m.mercer", path, "--json", "--quiet", "--on-bad-rows", policy) == 1
        err = capsys.readouterr().err
        assert "line 5" in err or "row 3" in err or "line 12" in err or "line 26" in err or "row 24" in err
    expected = told(capsys, "report", "m.mercer", "others.csv", "--json", "--quiet")["other_data"]
    found = told(capsys, "report", "m.mercer", path, "--json", "--quiet", "--on-bad-rows", "skip")["other_data"]
    assert (found["n"], found["n_skipped"]) == (len(others), 4)
    assert found["metrics"] == expected["metrics"]
    assert any("skipped" in note for note in found["notes"])
    assert run("report", "m.mercer", path, "--format", "table", "--on-bad-rows", "skip") == 0
    assert "were skipped" in capsys.readouterr().out


def test_bad_targets_of_a_comparison_follow_the_policy(bad_targets, capsys):
    path, _ = bad_targets
    capsys.readouterr()
    assert run("compare", "m.mercer", path, "--json", "--quiet") == 1
    err = capsys.readouterr().err
    assert f"{path}, line 5" in err or f"{path}, row 3" in err
    found = told(capsys, "compare", "m.mercer", path, "--json", "--quiet", "--on-bad-rows", "skip")
    expected = told(capsys, "compare", "m.mercer", "others.csv", "--json", "--quiet")
    assert found["n_skipped"] >= 3
    assert found["score"]["new"] == pytest.approx(expected["score"]["new"], rel=1e-12)
    assert any("skipped" in note for note in found["notes"])


def test_a_comparison_numbers_the_row_of_a_bad_target_by_the_file(model, capsys):
    frame = model.assign(y=model["a"])
    frame.loc[[0, 5, 6], "y"] = None
    frame.loc[9, "y"] = np.inf
    frame.to_csv("gaps.csv", index=False)
    frame.to_parquet("gaps.parquet", row_group_size=7)
    capsys.readouterr()
    assert run("compare", "m.mercer", "gaps.csv", "--quiet") == 1
    assert "gaps.csv, line 11" in capsys.readouterr().err
    assert run("compare", "m.mercer", "gaps.parquet", "--quiet") == 1
    assert "gaps.parquet, row 9" in capsys.readouterr().err


def test_bad_targets_of_an_update_follow_the_policy(bad_targets, capsys):
    path, others = bad_targets
    capsys.readouterr()
    assert run("update", "m.mercer", path, "-o", "new.mercer") == 1
    assert path in capsys.readouterr().err
    assert run("update", "m.mercer", path, "--on-bad-rows", "skip", "-o", "new.mercer") == 0
    out, err = capsys.readouterr()
    assert f"{len(others)} rows were added" in out
    assert "skipped" in err
    assert run("update", "m.mercer", "others.csv", "-o", "expected.mercer") == 0
    made, expected = (mercer.load(name).predict("others.csv") for name in ("new.mercer", "expected.mercer"))
    assert np.allclose(made, expected, rtol=1e-12)


def test_classes_that_the_fit_has_not_seen_are_skipped_by_an_update(model, capsys):
    frame = model.assign(y=np.where(model["a"] > 0, "high", "low"))
    frame.to_csv("classes.csv", index=False)
    made = ("--effort", "fast", "--no-report", "--quiet", "-o", "c.mercer")
    assert run("fit", "classes.csv", "--target", "y", *made) == 0
    frame.loc[[4, 8], "y"] = "middle"
    frame.to_csv("other.csv", index=False)
    capsys.readouterr()
    assert run("update", "c.mercer", "other.csv", "-o", "n.mercer") == 1
    assert "'middle' was never seen in the fit, at other.csv, line 6" in capsys.readouterr().err
    assert run("update", "c.mercer", "other.csv", "--on-bad-rows", "skip", "-o", "n.mercer") == 0
    out, err = capsys.readouterr()
    assert "78 rows were added" in out
    assert "2 rows were skipped for targets that cannot be used: rows 4, 8 of the input, from 0." in err
