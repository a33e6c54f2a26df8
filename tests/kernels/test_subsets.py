"""Kernels averaged over sets of columns: their frequencies, and what is refused."""

import numpy as np
import pytest

from mercer.expand import RandomFeatures
from mercer.kernels import Gaussian, Laplace, Linear, Matern, OnSubsets
from naive import naive_value

X = np.random.default_rng(0).normal(size=(30, 4))


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Matern(2.0), Laplace(norm="l1")], ids=repr)
@pytest.mark.parametrize("order", [1, 2, 6])
@pytest.mark.parametrize("sampling", ["iid", "quasi"])
def test_random_features_average_to_the_kernel(kernel, order, sampling):
    masked = OnSubsets(kernel, order, [4.0, 1.0, 1.0, 2.0])
    Z = RandomFeatures(masked, n_components=2**14, sampling=sampling).fit_transform(X)
    # cosines of 2^13 frequencies: variance at most 1/2, so 5.3 standard errors are 0.041 (435 pairs, family-wise 1e-4)
    assert np.abs(Z @ Z.T - masked(X)).max() < 5.3 * np.sqrt(0.5 / 2**13)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("probabilities", [None, [4.0, 1.0, 1.0, 2.0]])
def test_products_over_columns_need_no_sum_over_sets(order, probabilities):
    kernel, Z = OnSubsets(Gaussian(0.8), order, probabilities), X[:5] + 0.3
    expected = [[naive_value(kernel, x.tolist(), z.tolist()) for z in Z] for x in X[:6]]
    np.testing.assert_allclose(kernel(X[:6], Z), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.ones(len(X)))


def test_many_columns_are_no_obstacle():
    wide = np.random.default_rng(1).normal(size=(4, 500))
    K = OnSubsets(Gaussian(0.5), 3)(wide)
    Z = RandomFeatures(OnSubsets(Gaussian(0.5), 3), n_components=2**14).fit_transform(wide)
    np.testing.assert_allclose(np.diag(K), np.ones(4), rtol=1e-12)
    assert np.abs(Z @ Z.T - K).max() < 5.3 * np.sqrt(0.5 / 2**13)


def test_frequencies_have_at_most_order_columns():
    omega = OnSubsets(Gaussian(), 2, [1.0, 1e-9, 1e-9, 1.0]).frequencies(500, 4, np.random.default_rng(0))
    assert np.count_nonzero(omega, axis=1).max() == 2
    assert not omega[:, 1:3].any()
    # one column twice in half of the draws: within five standard deviations
    assert abs(np.mean(np.count_nonzero(omega, axis=1) == 1) - 0.5) < 5 * 0.5 / np.sqrt(500)


def test_the_median_and_the_algebra():
    kernel = OnSubsets(Gaussian("median"), 1)
    assert kernel.is_data_dependent
    assert kernel.resolve(X).kernel == Gaussian("median").resolve(X)
    assert kernel.mass == 1.0
    both = 2 * OnSubsets(Gaussian(), 1) + Linear()
    np.testing.assert_allclose(both(X), 2 * OnSubsets(Gaussian(), 1)(X) + X @ X.T)


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match="order must be"):
        OnSubsets(Gaussian(), 0)(X)
    with pytest.raises(ValueError, match="probabilities must be positive"):
        OnSubsets(Gaussian(), 1, [1.0, 0.0, 1.0, 1.0])(X)
    with pytest.raises(ValueError, match="probabilities of 2 columns, but the data have 4"):
        OnSubsets(Gaussian(), 1, [1.0, 1.0])(X)
