"""Very large and very small numbers, for every public estimator: a finite answer, or an error that names the column.

The tables are those of the other contracts. A leaked RuntimeWarning fails, as any warning does.
"""

from __future__ import annotations

import itertools
import os
import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

import mercer
from contracts import test_estimator_contract, test_machine_contract, test_normalize_contract
from contracts.test_estimator_contract import dense, problem, target
from mercer._runtime.errors import DataError
from mercer.kernels import Precomputed
from mercer.learn import PiecewiseLinear, SupervisedBins, TreeFeatures
from mercer.machines import NotMercerWarning
from mercer.normalize import Quantile, Standardize, UnitRange
from mercer.select import FilterSelector, Lasso

ESTIMATORS = [
    *test_estimator_contract.TABLE,
    *test_estimator_contract.ITERATED,
    *test_normalize_contract.NUMERIC,
    *test_machine_contract.TABLE,
]
SCALES = [(scale, np.float64) for scale in (1e-300, 1e-200, 1e-150, 1e150, 1e200, 1e300)]
SCALES += [(1e-38, np.float32), (1e37, np.float32)]
CASES = list(itertools.product(SCALES, ["column", "columns", "target"]))
#: In the short form each estimator gets some of the cases, and all estimators together get all.
STEP = 1 if os.environ.get("MERCER_TEST_LENGTH") == "long" else 8
VERBS = ("transform", "predict", "predict_proba", "decision_function")


def rows(estimator, scale, dtype, where):
    """A problem in which a column, all columns or the target are of another magnitude."""
    X, y = problem()
    if type(estimator).__name__ == "Log":
        X = np.abs(X)
    if where == "target":
        y = y * scale
    elif isinstance(getattr(estimator, "kernel", None), Precomputed):
        return (scale * (X @ X.T)).astype(dtype), target(estimator, y)
    else:
        X[:, [2] if where == "column" else slice(None)] *= scale
    if isinstance(getattr(estimator, "kernel", None), Precomputed):
        X = X @ X.T
    return X.astype(dtype), target(estimator, y)


@pytest.mark.parametrize("i", range(len(ESTIMATORS)), ids=lambda i: str(ESTIMATORS[i]))
def test_extreme_numbers_have_a_finite_answer_or_their_column_is_named(i, record_property):
    cases = CASES[i % STEP :: STEP]
    for (scale, dtype), where in cases:
        if where != "target" or not is_classifier(ESTIMATORS[i]):
            outputs, error = answer(ESTIMATORS[i], *rows(ESTIMATORS[i], scale, dtype, where))
            assert error is None or ("target" in str(error) if where == "target" else says_where(error))
            assert all(np.isfinite(out).all() for out in outputs if out.dtype.kind == "f")
    record_property("cases", len(cases))


def answer(estimator, X, y):
    """What the fitted estimator makes of its rows, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)  # of convergence, of an empty selection
        warnings.simplefilter("ignore", NotMercerWarning)
        try:
            model = clone(estimator).fit(X, y)
            return [dense(getattr(model, verb)(X)) for verb in VERBS if hasattr(model, verb)], None
        except ValueError as error:
            return [], error


def says_where(error):
    return getattr(error, "column", None) is not None or "column" in str(error) or "row" in str(error)


#: Those whose features depend on the order of the values, or on values in units of their variation. (Folds and samples
#: of rows depend on the hash of a row, and so on its unit.)
INVARIANT = [
    Standardize(),
    UnitRange(),
    Quantile(),
    SupervisedBins(n_bins=4),
    PiecewiseLinear(n_bins=4),
    FilterSelector(k=2),
]


@pytest.mark.parametrize("estimator", INVARIANT, ids=str)
@pytest.mark.parametrize("unit", [2.0**-400, 2.0**400])
def test_features_do_not_depend_on_units(estimator, unit):
    X, y = problem()
    plain = clone(estimator).fit(X, y)
    scaled = clone(estimator).fit(X * unit, y)
    if isinstance(estimator, FilterSelector):
        assert np.array_equal(scaled.get_support(), plain.get_support())
    else:
        assert np.array_equal(dense(scaled.transform(X * unit)), dense(plain.transform(X)))


def test_names_of_frames_are_named():
    import pandas as pd

    X, y = problem()
    X[:, 2] *= 1e200
    frame = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(DataError, match=r"column 'c'.*Standardize") as error:
        TreeFeatures("score", ensemble="forest", n_estimators=3).fit(frame, y)
    assert error.value.column == "c"


def test_ordinary_numbers_keep_the_warning_of_numpy():
    """Overflow that no unit explains is no error of the data."""

    class Overflowing(Standardize):
        def _finish(self, learned):
            super()._finish(learned)
            np.exp(np.array([1e4]))

    with pytest.warns(RuntimeWarning, match=r"overflow in Overflowing.fit"):
        Overflowing().fit(problem()[0])


def test_workers_report_overflow():
    """The pool runs its items in the context of the caller."""
    from mercer._runtime.magnitudes import refuse_extreme_results
    from mercer._runtime.pool import for_each

    class Squares:
        @refuse_extreme_results
        def fit(self, X):
            for_each(lambda rows: np.sort(np.concatenate([rows] * 20_000)) ** 2, np.array_split(X, 20))

    with pytest.raises(DataError, match=r"column 'x1' are too large for Squares.fit"):
        Squares().fit(np.ones((40, 2)) * [1.0, 1e200])


def test_targets_in_other_units_have_the_same_lasso():
    X, y = problem()
    plain = Lasso(n_alphas=20).fit(X, y)
    for unit in (2.0**-200, 2.0**200):
        np.testing.assert_allclose(Lasso(n_alphas=20).fit(X, y * unit).coef_ / unit, plain.coef_, rtol=1e-9)


@pytest.mark.parametrize(("scale", "where"), [(1e-300, "columns"), (1e300, "column"), (1e300, "target")])
def test_models_do_not_depend_on_units_of_columns(scale, where):
    X, y = problem(300)
    X[:, [2] if where == "column" else slice(None)] *= 1.0 if where == "target" else scale
    data = {f"x{j}": x for j, x in enumerate(X.T)} | {"y": y * scale if where == "target" else y}
    if where == "target":
        with pytest.raises(ValueError, match=r"target 'y' is .*: divide it by a power of ten"):
            mercer.fit(data, "y", effort="fast", report=False)
        return
    model = mercer.fit(data, "y", effort="fast", report=False)
    assert np.mean((model.predict(data) - y) ** 2) < 0.1 * np.var(y)
