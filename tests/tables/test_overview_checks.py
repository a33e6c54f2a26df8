"""Checks of tables: every planted fault is found with its column and count, and clean tables raise no alarm."""

import json

import numpy as np
import pytest

from mercer.cli.messages import in_options
from mercer.io import read_table
from mercer.tables.overview import overview
from mercer.tables.overview.findings import TITLES

N = 600


def clean(seed, n=N):
    """A table of columns of all kinds, none of which is at fault, and a target."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(200, 1500)) if n is None else n
    kinds = {
        "normal": lambda: rng.normal(rng.uniform(-9, 9), rng.uniform(0.1, 50), n),
        "amount": lambda: rng.lognormal(3, rng.uniform(0.3, 1.2), n),
        "count": lambda: rng.poisson(rng.uniform(1, 40), n),
        "t": lambda: rng.standard_t(4, n),
        "rounded": lambda: np.round(rng.normal(size=n), 1),
        "flag": lambda: rng.random(n) < rng.uniform(0.2, 0.8),
        "city": lambda: rng.choice(["Bern", "Oslo", "Rome", "Lima"], n),
        "day": lambda: np.datetime64("2021-03-01") + rng.integers(0, 700, n).astype("timedelta64[D]"),
        "gaps": lambda: np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
    }
    chosen = rng.choice(list(kinds), rng.integers(3, 9))
    table = {f"{kind}_{j}": kinds[kind]() for j, kind in enumerate(chosen)}
    x = rng.normal(size=n)
    table["x"] = x
    target = {
        "number": x + rng.normal(size=n),
        "positive": np.exp(0.5 * x + 0.5 * rng.normal(size=n)),
        "classes": np.where(x + rng.normal(size=n) > 0, "yes", "no"),
        "codes": rng.integers(0, 4, n),
    }[["number", "positive", "classes", "codes"][seed % 4]]
    return table, target


def findings(table, y=None, **known):
    found = overview(read_table(table, y), **known)
    json.dumps([found.profiles, found.target, found.checks], allow_nan=False)
    assert all(check["code"] in TITLES for check in found.checks)
    severities = [check["severity"] for check in found.checks]
    assert severities == sorted(severities, key=["error", "warning", "info", "passed"].index)
    return {(check["code"], check["severity"]): check for check in found.checks}


@pytest.mark.parametrize("seed", range(50))
def test_clean_tables_raise_no_alarm(seed):
    table, y = clean(seed, n=None)
    for given in (y, None):
        alarms = [check for (_, level), check in findings(table, given).items() if level in ("error", "warning")]
        assert alarms == []


def test_what_passed_is_listed_once():
    table, y = clean(0)
    found = findings(table, y)
    assert found["target-leak", "passed"] == {
        "code": "target-leak",
        "severity": "passed",
        "title": "no column predicts the target alone",
        "count": 0,
        "where": [],
        "message": "",
        "remedy": "",
    }
    assert ("rare-class", "passed") not in found  # the target is a number
    assert ("target-leak", "passed") not in findings(table)


RNG = np.random.default_rng(7)
X, YES = RNG.normal(size=N), RNG.random(N) < 0.5
LABEL = np.where(YES, "yes", "no")
Y = X + RNG.normal(size=N)
STEPS = np.arange(N)

# code, severity -> (columns beside x, target, where, count)
PLANTED = {
    ("target-copy", "error"): ({"copy": Y}, Y, ["copy"], 1),
    ("target-leak", "warning"): ({"leak": 3 * Y + 1}, Y, ["leak"], 1),
    ("constant-target", "error"): ({}, np.ones(N), ["target"], 1),
    ("rare-class", "warning"): ({}, np.where(STEPS < 3, "odd", LABEL), ["odd"], 1),
    ("class-imbalance", "warning"): ({}, np.where(RNG.random(N) < 0.97, "no", "yes"), ["no"], 1),
    ("class-imbalance", "info"): ({}, np.where(RNG.random(N) < 0.87, "no", "yes"), ["no"], 1),
    ("skewed-target", "info"): ({}, np.exp(1.3 * Y), ["target"], 1),
    ("id-column", "info"): ({"row": STEPS, "code": [f"a{i:05d}" for i in STEPS]}, Y, ["row", "code"], 2),
    ("constant-column", "info"): ({"c": ["same"] * N, "gone": [None] * N}, Y, ["c", "gone"], 2),
    ("number-as-text", "warning"): ({"cost": [f"${i + 1000:,}" for i in STEPS]}, Y, ["cost"], 1),
    ("date-as-text", "warning"): ({"day": [f"{1 + i % 28}/{1 + i % 12}/2020" for i in STEPS]}, Y, ["day"], 1),
    ("high-cardinality", "info"): ({"zip": [f"z {i % 150}" for i in RNG.permutation(N)]}, Y, ["zip"], 1),
    ("rare-category", "info"): ({"town": np.where(STEPS < 3, "Ulm", LABEL)}, Y, ["town"], 1),
    ("missing-values", "warning"): ({"gone": np.where(RNG.random(N) < 0.7, np.nan, X)}, Y, ["gone"], 1),
    ("missing-values", "info"): ({"some": np.where(STEPS % 100 == 5, np.nan, X * 2)}, Y, ["some"], 1),
    ("duplicate-column", "info"): ({"a": X, "t": LABEL, "u": LABEL}, Y, ["a", "u"], 2),
    ("order-drift", "warning"): ({}, Y + STEPS / 100, ["target"], 1),
    ("order-drift", "info"): ({"drifts": X + STEPS / 100}, Y, ["drifts"], 1),
    ("outlier", "info"): ({"far": np.where(STEPS % 200 == 3, -999.0, X)}, Y, ["far"], 1),
    ("outlier", "warning"): ({}, np.where(STEPS == 3, 1e6, Y), ["target"], 1),
    ("whitespace", "warning"): (
        {"town": np.where(STEPS % 3 == 0, "Ulm ", np.where(YES, "Ulm", "Bern"))},
        Y,
        ["town"],
        1,
    ),
    ("whitespace", "info"): ({"town": np.where(STEPS % 3 == 0, "ulm", np.where(YES, "Ulm", "Bern"))}, Y, ["town"], 1),
}


@pytest.mark.parametrize("case", PLANTED)
def test_what_is_planted_is_found(case):
    columns, y, where, count = PLANTED[case]
    found = findings({"x": X, **columns}, y)
    assert found[case]["where"] == where
    assert found[case]["count"] == count
    assert found[case]["message"].endswith(".")
    assert found[case]["remedy"].endswith(("?", "."))
    others = {level for code, level in found if code != case[0]}
    assert not others & {"error", "warning"} or case[0] in ("class-imbalance", "target-copy")


def test_a_rescaled_target_with_a_long_tail_is_a_leak():
    y = np.exp(2 * Y)
    found = findings({"x": X, "euros": 1.1 * y, "noisy": y * np.exp(RNG.normal(size=N))}, y)
    assert found["target-leak", "warning"]["where"] == ["euros"]


def test_counts_are_in_the_message():
    columns, y, *_ = PLANTED["outlier", "info"]
    assert "'far' 3 (such as -999)" in findings(columns | {"x": X}, y)["outlier", "info"]["message"]
    columns, y, *_ = PLANTED["missing-values", "info"]
    assert "'some' 6 (1.0%)" in findings(columns | {"x": X}, y)["missing-values", "info"]["message"]


def test_duplicated_rows_are_counted():
    rows = np.r_[np.arange(N), [3, 3, 5, 8]]
    found = findings({"x": X[rows], "city": LABEL[rows]}, Y[rows])
    assert found["duplicate-row", "info"]["count"] == 4


def test_few_rows_and_fewer_than_columns():
    found = findings({"x": X[:60]}, Y[:60])
    assert found["few-rows", "warning"]["count"] == 60
    wide = findings({f"x{j}": RNG.normal(size=120) for j in range(130)}, Y[:120])
    assert "fewer rows (120) than columns (130)" in wide["few-rows", "warning"]["message"]


def test_a_table_sorted_by_its_target_is_no_drift():
    order = np.argsort(LABEL)
    found = findings({"x": X[order]}, LABEL[order])
    assert found["order-drift", "info"]["where"] == ["target"]
    assert "sorted by the target" in found["order-drift", "info"]["message"]


def test_drift_that_is_not_monotone_is_found():
    assert findings({"x": X, "wave": X + 2 * np.sin(STEPS / 50)}, Y)["order-drift", "info"]["where"] == ["wave"]
    town = np.where((STEPS > 200) & (STEPS < 400), "Ulm", LABEL)
    assert findings({"x": X, "town": town}, Y)["order-drift", "info"]["where"] == ["town"]


def test_ties_hide_no_order_and_show_none():
    """Equal values must not be ranked by position."""
    assert ("order-drift", "passed") in findings({"x": X, "zeros": (STEPS == 17) * 1.0}, np.round(Y))


def test_classes_with_stray_blanks_are_found_in_the_target():
    y = np.where(STEPS % 7 == 0, np.char.add(LABEL, " "), LABEL)
    assert findings({"x": X}, y)["whitespace", "warning"]["where"] == ["target"]


def test_given_roles_are_not_questioned():
    table = {"x": X, "cost": [f"${i + 1000:,}" for i in STEPS], "row": STEPS}
    found = findings(table, Y, roles={"cost": "text", "row": "number"})
    assert ("number-as-text", "passed") in found
    assert ("id-column", "passed") in found


def test_remedies_are_options_on_the_command_line():
    columns, y, *_ = PLANTED["target-leak", "warning"]
    remedy = findings({"x": X, **columns}, y)["target-leak", "warning"]["remedy"]
    assert "roles={'leak': 'id'}" in remedy
    assert "--role leak=id" in in_options(remedy)
