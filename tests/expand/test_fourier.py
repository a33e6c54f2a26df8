"""Fourier features: unbiased with the variance theory gives, for every shift-invariant kernel and way of sampling."""

import numpy as np
import pytest
from scipy import sparse

from estimates import (
    LONG,
    Z,
    apply,
    assert_mean_is,
    contributions,
    draw,
    exact,
    exact_twice,
    over_seeds,
    pairs,
    per_frequency,
)
from mercer.kernels import Cauchy, ExponentialPower, Gaussian, Laplace, Matern, RationalQuadratic, Sinc

#: Frequencies of one map; those of 400 maps of 256 where time does not matter.
M = 102_400 if LONG else 12_800
DIMENSIONS = [1, 2, 5, 16]

ISOTROPIC = [
    Gaussian(1.3),
    Laplace(2.0),
    Cauchy(1.5),
    Matern(1.5, nu=1.5),
    RationalQuadratic(1.2, alpha=0.7),
    ExponentialPower(2.0, p=2.0, q=1.4),
    2.5 * Gaussian(1.3),
    (Gaussian(1.0) * Cauchy(2.0)).normalized(),
]
OTHERS = [
    Laplace(2.0, norm="l1"),
    ExponentialPower(2.0, p=1.3, q=0.9),
    Sinc(0.8),
    Gaussian(1.3) + 0.5 * Laplace(2.0, norm="l1") + 2,
    Gaussian(2.0).on([0]) * Matern(2.0).on([-1]),
    Cauchy(1.5).on([0]) + 2 * Gaussian(0.7).on([-1, 0]),
]


def standard_errors(kernel, x, z, m, pairing):
    """Sqrt of the variance of the estimate from m independent frequencies, or m columns with phases."""
    mass = kernel.mass
    k, twice = exact(kernel, x, z) / mass, exact_twice(kernel, x, z) / mass
    variance = 0.5 + 0.5 * twice - k**2 + (0.5 if pairing == "phase" else 0.0)
    return mass * np.sqrt(np.maximum(variance, 0) / m)


def cases(samplings_of_isotropic, samplings_of_others):
    isotropic = [(kernel, sampling) for kernel in ISOTROPIC for sampling in samplings_of_isotropic]
    return isotropic + [(kernel, sampling) for kernel in OTHERS for sampling in samplings_of_others]


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize(
    ("kernel", "sampling"),
    cases(["iid", "orthogonal", "structured", "quasi"], ["orthogonal", "quasi"]),
    ids=repr,
)
def test_fourier_features_are_unbiased_in_every_storage_and_precision(kernel, sampling, d):
    x, z = pairs(d)
    X = np.vstack([x, z])
    k = exact(kernel, x, z)
    for pairing, n in (("cos-sin", 2 * M), ("phase", M)):
        features = draw(kernel, d, n, seed=d, sampling=sampling, pairing=pairing)
        # 0.001 is what structured frequencies may be biased by; they and orthogonal ones vary no more than 1.16 times.
        allowed = (
            Z * np.sqrt(1.16) * standard_errors(kernel, x, z, M, pairing) + 1e-6 + 1e-3 * (sampling == "structured")
        )
        for rows in (X, X.astype(np.float32), sparse.csr_array(X), sparse.csr_array(X.astype(np.float32))):
            values = contributions(apply(features, rows)).astype(float)
            assert np.all(np.abs(values.mean(axis=1) - k) <= allowed)


@pytest.mark.parametrize("kernel", [Sinc(1.3, radial=True)], ids=repr)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_radial_sinc_has_fourier_features_up_to_three_dimensions(kernel, d):
    x, z = pairs(d)
    values = contributions(apply(draw(kernel, d, 2 * M), np.vstack([x, z])))
    allowed = Z * standard_errors(kernel, x, z, M, "cos-sin") + 1e-6
    assert np.all(np.abs(values.mean(axis=1) - exact(kernel, x, z)) <= allowed)


@pytest.mark.parametrize("kernel", [Gaussian(1.3), Laplace(2.0, norm="l1"), Matern(1.5)], ids=repr)
@pytest.mark.parametrize("pairing", ["cos-sin", "phase"])
def test_quasi_random_features_are_unbiased_at_any_size(kernel, pairing):
    x, z = pairs(2)
    for n in (1, 6):
        values = over_seeds(kernel, x, z, n, 2000 if LONG else 200, sampling="quasi", pairing=pairing)
        assert_mean_is(values, exact(kernel, x, z))


