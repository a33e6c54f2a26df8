"""Reports on the command line: `mercer fit` writes one, `mercer report` makes it again, `mercer demo` shows the way."""

import hashlib
import io
import json
import os
import sys

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import cli
from mercer._runtime.errors import Message, Setting
from mercer.cli.report import page_path, with_options


def run(*arguments):
    return cli._run([str(argument) for argument in arguments])


def rows(n=160, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.normal(size=n), "town": rng.choice(["Bern", "Oslo"], n)})
    return frame.assign(price=frame["size"] ** 2 + (frame["town"] == "Oslo") + 0.1 * rng.normal(size=n))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows().to_csv("houses.csv", index=False)
    return tmp_path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    rows().to_csv(folder / "houses.csv", index=False)
    how = ("--target", "price", "--effort", "fast", "--quiet", "-o", folder / "houses.mercer")
    assert run("fit", folder / "houses.csv", *how) == 0
    return folder / "houses.mercer"


FIT = ("fit", "houses.csv", "--target", "price", "--effort", "fast")


def test_fit_writes_the_report_beside_the_model(folder, capsys):
    assert run(*FIT) == 0
    assert sorted(os.listdir()) == ["houses.csv", "houses.mercer", "houses.report.html"]
    out, err = capsys.readouterr()
    assert err == ""
    assert "Model   houses.mercer\nReport  houses.report.html\n" in out
    assert "What was tried" not in out
    page = (folder / "houses.report.html").read_text(encoding="utf-8")
    assert "price" in page


