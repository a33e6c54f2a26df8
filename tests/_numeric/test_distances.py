"""Distances in blocks, near and far from the origin, dense and sparse; products over columns."""

import numpy as np
import pytest
from scipy import sparse

from mercer._numeric.linalg import column_kernels as columns
from mercer._numeric.linalg import distances
from mercer._numeric.linalg.column_kernels import all_subsets, elementary_symmetric, sinc_product
from mercer._numeric.linalg.matern import _matern_bessel, _matern_debye, matern
from mercer.kernels import AllSubsets, Anova, Sinc
from naive import naive_gram, naive_norm

X = np.random.default_rng(0).normal(size=(23, 7)) * (np.random.default_rng(1).random((23, 7)) < 0.7)
X[11] = X[4]
Y = np.random.default_rng(2).normal(size=(17, 7))
Y[3] = X[20]


def naive_distances(A, B, p=2):
    return np.array([[naive_norm(a, b, p) for b in B] for a in A])


@pytest.fixture(params=[1, 17 * 3, 23 * 4, 10**6])
def block(request, monkeypatch):
    """Blocks of one row, of a few rows, and of everything."""
    monkeypatch.setattr(distances, "BLOCK", request.param)
    monkeypatch.setattr(distances, "GATHER", request.param)
    monkeypatch.setattr(columns, "STATE", request.param)


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("p", [2, 1, 1.5, 0.5])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("width", [2, 7])
def test_distances_equal_the_double_loop_for_any_blocks(p, kind, width):
    A, B = X[:, :width], Y[:, :width]
    expected = naive_distances(A, B, p)
    np.testing.assert_allclose(distances.distances(kind(A), kind(B), p, scale=3.0), expected / 3, atol=1e-13)
    own = distances.distances(kind(A), p=p)
    np.testing.assert_allclose(own, naive_distances(A, A, p), atol=1e-13)
    np.testing.assert_array_equal(own, own.T)
    np.testing.assert_array_equal(np.diag(own), 0)
    assert own[4, 11] == 0
    np.testing.assert_allclose(distances.paired_distances(kind(A[:17]), kind(B), p), np.diag(expected), atol=1e-13)


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_products_over_columns_equal_the_double_loop_for_any_blocks(kind):
    A, B = kind(X), kind(Y)
    np.testing.assert_allclose(all_subsets(A, B, 0.3), naive_gram(AllSubsets(0.3), X, Y), atol=1e-13)
    np.testing.assert_allclose(elementary_symmetric(A, B, 3), naive_gram(Anova(3), X, Y), atol=1e-12)
    np.testing.assert_allclose(sinc_product(A, B, 0.6), naive_gram(Sinc(0.6), X, Y), atol=1e-13)


@pytest.mark.parametrize("factor", [1e200, 1e-200, 1e308, 5e-324 * 2**60, 1.0])
@pytest.mark.parametrize("width", [2, 7])
def test_the_range_of_floats_is_no_limit(factor, width):
    A = X[:, :width] / 8 * factor
    assert np.isfinite(A).all()
    exact = naive_distances(A, A)
    found = distances.distances(A)
    np.testing.assert_allclose(found, exact, rtol=1e-8, atol=1e-12 * factor)
    in_units = distances.squared_distances(A, scale=factor)
    np.testing.assert_allclose(in_units, (exact / factor) ** 2, rtol=1e-8, atol=1e-12)
    tiny_scale = distances.squared_distances(A * 1.0, scale=1e-300)
    assert not np.isnan(tiny_scale).any()
    np.testing.assert_array_equal(np.diag(tiny_scale), 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_near_rows_keep_half_of_their_digits_at_least(dtype, kind):
    base = np.random.default_rng(3).normal(size=(30, 12)).astype(dtype)
    for gap in (1e-1, 1e-2, 1e-3, 1e-5):
        near = (base * (1 + gap)).astype(dtype)
        found = distances.distances(kind(base), kind(near))
        exact = naive_distances(base.astype(float), near.astype(float))
        assert found.dtype == dtype
        np.testing.assert_allclose(found, exact, rtol=20 * np.finfo(dtype).eps ** 0.6)


def test_rows_far_from_the_origin():
    exact = np.round(X * 2**20) / 2**20
    np.testing.assert_allclose(distances.distances(exact + 2.0**27), naive_distances(exact, exact), atol=1e-13)


def test_centering_keeps_the_last_digits():
    near = np.round(X * 2**20) / 2**20
    # without it, 100 ||center||^2 eps = 7e-12
    np.testing.assert_allclose(distances.distances(near + 64), naive_distances(near, near), rtol=3e-14)


def test_arguments_are_left_alone():
    A, B = X.copy(), Y.copy()
    A.flags.writeable = B.flags.writeable = False
    distances.squared_distances(A, B)
    distances.distances(A * 1.0, p=1)
    C = sparse.csr_array(X)
    before = C.copy()
    distances.distances(C)
    assert (before != C).nnz == 0


@pytest.mark.parametrize("nu", [20.0, 25.0, 40.0])
def test_matern_expansions_agree_where_both_hold(nu):
    t = np.concatenate([[0.0, 1e-12, 1e-3], np.linspace(0.1, 80, 200)])
    np.testing.assert_allclose(_matern_debye(t, nu), _matern_bessel(t, nu), atol=1e-12)


def test_matern_limits():
    r = np.array([0.0, 0.5, 2.0])
    np.testing.assert_allclose(matern(r * np.sqrt(2e9), 1e9), np.exp(-(r**2) / 2), atol=1e-8)
    assert matern(0.0, 1e-3) == matern(0.0, 1e3) == 1
