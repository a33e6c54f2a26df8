"""Cut points of quantile bins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.normalize.cuts import balanced_cuts, cuts_of_columns

numbers = st.floats(-1e300, 1e300, allow_nan=False)


@given(st.lists(numbers, min_size=1, max_size=60), st.integers(2, 20))
def test_cuts_increase_and_separate_neighbors(values, n_bins):
    values = np.array(values)
    cuts = balanced_cuts(values, n_bins)
    assert len(cuts) < n_bins
    assert np.all(np.diff(cuts) > 0)
    bins = np.searchsorted(cuts, values, side="left")
    assert len(np.unique(bins)) == len(cuts) + 1  # none is empty
    for b, cut in enumerate(cuts):
        assert np.array_equal(bins <= b, values <= cut)
    if len(np.unique(values)) <= n_bins:
        assert len(cuts) == len(np.unique(values)) - 1


@pytest.mark.parametrize("n_bins", [16, 128, 256])
def test_bins_have_about_equal_counts_except_frequent_values(n_bins):
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=6000), np.full(2000, 0.25), np.full(2000, -7.0)])
    counts = np.bincount(np.searchsorted(balanced_cuts(values, n_bins), values))
    assert sorted(counts)[-2:] == [2000, 2000]  # alone
    light = sorted(counts)[:-2]
    assert n_bins - 3 <= len(counts) <= n_bins
    assert max(light) <= 1.1 * 6000 / (n_bins - 4)


def test_adjacent_floats_are_separated():
    low = 1.0
    values = np.array([low, np.nextafter(low, 2.0), np.nextafter(np.nextafter(low, 2.0), 3.0)])
    assert np.searchsorted(balanced_cuts(values, 4), values, side="left").tolist() == [0, 1, 2]


@pytest.mark.parametrize("n_bins", [2, 7, 30, 64])
def test_cuts_of_columns_are_those_of_each(n_bins):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    X[:, 3] = np.round(X[:, 3])
    X[:20, 4] = 0.0
    for cuts, column in zip(cuts_of_columns(X, n_bins), X.T, strict=True):
        np.testing.assert_array_equal(cuts, balanced_cuts(column, n_bins))
