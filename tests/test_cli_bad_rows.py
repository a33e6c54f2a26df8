"""`mercer predict` on files with bad rows: the output lines up with the input, and nothing is dropped silently."""

import json

import numpy as np
import pandas as pd
import pytest

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
