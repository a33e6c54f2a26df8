"""PolynomialLift: scikit-learn's columns, the kernel's inner products, sizes known in advance."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import PolynomialFeatures

from mercer.expand import PolynomialLift
from mercer.expand.lifts import monomials
from mercer.source import MemorySource

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix], ids=["dense", "array", "matrix"])


def rows(n=12, d=4, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, d)) < 0.3, 0, rng.normal(size=(n, d))).astype(dtype)


def dense(Z):
    return Z.toarray() if sp.issparse(Z) else Z


@FORMS
@pytest.mark.parametrize("degree", range(7))
@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("include_bias", [True, False])
def test_values_names_and_powers_are_those_of_scikit_learn(form, degree, interaction_only, include_bias):
    if degree == 0 and not include_bias:
        return
    X = rows()
    peer = PolynomialFeatures(degree, interaction_only=interaction_only, include_bias=include_bias).fit(X)
    lift = PolynomialLift(degree, interaction_only, include_bias).fit(form(X))
    Z = lift.transform(form(X))
    assert type(Z) is type(form(X))
    # each product of p factors rounds at most p times, here and there
    np.testing.assert_allclose(dense(Z), peer.transform(X), rtol=2 * (degree + 1) * np.finfo(float).eps)
    assert lift.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    assert lift.n_output_features_ == peer.n_output_features_ == Z.shape[1]
    np.testing.assert_array_equal(lift.powers_, peer.powers_)
    names = lift.get_feature_names_out(list("abcd"))
    assert [lift.name_of(j) for j in range(Z.shape[1])] == lift.get_feature_names_out().tolist()
    assert names.tolist() == peer.get_feature_names_out(list("abcd")).tolist()


@FORMS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("degree", range(6))
@pytest.mark.parametrize("offset", [0, 0.25, 1.0, 3])
def test_kernel_scaling_gives_the_kernel(form, dtype, degree, offset):
    X, Y = rows(dtype=dtype), rows(5, dtype=dtype, seed=1)
    lift = PolynomialLift(degree, scaling="kernel", offset=offset).fit(form(X))
    Z, W = dense(lift.transform(form(X))).astype(float), dense(lift.transform(form(Y))).astype(float)
    exact = (offset + X.astype(float) @ Y.astype(float).T) ** degree
    scale = (offset + np.abs(X.astype(float)) @ np.abs(Y.astype(float)).T) ** degree
    assert lift.transform(form(X)).dtype == dtype
    tolerance = 1e-10 if dtype == np.float64 else 4 * (degree + 2) * np.finfo(np.float32).eps
    assert np.all(np.abs(Z @ W.T - exact) <= tolerance * np.maximum(scale, 1))
    expected = math.comb(4 + degree - 1, degree) if offset == 0 else math.comb(4 + degree, degree)
    assert Z.shape[1] == expected


def test_kernel_scaling_without_the_constant_and_without_powers():
    X = rows()
    Z = PolynomialLift(3, include_bias=False, scaling="kernel", offset=2.0).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, (2 + X @ X.T) ** 3 - 8, atol=1e-10 * 1e3)
    Z = PolynomialLift(2, interaction_only=True, scaling="kernel").fit_transform(X)
    t = X[:, None] * X[None]  # (1 + t_1 + ... + t_d)^2 without the squares of the t_j
    np.testing.assert_allclose(Z @ Z.T, (1 + t.sum(2)) ** 2 - (t**2).sum(2), atol=1e-10)


def test_weights_of_tiny_and_huge_offsets():
    X = rows()
    for offset in (1e-200, 1e100):
        Z = PolynomialLift(3, scaling="kernel", offset=offset).fit_transform(X)
        assert np.isfinite(Z).all()
        np.testing.assert_allclose(Z @ Z.T, (offset + X @ X.T) ** 3, rtol=1e-10, atol=1e-10)


def test_a_hundred_thousand_columns():
    d = 100_000
    X = sp.random_array((50, d), density=2e-4, format="csr", rng=np.random.default_rng(0))
    lift = PolynomialLift(2).fit(X)
    Z = lift.transform(X)
    assert Z.shape[1] == lift.n_output_features_ == math.comb(d + 2, 2) > 2**32
    assert Z.indices.dtype == Z.indptr.dtype == np.int64
    assert Z.has_canonical_format
    Z.check_format(full_check=True)
    counts = np.diff(X.indptr)
    assert np.diff(Z.indptr).tolist() == [math.comb(m + 2, 2) for m in counts]
    for i in range(0, 50, 7):
        row = X[[i]]
        values = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        pairs = [(), *((j,) for j in values), *itertools.combinations_with_replacement(values, 2)]
        stored = slice(*Z.indptr[i : i + 2])
        assert [lift.columns_of(int(c)) for c in Z.indices[stored]] == pairs
        np.testing.assert_allclose(Z.data[stored], [math.prod(values[j] for j in pair) for pair in pairs], rtol=1e-15)
    with pytest.raises(ValueError, match="names are not built"):
        lift.get_feature_names_out()
    assert lift.name_of(Z.shape[1] - 1) == "x99999^2"


def test_the_last_column_of_the_64_bit_range():
    d = 2_000_000
    X = sp.csr_array(([2.0, 3.0], [0, d - 1], [0, 2]), shape=(1, d))
    lift = PolynomialLift(3).fit(X)  # 1.3e18 columns
    Z = lift.transform(X)
    assert Z.indices[-1] == Z.shape[1] - 1 == math.comb(d + 3, 3) - 1
    assert Z.data[-1] == 27
    assert lift.columns_of(int(Z.indices[-2])) == (0, d - 1, d - 1)
    with pytest.raises(ValueError, match=r"64-bit column numbers end at 9.2e18"):
        PolynomialLift(4).fit(X)


def test_what_does_not_fit_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("mercer._runtime.memory.available_memory", lambda: 10**9)
    X = np.ones((1000, 1000), np.float32)
    lift = PolynomialLift(2).fit(X)
    said = r"1,000 rows x 501,501 columns x 4 bytes = 2.0 GB, and 1.0 GB are available.*CSR.*RandomFeatures"
    with pytest.raises(MemoryError, match=said):
        lift.transform(X)
    assert lift.transform(X[:2]).shape == (2, 501_501)
    with pytest.raises(MemoryError, match=r"501,501,000 stored entries x 8 bytes = 4.0 GB"):
        lift.transform(sp.csr_array(X))


def test_a_source_is_mapped_block_by_block():
    X = rows(20_000, 3)
    lift = PolynomialLift(3).fit(MemorySource(X))
    blocks = [block.X for block in lift.transform(MemorySource(X)).blocks()]
    assert len(blocks) > 1
    np.testing.assert_array_equal(np.vstack(blocks), lift.transform(X))
    wide = sp.random_array((3, 100_000), density=1e-4, format="csr", rng=np.random.default_rng(0))
    many = PolynomialLift(2).fit(MemorySource(wide))
    assert next(iter(many.transform(MemorySource(wide)).blocks())).X.shape[1] == many.n_output_features_


def test_many_rows_and_row_lengths_over_the_pool(monkeypatch):
    monkeypatch.setattr(monomials, "_ENTRIES", 100)
    X = rows(500, 6)
    X[::7] = 0
    Z = PolynomialLift(3).fit_transform(X)
    np.testing.assert_array_equal(PolynomialLift(3).fit_transform(sp.csr_array(X)).toarray(), Z)
    np.testing.assert_allclose(Z, PolynomialFeatures(3).fit_transform(X), rtol=1e-14)


def test_entries_stored_twice_and_out_of_order():
    X = sp.csr_matrix((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    np.testing.assert_array_equal(
        PolynomialLift(2).fit_transform(X).toarray(), PolynomialLift(2).fit_transform(X.toarray())
    )


@FORMS
def test_overflow_is_refused(form):
    X = np.array([[1e200, 1.0]])
    with pytest.raises(ValueError, match="exceeds the range of float64"):
        PolynomialLift(2).fit_transform(form(X))
    assert np.isfinite(dense(PolynomialLift(1).fit_transform(form(X)))).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"degree": -1}, "degree must be a whole number of at least 0, not -1"),
        ({"degree": 1.5}, "whole number"),
        ({"scaling": "sqrt"}, "'raw' or 'kernel'"),
        ({"scaling": "kernel", "offset": -1.0}, "offset must be a finite number of at least 0"),
        ({"degree": 0, "include_bias": False}, "no output columns"),
        ({"degree": 171, "scaling": "kernel"}, "limit is 170"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(ValueError, match=message):
        PolynomialLift(**parameters).fit([[1.0]])


def test_unfitted_and_out_of_range():
    with pytest.raises(NotFittedError):
        PolynomialLift().get_feature_names_out()
    with pytest.raises(ValueError, match="no output column 6"):
        PolynomialLift().fit([[1.0, 2.0]]).columns_of(6)
