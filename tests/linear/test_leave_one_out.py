"""Leave-one-out errors by the formula are those of as many fits."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from mercer.linear import RidgeClassifier, RidgeRegressor

ALPHAS = [0.0, 1e-2, 1.0, 100.0]


def problem(n=40, d=5, outputs=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(0.1, 10, d) + 5.0
    Y = X @ rng.normal(size=(d, outputs or 1)) + rng.normal(size=(n, outputs or 1)) + 100.0
    return X, Y if outputs else Y[:, 0]


def by_many_fits(X, y, alpha, weight):
    total = 0.0
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        model = Ridge(alpha, solver="svd").fit(X[rest], y[rest], sample_weight=weight[rest])
        total += weight[i] * np.sum((y[i] - model.predict(X[i : i + 1])[0]) ** 2)
    return total / weight.sum()


@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_scores_equal_leaving_each_row_out(outputs, weighted, form):
    X, y = problem(outputs=outputs)
    weight = np.random.default_rng(1).uniform(0.1, 1.0, size=len(X)) if weighted else np.ones(len(X))
    model = RidgeRegressor(ALPHAS, scoring="loo").fit(form(X), y, sample_weight=weight)
    direct = [by_many_fits(X, y, alpha, weight) for alpha in ALPHAS]
    np.testing.assert_allclose(model.losses_, direct, rtol=1e-9)
    assert model.alpha_ == ALPHAS[int(np.argmin(direct))]


def test_a_weight_is_a_number_of_rows():
    X, y = problem()
    times = np.random.default_rng(1).integers(1, 4, size=len(X))
    weighted = RidgeRegressor(ALPHAS, scoring="loo").fit(X, y, sample_weight=times)
    repeated = RidgeRegressor(ALPHAS, scoring="loo").fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted.losses_, repeated.losses_, rtol=1e-9)


def test_classes_are_indicators():
    X, y = problem()
    labels = np.array(["a", "b", "c"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))]
    model = RidgeClassifier(ALPHAS, scoring="loo").fit(X, labels)
    indicators = (labels[:, None] == model.classes_).astype(float)
    direct = [by_many_fits(X, indicators, alpha, np.ones(len(X))) for alpha in ALPHAS]
    np.testing.assert_allclose(model.losses_, direct, rtol=1e-9)


def test_interpolation_is_never_the_winner():
    """With more columns than rows and no penalty each row is fitted exactly, and left out it cannot be scored."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 50)), rng.normal(size=20)
    model = RidgeRegressor([0.0, 10.0], scoring="loo").fit(X, y)
    assert model.losses_[0] == np.inf
    assert model.alpha_ == 10.0


def test_a_second_look_is_needed():
    X, y = problem()
    with pytest.raises(AttributeError, match="several passes over the rows"):
        RidgeRegressor(scoring="loo").partial_fit(X, y)
    model = RidgeRegressor(scoring="loo").fit(X, y)
    with pytest.raises(AttributeError, match="several passes over the rows"):
        model.merge(model)
    with pytest.raises(ValueError, match="n_samples=1"):
        RidgeRegressor(scoring="loo").fit(X[:1], y[:1])
