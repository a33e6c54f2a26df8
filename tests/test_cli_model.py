"""From a file to a model and back: fit, predict, transform, select, dimension, as a shell would call them."""

import errno
import io
import json
import os
import runpy

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import cli

VERBS = ["demo", "fit", "predict", "explain", "report", "transform", "select", "inspect", "compare"]
VERBS += ["update", "dimension", "explore"]


def run(*arguments):
    return cli._run([str(argument) for argument in arguments])


def rows(n=240, seed=0):
    rng = np.random.default_rng(seed)
    table = {"size": rng.normal(size=n), "age": rng.integers(0, 50, n), "town": rng.choice(["Bern", "Oslo", "Rome"], n)}
    frame = pd.DataFrame(table)
    price = np.sin(2 * frame["size"]) + 0.02 * frame["age"] + (frame["town"] == "Oslo") + 0.05 * rng.normal(size=n)
    return frame.assign(price=price)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a folder whose name alone is longer than a line of eighty letters on a terminal")
    rows().to_csv(folder / "houses.csv", index=False)
    code = run("fit", folder / "houses.csv", "--target", "price", "--effort", "fast", "-o", folder / "houses.mercer")
    assert code == 0
    return folder


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(verb, capsys):
    assert run(verb, "--help") == 0
    assert f"Example:  mercer {verb}" in capsys.readouterr().out


def test_fit_reports_what_it_did(fitted, tmp_path, capsys):
    how = ("--target", "price", "--effort", "fast", "-o", tmp_path / "again.mercer", "--verbose")
    assert run("fit", fitted / "houses.csv", *how) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for expected in (
        "houses.csv: 240 rows; regression of price.",
        "delimiter ','",
        "this model",
        "linear model",
        f"Model   {tmp_path / 'again.mercer'}\n",
    ):
        assert expected in " ".join(out.split()) or expected in out
    again, first = mercer.load(tmp_path / "again.mercer"), mercer.load(fitted / "houses.mercer")
    assert again.predict(rows().drop(columns="price")).tolist() == first.predict(rows().drop(columns="price")).tolist()


def test_fit_as_json(fitted, tmp_path, capsys):
    how = ("--target", "town", "--effort", "fast", "--json", "-o", tmp_path / "town.mercer")
    assert run("fit", fitted / "houses.csv", *how) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["task"] == "classification"
    assert report["holdout"]["metric"] == "accuracy"
    assert set(report["schema"]) == {"size", "age", "price"}


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.json"])
def test_predictions_are_those_of_the_model(fitted, tmp_path, name):
    fresh = rows(50, seed=1)
    fresh.drop(columns="price").to_csv(tmp_path / "new.csv", index=False)
    assert run("predict", fitted / "houses.mercer", tmp_path / "new.csv", "-o", tmp_path / name) == 0
    readers = {".csv": pd.read_csv, ".parquet": pd.read_parquet, ".json": lambda path: pd.read_json(path, lines=True)}
    written = readers[os.path.splitext(name)[1]](tmp_path / name)
    expected = mercer.load(fitted / "houses.mercer").predict(fresh.drop(columns="price"))
    np.testing.assert_allclose(written["prediction"], expected, rtol=1e-12)
    assert 1 - np.mean((expected - fresh["price"]) ** 2) / np.var(fresh["price"]) > 0.8


def test_predictions_on_standard_output(fitted, capfdbinary):
    assert run("predict", fitted / "houses.mercer", fitted / "houses.csv", "--quiet") == 0
    out, err = capfdbinary.readouterr()
    assert len(out.splitlines()) == 241
    assert err == b""  # the target may be there: no note with --quiet


def test_rows_that_have_their_target_are_scored(fitted, tmp_path, capsys):
    fresh = rows(n=50, seed=1)
    fresh.loc[::5, "price"] = None
    fresh.to_csv(tmp_path / "new.csv", index=False)
    assert run("predict", fitted / "houses.mercer", tmp_path / "new.csv", "-o", tmp_path / "out.csv") == 0
    known = fresh["price"].notna()
    y, predicted = fresh["price"][known], pd.read_csv(tmp_path / "out.csv")["prediction"][known]
    r2 = 1 - np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2)
    assert f"R2 {r2:.3g} on 40 rows that have their 'price'" in capsys.readouterr().err


def test_the_package_runs_as_a_module(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["mercer", "--version"])
    with pytest.raises(SystemExit) as left:
        runpy.run_module("mercer", run_name="__main__")
    assert left.value.code == 0
    assert capsys.readouterr().out == f"mercer {mercer.__version__}\n"


def test_probabilities_are_beside_the_prediction(fitted, tmp_path):
    model, out = tmp_path / "town.mercer", tmp_path / "out.csv"
    assert run("fit", fitted / "houses.csv", "--target", "town", "--effort", "fast", "-o", model) == 0
    assert run("predict", model, fitted / "houses.csv", "--proba", "-o", out) == 0
    written = pd.read_csv(out)
    assert list(written) == ["prediction", "probability_Bern", "probability_Oslo", "probability_Rome"]
    np.testing.assert_allclose(written.iloc[:, 1:].sum(axis=1), 1.0)


