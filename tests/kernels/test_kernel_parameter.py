"""The parameter `kernel` of estimators: nested parameters of given, default and named kernels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mercer.expand import Landmarks, RandomFeatures
from mercer.io.registry import TYPES
from mercer.kernels import Gaussian, Laplace, RationalQuadratic, kernel_by_name
from mercer.kernels.kernel_parameter import KERNELS
from mercer.learn import LearnedMetric
from mercer.linear import RidgeRegressor
from mercer.machines import KernelHinge, KernelKMeans, KernelPCA, KernelPerceptron, KernelRegressor

ESTIMATORS = [
    Landmarks,
    LearnedMetric,
    RandomFeatures,
    KernelHinge,
    KernelKMeans,
    KernelPCA,
    KernelPerceptron,
    KernelRegressor,
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_default_kernel_has_nested_parameters(estimator):
    assert estimator().get_params()["kernel__bandwidth"] == "median"
    assert "kernel__bandwidth" not in estimator().get_params(deep=False)
    changed = estimator().set_params(kernel__bandwidth=2.0)
    assert changed.kernel == Gaussian(2.0)
    copy = clone(changed)
    assert copy.kernel == Gaussian(2.0)
    assert copy.kernel is not changed.kernel
    assert clone(estimator()).kernel is None


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_named_kernel_has_nested_parameters(estimator):
    named = estimator(kernel="rational_quadratic")
    assert named.get_params()["kernel__alpha"] == 1.0
    assert clone(named).kernel == "rational_quadratic"
    named.set_params(kernel__alpha=3.0)
    assert named.kernel == RationalQuadratic("median", 3.0)
    both = estimator().set_params(kernel__norm="l1", kernel="laplace")
    assert both.kernel == Laplace("median", "l1")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_parameters_that_do_not_exist_are_refused(estimator):
    with pytest.raises(ValueError, match="has no parameter 'width'"):
        estimator().set_params(kernel__width=1.0)
    with pytest.raises(ValueError, match="Did you mean 'gaussian'"):
        estimator(kernel="gausian").set_params(kernel__bandwidth=1.0)
    assert "kernel__bandwidth" not in estimator(kernel="gausian").get_params()


def test_names_are_those_of_model_files():
    assert {name: kind.__name__ for name, kind in KERNELS.items()} == {
        name: TYPES[name].partition(":")[2] for name in KERNELS
    }
    assert all(type(kernel_by_name(name)) is kind for name, kind in KERNELS.items())
    assert kernel_by_name("Rational_Quadratic") == RationalQuadratic("median")
    with pytest.raises(ValueError, match="Did you mean 'polynomial'"):
        kernel_by_name("poly")
    with pytest.raises(ValueError, match=r"named 'xyz'\. The names are all-subsets, anova"):
        kernel_by_name("xyz")


def test_a_grid_search_reaches_the_default_kernel():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(200, 1))
    y = np.sin(4 * X[:, 0])
    model = make_pipeline(RandomFeatures(n_components=64), RidgeRegressor())
    grid = {"randomfeatures__kernel__bandwidth": [0.3, 30.0]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_params_ == {"randomfeatures__kernel__bandwidth": 0.3}
    machine = GridSearchCV(KernelRegressor("gaussian", alpha=1e-3), {"kernel__bandwidth": [0.3, 30.0]}, cv=3).fit(X, y)
    assert machine.best_estimator_.kernel == Gaussian(0.3)


def test_named_kernels_are_those_given():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    for named, given in (
        ("gaussian", None),
        ("matern", kernel_by_name("matern")),
        ("polynomial", kernel_by_name("polynomial")),
    ):
        np.testing.assert_array_equal(
            RandomFeatures(named, n_components=32).fit_transform(X),
            RandomFeatures(given, n_components=32).fit_transform(X),
        )
        np.testing.assert_array_equal(
            KernelRegressor(named).fit(X, y).predict(X), KernelRegressor(given).fit(X, y).predict(X)
        )
    K = X @ X.T
    assert KernelRegressor("precomputed").__sklearn_tags__().input_tags.pairwise
    assert Landmarks(kernel="precomputed").__sklearn_tags__().input_tags.pairwise
    assert KernelRegressor("precomputed").fit(K, y).predict(K).shape == (60,)
    words = ["abc", "abd", "xyz"]
    assert Landmarks(3, "spectrum").fit_transform(words).shape[0] == 3
