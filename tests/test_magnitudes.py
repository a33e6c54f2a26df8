"""Very large and very small numbers: the answer does not depend on units, or the column is named."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer._runtime.errors import DataError
from mercer.kernels import Gaussian
from mercer.linear import RidgeRegressor
from mercer.machines import KernelRegressor
from mercer.select import (
    BestSubset,
    FilterSelector,
    GreedySelector,
    KnockoffSelector,
    L1Constrained,
    Lasso,
    OrthogonalMatchingPursuit,
    StabilitySelector,
)
from mercer.source import MemorySource

UNITS = [2.0**-1000, 2.0**-660, 2.0**-500, 1.0, 2.0**500, 2.0**660, 2.0**1000]


def problem(n=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, 2.0 * X[:, 1] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("score", ["pearson", "spearman", "mutual_information", "squared"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_filters_do_not_depend_on_units(score, unit, form):
    X, y = problem()
    expected = FilterSelector(score=score, k=1).fit(form(X), y).scores_
    columns = np.array([1.0, unit, 1.0, unit])
    assert np.array_equal(FilterSelector(score=score, k=1).fit(form(X * columns), y).scores_, expected)
    assert np.array_equal(FilterSelector(score=score, k=1).fit(form(X), y * unit).scores_, expected)


@pytest.mark.parametrize("unit", UNITS)
def test_filters_in_blocks_do_not_depend_on_units(unit):
    X, y = problem(20_000)
    X[:5000, 2] = 0.0
    expected = FilterSelector(k=1).fit(MemorySource(X, y)).scores_
    found = FilterSelector(k=1).fit(MemorySource(X * unit, y * unit)).scores_
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("unit", UNITS)
def test_stability_selection_does_not_depend_on_units(unit):
    X, y = problem()
    expected = StabilitySelector().fit(X, y).frequencies_
    assert np.array_equal(StabilitySelector().fit(X * unit, y).frequencies_, expected)
    assert np.array_equal(StabilitySelector().fit(X, y * unit).frequencies_, expected)


GRAM = [
    Lasso(),
    Lasso(alpha=0.1),
    L1Constrained(),
    KnockoffSelector(),
    OrthogonalMatchingPursuit(k=2),
    GreedySelector(k=2),
    BestSubset(k=2),
    RidgeRegressor(),
]


@pytest.mark.parametrize("model", GRAM, ids=str)
@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e300])
def test_columns_of_lost_squares_are_named(model, unit):
    X, y = problem()
    X[:, 2] *= unit
    X[:, [0, 1, 3]] *= unit > 1.0  # a tiny column among others counts as constant
    with pytest.raises(DataError, match="column 'x2'") as error:
        model.fit(X, y)
    assert error.value.column == "x2"


@pytest.mark.parametrize("model", GRAM, ids=str)
def test_a_single_huge_target_is_refused(model):
    X, y = problem()
    y[7] = 1e300
    with pytest.raises(DataError, match="squares of the target overflow"):
        model.fit(X, y)


# Those whose parameters are not in units of the data.
FREE = [model for model in GRAM if not isinstance(model, L1Constrained) and getattr(model, "alpha", None) != 0.1]


@pytest.mark.parametrize("model", FREE, ids=str)
@pytest.mark.parametrize("unit", [1e-120, 1e120])
def test_large_and_small_numbers_have_an_answer(model, unit):
    X, y = problem()
    model.fit(X, y * unit)
    model.fit(X * unit, y)
    if hasattr(model, "predict"):
        assert np.isfinite(model.predict(X * unit)).all()


def test_fixed_penalties_outweigh_tiny_columns():
    X, y = problem()
    ridge = RidgeRegressor(alpha=1.0).fit(X * 1e-200, y)
    np.testing.assert_allclose(ridge.predict(X * 1e-200), np.full(len(y), y.mean()))


@pytest.mark.parametrize(("dtype", "alpha"), [(np.float64, 1e-13), (np.float32, 1e-6)])
def test_penalties_below_rounding_are_warned_about(dtype, alpha):
    X, y = problem(300)
    X = X[:, :2].astype(dtype)
    with pytest.warns(ConvergenceWarning, match=r"digits of the predictions.*alpha of at least"):
        KernelRegressor(Gaussian(10.0), alpha=alpha).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelRegressor(Gaussian(10.0), alpha=0.1).fit(X, y)
        KernelRegressor(Gaussian(10.0), alpha=0).fit(X, y)
