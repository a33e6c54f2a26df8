"""Digits of least squares on NIST's eleven certified problems: in memory, streamed, in pieces and merged."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer.linear import RidgeRegressor
from mercer.source import MemorySource
from nist import PROBLEMS, digits

every_problem = pytest.mark.parametrize("name", PROBLEMS)


def ols():
    return RidgeRegressor(alpha=0.0)


def weights(model):
    return np.append(model.intercept_, model.coef_)


def streamed(X, y):
    """Rows that can be read again, but are not in memory."""
    return ols().fit(MemorySource(X, y).map(lambda block: block))


def in_pieces(X, y):
    model = ols()
    for rows in np.array_split(np.arange(len(X)), 3):
        model.partial_fit(X[rows], y[rows])
    return model


def merged(X, y):
    half = len(X) // 2
    return ols().fit(X[:half], y[:half]).merge(ols().fit(X[half:], y[half:]))


def merged_of_three(X, y):
    first, second, third = (ols().fit(X[i::3], y[i::3]) for i in range(3))
    return first.merge(second).merge(third)


def fitted(how, X, y):
    """The weights, and the digits that a warning says hold (None without one)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = how(X, y)
    said = [str(each.message) for each in caught if each.category is ConvergenceWarning]
    return weights(model), int(said[-1].split("about ")[1].split(" digits")[0]) if said else None


def exact(X, y):
    """Least squares with an intercept in rational arithmetic: the normal equations by Gaussian elimination."""
    rows = [[Fraction(1), *map(as_written, row)] for row in X]
    targets = list(map(as_written, y))
    d = len(rows[0])
    system = [[sum(r[i] * r[j] for r in rows) for j in range(d)] for i in range(d)]
    right = [sum(r[i] * t for r, t in zip(rows, targets, strict=True)) for i in range(d)]
    for i in range(d):
        for k in range(i + 1, d):
            factor = system[k][i] / system[i][i]
            system[k] = [a - factor * b for a, b in zip(system[k], system[i], strict=True)]
            right[k] -= factor * right[i]
    found = [Fraction(0)] * d
    for i in reversed(range(d)):
        found[i] = (right[i] - sum(system[i][j] * found[j] for j in range(i + 1, d))) / system[i][i]
    return np.array([float(each) for each in found])


def as_written(value):
    """A measurement as the decimal fraction it is."""
    return value if isinstance(value, Fraction) else Fraction(repr(float(value)))


@every_problem
def test_certified_weights_are_exact(name):
    """The tables are as NIST has them: rational arithmetic gives all certified digits."""
    X, y, certified = PROBLEMS[name]
    if name == "Filip":
        x = [as_written(value) for value in X[:, 0]]
        X = np.array([[each**k for k in range(1, 11)] for each in x], dtype=object)
    if name == "Wampler2":
        y = [sum(Fraction(int(x)) ** k / 10**k for k in range(6)) for x in X[:, 0]]
    size = np.where(certified == 0, 1.0, np.abs(certified))
    assert np.max(np.abs(exact(X, y) - certified) / size) < 1e-14


@every_problem
def test_rows_in_memory_have_the_digits_of_orthogonal_factors(name):
    X, y, certified = PROBLEMS[name]
    theirs = np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), y, rcond=1e-16)[0]
    found, said = fitted(lambda X, y: ols().fit(X, y), X, y)
    assert said is None
    assert digits(found, certified) >= max(digits(theirs, certified), 7)


@every_problem
@pytest.mark.parametrize("copies", [1, 3])
def test_rows_in_a_stream_have_six_digits(name, copies):
    X, y, certified = PROBLEMS[name]
    found, said = fitted(streamed, np.repeat(X, copies, axis=0), np.repeat(y, copies))
    assert said is None
    assert digits(found, certified) >= 6


@every_problem
@pytest.mark.parametrize("how", [in_pieces, merged, merged_of_three])
def test_rows_that_are_read_once_have_six_digits_or_say_how_many(name, how):
    X, y, certified = PROBLEMS[name]
    found, said = fitted(how, X, y)
    assert digits(found, certified) >= (6 if said is None else max(said, 5))
    assert (said is not None) == (name in ("Filip", "Wampler5"))


def test_one_pass_over_longer_streams_keeps_the_digits():
    X, y, certified = PROBLEMS["Wampler4"]
    model = ols()
    for _ in range(40):
        model.partial_fit(np.tile(X, (1000, 1)), np.tile(y, 1000))
    assert digits(weights(model), certified) >= 7


def test_weights_of_rows_count():
    X, y, _ = PROBLEMS["Wampler4"]
    count = np.arange(1, 22) % 3 + 1
    repeated = RidgeRegressor(alpha=0.0).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    weighted = RidgeRegressor(alpha=0.0).fit(X, y, sample_weight=count)
    assert digits(weights(weighted), weights(repeated)) >= 9


def test_dependent_columns_keep_the_solution_of_smallest_norm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X, y = np.hstack([X, X]), X @ [1.0, 2.0, 3.0]
    for model in (ols().fit(X, y), in_pieces(X, y), merged(X, y)):
        np.testing.assert_allclose(model.coef_, [0.5, 1, 1.5] * 2, rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constant_columns_get_no_weight(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).astype(dtype)
    X[:, 1] = 1e7 / 3
    y = X[:, 0] - 2.0 * X[:, 2].astype(float)
    for model in (ols().fit(X, y), in_pieces(X, y), streamed(X, y)):
        np.testing.assert_allclose(model.coef_, [1.0, 0.0, -2.0], atol=1e-6 if dtype == np.float32 else 1e-12)
        assert model.coef_[1] == 0.0


def test_fewer_rows_than_columns_have_the_solution_of_smallest_norm():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 20)), rng.normal(size=8)
    expected = np.linalg.pinv(X - X.mean(axis=0)) @ (y - y.mean())
    np.testing.assert_allclose(ols().fit(X, y).coef_, expected, rtol=1e-10)


def test_columns_that_depend_in_float32_are_dependent():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2)).astype(np.float32)
    X = np.hstack([X, X[:, :1] * np.float32(1.1)])
    assert np.abs(ols().fit(X, X[:, 1]).coef_).max() < 2