def test_transform_writes_the_features(fitted, tmp_path):
    out = tmp_path / "features.parquet"
    assert run("transform", fitted / "houses.mercer", fitted / "houses.csv", "-o", out) == 0
    written, model = pd.read_parquet(out), mercer.load(fitted / "houses.mercer")
    assert list(written) == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(written.to_numpy(), model.transform(rows().drop(columns="price")))


@pytest.mark.parametrize(("how", "first"), [("greedy", "town"), ("lasso", None), ("filter", None)])
def test_select_ranks_and_writes(fitted, tmp_path, capsys, how, first):
    out = tmp_path / "fewer.csv"
    asked = ("--target", "price", "-k", 2, "--how", how, "--json", "-o", out)
    assert run("select", fitted / "houses.csv", *asked) == 0
    found = json.loads(capsys.readouterr().out)
    kept = [each["column"] for each in found["ranked"]]
    assert len(kept) == 2
    assert first in (None, kept[0])
    assert list(pd.read_csv(out)) == [*kept, "price"]
    assert len(pd.read_csv(out)) == 240


def test_dimensions(capsys):
    assert run("dimension", "--eps", 0.2, "--rows", 1000, "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["columns"] for each in found["maps"]] == [
        mercer.bounds.fourier_dimension(0.2, 0.01, 1000),
        mercer.bounds.fourier_dimension(0.2, 0.01, 1000, method="hoeffding"),
        mercer.bounds.jl_dimension(0.2, 0.01, 1000),
        mercer.bounds.jl_dimension(0.2, 0.01, 1000, method="theorem"),
    ]
    assert run("dimension") == 0
    assert "RandomFeatures" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["fit", "{csv}", "--target", "prize"], "price"),
        (["fit", "nothing.csv", "--target", "y"], "no such file"),
        (["predict", "{csv}", "{csv}"], "not a model file"),
        (["predict", "{model}", "{short}"], "age"),
        (["predict", "{model}", "{wrong}"], "age"),
        (["predict", "{model}", "{csv}", "--format", "parquet"], "--output"),
        (["predict", "{model}", "{csv}", "-o", "nowhere/out.csv"], "does not exist"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(fitted, tmp_path, monkeypatch, capsys, arguments, expected):
    monkeypatch.chdir(tmp_path)
    rows(5).drop(columns=["age", "price"]).to_csv("short.csv", index=False)
    rows(5).assign(age="old").to_csv("wrong.csv", index=False)
    places = {
        "csv": fitted / "houses.csv",
        "model": fitted / "houses.mercer",
        "short": "short.csv",
        "wrong": "wrong.csv",
    }
    before = sorted(os.listdir())
    assert run(*(argument.format(**places) for argument in arguments)) == 1
    err = capsys.readouterr().err
    assert err.startswith("mercer: ")
    assert expected in err
    assert "Traceback" not in err
    assert sorted(os.listdir()) == before


def test_wrong_use_is_code_two(fitted, capsys):
    assert run("fit", fitted / "houses.csv") == 2
    assert run("fit", fitted / "houses.csv", "--target", "price", "--role", "town") == 2
    assert "COLUMN=ROLE" in capsys.readouterr().err


def test_an_interrupted_prediction_leaves_no_file(fitted, tmp_path, monkeypatch, capsys):
    from mercer.auto import Model

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Model, "predict", interrupted)
    assert run("predict", fitted / "houses.mercer", fitted / "houses.csv", "-o", tmp_path / "out.csv") == 1
    assert os.listdir(tmp_path) == []
    assert "stopped" in capsys.readouterr().err


def test_unseen_categories_are_reported(fitted, tmp_path, capsys):
    fresh = rows(40, seed=1).drop(columns="price")
    fresh.loc[3, "town"], fresh.loc[5, "town"] = "Paris", "Lima"
    fresh.to_csv(tmp_path / "new.csv", index=False)
    assert run("predict", fitted / "houses.mercer", tmp_path / "new.csv", "-o", tmp_path / "out.csv") == 0
    err = capsys.readouterr().err
    assert "mercer: 'town': 2 rows hold categories that were not seen in fit, such as 'Paris'. They count as" in err
    model = mercer.load(fitted / "houses.mercer")
    for given in (str(tmp_path / "new.csv"), fresh):
        assert model.unseen_categories(given) == {"town": (2, "Paris")}


@pytest.mark.parametrize("verb", [["inspect", "{csv}"], ["dimension"], ["report", "{model}"]])
def test_json_is_an_option_of_every_report(verb, fitted, capsys):
    places = {"csv": fitted / "houses.csv", "model": fitted / "houses.mercer"}
    assert run(*(part.format(**places) for part in verb), "--json") == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


