"""Metrics, costs, groups and time on the command line: mistakes are named with its own options."""

import numpy as np
import pandas as pd
import pytest

from mercer import cli

N = 80


def run(*arguments):
    return cli._run([str(argument) for argument in arguments])


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=N), "customer": rng.integers(0, 30, N).astype(object)})
    frame["y"] = np.where(frame["a"] > 0, "yes", "no")
    frame.loc[5, "customer"] = None
    frame["site"] = [f"s{k}" for k in range(N)]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


MISTAKES = {
    "gap without time": (["--gap", "7d"], "--gap 7d is the distance in time", 1),
    "metric of numbers": (["--metric", "rmse"], "--metric must be one of accuracy", 1),
    "unknown metric": (["--metric", "best"], "'best' is not one of", 2),
    "unknown column": (["--groups", "custmer"], "Did you mean 'customer'", 1),
    "missing group": (["--groups", "customer"], "line 7", 1),
    "times in words": (["--time", "site"], "given as --time holds text", 1),
    "unknown class": (["--class-weight", "maybe=3"], "must name one of the classes 'no', 'yes'", 1),
    "unknown cost": (["--costs", "wrong=3"], "--costs wrong", 2),
    "weights in words": (["--class-weight", "yes=many"], "--class-weight takes CLASS=WEIGHT", 2),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_name_the_options(name, path, capsys):
    options, message, code = MISTAKES[name]
    assert run("fit", path, "--target", "y", "--effort", "fast", "--quiet", *options) == code
    assert message in capsys.readouterr().err.replace("\n", " ")
    assert not list(path.parent.glob("*.mercer"))
