"""One contract for every kernel on rows of numbers: adding a kernel is adding a row to the table."""

import math
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import mercer.kernels as kernels
from mercer.kernels import (
    AllSubsets,
    Anova,
    Cauchy,
    Constant,
    Custom,
    ExponentialPower,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    OnSubsets,
    Overlap,
    Polynomial,
    RationalQuadratic,
    Sinc,
)
from naive import naive_gram


def _inner(x, z):
    return float(np.dot(x, z))


STATIONARY = [
    Gaussian(),
    Gaussian(bandwidth=0.3),
    Gaussian(bandwidth=25),
    Laplace(),
    Laplace(bandwidth=2.0, norm="l1"),
    Cauchy(bandwidth=0.7),
    Matern(),
    Matern(nu=0.5),
    Matern(bandwidth=2.0, nu=2.5),
    Matern(nu=0.3),
    Matern(nu=4.2),
    Matern(nu=40.0),
    Matern(nu=math.inf),
    RationalQuadratic(),
    RationalQuadratic(bandwidth=2.0, alpha=0.2),
    ExponentialPower(),
    ExponentialPower(p=1.0, q=1.0),
    ExponentialPower(p=2.0, q=2.0),
    ExponentialPower(bandwidth=1.5, p=1.4, q=0.9),
    ExponentialPower(p=0.7, q=0.7),
    Sinc(),
    Sinc(bandwidth=0.4),
]
DOT = [
    Constant(),
    Constant(value=0.0),
    Linear(),
    Polynomial(),
    Polynomial(degree=3, offset=0.0, scale=0.5),
    Polynomial(degree=0),
    Polynomial(degree=1, offset=2),
    AllSubsets(),
    AllSubsets(scale=0.3),
    Anova(),
    Anova(degree=1),
    Anova(degree=3),
    Anova(degree=0),
    Overlap(),
    Custom(_inner),
]
COMPOSED = [
    Gaussian(2.0) + 0.5 * Polynomial(2),
    Linear() * Gaussian() + 1,
    Polynomial(3).normalized(),
    (2 * Laplace(norm="l1") + Linear()).normalized(),
    Gaussian().on(0) * Linear().on([0]),
    (Matern() + Cauchy()).on(slice(0, 1)) + Constant(0.25),
    3 * (Overlap() + Anova(1)),
    OnSubsets(Gaussian(0.7), order=2),
    OnSubsets(Laplace(norm="l1"), order=1, probabilities=[2.0]).on([0]),
    Laplace().through([[0.5, -2.0]]).on([0]) + Polynomial(2).through([[1.5]]).on([0]),
]
TABLE = STATIONARY + DOT + COMPOSED
SMALL = [Sinc(radial=True), Sinc(bandwidth=2.0, radial=True)]  # kernels in up to three dimensions


