"""A kernel through a linear map: the same values, frequencies, features and landmarks as on mapped rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from mercer.expand import Landmarks, RandomFeatures
from mercer.kernels import Gaussian, Laplace, Linear, Matern, Polynomial

rng = np.random.default_rng(0)
X, A = rng.normal(size=(40, 5)), rng.normal(size=(5, 3))


@pytest.mark.parametrize(
    "kernel", [Gaussian(2.0), Laplace("median"), Polynomial(2), Gaussian() * Linear() + 1], ids=repr
)
def test_values_are_those_of_mapped_rows(kernel):
    through = kernel.through(A)
    np.testing.assert_allclose(through(X), kernel(X @ A), rtol=1e-12)
    np.testing.assert_allclose(
        through(X, X[:7]), kernel(X @ A, X[:7] @ A) if kernel != Laplace("median") else through(X)[:, :7]
    )
    np.testing.assert_allclose(through.diag(X), kernel.diag(X @ A))


def test_the_median_is_that_of_mapped_rows():
    settled = Gaussian("median").through(A).resolve(X)
    assert settled.kernel == Gaussian("median").resolve(X @ A)
    assert Gaussian("median").through(A).is_data_dependent
    assert not settled.is_data_dependent


def test_frequencies_are_mapped():
    mine = Matern(nu=2.5).through(A).frequencies(9, 5, np.random.default_rng(3))
    np.testing.assert_allclose(mine, Matern(nu=2.5).frequencies(9, 3, np.random.default_rng(3)) @ A.T)
    assert Matern().through(A).mass == 1.0


@pytest.mark.parametrize("sampling", ["orthogonal", "iid", "quasi", "structured"])
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Polynomial(2), Gaussian() + 0.5 * Laplace(norm="l1")], ids=repr)
def test_random_features_are_those_of_mapped_rows(kernel, sampling):
    ours = RandomFeatures(kernel.through(A), n_components=24, sampling=sampling).fit(X)
    theirs = RandomFeatures(kernel, n_components=24, sampling=sampling).fit(X @ A)
    assert ours.sampling_ == theirs.sampling_
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X @ A), atol=2e-6)
    np.testing.assert_allclose(ours.transform(sparse.csr_array(X)), ours.transform(X), atol=2e-6)


@pytest.mark.parametrize("sampling", ["orthogonal", "iid", "quasi", "structured"])
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Polynomial(2), Laplace(norm="l1"), Gaussian() + Linear()], ids=repr)
def test_a_vector_is_a_diagonal_matrix(kernel, sampling):
    a = np.array([2.0, 0.5, 0.0, -1.0, 0.1])
    vector, matrix = kernel.through(a), kernel.through(np.diag(a))
    np.testing.assert_allclose(vector(X), matrix(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(vector(sparse.csr_array(X)), matrix(X), rtol=1e-10, atol=1e-12)
    ours = RandomFeatures(vector, n_components=24, sampling=sampling).fit(X)
    theirs = RandomFeatures(matrix, n_components=24, sampling=sampling).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=2e-6)
    np.testing.assert_allclose(ours.transform(sparse.csr_array(X)), theirs.transform(X), atol=2e-6)


@pytest.mark.parametrize("matrix", [A, np.array([2.0, 0.5, 0.0, -1.0, 0.1])], ids=["matrix", "vector"])
def test_certificates_compare_with_the_kernel_in_the_metric(matrix):
    kernel = Gaussian("median").through(matrix)
    certificate = RandomFeatures(kernel, n_components=2048).fit(X).certificate(X)
    assert certificate.max < 0.15
    assert "Through(kernel=Gaussian(" in certificate.subject
    assert Landmarks(40, kernel).fit(X).certificate(X).max < 1e-6


def test_a_term_of_a_sum():
    kernel = Gaussian(2.0).through(A) + 0.5 * Linear()
    Z = RandomFeatures(kernel, n_components=4096).fit_transform(X)
    # 4096 columns: an error of 1/sqrt(4096 / 2) has five standard deviations at 0.11
    assert np.abs(Z @ Z.T - kernel(X)).max() < 0.15


def test_landmarks_and_restrictions():
    Z = Landmarks(kernel=Gaussian("median").through(A), choose="all").fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, Gaussian("median").through(A)(X), atol=1e-6)
    inner = Gaussian(1.0).on([2, 0]).through(A)
    np.testing.assert_allclose(inner(X), Gaussian(1.0)((X @ A)[:, [2, 0]]), rtol=1e-12)
    features = RandomFeatures(inner, n_components=16).fit(X)
    np.testing.assert_allclose(
        features.transform(X), RandomFeatures(Gaussian(1.0).on([2, 0]), n_components=16).fit_transform(X @ A), atol=2e-6
    )


def test_parameters_equality_and_representation():
    kernel = Gaussian(2.0).through(A)
    assert clone(kernel) == kernel
    assert kernel != Gaussian(2.0).through(2 * A)
    assert kernel != Gaussian(3.0).through(A)
    assert repr(kernel) == "Through(kernel=Gaussian(bandwidth=2.0), matrix=<5 x 3 numbers>)"
    assert clone(kernel).set_params(kernel__bandwidth=7.0).kernel == Gaussian(7.0)


def test_wrong_matrices_are_refused():
    with pytest.raises(ValueError, match="matrix of 5 rows, but the data have 4 columns"):
        Gaussian().through(A)(X[:, :4])
    with pytest.raises(ValueError, match="matrix of 5 rows, but the data have 4 columns"):
        RandomFeatures(Gaussian().through(A), n_components=8).fit(X[:, :4])
    with pytest.raises(ValueError, match="matrix of 4 rows, but the data have 5 columns"):
        Gaussian().through(np.ones(4))(X)
    for wrong in (np.ones((5, 2, 1)), np.full((5, 2), np.nan), np.full(5, np.inf), np.ones((5, 0)), [["a"]], 2.0):
        with pytest.raises(ValueError, match="matrix or a vector of finite numbers"):
            Gaussian().through(wrong)(X)
