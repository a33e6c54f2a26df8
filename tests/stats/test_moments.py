"""Exact moments, with and without missing entries."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from mercer._numeric.block import Block
from mercer.stats import Extremes, Moments

columns = arrays(np.float64, st.integers(1, 20), elements=st.floats(-1e300, 1e300))


def exact(values, weights):
    """Mean and variance by fractions."""
    total = sum(map(Fraction, weights))
    mean = sum(Fraction(w) * Fraction(v) for v, w in zip(values, weights, strict=True)) / total
    square = sum(Fraction(w) * (Fraction(v) - mean) ** 2 for v, w in zip(values, weights, strict=True))
    return mean, square / total


def same(a, b):
    for name in vars(a):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@given(f=columns, seed=st.integers(0, 9))
def test_mean_and_spread_are_correctly_rounded(f, seed):
    weight = np.random.default_rng(seed).random(len(f)) + 0.1
    result = Moments().of(Block(f[:, None], weight=weight)).finish()
    mean, variance = exact(f.tolist(), weight.tolist())
    assert result.mean[0] == float(mean)
    assert result.mean_rest[0] == float(mean - Fraction(float(mean)))
    if variance < Fraction(1e300):
        assert result.var[0] == float(variance)
    assert (result.min[0], result.max[0]) == (f.min(), f.max())


@given(f=columns, cut=st.integers(0, 20))
def test_any_cut_gives_the_same_bits(f, cut):
    with_gaps = np.where(np.arange(len(f)) % 3 == 1, np.nan, f)
    for statistic, column in ((Moments(), f), (Moments(skip_missing=True), with_gaps)):
        block = Block(column[:, None])
        parts = statistic.of(block.rows(slice(0, cut))), statistic.of(block.rows(slice(cut, None)))
        whole = statistic.of(block).finish()
        same(whole, parts[0].merge(parts[1]).finish())
        same(whole, parts[1].merge(parts[0]).finish())


def test_missing_entries_are_not_there():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(50, 4)), rng.random(50)
    X[rng.random(X.shape) < 0.4] = np.nan
    X[:, 2] = np.nan
    X[:, 3] = 1.0
    result = Moments(skip_missing=True).of(Block(X, weight=weight)).finish()
    for j in (0, 1, 3):
        present = ~np.isnan(X[:, j])
        alone = Moments().of(Block(X[present][:, [j]], weight=weight[present])).finish()
        for name in ("mean", "mean_rest", "std", "var", "min", "max", "weight"):
            assert getattr(result, name)[j] == getattr(alone, name)[0], name
    assert result.missing.tolist() == [True, True, True, False]
    assert result.weight[2] == 0
    assert np.isnan(result.mean[2])


@pytest.mark.parametrize("skip", [False, True])
def test_sparse_moments_are_dense_moments(skip):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(60, 3)) * (rng.random((60, 3)) < 0.4), rng.random(60)
    if skip:
        X[[3, 7], [0, 2]] = np.nan
    statistic = Moments(skip_missing=skip)
    for w in (None, weight):
        dense = statistic.of(Block(X, weight=w)).finish()
        same(dense, statistic.of(Block(sparse.csr_matrix(X), weight=w)).finish())


def test_rows_of_weight_zero_are_not_there():
    block = Block(np.array([[1.0], [100.0], [3.0]]), weight=np.array([1.0, 0.0, 1.0]))
    result = Moments().of(block).finish()
    assert (result.n, result.mean[0], result.max[0]) == (2, 2.0, 3.0)
    assert Extremes().of(block).finish()[1] == 3.0
    assert Moments().of(block.rows(slice(1, 2))).n == 0


@pytest.mark.parametrize("statistic", [Moments(), Extremes()], ids=["moments", "extremes"])
def test_nothing_says_nothing(statistic):
    with pytest.raises(ValueError, match="No rows"):
        statistic.finish()
    block = Block(np.ones((2, 1)))
    assert statistic.merge(statistic.of(block)).n == statistic.of(block).merge(statistic).n == 2
