"""Bins of columns: twins equal bit for bit, and both are `searchsorted`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import _numeric
from mercer._numeric.trees import binning as definition

BOTH = [_numeric.column_bins, definition.column_bins]
values = st.integers(-4, 4).map(float) | st.sampled_from([np.nan, np.inf, -np.inf, -0.0, 0.5])


@given(st.data(), st.integers(0, 20), st.integers(0, 4), st.booleans())
def test_twins_count_the_cuts_below(data, n, d, right):
    X = np.array(data.draw(st.lists(values, min_size=n * d, max_size=n * d))).reshape(n, d)
    cuts = [np.array(sorted(data.draw(st.lists(st.integers(-4, 4).map(float), max_size=9)))) for _ in range(d)]
    ends = np.cumsum([len(each) for each in cuts], dtype=np.int64)
    joined = np.concatenate([np.zeros(0), *cuts])
    side = "right" if right else "left"
    expected = [np.searchsorted(each, X[:, j], side=side) for j, each in enumerate(cuts)]
    for function in BOTH:
        found = function(X, joined, ends, right)
        assert found.dtype == np.uint8
        assert found.shape == (n, d)
        assert np.array_equal(found.T, np.reshape(expected, (d, n)))


@pytest.mark.parametrize("function", BOTH)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_cuts", [1, 7, 8, 254, 255])
def test_any_memory_order_and_number_of_cuts(function, order, n_cuts):
    rng = np.random.default_rng(0)
    X, cuts = rng.normal(size=(1100, 3)), np.sort(rng.normal(size=(3, n_cuts)), axis=1)
    found = function(np.asarray(X, order=order)[::2], cuts.ravel(), n_cuts * np.arange(1, 4))
    assert np.array_equal(found.T, [np.searchsorted(each, x) for each, x in zip(cuts, X[::2].T, strict=True)])


@pytest.mark.parametrize("function", BOTH)
@pytest.mark.parametrize(("n_cuts", "ends"), [(2, [1]), (2, [1, 3]), (2, [2, 1]), (256, [0, 256]), (2, [-1, 2])])
def test_cuts_that_do_not_fit_are_refused(function, n_cuts, ends):
    with pytest.raises(ValueError, match="ends"):
        function(np.zeros((3, 2)), np.arange(float(n_cuts)), np.array(ends))
