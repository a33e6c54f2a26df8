"""Centering, unit range and standardization."""

import numpy as np
import pytest
from scipy import sparse

from mercer.normalize import Center, Standardize, UnitRange

EPS = np.finfo(np.float64).eps


def test_the_formulas():
    f = np.array([[1.0], [2.0], [6.0]])
    np.testing.assert_array_equal(Center().fit_transform(f), f - 3.0)
    np.testing.assert_array_equal(UnitRange().fit_transform(f), (f - 1.0) / 5.0)
    np.testing.assert_allclose(Standardize().fit_transform(f), (f - 3.0) / np.sqrt(14 / 3), rtol=2 * EPS)


def test_weights():
    f, w = np.array([[0.0], [1.0]]), [1.0, 3.0]
    assert Center().fit(f, sample_weight=w).mean_ == 0.75
    assert Standardize().fit(f, sample_weight=w).scale_ == np.sqrt(3) / 4


def test_constant_columns_and_single_rows_map_to_zero():
    for X in (np.full((5, 2), 1e9 + 0.1), np.array([[3.0, -4.0]])):
        for estimator in (Center(), UnitRange(), Standardize()):
            np.testing.assert_array_equal(estimator.fit_transform(X), np.zeros_like(X))
            np.testing.assert_array_equal(estimator.inverse_transform(estimator.transform(X)), X)
        np.testing.assert_array_equal(Standardize().fit(X).scale_, 1.0)
        np.testing.assert_array_equal(UnitRange().fit(X).scale_, 1.0)


@pytest.mark.parametrize("offset", [0.0, 1e15, -1e15, 2.0**52])
def test_an_offset_costs_nothing(offset):
    # The values are representable at every offset, so the result must be that at offset 0.
    f = np.random.default_rng(0).integers(0, 50, size=(101, 1)).astype(float)
    Z = Standardize().fit_transform(f + offset)
    np.testing.assert_allclose(Z, Standardize().fit_transform(f), rtol=0, atol=8 * EPS)
    np.testing.assert_allclose(Center().fit_transform(f + offset), Center().fit_transform(f), rtol=0, atol=64 * EPS)
    assert abs(Z.mean()) < 8 * EPS
    assert abs(Z.std() - 1) < 8 * EPS


def test_standard_deviation_below_the_rounding_of_the_mean():
    X = np.array([[1e15], [1e15 + 0.125]])
    np.testing.assert_array_equal(Standardize().fit_transform(X), [[-1.0], [1.0]])
    np.testing.assert_array_equal(Center().fit_transform(X), [[-0.0625], [0.0625]])


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e200, 1e308])
def test_scale_does_not_matter(size):
    X = np.array([[-1.0], [0.5], [1.0]]) * size
    # At 1e-320 the numbers themselves have only three digits.
    tolerance = 2e-3 if size < 1e-300 else 8 * EPS
    np.testing.assert_allclose(UnitRange().fit_transform(X), [[0.0], [0.75], [1.0]], atol=tolerance)
    unit = np.array([[-1.0], [0.5], [1.0]])
    np.testing.assert_allclose(Standardize().fit_transform(X), Standardize().fit_transform(unit), atol=tolerance)


def test_a_range_beyond_float64():
    unit = UnitRange().fit([[-1.7e308, 0.0], [1.7e308, 4.0]])
    np.testing.assert_allclose(unit.transform([[0.0, 1.0], [1.7e308, 2.0]]), [[0.5, 0.25], [1.0, 0.5]])
    np.testing.assert_allclose(unit.inverse_transform([[0.0, 0.5], [1.0, 2.0]]), [[-1.7e308, 2.0], [1.7e308, 8.0]])
    assert np.isfinite(unit.scale_).all()


def test_results_beyond_float64_are_its_largest_number():
    most = np.finfo(np.float64).max
    assert Center().fit([[-1.7e308], [1.7e308], [1.7e308], [1.7e308]]).transform([[-1.7e308]]) == -most
    assert Standardize().fit([[0.0], [1e-300]]).transform([[1e300]]) == most
    assert UnitRange().fit([[0.0], [5e-324]]).transform([[1.0]]) == most
    assert Standardize().fit(np.array([[0.0], [1.0]], np.float32)).inverse_transform(
        np.array([[np.finfo(np.float32).max]], np.float32)
    ) == pytest.approx(np.finfo(np.float32).max / 2, rel=1e-6)


def test_unit_range_reaches_exactly_zero_and_one():
    rng = np.random.default_rng(1)
    for dtype in (np.float64, np.float32):
        X = (rng.normal(size=(500, 20)) * 10.0 ** rng.uniform(-10, 10, 20)).astype(dtype)
        Z = UnitRange().fit_transform(X)
        np.testing.assert_array_equal(Z.min(axis=0), 0.0)
        np.testing.assert_array_equal(Z.max(axis=0), 1.0)


def test_new_values_extrapolate_or_are_clipped():
    new = [[-1.0], [4.0]]
    np.testing.assert_array_equal(UnitRange().fit([[0.0], [2.0]]).transform(new), [[-0.5], [2.0]])
    np.testing.assert_array_equal(UnitRange(clip=True).fit([[0.0], [2.0]]).transform(new), [[0.0], [1.0]])


def test_sparse_unit_range_needs_minimum_zero():
    S = sparse.csr_matrix(np.array([[0.0, -1.0], [2.0, 0.0]]))
    with pytest.raises(ValueError, match=r"column 1 has minimum -1.*toarray"):
        UnitRange().fit(S).transform(S)


def test_without_mean_only_the_scale_is_used():
    X = np.random.default_rng(0).normal(5.0, 2.0, size=(50, 3))
    fitted = Standardize(with_mean=False).fit(X)
    np.testing.assert_allclose(fitted.transform(X), X / X.std(axis=0), rtol=8 * EPS)
