"""The command line: output and exit codes."""

import sys

import pytest

from mercer import cli
from mercer._runtime.errors import ParameterError


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["demo", "--help"], 0),
        (["deom"], 2),
        (["demo", "--data", "titanic.csv"], 2),
        (["demo", "--target", "survived"], 2),
        (["demo", "--effort", "none"], 2),
        (["demo", "--seed", "-1"], 2),
        (["demo", "--format", "xml"], 2),
        (["inspect", "--help"], 0),
        (["inspect"], 2),
        (["report"], 2),
        (["report", "a.mercer", "--format", "pdf"], 2),
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


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("no column named 'age'"), "mercer: no column named 'age'"),
        (ParameterError("time_budget", -1, "must be positive"), "mercer: --time-budget must be positive, not -1."),
        (FileNotFoundError("rows.parquet: there is no such file"), "mercer: rows.parquet"),
        (KeyboardInterrupt(), "mercer: stopped."),
    ],
)
def test_failures_are_one_line_and_code_one(error, expected, monkeypatch, tmp_path, capsys):
    def fail(*_):
        raise error

    monkeypatch.setattr(sys.modules["mercer.cli.demo"], "_run", fail)
    assert cli._run(["demo", "--data", "rows.csv", "--target", "y", "--output", str(tmp_path)]) == 1
    err = capsys.readouterr().err.lstrip("\n")  # after Ctrl-C the line of the prompt is ended first
    assert err.startswith(expected)
    assert err.count("\n") == 1
