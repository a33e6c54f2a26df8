"""The command line: output and exit codes."""

import json
import sys

import pytest

from mercer import cli
from mercer._runtime.errors import ParameterError

SMALL = ["demo", "--data", "diabetes", "--components", "17"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["demo", "--help"], 0),
        (["deom"], 2),
        (["demo", "--data", "titanic"], 2),
        (["demo", "--components", "many"], 2),
        (["demo", "--components", "0"], 2),
        (["demo", "--seed", "-1"], 2),
        (["demo", "--format", "xml"], 2),
        (["inspect", "--help"], 0),
        (["inspect"], 2),
    ],
)
def test_exit_codes(arguments, code, capsys):
    assert cli._run(arguments) == code
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    assert bool(err) == (code == 2)


def test_main_exits_with_the_code():
    with pytest.raises(SystemExit) as leaving:
        cli.main(["--version"])
    assert leaving.value.code == 0


@pytest.mark.parametrize("command", [[], ["demo"]])
def test_every_help_has_an_example(command, capsys):
    assert cli._run([*command, "--help"]) == 0
    assert "Example:  mercer" in capsys.readouterr().out


def test_demo_as_table(capsys):
    assert cli._run(SMALL) == 0
    out, err = capsys.readouterr()
    assert err == ""  # not a terminal: no bar
    for expected in ("The plan", "Diabetes", "plain columns", "evaluated once", "Seconds:", "Your own data"):
        assert expected in out
    assert max(map(len, out.splitlines())) <= 80


def test_demo_as_json(capsys):
    assert cli._run([*SMALL, "--format", "json", "--quiet"]) == 0
    report = json.loads(capsys.readouterr().out)["reports"][0]
    assert report["data"]["training_rows"] + report["data"]["holdout_rows"] == report["data"]["rows"] == 442
    assert sum(trial["chosen"] for trial in report["trials"]) == 1


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("no column named 'age'"), "mercer: no column named 'age'"),
        (ParameterError("time_budget", -1, "must be positive"), "mercer: --time-budget must be positive, not -1."),
        (FileNotFoundError("rows.parquet: there is no such file"), "mercer: rows.parquet"),
        (KeyboardInterrupt(), "mercer: stopped."),
    ],
)
def test_failures_are_one_line_and_code_one(error, expected, monkeypatch, capsys):
    def fail(*_):
        raise error

    monkeypatch.setattr(sys.modules["mercer.cli.demo"], "_table_demo", fail)
    assert cli._run(["demo"]) == 1
    err = capsys.readouterr().err.lstrip("\n")  # after Ctrl-C the line of the prompt is ended first
    assert err.startswith(expected)
    assert err.count("\n") == 1
