"""Rows of a file with their predictions and explanations: `mercer predict --keep` and `mercer explain`."""

import io
import json
import os
import sys

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import cli
from mercer.source import accumulator


def run(*arguments):
    return cli._run([str(argument) for argument in arguments])


def rows(n=240, seed=0):
    rng = np.random.default_rng(seed)
    day = pd.Timestamp("2020-02-28") + pd.to_timedelta(rng.integers(0, 9, n), unit="D")
    frame = pd.DataFrame(
        {"key": [f"k,{i:03d}" for i in range(n)], "size": rng.normal(size=n), "count": np.arange(n) % 7}
    )
    frame["town"] = rng.choice(["Bern", "Oslo", "Rome"], n)
    frame["day"], frame["hour"] = day, day + pd.to_timedelta(rng.integers(0, 24, n), unit="h")
    frame["sold"] = np.sin(2 * frame["size"]) + (frame["town"] == "Oslo") + 0.3 * rng.normal(size=n)
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    frame = rows()
    frame.loc[4, ["count", "day", "town"]] = None
    frame.to_csv(folder / "rows.csv", index=False)
    used = frame[["size", "town", "sold"]].dropna()
    mercer.fit(used, "sold", effort="fast").save(folder / "number.mercer")
    label = np.where(used["sold"] > 0.5, "yes", "no")
    mercer.fit(used.drop(columns="sold"), label, effort="fast").save(folder / "class.mercer")
    codes = np.digitize(used["sold"], [0, 1])
    mercer.fit(used.drop(columns="sold"), codes, effort="fast").save(folder / "codes.mercer")
    return folder


def features(folder):
    return pd.read_csv(folder / "rows.csv")[["size", "town"]]


READERS = {"csv": pd.read_csv, "tsv": lambda path: pd.read_csv(path, sep="\t"), "parquet": pd.read_parquet}
READERS["json"] = lambda path: pd.DataFrame([json.loads(line) for line in path.read_text().splitlines()])


@pytest.mark.parametrize("form", READERS)
def test_kept_columns_come_first_in_the_order_of_the_data(folder, tmp_path, form):
    out = tmp_path / f"out.{form}"
    asked = ("--keep", "day,hour,count", "--keep", "key", "-o", out, "--quiet")
    assert run("predict", folder / "number.mercer", folder / "rows.csv", *asked) == 0
    written, read = READERS[form](out), mercer.io.read_table(folder / "rows.csv").collect().X.table
    assert list(written) == ["key", "count", "day", "hour", "prediction"]
    assert written["key"].tolist() == read["key"].to_pylist()
    assert written["count"].isna().tolist() == [i == 4 for i in range(240)]
    if form == "parquet":
        assert written["day"].dtype.kind == "M"
    else:
        assert written["day"][0] == str(rows()["day"][0].date())
        assert written["hour"][0] == rows()["hour"][0].isoformat()
        assert pd.isna(written["day"][4])
    expected = mercer.load(folder / "number.mercer").predict(features(folder))
    np.testing.assert_allclose(written["prediction"], expected, rtol=1e-12)


def test_integers_and_missing_values_are_written_as_read(folder, tmp_path):
    out = tmp_path / "out.csv"
    assert run("predict", folder / "number.mercer", folder / "rows.csv", "--keep", "count,day", "-o", out) == 0
    lines = out.read_text().splitlines()
    assert lines[0] == "count,day,prediction"
    assert lines[1].split(",")[0] == "0"
    assert lines[5].startswith(",,")


def test_all_columns_are_kept_from_standard_input(folder, capfdbinary, monkeypatch):
    text = "\n".join((folder / "rows.csv").read_text().splitlines()[:4]).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert run("predict", folder / "class.mercer", "-", "--keep", "all", "--proba", "--quiet") == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert lines[0] == "key,size,count,town,day,hour,sold,prediction,probability_no,probability_yes"
    assert len(lines) == 4
    assert lines[1].startswith('"k,000",')


def test_kept_columns_are_no_news(folder, tmp_path, capsys):
    out = tmp_path / "out.csv"
    assert run("predict", folder / "number.mercer", folder / "rows.csv", "--keep", "key,hour,sold", "-o", out) == 0
    ignored, score = capsys.readouterr().err.splitlines()
    assert "2 columns that fit has not seen are ignored: 'count', 'day'" in ignored
    assert "on 240 rows that have their 'sold'" in score


def test_a_column_with_a_comma_in_its_name(folder, tmp_path):
    rows(9).rename(columns={"key": "a,b"}).to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "out.csv"
    assert run("predict", folder / "number.mercer", tmp_path / "new.csv", "--keep", "a,b", "-o", out) == 0
    assert list(pd.read_csv(out)) == ["a,b", "prediction"]


@pytest.mark.parametrize(
    ("asked", "renamed", "expected"),
    [
        (("--keep", "kye"), {}, ["no column 'kye' to keep", "Did you mean 'key'?"]),
        (("--keep", "zzzz"), {}, ["no column 'zzzz' to keep", "'key', 'size', 'count'"]),
        (("--keep", "all"), {"key": "prediction"}, ["--keep prediction", "Rename the column 'prediction'"]),
        (("--keep", "all", "--proba"), {"key": "probability_yes"}, ["--keep probability_yes", "Rename"]),
    ],
)
def test_columns_that_cannot_be_kept(folder, tmp_path, capsys, asked, renamed, expected):
    rows(9).rename(columns=renamed).to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "out.csv"
    assert run("predict", folder / "class.mercer", tmp_path / "new.csv", "-o", out, *asked) == 1
    printed = capsys.readouterr().err
    assert not [part for part in expected if part not in printed], printed
    assert sorted(os.listdir(tmp_path)) == ["new.csv"]