@pytest.mark.parametrize("eps", [5.0, 1e-9])
def test_dimensions_beyond_any_use_take_no_time(eps, capsys):
    assert run("dimension", "--eps", eps, "--rows", 10**12, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sparse_nonzeros"] is None
    assert all(each["columns"] for each in found["maps"])


def test_text_is_quoted_only_where_it_must_be(tmp_path):
    from mercer.io.row_writers import open_rows

    for name, sep in (("a.csv", ","), ("a.tsv", "\t")):
        with open_rows(str(tmp_path / name)) as out:
            out.write({"x,1": [1.5], "y": np.array(["Bern"], dtype=object)})
            out.write({"x,1": [2.5], "y": np.array(['"a",\t\nb'], dtype=object)})
        read = pd.read_csv(tmp_path / name, sep=sep)
        assert read.to_dict("list") == {"x,1": [1.5, 2.5], "y": ["Bern", '"a",\t\nb']}
        assert f"1.5{sep}Bern\n" in (tmp_path / name).read_text()


def test_features_of_one_name_are_all_written(tmp_path):
    frame = pd.DataFrame({"c": ["u", "v"] * 40, "c=u": np.linspace(0, 1, 80)})
    frame["y"] = (frame["c"] == "u") + frame["c=u"]
    model, data = tmp_path / "m.mercer", tmp_path / "rows.csv"
    frame.to_csv(data, index=False)
    assert run("fit", data, "--target", "y", "--effort", "fast", "-o", model, "--json") == 0
    assert run("transform", model, data, "-o", tmp_path / "out.parquet") == 0
    written = pd.read_parquet(tmp_path / "out.parquet")
    assert {"c=u", "c=u_2"} <= set(written)
    np.testing.assert_array_equal(written.to_numpy(), mercer.load(model).transform(frame[["c", "c=u"]]))


def test_select_keeps_every_digit(tmp_path):
    long = [None if i % 7 == 0 else 2**60 + 3 * i for i in range(80)]
    frame = pd.DataFrame({"a": np.linspace(0, 1, 80), "n": pd.array(long[::-1], dtype="Int64")}).assign(y=range(80))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    assert run("select", tmp_path / "rows.csv", "--target", "y", "-o", tmp_path / "out.csv", "--json") == 0
    kept = pd.read_csv(tmp_path / "out.csv", dtype={"n": "Int64"})
    assert kept["n"].tolist() == frame["n"].tolist()


def test_select_into_a_pipe(fitted, capfdbinary):
    assert run("select", fitted / "houses.csv", "--target", "price", "-k", 1, "-o", "-") == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert lines[0] == "town,price"
    assert len(lines) == 241


def test_pipes_and_devices_are_written_to_as_they_are(fitted, tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link.csv"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert run("predict", fitted / "houses.mercer", fitted / "houses.csv", "-o", pipe) == 0
    assert os.read(reader, 11) == b"prediction\n"
    os.close(reader)
    assert not os.path.isfile(pipe)
    link.symlink_to(tmp_path / "real.csv")
    assert run("predict", fitted / "houses.mercer", fitted / "houses.csv", "-o", link) == 0
    assert link.is_symlink()
    assert len(pd.read_csv(tmp_path / "real.csv")) == 240


def test_links_that_lead_in_a_circle_are_named_and_stay(fitted, tmp_path, capsys):
    itself, one, other = (tmp_path / name for name in ("itself.csv", "one", "other"))
    itself.symlink_to(itself)
    one.symlink_to(other)
    other.symlink_to(one)
    model, rows, message = (
        fitted / "houses.mercer",
        fitted / "houses.csv",
        "symbolic link that leads in a circle. Remove it",
    )
    for path, link in ((itself, itself), (one / "out.csv", one)):
        assert run("predict", model, rows, "-o", path) == 1
        error = capsys.readouterr().err
        assert message in error
        assert str(path) in error
        assert str(link) in error
        assert link.is_symlink()
    with pytest.raises(FileNotFoundError, match=message):
        mercer.load(model).save(itself)
    assert itself.is_symlink()


def test_a_full_disk_is_named_and_leaves_nothing(fitted, tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert run("predict", fitted / "houses.mercer", fitted / "houses.csv", "-o", tmp_path / "out.csv") == 1
    assert f"{tmp_path / 'out.csv'} could not be written: No space left on device" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


def test_predict_writes_intervals(fitted, capsys):
    rows(20, 1).drop(columns="price").to_csv(fitted / "later.csv", index=False)
    predict = ("predict", fitted / "houses.mercer", fitted / "later.csv", "--format", "csv")
    capsys.readouterr()
    assert run(*predict, "--interval", "0.8") == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert found.columns.tolist() == ["prediction", "lower", "upper"]
    assert (found["lower"] < found["prediction"]).all()
    assert (found["prediction"] < found["upper"]).all()
    assert run(*predict, "--interval", "80") == 2
    assert "'--interval': 80.0 is not in the range 0<x<1" in capsys.readouterr().err
