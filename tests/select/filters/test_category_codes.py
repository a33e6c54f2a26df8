"""Filters on tables with columns of text and categories: as if categories were numbers declared categorical."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from mercer.io import load, save
from mercer.select import FilterSelector
from mercer.select.filters.selector import SCORES
from mercer.source.table import Columns, table_in_memory

N = 300


def frame():
    rng = np.random.default_rng(0)
    town = rng.choice(["Bern", "Oslo", "Rome"], N).astype(object)
    town[::50] = None
    return pd.DataFrame(
        {
            "size": rng.normal(size=N),
            "town": town,
            "zone": pd.Categorical(rng.integers(5, 8, N)),
            "garden": rng.random(N) < 0.5,
        }
    )


def target(X, score):
    y = (X["town"] == "Oslo") + X["size"].to_numpy()
    return np.where(y > 0.5, "dear", "cheap") if score in ("logistic", "hinge") else y.to_numpy(dtype=float)


def numbered(X):
    town = pd.factorize(X["town"], use_na_sentinel=False)[0]
    return np.column_stack([X["size"], town, X["zone"].astype(int), X["garden"]]).astype(float)


@pytest.mark.parametrize("score", SCORES)
def test_categories_are_scored_as_numbered_ones(score):
    X = frame()
    y = target(X, score)
    codes = FilterSelector(score, k=2, categorical=[1, 2]).fit(numbered(X), y)
    given = {"pandas": X, "pyarrow": pa.Table.from_pandas(X)}
    for table in given.values():
        found = FilterSelector(score, k=2).fit(table, y)
        assert found.categorical_columns_ == [1, 2]
        np.testing.assert_allclose(found.scores_, codes.scores_, atol=1e-12)
        assert found.get_feature_names_out().tolist() == ["size", "town"]
        assert type(found.transform(table)) is type(table)
    pd.testing.assert_frame_equal(FilterSelector(score, k=2).fit_transform(X, y), X[["size", "town"]])


def test_partial_fit_and_sources_of_tables():
    X = frame()
    X["zone"] = X["zone"].astype(str)
    y = target(X, "pearson")
    whole = FilterSelector(k=2).fit(X, y)
    pieces = FilterSelector(k=2).partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    assert np.array_equal(whole.scores_, pieces.scores_)
    half = FilterSelector(k=2).fit(X[:100], y[:100]).merge(FilterSelector(k=2).fit(X[100:], y[100:]))
    np.testing.assert_allclose(half.scores_, whole.scores_, rtol=1e-12)
    columns = {name: X[name].tolist() for name in X}
    source = table_in_memory(columns, y)
    found = FilterSelector(k=2).fit(source)
    np.testing.assert_allclose(found.scores_, whole.scores_, rtol=1e-12)
    first = next(iter(found.transform(source).blocks()))
    assert isinstance(first.X, Columns)
    assert first.X.columns == ["size", "town"]


def test_a_loaded_filter_takes_the_same_tables(tmp_path):
    X = frame()
    found = FilterSelector(k=1).fit(X[["town", "garden"]], X["town"] == "Rome")
    save(found, tmp_path / "filter.mercer")
    loaded = load(tmp_path / "filter.mercer")
    assert loaded.transform(X[["town", "garden"]]).columns.tolist() == ["town"]


def test_values_that_are_neither_category_nor_number_are_refused():
    X = frame()
    y = target(X, "pearson")
    with pytest.raises(ValueError, match="'when' holds date"):
        FilterSelector().fit(X.assign(when=pd.Timestamp("2020-01-01")), y)
    with pytest.raises(ValueError, match="size"):
        FilterSelector().fit(X.assign(size=[np.nan] + [1.0] * (N - 1)), y)
    fitted = FilterSelector(k=1).fit(X, y)
    with pytest.raises(ValueError, match="columns of text"):
        fitted.transform(numbered(X))
    with pytest.raises(ValueError, match="'size' holds text, where numbers were expected"):
        fitted.transform(X.assign(size="large"))
    from_source = FilterSelector(k=1).fit(table_in_memory({name: X[name].tolist() for name in X}, y))
    others = next(iter(table_in_memory({"a": ["x"], "b": [1], "c": ["y"], "d": [1]}, [1.0]).blocks()))
    with pytest.raises(ValueError, match="The table has the columns"):
        from_source.transform(others.X)


def test_tables_of_numbers_alone_are_numbers():
    X = frame()[["size", "garden"]]
    y = target(frame(), "pearson")
    plain = FilterSelector(k=1).fit(X.to_numpy(dtype=float), y)
    for table in (X, pa.Table.from_pandas(X), X.astype(object)):
        found = FilterSelector(k=1).fit(table, y)
        np.testing.assert_allclose(found.scores_, plain.scores_, rtol=1e-12)
        assert not hasattr(found, "categorical_columns_")
        assert isinstance(found.transform(table), np.ndarray)
