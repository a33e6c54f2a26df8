"""Clipping, the sigmoid, the logarithm."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.normalize import Clip, Log, Sigmoid

numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(f=numbers, b=st.floats(min_value=1e-300, max_value=1e300))
def test_clip_is_sign_times_minimum(f, b):
    once = Clip(bound=b).fit_transform([[f]])
    assert once == np.sign(f) * min(b, abs(f))
    assert Clip(bound=b).fit_transform(once) == once


def test_clip_takes_one_bound_per_column():
    X = np.array([[5.0, -5.0], [0.1, 0.1]])
    np.testing.assert_array_equal(Clip(bound=[1.0, 2.0]).fit_transform(X), [[1.0, -2.0], [0.1, 0.1]])
    with pytest.raises(ValueError, match=r"shape \(3,\), but X has 2 columns"):
        Clip(bound=[1.0, 2.0, 3.0]).fit(X)
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="positive"):
            Clip(bound=bad).fit(X)


def test_learned_bound_is_median_plus_five_ranges():
    f = np.arange(101.0) - 50.0  # |f| is 0, 1, 1, ..., 50, 50: quartiles 13, 25, 38 of 101 values
    size = np.sort(np.abs(f))
    expected = size[50] + 5 * (size[75] - size[25])
    assert Clip().fit(f[:, None]).bound_ == expected


def test_ordinary_columns_pass_and_outliers_do_not_move_the_bound():
    rng = np.random.default_rng(0)
    f = rng.normal(size=(10_000, 1))
    np.testing.assert_array_equal(Clip().fit_transform(f), f)
    spoiled = f.copy()
    spoiled[:500] = 1e12
    assert Clip().fit(spoiled).bound_ < 1.2 * Clip().fit(f).bound_


def test_learned_bounds_of_degenerate_columns():
    n = 100
    mostly_zero, mostly_one = np.zeros(n), np.ones(n)
    mostly_zero[:5], mostly_one[:5] = 3.0, 50.0
    X = np.stack([mostly_zero, mostly_one, np.zeros(n), np.full(n, -4.0)], axis=1)
    clip = Clip().fit(X)
    np.testing.assert_array_equal(clip.bound_, [3.0, 5.0, np.inf, 20.0])
    np.testing.assert_array_equal(clip.transform(X)[:, [0, 2, 3]], X[:, [0, 2, 3]])


def test_float32_never_exceeds_the_bound():
    bound = 0.1  # float32(0.1) is larger than 0.1
    assert float(Clip(bound=bound).fit_transform(np.ones((1, 1), np.float32))[0, 0]) <= bound


@given(f=numbers, slope=st.floats(min_value=1e-6, max_value=1e6))
def test_sigmoid_rises_from_zero_to_one(f, slope):
    p = Sigmoid(slope=slope).fit_transform([[f]])[0, 0]
    assert 0 <= p <= 1
    assert (p > 0.5) <= (f > 0)
    back = Sigmoid(slope=slope).fit([[0.0]]).inverse_transform([[p]])[0, 0]
    assert np.isfinite(back)
    if 1e-300 < p < 1 - 1e-12:  # dx = dp / (slope p (1 - p)) for a rounding dp of p, and a few roundings of slope f
        eps = np.finfo(np.float64).eps
        assert abs(back - f) <= 4 * eps * (1 / (1 - p) + abs(slope * f)) / slope


def test_sigmoid_refuses_values_outside_its_range():
    with pytest.raises(ValueError, match=r"column 1 is 1\.5 at row 0"):
        Sigmoid().fit([[0.0, 0.0]]).inverse_transform([[0.5, 1.5]])
    for bad in (0, -1.0, np.inf, "steep"):
        with pytest.raises(ValueError, match="slope"):
            Sigmoid(slope=bad).fit([[0.0]])


@given(f=st.floats(min_value=0, max_value=1e300), offset=st.floats(min_value=1e-3, max_value=1e3))
def test_log_is_the_logarithm_up_to_a_constant(f, offset):
    z = Log(offset=offset).fit_transform([[f]])[0, 0]
    difference = np.log(offset + f) - np.log(offset)
    assert z == pytest.approx(difference, rel=1e-12, abs=1e-14)


@given(f=numbers, offset=st.floats(min_value=1e-300, max_value=1e300))
def test_log_is_odd_and_invertible(f, offset):
    log = Log(offset=offset).fit([[0.0]])
    z = log.transform([[f]])
    assert np.isfinite(z[0, 0])
    np.testing.assert_array_equal(log.transform([[-f]]), -z)
    # A rounding of z is a relative error of eps z in f; subnormal ratios have fewer digits.
    if f == 0 or abs(f) / offset > 1e-290:
        np.testing.assert_allclose(log.inverse_transform(z), [[f]], rtol=1e-12)
