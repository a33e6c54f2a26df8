"""Ranks and their inverse."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import ndtri

from mercer._numeric.block import Block
from mercer.normalize import Quantile
from mercer.normalize.ranks import quantiles
from mercer.source import StreamSource

columns = arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e308, 1e308))


@given(f=columns)
@example(f=np.array([4.49423284e307, 0.0, 5e-324]))  # as far apart as numbers get, and as near
def test_training_values_get_their_mid_ranks(f):
    X = f[:, None]
    expected = [(np.sum(f < v) + np.sum(f <= v)) / (2 * len(f)) for v in f]
    Z = Quantile().fit_transform(X)
    np.testing.assert_allclose(Z[:, 0], expected, rtol=1e-14)
    assert Z.mean() == pytest.approx(0.5)
    normal = Quantile(output="normal").fit_transform(X)
    np.testing.assert_allclose(normal[:, 0], ndtri(expected), atol=1e-12)


@given(f=columns, new=columns, n_quantiles=st.integers(2, 50))
def test_monotone_also_on_new_values(f, new, n_quantiles):
    fitted = Quantile(n_quantiles=n_quantiles).fit(f[:, None])
    Z = fitted.transform(np.sort(new)[:, None])
    assert np.all(np.diff(Z[:, 0]) >= 0)
    assert 0 <= Z.min() <= Z.max() <= 1
    back = fitted.inverse_transform(np.linspace(0, 1, 50)[:, None])[:, 0]
    assert np.all(back[1:] >= back[:-1])


@pytest.mark.parametrize("output", ["uniform", "normal"])
def test_inverse_transform_within_the_range(output):
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(3000, 2))
    fitted = Quantile(output=output).fit(X)
    inside = rng.uniform(X.min(axis=0), np.quantile(X, 0.99, axis=0), size=(500, 2))
    np.testing.assert_allclose(fitted.inverse_transform(fitted.transform(inside)), inside, rtol=1e-9)


def test_constant_columns_and_values_beyond_the_range():
    X = np.array([[5.0, 1.0], [5.0, 2.0]])
    np.testing.assert_array_equal(Quantile().fit(X).transform([[5.0, -9.0], [7.0, 9.0]]), [[0.5, 0.25], [0.5, 0.75]])
    np.testing.assert_array_equal(Quantile(output="normal").fit_transform(X)[:, 0], [0.0, 0.0])


def test_normal_scores_look_normal():
    X = np.random.default_rng(0).standard_cauchy((10_000, 1))
    Z = Quantile(output="normal").fit_transform(X)
    assert abs(Z.mean()) < 1e-3
    assert abs(Z.std() - 1) < 5e-3
    assert np.abs(Z).max() < 5.2


def test_knots_cost_at_most_one_quantile_even_beside_heavy_ties():
    rng = np.random.default_rng(0)
    f = np.where(rng.random(8000) < 0.4, 1.0, rng.normal(1.0, 1.0, 8000))
    expected = Quantile(n_quantiles=8000).fit_transform(f[:, None])
    coarse = Quantile(n_quantiles=21).fit(f[:, None])
    assert np.abs(coarse.transform(f[:, None]) - expected).max() <= 1 / 20
    assert len(coarse.quantiles_[0]) <= 3 * 21


def test_rank_error_of_a_stream_longer_than_the_sample():
    # Dvoretzky, Kiefer, Wolfowitz and Massart, for each of the columns at once; ranks of U(0, 1) are the
    # values.
    k, n, d, delta = 2000, 60_000, 4, 1e-6
    X = np.random.default_rng(0).random((n, d))
    pieces = np.array_split(X, 7)
    fitted = Quantile(sample_size=k, n_quantiles=k).fit(StreamSource(lambda: (Block(piece) for piece in pieces)))
    assert not fitted.exact_
    bound = np.sqrt(np.log(2 * d / delta) / (2 * k))
    grid = np.linspace(0, 1, 997)[:, None] * np.ones(d)
    assert np.abs(fitted.transform(grid) - grid).max() <= bound + 1 / k
    assert Quantile(sample_size=n).fit(X).exact_


@given(
    values=arrays(np.float64, 12, elements=st.integers(-5, 5)),
    weight=arrays(np.float64, 12, elements=st.integers(1, 4)),
    p=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
)
def test_weighted_quantiles_are_those_of_repeated_values(values, weight, p):
    repeated = np.repeat(values, weight.astype(int))
    expected = np.quantile(repeated, p, method="averaged_inverted_cdf")
    np.testing.assert_allclose(quantiles(values, weight, [p]), expected)
    np.testing.assert_array_equal(quantiles(values, weight / 8, [p]), quantiles(values, weight, [p]))
    few = np.minimum(weight, 2.0)  # these are repeated, not weighed
    np.testing.assert_array_equal(quantiles(values, few / 8, [p]), quantiles(values, few, [p]))


def test_parameters_are_checked():
    for bad in ({"output": "cauchy"}, {"n_quantiles": 1}, {"sample_size": 0.5}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            Quantile(**bad).fit([[1.0]])
