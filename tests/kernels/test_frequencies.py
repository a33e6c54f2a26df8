"""Frequencies follow the spectral law: their cosines average to the kernel, in every dimension."""

import math

import numpy as np
import pytest

from mercer.kernels import (
    Anova,
    Cauchy,
    Constant,
    ExponentialPower,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sinc,
)
from naive import naive_value

N = 256 * 400  # the draws of 400 maps with 256 frequencies each
Z = 5.5  # of a normal variable; holds for all cases below together with probability 1 - 1e-5

KERNELS = [
    Gaussian(1.7),
    Laplace(0.8),
    Laplace(1.3, norm="l1"),
    Cauchy(1.4),
    Matern(1.2),
    Matern(nu=0.5),
    Matern(nu=3.3),
    Matern(0.6, nu=math.inf),
    RationalQuadratic(1.1, alpha=0.4),
    RationalQuadratic(),
    ExponentialPower(),
    ExponentialPower(1.5, p=2.0, q=2.0),
    ExponentialPower(p=2.0, q=0.6),
    ExponentialPower(p=1.0, q=1.0),
    ExponentialPower(1.5, p=1.4, q=0.9),
    ExponentialPower(p=0.8, q=0.5),
    ExponentialPower(p=1.5, q=1.5),
    Sinc(0.7),
    2 * Gaussian(),
    Gaussian() + 0.5 * Laplace(norm="l1") + 2,
    Gaussian(2.0) * Cauchy(),
    (Matern() + Gaussian()).normalized(),
    Laplace().on([0]) * Gaussian().on(slice(0, 2)),
    3 * Constant(0.5),
]
CASES = [(k, d) for k in KERNELS for d in (1, 2, 5)] + [(Sinc(1.3, radial=True), d) for d in (1, 2, 3)]


def assert_cosines_average_to(kernel, omega, d):
    """|mean cos - k| within Z standard errors, Var cos<omega, x> = 1/2 + k(2x)/2 - k(x)^2."""
    rng = np.random.default_rng(d)
    for radius in (0.1, 0.5, 1.0, 2.0, 4.0):
        x = rng.normal(size=d)
        x *= radius / np.linalg.norm(x)
        k, k2 = (naive_value(kernel, t * x, 0 * x) / kernel.mass for t in (1, 2))
        error = abs(np.cos(omega @ x).mean() - k)
        assert error <= Z * math.sqrt(max(0.5 + 0.5 * k2 - k * k, 0) / len(omega)) + 1e-12


@pytest.mark.parametrize(("kernel", "d"), CASES, ids=repr)
def test_frequencies_have_the_spectral_law(kernel, d):
    omega = kernel.frequencies(N, d, np.random.default_rng(1))
    assert omega.shape == (N, d)
    assert omega.dtype == np.float64
    assert np.isfinite(omega).all()
    assert_cosines_average_to(kernel, omega, d)


@pytest.mark.parametrize(("kernel", "d"), [(k, d) for k in KERNELS if k.isotropic for d in (1, 2, 5)], ids=repr)
def test_spectral_scales_times_gaussians_have_the_spectral_law(kernel, d):
    rng = np.random.default_rng(2)
    scales = kernel.spectral_scales(N, rng)
    assert scales.shape == (N,)
    assert (scales >= 0).all()
    assert_cosines_average_to(kernel, scales[:, None] * rng.standard_normal((N, d)), d)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_same_generator_gives_the_same_frequencies(kernel):
    first, second = (kernel.frequencies(10, 3, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_which_kernels_are_isotropic():
    isotropic = [
        Gaussian(),
        Laplace(),
        Cauchy(),
        Matern(),
        RationalQuadratic(),
        ExponentialPower(),
        2 * Gaussian(),
    ]
    assert all(k.isotropic for k in isotropic)
    others = [
        Laplace(norm="l1"),
        ExponentialPower(p=1.0),
        Sinc(),
        Sinc(radial=True),
        Linear(),
        Gaussian().on(0),
    ]
    assert not any(k.isotropic for k in others)


@pytest.mark.parametrize("kernel", [Laplace(norm="l1"), ExponentialPower(p=1.5), Sinc(), Sinc(radial=True)], ids=repr)
def test_no_spectral_scales_without_isotropy(kernel):
    with pytest.raises(TypeError, match="mixture of Gaussians"):
        kernel.spectral_scales(3, np.random.default_rng(0))


def test_heavy_tails_stay_finite():
    omega = ExponentialPower(p=0.02, q=0.01).frequencies(10_000, 3, np.random.default_rng(0))
    assert np.isfinite(omega).all()


def test_kernels_without_frequencies_say_so():
    with pytest.raises(TypeError, match="not shift-invariant"):
        (Gaussian() + Linear()).frequencies(3, 2, np.random.default_rng(0))
    with pytest.raises(ValueError, match="resolve"):
        (2 * Gaussian("median")).frequencies(3, 2, np.random.default_rng(0))
    with pytest.raises(ValueError, match="3 dimensions"):
        Sinc(radial=True).frequencies(3, 4, np.random.default_rng(0))


@pytest.mark.parametrize(
    "kernel",
    [
        Constant(2.0),
        Linear(),
        Polynomial(3, 0.5, 2.0),
        Linear() * Polynomial(2) + 1,
        0.5 * Polynomial(4, 0.0),
    ],
    ids=repr,
)
def test_series_sums_to_the_kernel(kernel):
    coefficients = kernel.series(8)
    assert coefficients.shape == (9,)
    for t in (-1.3, 0.0, 0.4, 2.0):
        assert np.polynomial.polynomial.polyval(t, coefficients) == pytest.approx(kernel([[t]], [[1.0]])[0, 0])
    np.testing.assert_array_equal(kernel.series(1), coefficients[:2])


def test_kernels_without_a_series_say_so():
    with pytest.raises(TypeError, match="Maclaurin"):
        Anova().series(3)
