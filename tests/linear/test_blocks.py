"""A penalty per block of columns is one penalty on scaled columns, chosen from statistics alone."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from mercer.io import load, save
from mercer.linear import RidgeClassifier, RidgeRegressor
from mercer.linear.ridge.base import BaseRidge
from mercer.source import MemorySource, StreamSource


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
    given = {noise: 25.0, signal: 0.04}
    model = RidgeRegressor(alphas, scoring=scoring, blocks=blocks, block_penalties=given).fit(X, y)
    scale = np.where(np.arange(43) < 3, 5.0, 0.2)
    direct = Ridge(model.alpha_, solver="svd").fit(X * scale, y)
    np.testing.assert_allclose(model.coef_, direct.coef_ * scale, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, direct.intercept_, rtol=1e-8)
    np.testing.assert_allclose(model.penalties_, model.alpha_ * np.array([25.0, 0.04]))
    listed = RidgeRegressor(alphas, scoring=scoring, blocks=blocks, block_penalties=[25.0, 0.04]).fit(X, y)
    np.testing.assert_array_equal(listed.coef_, model.coef_)
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
    assert blocked.penalties_[0] >= 100 * blocked.penalties_[1]
    assert blocked.losses_.min() < plain.losses_.min()
    assert blocked.score(fresh, truth) > plain.score(fresh, truth)


def test_searched_penalties_have_a_smaller_loss_than_their_neighbors():
    X, y = problem(150)
    y = y + X[:, 3:] @ np.random.default_rng(2).normal(scale=0.2, size=40)
    model = RidgeRegressor(blocks=NAMES).fit(X, y)
    scale = 1.0 / np.sqrt(model.penalties_[(np.arange(43) < 3).astype(int)])
    direct = Ridge(1.0, solver="svd").fit(X * scale, y)
    np.testing.assert_allclose(model.coef_, direct.coef_ * scale, rtol=1e-8)
    for factors in ([0.8, 1.0], [1.25, 1.0], [1.0, 0.8], [1.0, 1.25]):
        # Two levels of alpha, or nothing would be scored.
        near = RidgeRegressor([1.0, 1e9], blocks=NAMES, block_penalties=model.penalties_ * factors).fit(X, y)
        assert near.losses_[0] >= model.losses_[0] * (1 - 1e-6)


@pytest.mark.parametrize(
    ("alpha", "scoring"), [("path", "gcv"), ("path", "loo"), ([0.5, 5.0], "folds"), (2.0, "folds")]
)
def test_a_level_chosen_otherwise_keeps_the_searched_ratios(alpha, scoring):
    X, y = problem(150)
    searched = RidgeRegressor(blocks=NAMES).fit(X, y)
    model = RidgeRegressor(alpha, blocks=NAMES, scoring=scoring).fit(X, y)
    np.testing.assert_allclose(model.penalties_ / model.alpha_, searched.penalties_ / searched.alpha_)
    assert np.sqrt(np.prod(model.penalties_)) == pytest.approx(model.alpha_)
    assert alpha == "path" or model.alpha_ in np.atleast_1d(alpha)


def test_pieces_and_classes_have_blocks_too():
    X, y = problem()
    labels = np.where(y > np.median(y), "high", "low")
    for alpha in (10.0, "path"):
        whole, pieces = RidgeClassifier(alpha, blocks=NAMES).fit(X, labels), RidgeClassifier(alpha, blocks=NAMES)
        pieces.partial_fit(X[:100], labels[:100]).partial_fit(X[100:], labels[100:])
        assert np.array_equal(whole.coef_, pieces.coef_)
        assert np.array_equal(whole.penalties_, pieces.penalties_)


def few_rows(weighted=False):
    X, y = problem(30)
    return X, y, np.random.default_rng(1).uniform(0.5, 2.0, 30) if weighted else None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_fewer_rows_than_columns_are_solved_in_the_space_of_the_rows(weighted, form):
    X, y, weight = few_rows(weighted)
    Y = np.column_stack([y, X[:, 0]]) + 100.0
    model = RidgeRegressor(blocks=NAMES).fit(form(X), Y, sample_weight=weight)
    assert hasattr(model, "_deferred_rows")
    penalties = model.penalties_[(np.arange(43) < 3).astype(int)]
    direct = Ridge(1.0, solver="svd").fit(X / np.sqrt(penalties), Y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, direct.coef_ / np.sqrt(penalties), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, direct.intercept_, rtol=1e-9)
    columns = RidgeRegressor(blocks=NAMES).partial_fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(model.losses_, columns.losses_, rtol=1e-3)
    checked = RidgeRegressor([1.0, 1e9], blocks=NAMES, block_penalties=model.penalties_).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(checked.losses_[0], model.losses_[0], rtol=1e-7)


def test_a_fit_in_the_space_of_the_rows_can_be_continued(tmp_path):
    X, y = problem(60)
    labels = np.where(y > np.median(y), "high", "low")
    whole = RidgeClassifier(blocks=NAMES).fit(X, labels)
    pieces = RidgeClassifier(blocks=NAMES).fit(X[:30], labels[:30])
    halves = [RidgeClassifier(blocks=NAMES).fit(X[rows], labels[rows]) for rows in (slice(30), slice(30, 60))]
    assert hasattr(pieces, "_deferred_rows")
    save(pieces, tmp_path / "model.mercer")
    loaded = load(tmp_path / "model.mercer")
    assert np.array_equal(loaded.predict(X), pieces.predict(X))
    with pytest.raises(ValueError, match="loaded from a file"):
        loaded.partial_fit(X, labels)
    np.testing.assert_allclose(pieces.partial_fit(X[30:], labels[30:]).coef_, whole.coef_, rtol=1e-6)
    np.testing.assert_allclose(halves[0].merge(halves[1]).coef_, whole.coef_, rtol=1e-6)


def test_a_stream_of_fewer_rows_than_columns_agrees_with_the_array():
    X, y, _ = few_rows()
    array = RidgeRegressor(blocks=NAMES).fit(X, y)
    stream = RidgeRegressor(blocks=NAMES).fit(StreamSource(lambda: MemorySource(X, y).blocks()))
    assert array.losses_[0] == pytest.approx(stream.losses_[0], rel=1e-3)


def test_equal_rows_cannot_choose_penalties():
    with pytest.raises(ValueError, match="at least two distinct rows"):
        RidgeRegressor(blocks=NAMES).fit(np.ones((5, 43)), np.arange(5.0))


def test_models_of_format_1_know_their_penalties():
    """There a list of block penalties was a grid, and learned ones were relative to alpha."""
    state = {"alpha": "path", "block_penalties": (0.1, 1.0), "alpha_": 2.0, "block_penalties_": np.array([1.0, 0.1])}
    model = RidgeRegressor._from_former(state)
    assert isinstance(model, BaseRidge)
    assert model.block_penalties is None
    assert model.penalties_.tolist() == [2.0, 0.2]
    assert not hasattr(model, "block_penalties_")


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
    with pytest.raises(ValueError, match="one number for each of 2 blocks"):
        RidgeRegressor(blocks=NAMES, block_penalties=[1.0, 2.0, 3.0]).fit(X, y)
