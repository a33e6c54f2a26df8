"""Aggregates within categories and frequencies, compared with pandas, in every form of input."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from mercer.io import load, save
from mercer.linear import RidgeRegressor
from mercer.normalize import Impute
from mercer.source.table import table_in_memory
from mercer.tables import Aggregates, Frequencies
from mercer.tables.derived.aggregates import FUNCTIONS
from mercer.tables.derived.groups import MAX_POINTS

EVERY = Aggregates(functions=FUNCTIONS)


def flats(n=300, seed=0):
    rng = np.random.default_rng(seed)
    price = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(1))
    city = rng.choice(["Bern", "Oslo", "Rome", "Zürich"], n).astype(object)
    city[rng.random(n) < 0.1] = None
    return pd.DataFrame({"city": city, "price": price, "sold": rng.random(n) < 0.5, "rooms": rng.integers(1, 6, n)})


def column(estimator, frame, name):
    return estimator.transform(frame)[:, estimator.get_feature_names_out().tolist().index(name)]


def test_every_aggregate_is_that_of_pandas():
    frame = flats()
    fitted = clone(EVERY).fit(frame)
    groups = frame.assign(city=frame["city"].fillna("none")).groupby("city")["price"]
    names = {"mean": "mean of price by city", "min": "min of price by city", "max": "max of price by city"}
    for function, name in names.items():
        np.testing.assert_allclose(column(fitted, frame, name), groups.transform(function), rtol=1e-12)
    np.testing.assert_array_equal(column(fitted, frame, "count of price by city"), groups.transform("count"))
    deviation = frame["price"] - groups.transform("mean")
    np.testing.assert_allclose(column(fitted, frame, "price - mean by city"), deviation, rtol=1e-9, atol=1e-12)
    ranks = (groups.rank(method="average") - 0.5) / groups.transform("count")
    np.testing.assert_allclose(column(fitted, frame, "rank of price by city"), ranks, rtol=1e-12)


def test_names_say_number_function_and_category():
    names = Aggregates(by=["city"], of=["price"], functions=FUNCTIONS).fit(flats()).get_feature_names_out()
    assert names.tolist() == [
        "mean of price by city",
        "price - mean by city",
        "rank of price by city",
        "min of price by city",
        "max of price by city",
        "count of price by city",
    ]
    assert len(clone(EVERY).fit(flats()).get_feature_names_out()) == 2 * 2 * len(FUNCTIONS)


def test_new_categories_take_the_values_of_all_rows():
    frame = flats()
    fitted = clone(EVERY).fit(frame)
    new = pd.DataFrame({"city": ["Paris"], "price": [0.3], "sold": [True], "rooms": [2]})
    price = frame["price"].dropna()
    expected = {
        "mean of price by city": price.mean(),
        "price - mean by city": 0.3 - price.mean(),
        "rank of price by city": np.mean(price < 0.3) + 0.5 * np.mean(price == 0.3),
        "min of price by city": price.min(),
        "max of price by city": price.max(),
        "count of price by city": 0,
    }
    for name, value in expected.items():
        assert column(fitted, new, name).item() == pytest.approx(value, rel=1e-9)


def test_a_category_without_numbers_takes_the_values_of_all_rows():
    rows = {"city": ["Bern", "Oslo", "Oslo"], "price": [None, 1.0, 3.0]}
    found = clone(EVERY).fit(rows).transform({"city": ["Bern"], "price": [3.0]})
    np.testing.assert_array_equal(found, [[2.0, 1.0, 0.75, 1.0, 3.0, 0.0]])


def test_missing_numbers_have_no_deviation_and_no_rank():
    rows = {"city": ["Bern", "Oslo", "Oslo"], "price": [2.0, 1.0, 3.0]}
    found = clone(EVERY).fit(rows).transform({"city": ["Oslo"], "price": [None]})
    np.testing.assert_array_equal(found, [[2.0, np.nan, np.nan, 1.0, 3.0, 2.0]])


def test_weights_are_repetitions():
    frame = flats()
    weight = np.random.default_rng(1).integers(0, 4, len(frame))
    repeated = frame.loc[np.repeat(np.arange(len(frame)), weight)].reset_index(drop=True)
    weighted, longer = clone(EVERY).fit(frame, sample_weight=weight), clone(EVERY).fit(repeated)
    np.testing.assert_allclose(weighted.transform(frame), longer.transform(frame), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("estimator", [EVERY, Frequencies(), Frequencies(normalize=True)], ids=str)
def test_every_kind_of_table_gives_the_same_bits(estimator):
    frame = flats()
    expected = clone(estimator).fit(frame).transform(frame)
    table = pa.Table.from_pandas(frame)
    for rows in (table, pl.from_arrow(table), table.to_pydict()):
        np.testing.assert_array_equal(clone(estimator).fit(rows).transform(rows), expected)
    source = table_in_memory(frame)
    fitted = clone(estimator).fit(source)
    mapped = fitted.transform(source)
    assert mapped.names == fitted.get_feature_names_out().tolist()
    np.testing.assert_array_equal(mapped.collect().X, expected)
    pieces = clone(estimator)
    for start in range(0, len(frame), 37):
        pieces.partial_fit(frame[start : start + 37])
    np.testing.assert_array_equal(pieces.transform(frame), expected)
    one_by_one = [fitted.transform(frame[i : i + 1]) for i in range(20)]
    np.testing.assert_array_equal(np.concatenate(one_by_one), expected[:20])


def test_merged_halves_agree_with_the_whole():
    frame = flats()
    merged = clone(EVERY).fit(frame[:100]).merge(clone(EVERY).fit(frame[100:]))
    np.testing.assert_allclose(
        merged.transform(frame), clone(EVERY).fit(frame).transform(frame), rtol=1e-12, atol=1e-12
    )


def test_ranks_of_many_values_are_interpolated():
    rng = np.random.default_rng(0)
    rows = {"city": ["Bern"] * 5000, "price": rng.normal(size=5000)}
    fitted = Aggregates(functions=["rank"]).fit(rows)
    found = np.sort(fitted.transform(rows).ravel())
    assert np.max(np.abs(found - (np.arange(5000) + 0.5) / 5000)) < 1 / (MAX_POINTS - 1)
    assert len(fitted._tables[0].ranks[0].points) == 2 * MAX_POINTS


def test_the_mean_of_equal_numbers_is_exact():
    rows = {"city": ["Bern", "Bern", "Bern", "Oslo"], "price": [0.1, 0.1, 0.1, 1e308]}
    assert Aggregates(functions=["deviation"]).fit(rows).transform(rows).ravel().tolist() == [0.0, 0.0, 0.0, 0.0]


def test_frequencies_count_categories():
    frame = flats()
    fitted = Frequencies(["city"]).fit(frame)
    counts = frame["city"].fillna("none").value_counts()
    np.testing.assert_array_equal(fitted.transform(frame).ravel(), frame["city"].fillna("none").map(counts))
    new = frame[:1].assign(city="Paris")
    assert fitted.transform(new).tolist() == [[0.0]]
    share = Frequencies(["city"], normalize=True).fit(frame)
    np.testing.assert_allclose(share.transform(frame), fitted.transform(frame) / len(frame), rtol=1e-15)
    assert share.get_feature_names_out().tolist() == ["frequency of city"]


def test_output_can_be_a_frame_and_feed_a_model():
    frame = flats()
    made = clone(EVERY).set_output(transform="pandas").fit(frame).transform(frame)
    assert "price - mean by city" in made.columns
    model = make_pipeline(clone(EVERY), Impute(), RidgeRegressor()).fit(frame, frame["rooms"].astype(float))
    assert np.isfinite(model.predict(frame)).all()


@pytest.mark.parametrize("estimator", [EVERY, Frequencies()], ids=str)
def test_a_file_keeps_the_bits(estimator, tmp_path):
    frame = flats()
    fitted = clone(estimator).fit(frame)
    save(fitted, tmp_path / "fitted.mercer")
    loaded = load(tmp_path / "fitted.mercer")
    np.testing.assert_array_equal(loaded.transform(frame), fitted.transform(frame))
    assert loaded.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    ("estimator", "rows", "problem"),
    [
        (Aggregates(functions=["median"]), flats(5), "functions must be a sequence of some of 'mean', 'deviation'"),
        (Aggregates(functions="mean"), flats(5), "functions must be a sequence"),
        (Aggregates(), {"price": [1.0, 2.0]}, "no column of kind text or boolean for by"),
        (Aggregates(), {"city": ["Bern", "Oslo"]}, "no column of kind number or integer for of"),
        (Aggregates(by=["town"]), flats(5), "there is no column 'town'"),
        (Frequencies(), {"price": [1.0, 2.0]}, "no column of kind text or boolean for columns"),
        (Aggregates(), {"city": ["Bern"], "price": [np.inf]}, "'price' contains infinity"),
    ],
)
def test_what_cannot_be_is_refused_in_words(estimator, rows, problem):
    with pytest.raises(ValueError, match=problem):
        estimator.fit(rows)