def test_where_the_report_goes(folder, capsys):
    assert run(*FIT, "--report", "page.html", "--verbose") == 0
    out = capsys.readouterr().out
    assert "What was tried" in out
    assert "Report  page.html" in out
    assert sorted(os.listdir()) == ["houses.csv", "houses.mercer", "page.html"]
    assert run(*FIT, "--no-report", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["report_file"] is None
    assert report["saved"] == "houses.mercer"
    assert report["file"] == "houses.csv"
    assert sorted(os.listdir()) == ["houses.csv", "houses.mercer", "page.html"]


def test_fit_as_markdown(folder, capsys):
    assert run(*FIT, "--format", "markdown", "--no-report") == 0
    assert "price" in capsys.readouterr().out


def test_the_model_knows_its_origin(folder, capsys):
    assert run(*FIT, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    digest = hashlib.sha256((folder / "houses.csv").read_bytes()).hexdigest()
    assert report["reproduction"]["command"] == "mercer fit houses.csv --target price --effort fast --json"
    assert report["reproduction"]["data"] == [{"name": "houses.csv", "rows": 160, "sha256": digest}]
    again = mercer.load("houses.mercer").report()["reproduction"]
    assert again["data"] == report["reproduction"]["data"]


def test_the_rows_of_several_files_are_hashed_by_file(folder):
    for part in (1, 2):
        rows(80, part).to_csv(f"part-{part}.csv", index=False)
    assert run("fit", "part-*.csv", "--target", "price", "--effort", "fast", "--quiet", "-o", "m.mercer") == 0
    data = mercer.load("m.mercer").report()["reproduction"]["data"]
    assert [(each["name"], each["rows"]) for each in data] == [("part-1.csv", None), ("part-2.csv", None)]
    assert data[0]["sha256"] != data[1]["sha256"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (("--report", "houses.csv"), "--report houses.csv would overwrite an input file"),
        (("--report", "houses.mercer"), "--report houses.mercer would overwrite the model"),
        (("--report", "-"), "name a file with --report"),
        (("--report", "a.html", "--no-report"), "exclude each other"),
        (("--report", "nowhere/a.html"), "nowhere does not exist"),
        (("--report", "."), "is a directory"),
        (("--format", "html"), "'html' is not one of"),
    ],
)
def test_no_work_is_done_for_a_report_that_cannot_be_written(folder, monkeypatch, more, expected, capsys):
    monkeypatch.setattr(mercer, "fit", None)
    assert run(*FIT, *more) in (1, 2)
    err = capsys.readouterr().err
    assert expected in err
    assert "Traceback" not in err
    assert os.listdir() == ["houses.csv"]


def test_no_file_of_a_pattern_is_overwritten(folder, capsys):
    rows().to_csv("part-1.csv", index=False)
    assert run("fit", "part-*.csv", "--target", "price", "-o", "part-1.csv") == 2
    assert "would overwrite an input file" in capsys.readouterr().err


def test_rows_are_left_out_if_asked(folder, monkeypatch):
    asked = {}
    real = mercer.fit

    def fit(*data, report, report_rows, **options):
        asked.update(report=report, report_rows=report_rows)
        return real(*data, report=report, report_rows=report_rows, **options)

    monkeypatch.setattr(mercer, "fit", fit)
    assert run(*FIT, "--quiet", "--no-rows") == 0
    assert asked == {"report": True, "report_rows": 0}
    assert run(*FIT, "--quiet", "--no-report") == 0
    assert asked == {"report": False, "report_rows": 3}


def test_report_is_made_again(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = page_path(str(model))
    os.remove(page)
    assert run("report", model) == 0
    out = capsys.readouterr().out
    assert f"Report  {page}\n" in out
    assert os.path.exists(page)
    assert run("report", model, "--quiet", "-o", "again.html") == 0
    assert capsys.readouterr().out == ""
    with open(page) as first, open("again.html") as second:
        assert first.read() == second.read()
    assert run("report", model, "-o", "-") == 0
    assert capsys.readouterr().out.lstrip().startswith("<")


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_report_in_other_formats(model, form, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run("report", model, "--format", form) == 0
    out = capsys.readouterr().out
    assert "price" in out
    assert os.listdir() == []
    assert run("report", model, "--format", form, "-o", "report.txt") == 0
    written = (tmp_path / "report.txt").read_text(encoding="utf-8")
    assert written.strip() == out.strip()
    if form == "json":
        assert json.loads(out)["task"] == "regression"


def test_a_terminal_that_lacks_a_letter_shows_the_rest(model, monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    assert run("report", model, "--format", "table") == 0
    out.flush()
    assert b"this model" in out.buffer.getvalue()


def test_report_on_other_data(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows(50, seed=1).to_csv("new.tsv", index=False, sep="\t")
    assert run("report", model, "new.tsv", "--format", "json", "--delimiter", "tab") == 0
    found = json.loads(capsys.readouterr().out)["other_data"]
    assert (found["file"], found["n"], found["metric"]) == ("new.tsv", 50, "R2")
    assert found["metrics"]["r2"]["value"] > 0.5
    assert run("report", model, "new.tsv", "-o", "page.html") == 0
    assert "On new.tsv: 50 rows" in capsys.readouterr().out
    assert "new.tsv" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_report_on_data_without_the_target(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows().drop(columns="price").to_csv("new.csv", index=False)
    assert run("report", model, "new.csv") == 1
    assert "price" in capsys.readouterr().err


def test_rows_are_not_in_a_report_without_rows(model, capsys):
    assert run("report", model, "--json") == 0
    assert json.loads(capsys.readouterr().out)["examples"]["worst"]
    assert run("report", model, "--json", "--no-rows") == 0
    found = json.loads(capsys.readouterr().out)
    assert "examples" not in found
    assert found["residuals"]["predicted"] == []


def test_an_estimator_has_a_report_of_what_is_known(tmp_path, capsys):
    frame = rows()
    estimator = mercer.MercerRegressor(effort="fast").fit(frame[["size", "town"]], frame["price"])
    mercer.io.save(estimator, tmp_path / "e.mercer")
    assert run("report", tmp_path / "e.mercer", "--format", "table") == 0
    out = capsys.readouterr().out
    assert "unknown" in out.splitlines()[0]
    assert "160 rows; regression." in out
    assert run("report", tmp_path / "e.mercer") == 0
    assert os.path.exists(tmp_path / "e.report.html")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("none.mercer",), "none.mercer"),
        (("{csv}",), "not a model file"),
        (("{ridge}",), "holds a RidgeRegressor, which has no report"),
        (("{model}", "-o", "nowhere/a.html"), "nowhere does not exist"),
        (("{model}", "-o", "{model}"), "would overwrite an input file"),
        (("{model}", "{csv}", "-o", "{csv}"), "would overwrite an input file"),
    ],
)
def test_mistakes_are_one_line(model, tmp_path, monkeypatch, arguments, expected, capsys):
    monkeypatch.chdir(tmp_path)
    mercer.io.save(mercer.RidgeRegressor().fit(np.eye(4), np.arange(4.0)), tmp_path / "ridge.mercer")
    places = {"csv": model.parent / "houses.csv", "model": model, "ridge": "ridge.mercer"}
    assert run("report", *(each.format(**places) for each in arguments)) in (1, 2)
    err = capsys.readouterr().err
    assert expected in err
    assert "Traceback" not in err
    assert os.listdir() == ["ridge.mercer"]


def test_parameters_are_options_everywhere_in_a_report():
    note = Message("Read with ", Setting("on_bad_rows", "skip"), ".")
    found = with_options({"notes": [note], "checks": [{"remedy": note, "count": 1}], "x": (1.5, None)})
    assert found["notes"] == ["Read with --on-bad-rows skip."]
    assert found["checks"] == [{"remedy": "Read with --on-bad-rows skip.", "count": 1}]
    assert found["x"] == [1.5, None]


def test_demo_runs_the_main_job_on_two_tables(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--effort", "fast") == 0
    out, err = capsys.readouterr()
    assert err == ""  # not a terminal: no bar
    names = [f"{table}{end}" for table in ("breast_cancer", "diabetes") for end in (".csv", ".mercer", ".report.html")]
    assert sorted(os.listdir("mercer-demo")) == names
    for part in (
        "regression of progression",
        "classification of diagnosis",
        "$ mercer fit mercer-demo/diabetes.csv --target progression",
        (tmp_path / "mercer-demo" / "diabetes.report.html").as_uri(),
        "mercer explain mercer-demo/breast_cancer.mercer mercer-demo/breast_cancer.csv",
    ):
        assert part in " ".join(out.split())
    table = pd.read_csv("mercer-demo/diabetes.csv")
    assert list(table)[:3] == ["age", "sex", "body_mass_index"]
    assert (len(table), len(pd.read_csv("mercer-demo/breast_cancer.csv"))) == (442, 569)
    command = mercer.load("mercer-demo/diabetes.mercer").report()["reproduction"]["command"]
    assert command.startswith("mercer fit mercer-demo/diabetes.csv --target progression")


def test_demo_on_a_file_of_ones_own(folder, capsys):
    how = ("--data", "houses.csv", "--target", "price", "--effort", "fast", "--output", "tried", "--json", "--quiet")
    assert run("demo", *how) == 0
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    assert report["target"] == "price"
    assert sorted(os.listdir("tried")) == ["houses.mercer", "houses.report.html"]


def test_demo_replaces_no_file_of_others(tmp_path, capsys):
    (tmp_path / "diabetes.csv").write_text("a,b\n1,2\n")
    assert run("demo", "--output", tmp_path) == 1
    assert "is not the table of the demo" in capsys.readouterr().err
    assert (tmp_path / "diabetes.csv").read_text() == "a,b\n1,2\n"