def rows(n, d, seed=0, dtype=float):
    """Rows with zeros, duplicates and both signs; read-only, so that writing to an argument fails."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.8)
    X[n // 2] = X[0]
    X = X.astype(dtype)
    X.flags.writeable = False
    return X


def tolerance(K, dtype=float, d=5):
    """A few dozen roundings of the largest value; exponents of degree 3 and d factors included."""
    return 40 * d * np.finfo(dtype).eps * max(1.0, np.abs(K).max(initial=0))


def name(case):
    """A name without addresses: every process must collect the same tests."""
    return re.sub(r" at 0x\w+", "", repr(case))


each_kernel = pytest.mark.parametrize("kernel", TABLE, ids=name)
CASES = [(k, d) for k in TABLE for d in (1, 2, 5, 9)] + [(k, d) for k in SMALL for d in (1, 2, 3)]
each_case = pytest.mark.parametrize(("kernel", "d"), CASES, ids=name)


@each_case
def test_equals_the_double_loop(kernel, d):
    X, Y = rows(12, d), rows(7, d, seed=1)
    for result, expected in [(kernel(X), naive_gram(kernel, X)), (kernel(X, Y), naive_gram(kernel, X, Y))]:
        assert result.shape == expected.shape
        assert result.dtype == np.float64
        np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance(expected))


@each_case
def test_symmetric_and_positive_semidefinite(kernel, d):
    K = kernel(rows(40, d))
    np.testing.assert_array_equal(K, K.T)
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] >= -40 * d * np.finfo(float).eps * max(1.0, eigenvalues[-1])


@each_case
def test_diagonal_agrees(kernel, d):
    X = rows(12, d)
    np.testing.assert_allclose(kernel.diag(X), np.diag(kernel(X)), rtol=1e-13, atol=1e-13)


@each_case
def test_distance_agrees_and_is_never_nan(kernel, d):
    X, Y = rows(12, d), rows(7, d, seed=1)
    K, own, other = kernel(X, Y), kernel.diag(X), kernel.diag(Y)
    squared = np.maximum(own[:, None] + other - 2 * K, 0)
    np.testing.assert_allclose(kernel.distance(X, Y) ** 2, squared, rtol=0, atol=tolerance(squared))
    D = kernel.distance(X)
    assert np.isfinite(D).all()
    np.testing.assert_array_equal(np.diag(D), 0)


@each_kernel
def test_algebra_identities(kernel):
    X, Y = rows(8, 4), rows(6, 4, seed=1)
    other = Polynomial(2)
    K, L = kernel(X, Y), other(X, Y)
    np.testing.assert_array_equal((kernel + other)(X, Y), K + L)
    np.testing.assert_array_equal((kernel * other)(X, Y), K * L)
    np.testing.assert_array_equal((2.5 * kernel)(X, Y), 2.5 * K)
    np.testing.assert_array_equal((np.float64(2.5) * kernel)(X, Y), 2.5 * K)
    np.testing.assert_array_equal((kernel * 2.5)(X, Y), 2.5 * K)
    np.testing.assert_array_equal((kernel + 0.5)(X, Y), K + 0.5)
    np.testing.assert_array_equal((0.5 + kernel).diag(X), kernel.diag(X) + 0.5)
    np.testing.assert_array_equal(sum([kernel, other])(X, Y), K + L)


@each_kernel
def test_normalized_has_a_unit_diagonal(kernel):
    X = rows(8, 4)
    normalized, own = kernel.normalized(), kernel.diag(X)
    expected = (own > 0).astype(float)
    np.testing.assert_array_equal(normalized.diag(X), expected)
    K = normalized(X)
    np.testing.assert_array_equal(np.diag(K), expected)
    assert np.abs(K).max() <= 1 + 1e-12


@each_kernel
@pytest.mark.parametrize("columns", [0, [2, 0], slice(1, None), [False, True, True, True]], ids=repr)
def test_on_equals_slicing(kernel, columns):
    X, Y = rows(8, 4), rows(6, 4, seed=1)
    some = [columns] if isinstance(columns, int) else columns
    np.testing.assert_array_equal(kernel.on(columns)(X, Y), kernel(X[:, some], Y[:, some]))
    np.testing.assert_array_equal(kernel.on(columns).diag(X), kernel.diag(X[:, some]))


@each_kernel
@pytest.mark.parametrize("d", [1, 3, 9])
def test_float32_stays_float32(kernel, d):
    if isinstance(kernel, Custom):
        kernel = Linear()  # a user's function returns what it returns
    X, Y = rows(12, d, dtype=np.float32), rows(7, d, seed=1, dtype=np.float32)
    expected = naive_gram(kernel, X, Y)
    assert kernel(X, Y).dtype == kernel.diag(X).dtype == kernel.distance(X).dtype == np.float32
    # a narrow bandwidth multiplies the rounding of distances
    scale = 1 / min(1.0, getattr(kernel, "bandwidth", 1.0))
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=0, atol=scale * tolerance(expected, np.float32, d))
    assert kernel(X, Y.astype(float)).dtype == np.float64


@each_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_csr_equals_dense(kernel, dtype):
    if isinstance(kernel, Custom):
        kernel = Linear()  # a user's function sees the rows as they are
    X, Y = rows(12, 9, dtype=dtype), rows(7, 9, seed=1, dtype=dtype)
    A, B = sparse.csr_matrix(X), sparse.csr_array(Y)
    dense = kernel(X, Y)
    close = {"rtol": 0, "atol": 10 * tolerance(dense, dtype, 9)}
    np.testing.assert_allclose(kernel(A, B), dense, **close)
    np.testing.assert_allclose(kernel(A, Y), dense, **close)
    np.testing.assert_allclose(kernel(X, B), dense, **close)
    np.testing.assert_allclose(kernel.diag(A), kernel.diag(X), **close)
    assert kernel(A, B).dtype == dtype
    K = kernel(A)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K, kernel(X), **close)


@each_kernel
def test_empty_single_and_duplicated_rows(kernel):
    X = rows(6, 3)
    assert kernel(X, X[:0]).shape == (6, 0)
    assert kernel(X[:0], X).shape == (0, 6)
    assert kernel(X[:0]).shape == kernel.distance(X[:0]).shape == (0, 0)
    assert kernel.diag(X[:0]).shape == (0,)
    np.testing.assert_allclose(kernel(X[:1]), kernel(X)[:1, :1], atol=1e-13)
    repeated = np.repeat(X, 3, axis=0)
    np.testing.assert_allclose(kernel(repeated), np.kron(kernel(X), np.ones((3, 3))), atol=1e-12)


@each_kernel
def test_parameters_round_trip(kernel):
    copy = clone(kernel)
    assert copy == kernel
    assert copy is not kernel
    assert copy.get_params().keys() == kernel.get_params().keys()
    assert copy.set_params(**copy.get_params(deep=False)) == kernel
    if not isinstance(kernel, Custom):
        assert eval(repr(kernel), {"inf": math.inf, **vars(kernels)}) == kernel


@each_kernel
def test_resolve_without_data_dependence_is_the_kernel_itself(kernel):
    assert kernel.resolve(rows(5, 3)) is kernel


@pytest.mark.parametrize("kernel", STATIONARY + SMALL, ids=repr)
@pytest.mark.parametrize("d", [2, 3, 6])
@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_stationary_kernels_take_extreme_values(kernel, d, scale):
    if kernel in SMALL and d > 3:
        d = 3
    X = rows(6, d) * scale
    np.testing.assert_allclose(kernel(X), naive_gram(kernel, X), rtol=0, atol=1e-13)
    scaled = clone(kernel).set_params(bandwidth=scale)
    np.testing.assert_allclose(scaled(X), naive_gram(scaled, X), rtol=0, atol=1e-13)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(), AllSubsets(), Anova()], ids=repr)
def test_overflow_is_an_error_that_says_what_to_do(kernel):
    with pytest.raises(ValueError, match="scale"):
        kernel(rows(6, 3) * 1e200)


@pytest.mark.parametrize("kernel", STATIONARY, ids=repr)
@pytest.mark.parametrize("d", [2, 9])
def test_stationary_kernels_keep_their_digits_far_from_the_origin(kernel, d):
    X = np.round(rows(12, d) * 2**20) / 2**20  # exact after the shift
    # q < 1 has an infinite slope at 0, and the matrix product leaves distances with relative errors of 1e-10
    np.testing.assert_allclose(kernel(X + 2.0**26), naive_gram(kernel, X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("kernel", [Laplace(bandwidth=1e-3), ExponentialPower(p=2, q=0.5)], ids=repr)
def test_nearly_equal_rows_are_not_lost_to_cancellation(kernel):
    X = rows(10, 20)
    Y = X + 1e-9 * rows(10, 20, seed=2)
    np.testing.assert_allclose(kernel(X, Y), naive_gram(kernel, X, Y), rtol=0, atol=1e-8)
    np.testing.assert_array_equal(np.diag(kernel(X, X.copy())), 1.0)
