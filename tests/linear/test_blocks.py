"""A penalty per block of columns is one penalty on scaled columns, chosen from statistics alone."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mercer.linear import RidgeClassifier, RidgeRegressor


def problem(n=300, seed=0):
    """Three columns that matter and forty that do not."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 43)) + 1.0
    return X, X[:, :3] @ [3.0, -2.0, 1.0] + rng.normal(size=n)


NAMES = ["signal"] * 3 + ["noise"] * 40


@pytest.mark.parametrize("blocks", [NAMES, [slice(3, 43), slice(0, 3)]], ids=["labels", "slices"])
@pytest.mark.parametrize("scoring", ["folds", "gcv", "loo"])
def test_given_penalties_are_ridge_on_scaled_columns(blocks, scoring):
    X, y = problem()
    noise, signal = ("noise", "signal") if blocks is NAMES else (0, 1)
    alphas = [0.5, 50.0]
    model = RidgeRegressor(alphas, scoring=scoring, blocks=blocks, block_penalties={noise: 25.0, signal: 0.04}).fit(
        X, y
    )
    scale = np.where(np.arange(43) < 3, 5.0, 0.2)
    direct = Ridge(model.alpha_, solver="svd").fit(X * scale, y)
    np.testing.assert_allclose(model.coef_, direct.coef_ * scale, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, direct.intercept_, rtol=1e-8)
    # Other folds fall to the scaled rows, whose hashes differ; the other two scores know no folds.
    if scoring != "folds":
        scaled = RidgeRegressor(alphas, scoring=scoring).fit(X * scale, y)
        np.testing.assert_allclose(model.losses_, scaled.losses_, rtol=1e-8)


def test_the_search_presses_on_noise_and_predicts_better():
    X, y = problem(150)
    fresh, truth = problem(2000, seed=1)
    plain = RidgeRegressor().fit(X, y)
    blocked = RidgeRegressor(blocks=NAMES).fit(X, y)
    assert blocked.blocks_.tolist() == ["noise", "signal"]
    assert blocked.block_penalties_[0] >= 100 * blocked.block_penalties_[1]
    assert blocked.losses_.min() < plain.losses_.min()
    assert blocked.score(fresh, truth) > plain.score(fresh, truth)


def test_pieces_and_classes_have_blocks_too():
    X, y = problem()
    labels = np.where(y > np.median(y), "high", "low")
    whole = RidgeClassifier(10.0, blocks=NAMES).fit(X, labels)
    pieces = RidgeClassifier(10.0, blocks=NAMES).partial_fit(X[:100], labels[:100]).partial_fit(X[100:], labels[100:])
    assert np.array_equal(whole.coef_, pieces.coef_)
    assert np.array_equal(whole.block_penalties_, pieces.block_penalties_)


def test_blocks_that_make_no_sense_are_explained():
    X, y = problem()
    with pytest.raises(ValueError, match="each of 43 columns"):
        RidgeRegressor(blocks=["a", "b"]).fit(X, y)
    with pytest.raises(ValueError, match="leave out column 5"):
        RidgeRegressor(blocks=[slice(0, 5), slice(6, 43)]).fit(X, y)
    with pytest.raises(ValueError, match="overlap"):
        RidgeRegressor(blocks=[slice(0, 5), slice(4, 43)]).fit(X, y)
    with pytest.raises(ValueError, match="finite and positive"):
        RidgeRegressor(blocks=NAMES, block_penalties=[0.0, 1.0]).fit(X, y)
    with pytest.raises(ValueError, match="no penalty for block 'signal'"):
        RidgeRegressor(blocks=NAMES, block_penalties={"noise": 1.0}).fit(X, y)
