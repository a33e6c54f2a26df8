"""Ratios, differences, durations and crosses of two columns."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from mercer.io import load, save
from mercer.learn import TargetEncoding
from mercer.normalize import OneHot
from mercer.source.table import table_in_memory
from mercer.tables import CategoryCrosses, ColumnPairs, DateDifferences

ROWS = {
    "area": [90.0, 60.0, None, 1e308],
    "rooms": [3, 0, 2, 1],
    "start": ["2024-02-28", "2023-12-31", None, "2000-01-01"],
    "end": ["2024-03-01", "2024-01-01", "2024-01-01", "1999-12-31"],
    "city": ["Bern", None, "Oslo", "Oslo"],
    "sold": [True, False, True, None],
}
PAIRS, DATES = ColumnPairs(), DateDifferences([("start", "end")])
EVERY = [PAIRS, DATES, CategoryCrosses([("city", "sold")]), CategoryCrosses([("city", "sold")], n_buckets=5)]


def test_ratios_and_differences_of_all_pairs():
    fitted = PAIRS.fit(ROWS)
    assert fitted.get_feature_names_out().tolist() == ["area / rooms", "area - rooms"]
    expected = [[30.0, 87.0], [np.nan, 60.0], [np.nan, np.nan], [1e308, 1e308]]
    np.testing.assert_array_equal(fitted.transform(ROWS), expected)


def test_ratios_that_overflow_are_the_largest_numbers():
    rows = {"a": [1e300, -1e300, 0.0], "b": [1e-300, 1e-300, 0.0]}
    largest = np.finfo(np.float64).max
    found = ColumnPairs(operations=["ratio"]).fit(rows).transform(rows).ravel()
    np.testing.assert_array_equal(found, [largest, -largest, np.nan])


@pytest.mark.parametrize(("unit", "length"), [("days", 2.0), ("hours", 48.0), ("seconds", 172_800.0), ("weeks", 2 / 7)])
def test_durations_count_units(unit, length):
    fitted = DateDifferences([("start", "end")], unit=unit).fit(ROWS)
    assert fitted.get_feature_names_out().tolist() == [f"{unit} from start to end"]
    np.testing.assert_array_equal(fitted.transform(ROWS).ravel(), [length, length / 2, np.nan, -length / 2])


def test_durations_of_columns_of_dates_need_no_pairs():
    day = datetime.datetime(2024, 1, 1)
    frame = pd.DataFrame(
        {"start": [day, day], "end": [day + datetime.timedelta(hours=36), pd.NaT], "price": [1.0, 2.0]}
    )
    np.testing.assert_array_equal(DateDifferences().fit(frame).transform(frame).ravel(), [1.5, np.nan])
    with pytest.raises(ValueError, match="no column of kind date for pairs"):
        DateDifferences().fit({"price": [1.0]})


def test_crosses_are_categories_for_an_encoder():
    crosses = CategoryCrosses([("city", "sold")])
    assert crosses.fit_transform(ROWS).ravel().tolist() == [
        "Bern x true",
        "missing x false",
        "Oslo x true",
        "Oslo x missing",
    ]
    assert crosses.get_feature_names_out().tolist() == ["city x sold"]
    encoded = make_pipeline(CategoryCrosses([("city", "sold")]), OneHot()).fit(ROWS)
    assert encoded.transform(ROWS).sum() == 4


def test_crosses_carry_what_two_categories_do_together():
    rng = np.random.default_rng(0)
    a, b = rng.choice(["x", "y"], 400), rng.choice(["u", "v"], 400)
    target = np.where((a == "x") == (b == "u"), 1.25, -1.25) + 0.01 * rng.normal(size=400)
    encoder = make_pipeline(CategoryCrosses(), TargetEncoding())
    made = encoder.fit_transform({"a": a.tolist(), "b": b.tolist()}, target).ravel()
    assert np.corrcoef(made, target)[0, 1] > 0.99  # out of fold, as TargetEncoding gives it to training rows


def test_buckets_bound_the_number_of_categories():
    rows = {"a": [f"a{i}" for i in range(500)], "b": [f"b{i % 7}" for i in range(500)]}
    found = CategoryCrosses(n_buckets=16).fit(rows).transform(rows)
    assert set(found.ravel().tolist()) == set(range(16))
    swapped = CategoryCrosses([("b", "a")], n_buckets=16).fit(rows).transform(rows)
    assert np.any(found != swapped)


@pytest.mark.parametrize("estimator", EVERY, ids=str)
def test_every_kind_of_table_gives_the_same_values(estimator, tmp_path):
    fitted = clone(estimator).fit(ROWS)
    expected = fitted.transform(ROWS)
    for rows in (pd.DataFrame(ROWS), pl.DataFrame(ROWS)):
        np.testing.assert_array_equal(clone(estimator).fit(rows).transform(rows), expected)
    mapped = clone(estimator).fit(table_in_memory(ROWS)).transform(table_in_memory(ROWS))
    np.testing.assert_array_equal(mapped.collect().X, expected)
    one = [fitted.transform({name: values[i : i + 1] for name, values in ROWS.items()}) for i in range(4)]
    np.testing.assert_array_equal(np.concatenate(one), expected)
    save(fitted, tmp_path / "fitted.mercer")
    np.testing.assert_array_equal(load(tmp_path / "fitted.mercer").transform(ROWS), expected)


@pytest.mark.parametrize(
    ("estimator", "problem"),
    [
        (ColumnPairs("area"), "pairs must be a sequence of pairs of columns"),
        (ColumnPairs([("area",)]), "pairs must be a sequence of pairs of columns"),
        (ColumnPairs(operations=["product"]), "operations must be a sequence of some of 'ratio', 'difference'"),
        (DateDifferences(unit="moons"), "unit must be one of 'years'"),
        (CategoryCrosses(n_buckets=1), "n_buckets must be a whole number of at least 2"),
        (ColumnPairs([("area", "width")]), "there is no column 'width'"),
    ],
)
def test_what_cannot_be_is_refused_in_words(estimator, problem):
    with pytest.raises(ValueError, match=problem):
        estimator.fit(ROWS)
