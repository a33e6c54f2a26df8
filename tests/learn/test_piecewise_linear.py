"""Progress through bins: the formula, ties, extremes, and splines as linear models."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.learn import PiecewiseLinear
from mercer.linear import RidgeRegressor
from mercer.normalize.ranks import balanced_edges


def by_formula(x, edges):
    return np.array([[np.clip((v - a) / (b - a), 0, 1) for a, b in pairwise(edges)] for v in x])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_the_formula(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(dtype)
    map_ = PiecewiseLinear(n_bins=7).fit(X)
    new = (2 * rng.normal(size=(100, 3))).astype(dtype)
    expected = np.hstack([by_formula(new[:, j].astype(float), map_.bins_[j]) for j in range(3)])
    Z = map_.transform(new)
    assert Z.dtype == dtype
    np.testing.assert_allclose(Z, expected, atol=4 * np.finfo(dtype).eps)
    assert Z.shape[1] == 21 == len(map_.get_feature_names_out())


def test_bins_hold_equal_fractions():
    x = np.random.default_rng(0).exponential(size=4096)
    edges = PiecewiseLinear(n_bins=16).fit(x[:, None]).bins_[0]
    counts = np.histogram(x, edges)[0]
    assert len(edges) == 17
    assert np.abs(counts - 256).max() <= 2
    assert edges[0] == x.min()
    assert edges[-1] == x.max()


def test_a_heavy_value_counts_as_one_bin():
    rng = np.random.default_rng(0)
    x = np.where(rng.random(4000) < 0.9, 0.0, rng.exponential(size=4000))
    edges = PiecewiseLinear(n_bins=10).fit(x[:, None]).bins_[0]
    assert len(edges) >= 10  # plain quantiles would leave two bins


def test_few_values_constants_and_extremes():
    X = np.column_stack([np.tile([0.0, 1.0, 5.0], 4), np.full(12, 3.0), 1.7e308 * np.linspace(-1, 1, 12)])
    map_ = PiecewiseLinear(n_bins=4).fit(X)
    assert [len(edges) for edges in map_.bins_] == [3, 1, 5]
    Z = map_.transform(X)
    assert Z.shape == (12, 6)
    assert np.isfinite(Z).all()
    assert Z.min() == 0.0
    assert Z.max() == 1.0
    np.testing.assert_array_equal(Z[0, :2], [0.0, 0.0])
    np.testing.assert_array_equal(Z[2, :2], [1.0, 1.0])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=40),
    st.integers(1, 9),
    st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=10),
)
def test_encodings_are_monotone_and_within_bounds(values, n_bins, new):
    map_ = PiecewiseLinear(n_bins).fit(np.array(values)[:, None])
    Z = map_.transform(np.sort(new)[:, None])
    assert Z.shape[1] <= n_bins
    assert np.all((Z >= 0) & (Z <= 1))
    assert np.all(np.diff(Z, axis=0) >= 0)
    assert np.all(np.diff(Z, axis=1) <= 0)  # a bin is entered after the one before it is full


def test_weights_count_like_repeated_rows():
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=200), rng.integers(0, 4, 200)
    weighted = PiecewiseLinear(8).fit(x[:, None], sample_weight=weight)
    repeated = PiecewiseLinear(8).fit(np.repeat(x, weight)[:, None])
    np.testing.assert_array_equal(weighted.bins_[0], repeated.bins_[0])


def test_a_linear_model_of_it_is_a_spline():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 800)
    y = np.abs(x) + 0.05 * rng.normal(size=800)
    Z = PiecewiseLinear(24).fit_transform(x[:, None])
    assert RidgeRegressor().fit(Z, y).score(Z, y) > 0.98


def test_names_of_bins_are_distinct():
    names = PiecewiseLinear(2).fit([[1e6], [1e6 + 1], [1e6 + 2]]).get_feature_names_out(["pay"])
    assert names.tolist() == ["pay[1000000:1000001]", "pay[1000001:1000002]"]


def test_edges_of_one_value():
    assert balanced_edges(np.full(5, 2.0), np.ones(5), 4).tolist() == [2.0]


def test_sparse_rows_are_refused_with_a_remedy():
    from scipy import sparse

    with pytest.raises(TypeError, match="toarray"):
        PiecewiseLinear().fit(sparse.eye(4, format="csr"))