def test_a_table_explains_the_first_rows(folder, capsys):
    assert run("explain", folder / "class.mercer", folder / "rows.csv", "--quiet") == 0
    out = capsys.readouterr().out
    assert [line.split(":")[0] for line in out.splitlines() if line.startswith("Row ")] == [
        f"Row {i}" for i in range(10)
    ]
    assert max(map(len, out.splitlines())) <= 80
    assert "Baseline: the mean row of the training data." in out
    assert "missing" in out  # the town of row 4
    p = mercer.load(folder / "class.mercer").predict_proba(features(folder))[0]
    assert f"probability {p.max():.3g}" in out


def test_certain_rows_are_explained(folder, capsys):
    assert run("explain", folder / "number.mercer", folder / "rows.csv", "--row", "7,3", "--quiet") == 0
    out = capsys.readouterr().out
    model, data = mercer.load(folder / "number.mercer"), rows()
    assert out.index("Row 3: sold") < out.index("Row 7: sold")
    for i in (3, 7):
        explained = model.explain(data.iloc[i][["size", "town"]])
        block = out[out.index(f"Row {i}:") :].splitlines()
        names = [line.split()[0] for line in block[3 : 3 + len(explained.contributions)]]
        assert names == list(explained.contributions)
        assert block[2].split()[0] == "baseline"
        assert float(block[3 + len(names)].split()[-1]) == pytest.approx(
            model.predict(data[["size", "town"]].iloc[[i]])[0], rel=1e-3
        )


@pytest.mark.parametrize("name", ["number.mercer", "class.mercer", "codes.mercer"])
@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_all_rows_are_written(folder, tmp_path, name, form, monkeypatch):
    out = tmp_path / f"out.{form}"
    assert run("explain", folder / name, folder / "rows.csv", "-o", out, "--keep", "key", "--quiet") == 0
    written, model = READERS[form](out), mercer.load(folder / name)
    expected = model.explain(features(folder))
    assert list(written) == ["key", *expected.to_dict()]
    np.testing.assert_allclose(written[["size", "town"]], expected.contributions, rtol=1e-9, atol=1e-12)
    total = written[["baseline", "size", "town"]].sum(axis=1)
    np.testing.assert_allclose(total, written["prediction"], rtol=1e-9)
    if model.classes_ is not None:
        assert written["output"].tolist() == model.predict(features(folder)).tolist()


def test_rows_of_later_blocks(folder, tmp_path, capsys):
    n = accumulator.BLOCK_ROWS + 5
    rows(n).to_csv(tmp_path / "many.csv", index=False)
    how = ("--row", f"2,{n - 1}", "--format", "json", "--keep", "key", "--quiet")
    assert run("explain", folder / "number.mercer", tmp_path / "many.csv", *how) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["key"] for each in found] == ["k,002", f"k,{n - 1:03d}"]
    model = mercer.load(folder / "number.mercer")
    expected = model.predict(rows(n).iloc[[2, n - 1]][["size", "town"]])
    assert [each["prediction"] for each in found] == pytest.approx(expected.tolist(), rel=1e-12)
    assert (
        run("explain", folder / "number.mercer", tmp_path / "many.csv", "--rows", 3, "--format", "csv", "--quiet") == 0
    )
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_one_class_is_explained_throughout(folder, capsys):
    how = ("--output-class", "2", "--rows", 5, "--format", "csv", "--quiet")
    assert run("explain", folder / "codes.mercer", folder / "rows.csv", *how) == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert found["output"].tolist() == [2] * 5
    expected = mercer.load(folder / "codes.mercer").predict_proba(features(folder))[:5, 2]
    np.testing.assert_allclose(found["probability"], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("model", "asked", "expected"),
    [
        ("class.mercer", ("--output-class", "maybe"), ["--output-class maybe", "no, yes"]),
        ("number.mercer", ("--output-class", "yes"), ["regression model", "omit --output-class"]),
        ("number.mercer", ("--row", "x"), ["counted from 0", "3,7"]),
        ("number.mercer", ("--row", "3,240"), ["--row 240", "240 rows", "row 239"]),
        ("number.mercer", ("--format", "table", "-o", "out.txt"), ["--format table", "csv"]),
        ("number.mercer", ("--keep", "key"), ["--keep", "--output"]),
        ("number.mercer", ("--keep", "size", "--format", "csv"), ["--keep size", "of that name"]),
        ("rows.csv", (), ["rows.csv"]),
    ],
)
def test_mistakes_are_explained(folder, tmp_path, monkeypatch, capsys, model, asked, expected):
    monkeypatch.chdir(tmp_path)
    assert run("explain", folder / model, folder / "rows.csv", "--quiet", *asked) in (1, 2)
    printed = capsys.readouterr().err
    assert not [part for part in expected if part not in printed], printed
    assert "Traceback" not in printed
    assert os.listdir(tmp_path) == []


def test_a_bad_value_is_located_in_the_file(folder, tmp_path, capsys):
    frame = rows(20)
    frame.loc[7, "size"] = np.inf
    frame.to_csv(tmp_path / "new.csv", index=False)
    assert run("explain", folder / "number.mercer", tmp_path / "new.csv", "--row", "5,7", "--quiet") == 1
    assert "new.csv, line 9" in capsys.readouterr().err


def test_unseen_categories_are_noted(folder, tmp_path, capsys):
    rows(5).assign(town="Lima").to_csv(tmp_path / "new.csv", index=False)
    assert run("explain", folder / "number.mercer", tmp_path / "new.csv") == 0
    assert "such as 'Lima'" in capsys.readouterr().err
