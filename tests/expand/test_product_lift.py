"""Products of pairs of columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from mercer import base as mercer_base
from mercer._numeric.block import Block
from mercer.expand import ProductLift
from mercer.source import MemorySource, StreamSource

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5)) * [1.0, 10.0, 0.1, 1.0, 3.0] + [0.0, 5.0, -2.0, 100.0, 0.0]
PAIRS = [(0, 0), (1, 3), (4, 2), (3, 3)]


def naive(X, pairs, weight):
    """(x_i - c_i)(x_j - c_j) / s, with weighted means and standard deviations."""
    weight = weight / weight.sum()
    centered = X - weight @ X
    products = np.column_stack([centered[:, i] * centered[:, j] for i, j in pairs])
    return products / np.sqrt(weight @ (products - weight @ products) ** 2)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_formula(weighted):
    weight = rng.integers(0, 4, size=len(X)).astype(float) if weighted else None
    lift = ProductLift(PAIRS).fit(X, sample_weight=weight)
    expected = naive(X, PAIRS, np.ones(len(X)) if weight is None else weight)
    np.testing.assert_allclose(lift.transform(X), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(lift.centers_, np.average(X, axis=0, weights=weight)[np.array(PAIRS)])
    assert lift.scales_.shape == (4,)


@pytest.mark.parametrize("weighted", [False, True])
def test_scales_are_those_of_products_in_single_precision(weighted):
    """The same bits as the formula of the search, which holds its features in float32."""
    weight = rng.uniform(0.5, 2.0, size=len(X)) if weighted else None
    lift = ProductLift(PAIRS).fit(X, sample_weight=weight)
    pairs = np.array(PAIRS)
    centers = np.average(X, axis=0, weights=weight)[pairs]
    features = np.empty((len(X), 4), dtype=np.float32)
    products = (X[:, pairs[:, 0]] - centers[:, 0]) * (X[:, pairs[:, 1]] - centers[:, 1])
    features[:] = products
    deviations = features.astype(np.float64) - np.average(features.astype(np.float64), axis=0, weights=weight)
    scales = np.sqrt(np.average(deviations**2, axis=0, weights=weight))
    np.testing.assert_array_equal(lift.centers_, centers)
    np.testing.assert_array_equal(lift.scales_, scales)
    np.testing.assert_array_equal(lift.transform(X), products * (1.0 / scales))


def test_without_centers_and_scales():
    np.testing.assert_array_equal(
        ProductLift([(0, 1), (2, 2)], center=False, scale=False).fit_transform(X),
        np.column_stack([X[:, 0] * X[:, 1], X[:, 2] ** 2]),
    )


def test_columns_by_name():
    frame = pd.DataFrame(X, columns=list("abcde"))
    lift = ProductLift([("a", "a"), ("b", "d"), (4, "c"), (3, -2)]).fit(frame)
    np.testing.assert_array_equal(lift.pairs_, PAIRS)
    assert lift.get_feature_names_out().tolist() == ["a^2", "b * d", "e * c", "d^2"]
    assert clone(lift).pairs == lift.pairs
    named = lift.set_output(transform="pandas").transform(frame)
    assert list(named.columns) == ["a^2", "b * d", "e * c", "d^2"]


def test_sources_are_collected():
    weight = rng.uniform(0.5, 2.0, size=9000)
    long = rng.normal(size=(9000, 3))
    whole = ProductLift([(0, 1), (2, 2)]).fit(long, sample_weight=weight)
    cuts = range(0, 9000, 700)
    stream = StreamSource(lambda: (Block(long[i : i + 700], None, weight[i : i + 700]) for i in cuts))
    for source in (MemorySource(long, weight=weight), stream):
        lift = ProductLift([(0, 1), (2, 2)]).fit(source)
        np.testing.assert_array_equal(lift.centers_, whole.centers_)
        np.testing.assert_array_equal(lift.scales_, whole.scales_)
    with pytest.raises(AttributeError):
        whole.partial_fit(long)


def test_constant_and_huge_products():
    constant = np.column_stack([X[:, 0], np.full(len(X), 3.0)])
    lift = ProductLift([(0, 1), (1, 1)]).fit(constant)
    assert lift.scales_.tolist() == [1.0, 1.0]
    assert np.all(lift.transform(constant) == 0)
    with pytest.raises(ValueError, match=r"product x0\^2 exceeds the range of float32"):
        ProductLift([(1, 1), (0, 0)]).fit(X * [1e200, 1.0, 1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=r"product x0\^2 exceeds the range of float64"):
        ProductLift([(1, 1), (0, 0)]).fit(X).transform(X * [1e200, 1.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize("pairs", [[], "ab", [(0, 1, 2)], [(1,)]])
def test_what_are_not_pairs_is_refused(pairs):
    with pytest.raises(ValueError, match="sequence of pairs of columns"):
        ProductLift(pairs).fit(X)


def test_unknown_columns_are_refused():
    with pytest.raises(ValueError, match="column 7 does not exist"):
        ProductLift([(0, 7)]).fit(X)
    with pytest.raises(ValueError, match="not a data frame"):
        ProductLift([("a", "b")]).fit(X)


def test_a_large_source_is_read_twice(monkeypatch):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(300, 3)) + 1.0, rng.uniform(0.5, 2.0, size=300)
    expected = ProductLift([(0, 1), (2, 2)]).fit(X, sample_weight=weight)
    monkeypatch.setattr(mercer_base, "MAX_COLLECTED_ENTRIES", X.size - 1)
    found = ProductLift([(0, 1), (2, 2)]).fit(MemorySource(X, weight=weight))
    np.testing.assert_allclose(found.centers_, expected.centers_, rtol=1e-12)
    np.testing.assert_allclose(found.scales_, expected.scales_, rtol=1e-12)
