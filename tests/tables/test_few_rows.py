"""Single rows: the short way takes only what cannot be read in two ways, and the long way says what is wrong."""

import datetime
import gc
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer._runtime.derived import DerivedCache
from mercer.source.arrow import columns_of_rows
from mercer.tables import TableEncoder
from mercer.tables.few_rows import plain_values

N = 300


def frame(n=N):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "n": rng.integers(0, 50, n),
            "sex": rng.choice(["f", "m"], n),
            "city": [f"c{i}" for i in rng.integers(0, 200, n)],
            "when": np.datetime64("2020-01-01", "us") + rng.integers(0, 10**6, n).astype("m8[m]"),
            "flag": rng.random(n) < 0.5,
        }
    )


@pytest.fixture(scope="module")
def encoder():
    return TableEncoder(roles={"city": "high-cardinality"}).fit(frame(), np.arange(N) % 7.0)


ROW = {"x": 0.5, "n": 7, "sex": "f", "city": "c5", "when": datetime.datetime(2020, 5, 17, 13, 30), "flag": True}
EQUAL = {
    "x": [0.5, np.float64(0.5), np.float32(0.5), Decimal("0.5"), " 0.5 "],
    "n": [7, 7.0, np.int8(7), np.uint64(7), np.float32(7.0), "7"],
    "sex": ["f", np.str_("f")],
    "when": [
        pd.Timestamp("2020-05-17 13:30"),
        np.datetime64("2020-05-17T13:30", "m"),
        np.datetime64("2020-05-17T13:30", "ns"),
        datetime.datetime(2020, 5, 17, 13, 30, tzinfo=datetime.UTC),
        "2020-05-17T13:30",
    ],
    "flag": [True, np.True_, 1, 1.0, "true"],
}
MISSING = {
    "x": [None, float("nan"), np.float32("nan"), pd.NA],
    "city": [None, float("nan"), pd.NA],
    "when": [None, pd.NaT, np.datetime64("NaT"), float("nan")],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in EQUAL.items() for value in values])
def test_a_value_may_be_written_in_several_ways(encoder, name, value):
    np.testing.assert_array_equal(encoder.transform({**ROW, name: value}), encoder.transform(ROW))


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in MISSING.items() for value in values])
def test_missing_values_have_several_names(encoder, name, value):
    none = encoder.transform({**ROW, name: None})
    np.testing.assert_array_equal(encoder.transform({**ROW, name: value}), none)
    np.testing.assert_array_equal(encoder.transform([{**ROW, name: value}, ROW])[:1], none)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n", 2**60),
        ("when", pd.Timestamp(1)),
        ("when", np.datetime64(10**12, "D")),
        ("sex", 3),
        ("x", "0.5"),
        ("x", [1.0]),
    ],
)
def test_unusual_values_are_left_to_the_table_conversion(encoder, name, value):
    schema = encoder.schema_
    assert plain_values(ROW, schema) is not None
    assert plain_values({**ROW, name: value}, schema) is None
    assert plain_values({key: [each] for key, each in ROW.items()} | {name: [value]}, schema) is None


def test_other_columns_and_many_rows_are_left_to_the_table_conversion(encoder):
    schema, rows = encoder.schema_, frame()
    assert plain_values(rows[:32], schema) is not None
    assert plain_values(rows[:33], schema) is None
    assert plain_values(rows[:0], schema) is None
    assert plain_values(rows[:2].rename(columns={"x": "z"}), schema) is None
    assert plain_values(pl.DataFrame(rows[:2].to_dict("list")).lazy(), schema) is None
    assert plain_values({**ROW, "more": 1}, schema) is None
    assert plain_values([], schema) is None
    assert plain_values(3, schema) is None


def test_errors_name_the_column_and_the_row(encoder):
    with pytest.raises(ValueError, match="'city' is missing"):
        encoder.transform({name: value for name, value in ROW.items() if name != "city"})
    with pytest.raises(ValueError, match=r"Column 'x' was number in fit, but row 1 holds 'tall'"):
        encoder.transform([ROW, {**ROW, "x": "tall"}])
    with pytest.raises(ValueError, match=r"Column 'x' contains infinity, first at row 1"):
        encoder.transform([ROW, {**ROW, "x": np.inf}])
    with pytest.raises(ValueError, match=r"Row 1 has no 'flag', but row 0 has"):
        encoder.transform([ROW, {name: value for name, value in ROW.items() if name != "flag"}])
    with pytest.raises(ValueError, match=r"Row 0 has no 'flag', but row 1 has"):
        encoder.transform([{name: value for name, value in ROW.items() if name != "flag"}, ROW])
    with pytest.raises(ValueError, match=r"Column 'n' is of shape \(\)"):
        encoder.transform({**{name: [value] for name, value in ROW.items()}, "n": 7})
    with pytest.warns(UserWarning, match="'more'"):
        encoder.transform({**ROW, "more": 1})


def test_rows_in_dicts():
    assert columns_of_rows({"a": 1, "b": None}) == {"a": [1], "b": [None]}
    assert columns_of_rows({"a": [1], "b": None}) is None
    assert columns_of_rows({}) is None
    assert columns_of_rows([]) is None
    assert columns_of_rows([{"a": 1}, 3]) is None


def test_an_encoder_fitted_again_works_by_its_new_columns():
    encoder = TableEncoder().fit({"a": [1.0, 2.0, 4.0], "b": ["x", "y", "x"]})
    assert encoder.transform({"a": 2.0, "b": "x"}).shape == (1, 3)
    encoder.fit({"a": [1.0, 2.0, 4.0]})
    assert encoder.transform({"a": 2.0}).tolist() == [[0.0]]


def test_derived_objects_are_released_with_their_owner():
    class Thing:
        size = 3

    made = []
    kept = DerivedCache(lambda thing: made.append(thing.size) or thing.size)
    thing = Thing()
    assert (kept(thing), kept(thing), made) == (3, 3, [3])
    thing.size = 4
    assert (kept.refresh(thing), kept(thing)) == (4, 4)
    del thing
    gc.collect()
    assert not kept._cached


def test_unseen_categories(encoder):
    rows = frame(40).assign(sex=["d", "x", None] + ["f"] * 37, city=["c5"] * 39 + ["nowhere"])
    assert encoder.unseen_categories(rows) == {"sex": (2, "d"), "city": (1, "nowhere")}
    assert encoder.unseen_categories(frame()) == {}
    assert encoder.unseen_categories({**ROW, "sex": "d"}) == {"sex": (1, "d")}
    Z = encoder.transform([{**ROW, "sex": "d"}, {**ROW, "sex": None}])
    np.testing.assert_array_equal(Z[0], Z[1])  # a level never seen has no indicator, as none has
