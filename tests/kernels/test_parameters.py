"""Parameters: scikit-learn's protocol, the median bandwidth, and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV

from mercer.kernels import (
    AllSubsets,
    Anova,
    Constant,
    ExponentialPower,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Scaled,
    Sinc,
)

X = np.random.default_rng(0).normal(size=(60, 2))


class Ridge(RegressorMixin, BaseEstimator):
    """The smallest estimator with a kernel parameter."""

    def __init__(self, kernel=None, alpha=1e-3):
        self.kernel = kernel
        self.alpha = alpha

    def fit(self, X, y):
        self.X_ = X
        self.weights_ = np.linalg.solve(self.kernel(X) + self.alpha * np.eye(len(X)), y)
        return self

    def predict(self, X):
        return self.kernel(X, self.X_) @ self.weights_


def test_grid_search_reaches_nested_parameters():
    grid = {"kernel__left__bandwidth": [1e-3, 1.0], "kernel__right__kernel__degree": [1, 2]}
    model = Ridge(Gaussian() + 0.1 * Polynomial())
    search = GridSearchCV(model, grid, cv=3).fit(X, np.sin(X[:, 0]) + X[:, 1])
    assert search.best_params_["kernel__left__bandwidth"] == 1.0
    assert search.best_estimator_.kernel.left.bandwidth == 1.0
    assert model.kernel == Gaussian() + 0.1 * Polynomial()


def test_grid_search_over_kernels():
    search = GridSearchCV(Ridge(), {"kernel": [Gaussian(1e-3), Linear()]}, cv=3).fit(X, X[:, 0])
    assert search.best_params_["kernel"] == Linear()


def test_nested_names():
    kernel = (Gaussian() * Linear()).on([0]) + 2
    assert kernel.get_params()["left__kernel__left__bandwidth"] == 1.0
    kernel.set_params(left__kernel__left__bandwidth=3.0, right__value=5.0)
    assert kernel == (Gaussian(3.0) * Linear()).on([0]) + 5
    copy = clone(kernel).set_params(left__kernel__left=Matern(), left__kernel__left__nu=2.5)
    assert copy.left.kernel.left == Matern(nu=2.5)
    assert kernel.left.kernel.left == Gaussian(3.0)
    with pytest.raises(ValueError, match="no parameter 'sigma'"):
        Gaussian().set_params(sigma=1.0)


def test_median_is_the_median_distance_of_all_pairs_of_few_rows():
    few = X[:20]
    for kernel, p in (
        (Gaussian("median"), 2),
        (Laplace("median", norm="l1"), 1),
        (ExponentialPower("median", 1.5), 1.5),
    ):
        pairs = [np.linalg.norm(few[i] - few[j], p) for i in range(20) for j in range(i)]
        expected = np.median(pairs)
        assert kernel.resolve(few).bandwidth == pytest.approx(expected, rel=1e-12)
        assert kernel.resolve(sparse.csr_matrix(few)).bandwidth == pytest.approx(expected, rel=1e-12)
        assert kernel.resolve(few * 1e200).bandwidth == pytest.approx(expected * 1e200, rel=1e-12)
        assert kernel.resolve(few * 1e-200).bandwidth == pytest.approx(expected * 1e-200, rel=1e-12)
        assert kernel.bandwidth == "median"


def test_median_of_many_rows_is_sampled_and_repeatable():
    many = np.random.default_rng(1).normal(size=(5000, 3))
    found = Gaussian("median").resolve(many).bandwidth
    assert found == Gaussian("median").resolve(many.copy()).bandwidth
    # the density of the distance near its median is about 0.4: a standard error of 0.5 / sqrt(1000) / 0.4
    assert abs(found - np.sqrt(2 * 2.366)) < 5.3 * 0.04


def test_median_of_coinciding_rows():
    assert Gaussian("median").resolve(np.ones((30, 2))).bandwidth == 1.0
    assert Gaussian("median").resolve(np.ones((1, 2))).bandwidth == 1.0
    mostly = np.zeros((30, 1))
    mostly[0] = 3.0
    assert Gaussian("median").resolve(mostly).bandwidth == pytest.approx(3.0)


def test_median_is_resolved_on_the_rows_of_X_everywhere():
    kernel = 2 * Gaussian("median").on([0]) + Linear()
    settled = kernel.resolve(X)
    assert settled == 2 * Gaussian(Gaussian("median").resolve(X[:, [0]]).bandwidth).on([0]) + Linear()
    np.testing.assert_array_equal(kernel(X, X[:5] * 7), settled(X, X[:5] * 7))
    np.testing.assert_array_equal(kernel.distance(X, X[:5] * 7), settled.distance(X, X[:5] * 7))
    np.testing.assert_array_equal(kernel.diag(X), settled.diag(X))
    assert settled.resolve(X) is settled


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Gaussian(0.0), "Gaussian: bandwidth must be a number > 0 or 'median', got 0.0"),
        (Gaussian("mean"), "'median', got 'mean'"),
        (Gaussian(np.nan), "bandwidth"),
        (Gaussian(None), "bandwidth"),
        (Laplace(norm="l3"), "norm must be 'l2' or 'l1'"),
        (Matern(nu=-1), "nu must be"),
        (RationalQuadratic(alpha=0), "alpha"),
        (ExponentialPower(p=2.5), "p must be a number > 0 and <= 2"),
        (ExponentialPower(p=1.0, q=1.5), "q must not exceed p"),
        (Sinc(radial="yes"), "radial"),
        (Polynomial(degree=1.5), "degree must be a whole number >= 0, got 1.5"),
        (Polynomial(degree=-1), "degree"),
        (Polynomial(offset=-0.1), "offset"),
        (Polynomial(scale=0), "scale"),
        (AllSubsets(scale=-1), "scale"),
        (Anova(degree=True), "degree"),
        (Constant(-1.0), "value"),
        (Scaled(Linear(), -2.0), "scale"),
        (Linear() + Constant(-1.0), "value"),
    ],
    ids=repr,
)
def test_wrong_parameters_are_refused_when_used(kernel, message):
    for use in (kernel, kernel.diag, kernel.distance, kernel.resolve):
        with pytest.raises(ValueError, match=message):
            use(X)


def test_wrong_scalars_are_refused_with_the_reason():
    for wrong in (lambda: -1 * Linear(), lambda: Linear() + -0.5, lambda: Linear() * np.inf):
        with pytest.raises(ValueError, match="positive semidefinite"):
            wrong()
    with pytest.raises(TypeError):
        Linear() + "x"


def test_radial_sinc_is_refused_from_four_columns_on_with_the_reason():
    for use in (Sinc(radial=True), Sinc(radial=True).diag, Sinc(radial=True).distance):
        with pytest.raises(ValueError, match="positive semidefinite in at most 3 dimensions"):
            use(np.ones((3, 4)))
    assert Sinc(radial=True).on([0, 1, 3])(np.ones((3, 4))).shape == (3, 3)


def test_numpy_numbers_are_numbers():
    np.testing.assert_array_equal(Polynomial(np.int64(2), np.float32(1))(X), Polynomial(2)(X))
