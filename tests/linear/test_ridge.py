"""Ridge: scikit-learn's solution, exact K-fold scores from statistics, and a floor that rounding cannot cross."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from mercer import _numeric
from mercer._numeric.block import Block
from mercer.linear import RidgeClassifier, RidgeRegressor
from mercer.linear.losses import Hinge, Logistic, Squared
from mercer.linear.ridge import path
from mercer.stats import Gram


def problem(n=200, d=6, outputs=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(0.1, 10, d) + 5.0
    W = rng.normal(size=(d, outputs or 1))
    Y = X @ W + rng.normal(size=(n, outputs or 1)) + 100.0
    return X, Y if outputs else Y[:, 0]


@pytest.mark.parametrize("outputs", [None, 1, 3])
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0, 1e4])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_penalty_is_scikit_learns_ridge(outputs, alpha, weighted):
    X, y = problem(outputs=outputs)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, size=len(X)) if weighted else None
    ours = RidgeRegressor(alpha=alpha).fit(X, y, sample_weight=weight)
    theirs = Ridge(alpha, solver="svd", tol=0).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_.reshape(ours.coef_.shape), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X).reshape(y.shape), rtol=1e-9)


def test_more_columns_than_rows_gives_the_minimum_norm():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 30)), rng.normal(size=10)
    centered = X - X.mean(axis=0)
    expected = np.linalg.pinv(centered) @ (y - y.mean())
    np.testing.assert_allclose(RidgeRegressor(alpha=0.0).fit(X, y).coef_, expected, rtol=1e-8, atol=1e-10)


def folds_of(X, n_folds, seed=0):
    return _numeric.buckets(_numeric.splitmix64(Block(X).ids, seed), n_folds)


@pytest.mark.parametrize("outputs", [None, 2])
def test_fold_scores_equal_direct_cross_validation(outputs):
    X, y = problem(outputs=outputs)
    alphas = np.array([1e-2, 1.0, 100.0])
    model = RidgeRegressor(alpha=alphas, n_folds=4).fit(X, y)
    fold = folds_of(X, 4)
    for alpha, loss in zip(alphas, model.losses_, strict=True):
        errors = 0.0
        for k in range(4):
            direct = Ridge(alpha, solver="svd").fit(X[fold != k], y[fold != k])
            errors += np.sum((y[fold == k] - direct.predict(X[fold == k])) ** 2)
        np.testing.assert_allclose(loss, errors / len(X), rtol=1e-10)
    assert model.alpha_ == alphas[np.argmin(model.losses_)]


def test_gcv_is_its_formula():
    X, y = problem()
    alphas = np.array([0.1, 10.0])
    model = RidgeRegressor(alpha=alphas, scoring="gcv").fit(X, y)
    centered = X - X.mean(axis=0)
    for alpha, loss in zip(alphas, model.losses_, strict=True):
        hat = centered @ np.linalg.solve(centered.T @ centered + alpha * np.eye(6), centered.T) + 1 / len(X)
        residual = y - hat @ y
        np.testing.assert_allclose(loss, len(X) * residual @ residual / (len(X) - np.trace(hat)) ** 2, rtol=1e-9)


def test_the_path_finds_the_penalty_that_noise_asks_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 100))
    y = rng.normal(size=400)  # nothing to learn: the best predictor is the mean
    model = RidgeRegressor().fit(X, y)
    assert model.alpha_ >= 400
    assert model.losses_.min() >= 0.8 * y.var()


def test_float32_never_wins_with_rounding():
    """Duplicated float32 columns and a tiny penalty once gave negative losses and huge weights."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=(3000, 20))
    X = np.hstack([base, base + 1e-5 * rng.normal(size=base.shape)]).astype(np.float32)
    y = base[:, 0] + 0.1 * rng.normal(size=3000)
    model = RidgeRegressor().fit(X[:2000], y[:2000])
    assert model.alphas_.min() >= model.floor_ > 0
    assert model.losses_.min() > 0
    assert np.mean((model.predict(X[2000:]) - y[2000:]) ** 2) < 0.015  # the noise is 0.01


