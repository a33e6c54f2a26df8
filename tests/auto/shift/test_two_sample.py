"""Two-sample tests: p-values of whole rows and of columns, their level and power."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mercer.auto.shift.cells import chi_square, kolmogorov_smirnov
from mercer.auto.shift.compare import compare
from mercer.auto.shift.two_sample import FeatureMoments, limit_p_value, permutation_p_value

N_REPETITIONS = 50
#: Rejections at a level of 5 % exceed this in fewer than one of 10,000 runs.
MAX_REJECTIONS = int(stats.binom.ppf(1 - 1e-4, N_REPETITIONS, 0.05))


#: Three features of two kernels.
TWO = np.array([0, 1, 1])


def moments(Z):
    return FeatureMoments.of_sums(len(Z), Z.sum(axis=0), Z.T @ Z)


def mixed(random, n):
    """Numbers, a skewed one with missing values, categories, and names of which many occur once."""
    return {
        "a": random.normal(size=n),
        "b": np.where(random.random(n) < 0.2, np.nan, random.exponential(size=n)),
        "c": np.array(["x", "y", "z"])[random.integers(0, 3, n)],
        "d": random.integers(0, 4, n),
        "name": [f"name {k}" for k in random.integers(0, 300, n)],
    }


def test_permutation_test_is_uniform_and_agrees_with_its_limit():
    random, found = np.random.default_rng(0), []
    for _ in range(N_REPETITIONS):
        X, Y = random.exponential(size=(60, 3)), random.exponential(size=(40, 3))
        found.append((permutation_p_value(X, Y, TWO), limit_p_value(moments(X), moments(Y), TWO)))
    exact, limit = np.array(found).T
    assert stats.kstest(exact, "uniform").pvalue > 1e-4
    assert np.abs(exact - limit).max() < 0.1  # 3 standard errors of 999 divisions are 0.05


def test_mmd_is_the_distance_of_means():
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(30, 4)), random.normal(size=(20, 4))
    expected = np.sum((X.mean(axis=0) - Y.mean(axis=0)) ** 2)
    assert moments(X).mmd(moments(Y)) == pytest.approx(expected, rel=1e-10)


def test_level_on_a_mixed_table():
    random = np.random.default_rng(1)
    found = [compare(mixed(random, 120), mixed(random, 90)) for _ in range(N_REPETITIONS)]
    assert sum(each.changed for each in found) <= MAX_REJECTIONS
    for name in mixed(random, 1):
        p_values = [t["p_value"] for each in found for t in each.column_tests if t["column"] == name]
        assert sum(p < 0.05 for p in p_values) <= MAX_REJECTIONS, name


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("a", lambda x: np.asarray(x) + 0.7),
        ("a", lambda x: 3 * np.asarray(x)),
        ("b", lambda x: np.full(len(x), np.nan)),
        ("c", lambda x: np.where(np.asarray(x) == "x", "new", x)),
        ("d", lambda x: np.maximum(np.asarray(x), 2)),
    ],
)
def test_a_changed_column_comes_first(column, change):
    random = np.random.default_rng(2)
    new = mixed(random, 400)
    new[column] = change(new[column])
    found = compare(mixed(random, 500), new)
    assert found.p_value < 0.01
    assert found.column_tests[0]["column"] == column
    assert found.column_tests[0]["q_value"] < 0.01


def test_a_correlation_is_seen_by_the_test_of_rows_alone():
    random = np.random.default_rng(3)
    old, new = random.normal(size=(800, 2)), random.normal(size=(800, 2))
    new[:, 1] = 0.7 * new[:, 0] + np.sqrt(1 - 0.7**2) * new[:, 1]
    found = compare(old, new)
    assert found.p_value < 0.01
    assert all(each["q_value"] > 0.01 for each in found.column_tests)
    assert "go together" in found.sentence()


def test_strangest_rows_are_those_that_only_the_new_sample_has():
    random = np.random.default_rng(4)
    old, new = random.normal(size=(500, 3)), random.normal(size=(300, 3))
    new[[7, 70, 170]] += 6.0
    new[200:] += 6.0
    found = compare(old, new, n_rows=50)
    rows = [each["row"] for each in found.strange_rows]
    assert len(rows) == 50
    assert set(rows) <= {7, 70, 170, *range(200, 300)}


def test_column_tests_agree_with_scipy():
    random = np.random.default_rng(5)
    x, y = random.integers(0, 9, 300), random.integers(1, 9, 200)
    old, new = np.bincount(x, minlength=9), np.bincount(y, minlength=9)
    expected = stats.ks_2samp(x, y, method="asymp")
    found = kolmogorov_smirnov(old, new)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-6)
    expected = stats.chi2_contingency(np.stack([old, new]), correction=False)
    found = chi_square(old, new)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.statistic == pytest.approx(np.sqrt(expected.statistic / 500))
    assert chi_square(np.array([5, 0]), np.array([7, 0])).p_value == 1.0
