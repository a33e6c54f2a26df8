"""Digits of least squares on problems with known answers: NIST's StRD sets of Wampler (by construction) and Longley.

The answers of Wampler's polynomials follow from how the targets are made: the deviations DELTA are orthogonal to all
polynomials of degree five on 0, 1, ..., 20. Longley's are NIST's certified values.
"""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer.linear import RidgeRegressor
from mercer.source import MemorySource

PERIOD = [759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048]
DELTA = np.array([*PERIOD, 2048, *PERIOD[::-1]], dtype=float)
LONGLEY = np.array(
    [
        [60323, 83.0, 234289, 2356, 1590, 107608, 1947],
        [61122, 88.5, 259426, 2325, 1456, 108632, 1948],
        [60171, 88.2, 258054, 3682, 1616, 109773, 1949],
        [61187, 89.5, 284599, 3351, 1650, 110929, 1950],
        [63221, 96.2, 328975, 2099, 3099, 112075, 1951],
        [63639, 98.1, 346999, 1932, 3594, 113270, 1952],
        [64989, 99.0, 365385, 1870, 3547, 115094, 1953],
        [63761, 100.0, 363112, 3578, 3350, 116219, 1954],
        [66019, 101.2, 397469, 2904, 3048, 117388, 1955],
        [67857, 104.6, 419180, 2822, 2857, 118734, 1956],
        [68169, 108.4, 442769, 2936, 2798, 120445, 1957],
        [66513, 110.8, 444546, 4681, 2637, 121950, 1958],
        [68655, 112.6, 482704, 3813, 2552, 123366, 1959],
        [69564, 114.2, 502601, 3931, 2514, 125368, 1960],
        [69331, 115.7, 518173, 4806, 2572, 127852, 1961],
        [70551, 116.9, 554894, 4007, 2827, 130081, 1962],
    ]
)
CERTIFIED = [
    *(-3482258.63459582, 15.0618722713733, -0.358191792925910e-01, -2.02022980381683),
    *(-1.03322686717359, -0.511041056535807e-01, 1829.15146461355),
]


def polynomial(degree, coef, deviation=0.0):
    x = np.arange(21.0)
    X = np.stack([x**k for k in range(1, degree + 1)], axis=1)
    return X, coef[0] + X @ np.array(coef[1:]) + deviation, np.array(coef)


PROBLEMS = {
    "Wampler1": polynomial(5, [1.0] * 6),
    "Wampler2": polynomial(5, [1.0, 0.1, 0.01, 0.001, 0.0001, 0.00001]),
    "Wampler3": polynomial(5, [1.0] * 6, DELTA),
    "Wampler4": polynomial(5, [1.0] * 6, 100 * DELTA),
    "Wampler5": polynomial(5, [1.0] * 6, 10_000 * DELTA),
    "degree 7": polynomial(7, [3.0, -2.0, 5.0, 1.0, -4.0, 2.0, -1.0, 1.0]),
    "Longley": (LONGLEY[:, 1:], LONGLEY[:, 0], np.array(CERTIFIED)),
}


def digits(found, exact):
    """The digits of the worst coefficient."""
    return float(-np.log10(np.max(np.abs(found - exact) / np.abs(exact)) + 1e-17))


def weights(model):
    return np.append(model.intercept_, model.coef_)


@pytest.mark.parametrize("name", PROBLEMS)
def test_rows_in_memory_have_the_digits_of_orthogonal_factors(name):
    X, y, exact = PROBLEMS[name]
    theirs = np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), y, rcond=1e-16)[0]
    ours = digits(weights(RidgeRegressor(alpha=0.0).fit(X, y)), exact)
    assert ours >= digits(theirs, exact)
    assert ours >= 7


@pytest.mark.parametrize("name", PROBLEMS)
def test_rows_in_a_stream_have_six_digits(name):
    X, y, exact = PROBLEMS[name]
    source = MemorySource(np.repeat(X, 3, axis=0), np.repeat(y, 3)).map(lambda block: block)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = RidgeRegressor(alpha=0.0).fit(source)
    noticed = any("few digits of the weights hold" in str(each.message) for each in caught)
    assert noticed or digits(weights(model), exact) >= 6
    assert not (noticed and name != "degree 7")


def test_weights_of_rows_count():
    X, y, _ = PROBLEMS["Wampler4"]
    count = np.arange(1, 22) % 3 + 1
    repeated = RidgeRegressor(alpha=0.0).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    weighted = RidgeRegressor(alpha=0.0).fit(X, y, sample_weight=count)
    assert digits(weights(weighted), weights(repeated)) >= 7


def test_pieces_without_a_second_pass_are_warned_about():
    X, y, _ = PROBLEMS["Wampler1"]
    with pytest.warns(ConvergenceWarning, match="few digits of the weights hold"):
        RidgeRegressor(alpha=0.0).partial_fit(X, y)


def test_dependent_columns_keep_the_solution_of_smallest_norm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X, y = np.hstack([X, X]), X @ [1.0, 2.0, 3.0]
    np.testing.assert_allclose(RidgeRegressor(alpha=0.0).fit(X, y).coef_, [0.5, 1, 1.5] * 2, rtol=1e-9)
