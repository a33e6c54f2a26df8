"""Numbers of random Fourier features: the handbook's values, sufficient but not excessive."""

from math import ceil, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.bounds import fourier_dimension, fourier_variance
from mercer.expand import RandomFeatures
from mercer.kernels import (
    Cauchy,
    ExponentialPower,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    RationalQuadratic,
    Sinc,
)

accuracies = st.floats(0.01, 2.0)
failures = st.floats(1e-9, 0.5)
methods = st.sampled_from(["bernstein", "hoeffding"])
pairings = st.sampled_from(["cos-sin", "phase"])


def test_the_values_of_the_formulas():
    n, delta, eps = 100_000, 0.01, 0.1
    assert fourier_dimension(eps, delta, n, "hoeffding") == 2 * 5527
    assert fourier_dimension(eps, delta, n) == 2 * ceil((1 + 4 / 3 * eps) / eps**2 * log(n * (n - 1) / delta)) == 6264
    assert fourier_dimension(eps, delta, n, "hoeffding", pairing="phase") == 22105
    assert fourier_dimension(eps, delta, 1e5, pairing="phase") == ceil(2.2 / eps**2 * log(n * (n + 1) / delta))


@settings(deadline=None)
@given(eps=accuracies, delta=failures, n=st.integers(2, 10**9), method=methods, pairing=pairings)
def test_asking_for_more_never_costs_less(eps, delta, n, method, pairing):
    columns = fourier_dimension(eps, delta, n, method, pairing)
    assert fourier_dimension(eps * 1.1, delta, n, method, pairing) <= columns
    assert fourier_dimension(eps, min(0.9, delta * 1.1), n, method, pairing) <= columns
    assert fourier_dimension(eps, delta, n + 1, method, pairing) >= columns
    assert fourier_dimension(eps, delta, n, method, pairing, variance=0.6) >= columns
    assert fourier_dimension(eps, delta, n, "bernstein", pairing, 1.0) <= fourier_dimension(
        eps, delta, n, "hoeffding", pairing
    )
    assert pairing == "phase" or columns % 2 == 0


@pytest.mark.parametrize("pairing", ["cos-sin", "phase"])
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplace(4.0)], ids=str)
def test_the_bound_holds_and_is_not_vacuous(kernel, pairing):
    n, eps, delta, seeds = 60, 0.2, 0.1, 60
    X = np.random.default_rng(0).normal(size=(n, 6))
    K = kernel(X)

    def broken(columns):
        maps = (
            RandomFeatures(kernel, n_components=columns, sampling="iid", pairing=pairing, random_state=seed).fit(X)
            for seed in range(seeds)
        )
        worst = [np.abs((Z := features.transform(X)) @ Z.T - K).max() for features in maps]
        return np.mean(np.array(worst) > eps)

    columns = fourier_dimension(eps, delta, n, pairing=pairing)
    assert broken(columns) <= delta
    assert broken(columns // 5) >= 0.5, "a fifth of the columns should not do"


@pytest.mark.parametrize("kernel", [Gaussian(0.1), Laplace(), Laplace(7.0, norm="l1"), Matern(), 3 * Gaussian()])
def test_one_half_is_the_variance_of_common_kernels(kernel):
    assert fourier_variance(kernel) == 0.5


@pytest.mark.parametrize(
    "kernel", [Cauchy(), ExponentialPower(q=0.5), RationalQuadratic(1e3, alpha=0.1), Sinc(radial=True)], ids=str
)
def test_heavy_tails_need_a_little_more_than_one_half(kernel):
    v = fourier_variance(kernel)
    omega = kernel.frequencies(200_000, 1, np.random.default_rng(0))
    r = np.logspace(-3, 8, 200) if kernel.isotropic else np.linspace(0.1, 10, 200)
    simulated = max(float(np.var(np.cos(omega[:, 0] * t))) for t in r)
    assert 0.5 < v <= 0.5625
    assert simulated <= v + 5 / np.sqrt(200_000)
    assert fourier_dimension(0.1, 0.1, 100, variance=kernel) > fourier_dimension(0.1, 0.1, 100)


def test_a_kernel_of_more_than_a_norm_gets_the_variance_that_holds_for_all():
    assert fourier_variance(Sinc()) == 1.0
    with pytest.raises(TypeError, match="not shift-invariant"):
        fourier_variance(Linear())
    with pytest.raises(ValueError, match="depends on data"):
        fourier_variance(Gaussian("median"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eps": -0.1}, "eps must be the required accuracy"),
        ({"delta": 0.0}, "delta must be the probability"),
        ({"n": 1}, "n must be a whole number of at least 2"),
        ({"n": True}, "n must be a whole number of at least 2"),
        ({"n": float("inf")}, "n must be a whole number of at least 2"),
        ({"method": "markov"}, "method must be one of"),
        ({"pairing": "sine"}, "pairing must be one of"),
        ({"variance": 0.0}, "variance must be a number in"),
        ({"variance": "half"}, "variance must be a number in"),
    ],
)
def test_wrong_questions_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        fourier_dimension(**{"eps": 0.1, "delta": 0.1, "n": 10, **arguments})
