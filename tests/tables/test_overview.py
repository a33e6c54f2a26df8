"""Profiles of columns and of the target: exact where all rows are known, the same for any blocks."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from mercer._numeric.block import Block
from mercer.auto.rows.task import profile_target
from mercer.io import read_table
from mercer.source import Columns, StreamSource
from mercer.tables.overview import overview
from mercer.tables.overview.gather import guess_task
from mercer.tables.overview.statistics import NumberMoments, OfTarget, OrderSample
from mercer.tables.profile import TableProfile

N = 3000


def frame():
    rng = np.random.default_rng(2)
    day = np.datetime64("2019-01-01") + rng.integers(0, 900, N).astype("timedelta64[D]")
    return pd.DataFrame(
        {
            "size": rng.normal(3, 2, N),
            "age": np.where(rng.random(N) < 0.1, np.nan, rng.integers(0, 90, N)),
            "rooms": rng.integers(1, 7, N),
            "town": rng.choice(["Bern", "Oslo", "Rome"], N, p=[0.5, 0.3, 0.2]),
            "new": rng.random(N) < 0.3,
            "day": day,
        }
    )


def profiles_of(found):
    return {each["column"]: each for each in found.profiles}


def test_numbers_are_those_of_pandas():
    data = frame()
    found = profiles_of(overview(read_table(data)))
    for name in ("size", "age", "rooms"):
        each, column = found[name], data[name].dropna()
        assert (each["mean"], each["sd"]) == pytest.approx((column.mean(), column.std()), rel=1e-12)
        assert (each["min"], each["max"]) == (column.min(), column.max())
        assert each["n_missing"] == N - len(column)
        edges, counts = each["histogram"]["edges"], each["histogram"]["counts"]
        assert len(counts) == len(edges) - 1 <= 20
        assert counts == np.histogram(column, edges)[0].tolist()
        probabilities = (0.05, 0.25, 0.5, 0.75, 0.95)
        assert each["quantiles"] == pytest.approx(np.quantile(column, probabilities, method="averaged_inverted_cdf"))
    assert found["rooms"]["histogram"]["edges"] == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]


def test_categories_dates_and_booleans():
    data = frame()
    found = profiles_of(overview(read_table(data)))
    counts = data["town"].value_counts()
    assert found["town"]["histogram"] == {"labels": counts.index.tolist(), "counts": counts.tolist()}
    assert found["town"]["top"][0] == {"category": "Bern", "rows": counts["Bern"]}
    assert found["new"]["histogram"]["labels"] == ["False", "True"]
    assert found["day"]["histogram"]["edges"][0] == str(data["day"].min().date())
    assert sum(found["day"]["histogram"]["counts"]) == N
    assert (found["day"]["mean"], found["day"]["quantiles"]) == (None, None)


def test_association_is_the_error_removed():
    data, rng = frame(), np.random.default_rng(0)
    y = data["size"] + rng.normal(size=N)  # R2 = 4 / 5
    found = profiles_of(overview(read_table(data, y.to_numpy())))
    assert found["size"]["association"]["name"] == "R2 alone (binned, leave-one-out)"
    assert found["size"]["association"]["value"] == pytest.approx(0.8, abs=0.05)
    assert found["rooms"]["association"]["value"] < 0.02
    labels = np.where(data["new"], "a", "b")
    found = profiles_of(overview(read_table(data.drop(columns="new"), labels)))
    assert all(0 <= each["association"]["value"] <= 1 for each in found.values())
    assert found["size"]["association"]["name"] == "fraction of errors removed (leave-one-out)"


def test_the_target_has_a_profile():
    data = frame()
    found = overview(read_table(data, "size"))
    assert (found.task, found.target["column"]) == ("regression", "size")
    assert found.target["mean"] == pytest.approx(data["size"].mean(), rel=1e-12)
    found = overview(read_table(data, "town"))
    assert (found.task, found.target["histogram"]["labels"]) == ("classification", ["Bern", "Oslo", "Rome"])
    assert overview(read_table(data)).target is None
    assert overview(read_table(data, "rooms"), task="regression").target["quantiles"][2] in (3.0, 4.0, 3.5)


@pytest.mark.parametrize(
    "y",
    [
        np.arange(200) % 3,
        np.arange(200) % 30,
        np.arange(200) % 2 * 1.0,
        np.linspace(0, 1, 200),
        np.arange(200) % 2 == 0,
        np.array(["a", "b"] * 100),
        np.arange(200) % 20,
        np.arange(200) % 21,
    ],
)
def test_the_task_is_that_of_fit(y):
    data = read_table({"x": np.arange(200.0)}, y)
    target = data.fold(OfTarget()).finish()["profile"]["target"]
    assert guess_task(target) == profile_target(data).task
    assert overview(data).task == guess_task(target)


def in_pieces(data, y, cuts):
    table = Columns.of(data)
    bounds = [0, *cuts, len(table)]
    return [Block(table[a:b], y[a:b], start=a) for a, b in itertools.pairwise(bounds)]


@pytest.mark.parametrize("statistic", [NumberMoments(), OrderSample(100), OfTarget()])
def test_statistics_merge(statistic):
    data, y = frame(), np.arange(N) * 0.5
    whole = statistic.of(in_pieces(data, y, [])[0])
    parts = [statistic.of(piece) for piece in in_pieces(data, y, [7, 7, 900, 2000])]
    assert parts[1].n == 0 == statistic.n
    left, right = parts[0], parts[-1]
    for part in parts[1:]:
        left = left.merge(part)
    for part in parts[-2::-1]:
        right = part.merge(right)
    for found in (left, right, statistic.merge(whole), whole.merge(statistic)):
        assert found.n == N
        assert_same(found.finish(), whole.finish())


def assert_same(found, expected):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            assert_same(found[key], expected[key])
    elif isinstance(expected, Columns):
        assert found.table.equals(expected.table)
    elif isinstance(expected, tuple):
        for a, b in zip(found, expected, strict=True):
            assert_same(a, b)
    elif isinstance(expected, (np.ndarray, float)):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    elif hasattr(expected, "counts"):
        assert (found.n, found.distinct, found.low, found.high) == (
            expected.n,
            expected.distinct,
            expected.low,
            expected.high,
        )


def test_an_overview_does_not_depend_on_blocks():
    data, y = frame(), np.random.default_rng(1).normal(size=N)
    blocks = in_pieces(data, y, [10, 1000, 1001])
    streamed = overview(StreamSource(lambda: iter(blocks), n_rows=N))
    at_once = overview(read_table(data, y))
    assert streamed.checks == at_once.checks
    for a, b in zip(streamed.profiles, at_once.profiles, strict=True):
        assert {**a, "mean": None, "sd": None} == {**b, "mean": None, "sd": None}


def test_large_tables_are_estimated():
    rng = np.random.default_rng(0)
    data = {"x": rng.normal(size=60_000), "k": rng.integers(0, 3, 60_000)}
    found = profiles_of(overview(read_table(data, data["x"] + rng.normal(size=60_000))))
    assert found["x"]["mean"] == pytest.approx(data["x"].mean(), abs=1e-12)
    # A quantile of 16,384 rows has a standard error of sqrt(p (1 - p) / 16384) / density, 0.0098 for the median.
    assert found["x"]["quantiles"][2] == pytest.approx(0.0, abs=5 * 0.0098)
    assert sum(found["x"]["histogram"]["counts"]) == pytest.approx(60_000, abs=20)
    assert found["k"]["histogram"]["counts"] == np.bincount(data["k"]).tolist()


@pytest.mark.parametrize(
    "table",
    [
        {"x": [1.0]},
        {"x": [1e308, -1e308, 1e200, None]},
        {"x": [float("inf"), 1.0, 2.0, -float("inf")]},
        {"x": [None, None], "t": ["a", None]},
        {"x": [2**62, 3, None, 2**60 + 1]},
        {"d": np.array(["2020-01-01", "NaT"], "datetime64[us]")},
        {"b": [True, None, False]},
        {"d": np.array(["2020-01-01"] * 3, "datetime64[us]"), "x": [0.0, -0.0, 5e-324]},
    ],
)
def test_extreme_tables_have_plain_values(table):
    n = len(next(iter(table.values())))
    for y in (None, np.arange(n), np.arange(n) * 1e300, np.zeros((n, 2))):
        found = overview(read_table(table, y))
        json.dumps([found.profiles, found.target, found.checks], allow_nan=False)
        assert [each["column"] for each in found.profiles] == list(table)


def test_weights_do_not_count():
    data, y = frame(), np.arange(N) * 1.0
    weighted = overview(read_table(data, y, np.arange(N) % 3 * 1.0))
    assert weighted.checks == overview(read_table(data, y)).checks
    assert weighted.profiles == overview(read_table(data, y)).profiles


def test_an_empty_table_is_refused():
    with pytest.raises(ValueError, match="no rows"):
        TableProfile().finish()
    with pytest.raises(ValueError, match="No rows"):
        OrderSample().finish()


def test_targets_of_equal_rows_all_count():
    """Rows with equal columns and unequal targets: quantiles and associations are those of all rows."""
    rng = np.random.default_rng(0)
    a, y = rng.integers(0, 70, 5000) * 1.0, rng.normal(size=5000)
    found = overview(read_table({"a": a, "b": a // 10}, y))
    assert found.target["quantiles"][2] == pytest.approx(np.median(y), abs=1e-12)
    assert found.target["histogram"]["counts"] == np.histogram(y, found.target["histogram"]["edges"])[0].tolist()
    assert found.profiles[0]["association"]["value"] < 0.05
    found = overview(read_table({"a": a, "b": a // 10}, np.round(a / 10) + 0.1 * y))
    # The means of 70 values of a: all but the variance 0.01 of the noise and the rounding within a bin.
    assert found.profiles[0]["association"]["value"] > 0.97
    assert [check["count"] for check in found.checks if check["code"] == "duplicate-row"] == [4930]
