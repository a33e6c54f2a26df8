"""Dimensions of random projections: the table, the defining inequalities, and the chi-square law in simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, kstest

from mercer.bounds import jl_dimension, jl_interval

TABLE = [  # n, eps, theorem, exact, all at delta = 0.01
    (1000, 0.1, 8088, 6460),
    (1000, 0.3, 1050, 797),
    (1000, 0.5, 430, 316),
    (100_000, 0.1, 12133, 10262),
    (100_000, 0.3, 1575, 1274),
    (100_000, 0.5, 645, 507),
]
accuracies = st.floats(0.05, 3.0)
failures = st.floats(1e-9, 0.5)


def failure(m, eps):
    return chi2.cdf((1 - eps) * m, m) + chi2.sf((1 + eps) * m, m)


@pytest.mark.parametrize(("n", "eps", "theorem", "exact"), TABLE)
def test_the_table(n, eps, theorem, exact):
    assert jl_dimension(eps, 0.01, n, method="theorem") == theorem
    assert jl_dimension(eps, 0.01, n) == exact
    assert jl_dimension(eps, 0.01, float(n)) == exact


@settings(deadline=None)
@given(eps=accuracies, delta=failures, n=st.none() | st.integers(2, 10**6))
def test_exact_is_the_smallest_that_does(eps, delta, n):
    m = jl_dimension(eps, delta, n)
    allowed = delta if n is None else delta / (n * (n - 1) / 2)
    assert failure(m, eps) <= allowed * (1 + 1e-9)
    assert m == 1 or failure(m - 1, eps) > allowed * (1 - 1e-9)
    assert m <= jl_dimension(eps, delta, n, method="theorem")


@settings(deadline=None)
@given(eps=accuracies, delta=failures, n=st.integers(2, 10**6), method=st.sampled_from(["exact", "theorem"]))
def test_asking_for_more_never_costs_less(eps, delta, n, method):
    m = jl_dimension(eps, delta, n, method)
    assert jl_dimension(eps * 1.1, delta, n, method) <= m
    assert jl_dimension(eps, delta * 1.1, n, method) <= m
    assert jl_dimension(eps, delta, n + 1, method) >= m
    assert jl_dimension(eps, delta, None, method) <= m


@settings(deadline=None)
@given(m=st.integers(1, 10**6), delta=failures)
def test_the_theorem_contains_the_exact_interval(m, delta):
    low, high = jl_interval(m, delta)
    inner_low, inner_high = jl_interval(m, delta, method="exact")
    assert low <= inner_low < 1 + 1 / m
    assert 1 - 1 / m < inner_high <= high
    assert chi2.cdf(inner_low * m, m) == pytest.approx(delta / 2, rel=1e-6)


def test_the_interval_and_the_dimension_are_inverse_to_each_other():
    m = jl_dimension(0.2, 0.01, method="theorem")
    assert jl_interval(m, 0.01)[1] <= 1.2 < jl_interval(m - 1, 0.01)[1]


def test_an_accuracy_beyond_floats_still_has_an_answer():
    assert jl_dimension(0.5, 0.01, 10**400) == jl_dimension(0.5, 0.01, 10**400, method="theorem")
    assert jl_dimension(0.5, 1e-300, 10**12) == jl_dimension(0.5, 1e-300, 10**12, method="theorem")


def test_gaussian_projections_follow_the_chi_square_law():
    m, repetitions, delta = 40, 5000, 0.05
    rng = np.random.default_rng(0)
    v = rng.normal(size=7) * 3
    squares = np.array([np.sum((rng.normal(size=(m, 7)) @ v) ** 2) / m for _ in range(repetitions)]) / (v @ v)
    # Dvoretzky, Kiefer, Wolfowitz at one in a million
    assert kstest(m * squares, chi2(m).cdf).statistic <= np.sqrt(np.log(2 / 1e-6) / (2 * repetitions))
    low, high = jl_interval(m, delta)
    assert np.mean((squares < low) | (squares > high)) <= delta + 5 * np.sqrt(delta / repetitions)
    low, high = jl_interval(m, delta, method="exact")
    missed = np.mean((squares < low) | (squares > high))
    assert abs(missed - delta) <= 5 * np.sqrt(delta / repetitions)


def test_all_distances_of_a_cloud_are_kept_and_the_dimension_is_not_vacuous():
    n, eps, delta = 60, 0.5, 0.05
    m = jl_dimension(eps, delta, n)
    X = np.random.default_rng(1).normal(size=(n, 30))
    i, j = np.triu_indices(n, 1)

    def broken(m, seeds):
        worst = []
        for seed in range(seeds):
            A = np.random.default_rng(seed).normal(size=(30, m)) / np.sqrt(m)
            ratio = np.sum(((X[i] - X[j]) @ A) ** 2, axis=1) / np.sum((X[i] - X[j]) ** 2, axis=1)
            worst.append(np.abs(ratio - 1).max() > eps)
        return np.mean(worst)

    assert broken(m, 200) <= delta + 5 * np.sqrt(delta / 200)
    assert broken(m // 2, 50) >= 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eps": 0.0}, "eps must be the required accuracy"),
        ({"eps": "small"}, "eps must be the required accuracy"),
        ({"delta": 1.0}, "delta must be the probability of failure"),
        ({"delta": float("nan")}, "delta must be the probability of failure"),
        ({"n": 1}, "n must be a whole number of at least 2"),
        ({"n": 10.5}, "n must be a whole number of at least 2"),
        ({"method": "magic"}, "method must be one of 'exact', 'theorem'"),
    ],
)
def test_wrong_questions_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        jl_dimension(**{"eps": 0.1, "delta": 0.1, **arguments})


def test_wrong_questions_about_intervals_are_refused():
    with pytest.raises(ValueError, match="m must be a whole number of at least 1"):
        jl_interval(0, 0.1)
    with pytest.raises(ValueError, match="delta must be"):
        jl_interval(10, 2.0)
