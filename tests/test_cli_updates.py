"""`mercer update`, and losses and monotone columns on the command line."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import cli


def run(*arguments):
    return cli._run([str(argument) for argument in arguments])


def rows(n=260, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.normal(size=n), "town": rng.choice(["Bern", "Oslo"], n)})
    return frame.assign(price=(2 + np.tanh(frame["size"]) + (frame["town"] == "Oslo")).round(6))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("updates")
    rows()[:200].to_csv(folder / "old.csv", index=False)
    rows()[:20].to_csv(folder / "first.csv", index=False)
    rows()[200:].to_csv(folder / "new.csv", index=False)
    rows()[200:].drop(columns="size").to_csv(folder / "other.csv", index=False)
    how = ("--target", "price", "--effort", "fast", "--no-report", "--monotone", "size=+1", "-o", folder / "m.mercer")
    assert run("fit", folder / "old.csv", *how) == 0
    return folder


def test_rows_are_added_and_taken_away(folder, tmp_path, capsys):
    path, before = tmp_path / "newer.mercer", (folder / "m.mercer").read_bytes()
    assert run("update", folder / "m.mercer", folder / "new.csv", "--forget", folder / "first.csv", "-o", path) == 0
    assert "60 rows were added and 20 rows were taken away" in capsys.readouterr().out
    assert (folder / "m.mercer").read_bytes() == before
    assert mercer.load(path).report()["updates"]["rows"] == 240
    assert run("update", path, "--forget", folder / "new.csv") == 0  # in place
    assert mercer.load(path).report()["updates"]["forgotten"] == 80


MISTAKES = {
    "no rows": ((), 2, "Name a file of new rows"),
    "another table": (("other.csv",), 1, "'size' is missing"),
    "rows never seen": (("--forget", "new.csv"), 1, "new.csv, line 2"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_leave_the_file_as_it_was(case, folder, capsys):
    given, code, message = MISTAKES[case]
    before = (folder / "m.mercer").read_bytes()
    arguments = [folder / each if each.endswith(".csv") else each for each in given]
    assert run("update", folder / "m.mercer", *arguments) == code
    assert message in capsys.readouterr().err
    assert (folder / "m.mercer").read_bytes() == before


def test_quantiles_from_file_to_file(folder, capsys):
    how = ("--target", "price", "--effort", "fast", "--no-report", "--loss", "quantile", "--quantiles", "0.2,0.8")
    assert run("fit", folder / "old.csv", *how, "-o", folder / "q.mercer") == 0
    capsys.readouterr()
    assert run("predict", folder / "q.mercer", folder / "new.csv", "--quantiles", "--quiet") == 0
    assert capsys.readouterr().out.splitlines()[0] == "prediction,quantile_0.2,quantile_0.8"


FIT_MISTAKES = {
    "quantiles in words": (("--loss", "quantile", "--quantiles", "half"), 2, "--quantiles takes numbers"),
    "a sign of two": (("--monotone", "size=2"), 2, "the sign is +1 or -1"),
    "monotone text": (("--monotone", "town=+1"), 1, "--monotone town must be on numbers"),
    "gamma of nothing": (("--loss", "nothing"), 2, "is not one of"),
}


@pytest.mark.parametrize("case", FIT_MISTAKES)
def test_mistakes_of_fit(case, folder, tmp_path, capsys):
    given, code, message = FIT_MISTAKES[case]
    assert run("fit", folder / "old.csv", "--target", "price", *given, "-o", tmp_path / "m.mercer") == code
    assert message in capsys.readouterr().err