GROUPS = 2000
#: Empirical variances of near-normal estimates err by sqrt(2/R) relatively, 5 of which are allowed.
SPREAD = 5 * np.sqrt(2 / GROUPS)


@pytest.mark.parametrize("kernel", [Gaussian(1.3), Laplace(2.0), 3 * Matern(1.5)], ids=repr)
@pytest.mark.parametrize("d", [3, 16])
def test_the_variance_of_independent_frequencies_is_the_formula(kernel, d):
    x, z = pairs(d)
    m = 32
    for pairing, n in (("cos-sin", 2 * m * GROUPS), ("phase", m * GROUPS)):
        features = apply(draw(kernel, d, n, sampling="iid", pairing=pairing), np.vstack([x, z]))
        values = per_frequency(features) if pairing == "cos-sin" else contributions(features)
        variance = values.reshape(5, GROUPS, m).mean(axis=2).var(axis=1)
        expected = standard_errors(kernel, x, z, m, pairing) ** 2
        # The nearest pair has skewed estimates: its empirical variance errs by sqrt((kurtosis - 1)/R).
        fourth = (values - values.mean(axis=1, keepdims=True)) ** 4
        kurtosis = 3 + (fourth.mean(axis=1) / values.var(axis=1) ** 2 - 3) / m
        assert np.all(np.abs(variance / expected - 1) <= 5 * np.sqrt((kurtosis - 1) / GROUPS))


@pytest.mark.parametrize("sampling", ["orthogonal", "structured"])
@pytest.mark.parametrize("kernel", [Gaussian(1.3), Gaussian(4.0), Laplace(2.0), Matern(1.5)], ids=repr)
def test_orthogonal_and_structured_frequencies_vary_no_more_than_independent_ones(kernel, sampling):
    d, m = 16, 64
    x, z = pairs(d)
    values = per_frequency(apply(draw(kernel, d, 2 * m * GROUPS, sampling=sampling), np.vstack([x, z])))
    variance = values.reshape(5, GROUPS, m).mean(axis=2).var(axis=1)
    assert np.all(variance <= standard_errors(kernel, x, z, m, "cos-sin") ** 2 * (1 + SPREAD))


def test_quasi_random_features_are_far_better_in_few_dimensions():
    x, z = pairs(2)
    kernel, n = Gaussian(1.3), 512
    errors = over_seeds(kernel, x, z, n, 50, sampling="quasi") - exact(kernel, x, z)
    assert np.all(np.sqrt(np.mean(errors**2, axis=0)) < 0.3 * standard_errors(kernel, x, z, n // 2, "cos-sin"))


@pytest.mark.parametrize("sampling", ["iid", "orthogonal", "structured"])
def test_the_error_falls_with_the_square_root_of_the_number_of_frequencies(sampling):
    x, z = pairs(8)
    sizes = 64 * 2 ** np.arange(4)
    features = apply(draw(Gaussian(2.0), 8, 2 * 2**18, sampling=sampling), np.vstack([x, z]))
    errors = per_frequency(features) - exact(Gaussian(2.0), x, z)[:, None]
    rms = [np.sqrt(np.mean(errors.reshape(5, -1, m).mean(axis=2) ** 2)) for m in sizes]
    assert abs(np.polyfit(np.log(sizes), np.log(rms), 1)[0] + 0.5) <= 0.05


@pytest.mark.parametrize("sampling", ["iid", "orthogonal", "structured", "quasi"])
@pytest.mark.parametrize(
    "kernel", [Gaussian(), Laplace(), Laplace(norm="l1"), ExponentialPower(), ExponentialPower(p=1.0, q=0.5)], ids=repr
)
def test_a_smaller_map_is_the_beginning_of_a_larger_one(kernel, sampling):
    d, X = 5, np.random.default_rng(0).normal(size=(10, 5))
    small, large = (apply(draw(kernel, d, n, sampling=sampling, pairing="phase"), X) for n in (320, 700))
    np.testing.assert_allclose(large[:, :320] * np.sqrt(700 / 320), small, atol=1e-6)


def test_sparse_rows_do_not_bias_structured_features():
    """Unit vectors are the worst case of random signs and Hadamard matrices."""
    X = np.eye(8)[[0, 3]] * 2.0
    values = per_frequency(apply(draw(Gaussian(1.5), 8, 2 * M, sampling="structured"), X))
    k = np.exp(-4 / 1.5**2)
    assert abs(values.mean() - k) <= Z * np.sqrt(1.16 * (0.5 + 0.5 * k**4 - k**2) / M) + 1e-3