def test_a_negative_loss_is_rejected_and_overlapping_bars_prefer_the_larger_penalty():
    alphas = np.array([100.0, 10.0, 1.0, 0.1])
    assert path.choose(alphas, np.array([5.0, 2.0, 1.0, -3.0]), np.zeros(4)) == 2
    assert path.choose(alphas, np.array([5.0, 1.2, 1.0, 1.1]), np.array([0.0, 0.2, 0.2, 9.0])) == 1
    with pytest.raises(ValueError, match="Rescale X"):
        path.choose(alphas, np.full(4, -1.0), np.zeros(4))


def test_a_penalty_below_the_floor_is_raised_and_said_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)).astype(np.float32), rng.normal(size=100)
    with pytest.warns(UserWarning, match="lost to the rounding"):
        model = RidgeRegressor(alpha=[1e-30, 1.0]).fit(X, y)
    assert model.alphas_.min() == model.floor_


def test_degenerate_data_are_explained():
    X, y = np.ones((30, 2)), np.arange(30.0)
    with pytest.raises(ValueError, match="two distinct rows"):
        RidgeRegressor(alpha=[1.0, 2.0]).fit(X, y)
    np.testing.assert_allclose(RidgeRegressor(alpha=1.0).fit(X, y).predict(X), y.mean())
    with pytest.raises(ValueError, match="scoring must be"):
        RidgeRegressor(scoring="aic").fit(X, y)
    with pytest.raises(ValueError, match="not negative"):
        RidgeRegressor(alpha=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="All sample weights are zero"):
        RidgeRegressor().fit(X, y, sample_weight=np.zeros(30))


@pytest.mark.parametrize("labels", [np.array(["no", "yes"]), np.array([3, 1, 2]), np.array(["one"])])
def test_classes_of_any_kind(labels):
    rng = np.random.default_rng(0)
    code = rng.integers(0, len(labels), size=300)
    X = rng.normal(size=(300, 4)) + 3.0 * np.eye(4)[code]
    model = RidgeClassifier().fit(X, labels[code])
    assert model.classes_.tolist() == sorted(labels.tolist())
    assert model.score(X, labels[code]) > 0.9
    assert model.decision_function(X).shape == ((300,) if len(labels) == 2 else (300, len(labels)))


def test_two_classes_are_ridge_on_signs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=100) > 0
    ours = RidgeClassifier(alpha=2.0).fit(X, y)
    signs = Ridge(2.0, solver="svd").fit(X, np.where(y, 1.0, -1.0))
    np.testing.assert_allclose(ours.decision_function(X), signs.predict(X), rtol=1e-9, atol=1e-10)


def test_classes_may_come_late():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.repeat(["a", "b", "c"], 30)
    late = RidgeClassifier(alpha=1.0)
    for rows in (slice(0, 30), slice(30, 60), slice(60, 90)):
        late.partial_fit(X[rows], y[rows])
    whole = RidgeClassifier(alpha=1.0).fit(X, y)
    assert np.array_equal(late.coef_, whole.coef_)
    assert late.classes_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Hinge()], ids=lambda loss: type(loss).__name__)
def test_slopes_and_curvatures_are_derivatives(loss):
    score = np.linspace(-3.0, 3.0, 61) + 0.013
    h = 1e-6
    for y in (-1.0, 1.0):
        gradient = (loss.value(y, score + h) - loss.value(y, score - h)) / (2 * h)
        curvature = (loss.gradient(y, score + h) - loss.gradient(y, score - h)) / (2 * h)
        np.testing.assert_allclose(loss.gradient(y, score), gradient, atol=1e-8)
        np.testing.assert_allclose(loss.curvature(y, score), curvature, atol=1e-8)


def test_scaling_matters_before_and_not_after():
    """One column in units a thousand times smaller: a moderate penalty removes it unless columns are standardized."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = X[:, 0] + X[:, 1]
    X = X * [1.0, 1e-3]
    assert RidgeRegressor(alpha=10.0).fit(X, y).score(X, y) < 0.6
    Z = StandardScaler().fit_transform(X)
    assert RidgeRegressor(alpha=10.0).fit(Z, y).score(Z, y) > 0.99


def test_normal_equations_subtract():
    X, y = problem(60)
    gram = Gram(3).of(Block(X, y)).finish()
    rest = gram.total - gram.folds[0]
    np.testing.assert_allclose(rest.G, sum(fold.G for fold in gram.folds[1:]), atol=1e-9)
