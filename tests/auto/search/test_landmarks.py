"""Landmarks in place of random features: kept where they do better, of a smooth function, and nowhere else."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import EFFORTS
from mercer.auto.budget.progress import Steps
from mercer.auto.features.landmarks import LandmarksBlock
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.evaluation import Evaluator
from mercer.auto.search.fourier import add_fourier
from mercer.auto.search.landmarks import add_landmarks
from mercer.kernels import Gaussian, Laplace

SMALL = replace(
    EFFORTS["normal"], kernels=("Gaussian",), subsets=False, n_rounds=0, search_rows=800, search_features=32,
    max_fourier=64, max_landmarks=128, sharpen=False, n_bins=2,
)  # fmt: skip


def table(n=1300, d=4, noise=0.002, smooth=True, seed=0):
    """A smooth function of all columns, as the position of an arm is of its angles; or noise alone."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.7, 1.7, size=(n, d))
    angles = np.cumsum(X, axis=1)
    y = np.hypot(np.cos(angles).sum(axis=1), np.sin(angles).sum(axis=1)) if smooth else np.zeros(n)
    y = y + noise * rng.normal(size=n)
    return X, y


def evaluator(X, y, effort=SMALL, weight=None, ids=None):
    ids = np.random.default_rng(1).integers(0, 2**62, len(X)).astype(np.uint64) if ids is None else ids
    rows = TrainingRows(X, ((y - y.mean()) / y.std())[:, None], ids, weight=weight)
    return Evaluator(rows, None, effort, Clock(), 0, Steps())


def searched(search):
    state = search.first(Features([LinearBlock(search.rows.X.shape[1])]))
    before = add_fourier(search, state)
    return before, add_landmarks(search, before)


def test_landmarks_take_the_place_of_random_features_of_a_smooth_function():
    search = evaluator(*table())
    before, after = searched(search)
    assert before.features.has("fourier")
    assert after.features.has("landmarks")
    assert not after.features.has("fourier")
    assert after.loss < 0.8 * before.loss
    block = after.features.blocks[-1]
    assert block.width <= SMALL.max_landmarks
    assert block.metric.kernel == after.kernel.kernel
    tried = [each for each in after.candidates if each.stage == "landmarks"]
    assert tried[-1].kept or tried[-2].kept
    assert all(each.why for each in tried)


def test_the_search_finds_the_same_landmarks_in_any_order_of_the_rows():
    X, y = table()
    ids = np.random.default_rng(2).integers(0, 2**62, len(X)).astype(np.uint64)
    order = np.random.default_rng(3).permutation(len(X))
    blocks = [
        searched(evaluator(X[some], y[some], ids=ids[some]))[1].features.blocks[-1]
        for some in (np.arange(len(X)), order)
    ]
    assert blocks[0].kind == blocks[1].kind == "landmarks"
    found, other = (set(map(tuple, block.transformer.landmarks_.tolist())) for block in blocks)
    assert found == other


def test_nothing_is_tried_on_noise():
    _, after = searched(evaluator(*table(smooth=False)))
    assert not after.features.has("landmarks")
    assert not [each for each in after.candidates if each.stage == "landmarks"]


@pytest.mark.parametrize(
    "effort",
    [replace(SMALL, max_landmarks=0), replace(SMALL, max_landmarks=50), replace(SMALL, max_features=80)],
    ids=["none", "few", "few features"],
)
def test_limits_of_features_hold(effort):
    before, after = searched(evaluator(*table(), effort))
    assert before.features.has("fourier")
    assert after.features.width <= min(effort.max_features, 4 + max(effort.max_landmarks, effort.max_fourier))
    if effort.max_landmarks <= 50:
        assert not after.features.has("landmarks")


def test_few_rows_and_a_spent_clock_try_nothing():
    search = evaluator(*table(n=700))
    before, after = searched(search)
    assert after is before
    search = evaluator(*table())
    before = add_fourier(search, search.first(Features([LinearBlock(4)])))
    search.clock = Clock(10.0, now=iter([0.0, *[9.0] * 20]).__next__)
    assert add_landmarks(search, before) is before


def test_equal_rows_are_one_landmark():
    X, y = table(n=1200)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    ids = np.repeat(np.random.default_rng(1).integers(0, 2**62, 1200).astype(np.uint64), 2)
    _, after = searched(evaluator(X, y, ids=ids))
    centers = after.features.blocks[-1].transformer.landmarks_
    assert len(np.unique(centers, axis=0)) == len(centers)


def test_rows_far_away_have_finite_features():
    X = table()[0]
    for kernel in (Gaussian(1.0), Laplace(bandwidth=1.0)):
        block = LandmarksBlock.fitted(kernel, np.eye(4), X[:50])
        far = np.vstack([X[:2], np.full((2, 4), 1e300), np.full((1, 4), -1e200)])
        Z = block.features(far)
        assert np.isfinite(Z).all()
        assert np.all(Z[2:] == 0)
        np.testing.assert_array_equal(Z[:2], block.features(X[:2]))


def test_the_similarity_of_a_landmark_to_itself_is_one():
    X = 1e6 + table()[0]
    block = LandmarksBlock.fitted(Laplace(bandwidth=1.0), np.ones(4), X[:60])
    similarities = block.similarities.features(X[:60])
    landmarks = [np.flatnonzero((block.transformer.landmarks_ == row).all(axis=1))[0] for row in X[:60]]
    np.testing.assert_array_equal(similarities[np.arange(60), landmarks], 1.0)


def test_a_model_with_landmarks_predicts_explains_and_saves(tmp_path, monkeypatch):
    small = replace(SMALL, tree_params=EFFORTS["fast"].tree_params, tree_folds=3, max_products=0)
    monkeypatch.setitem(EFFORTS, "normal", small)
    X, y = table(n=1500)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = mercer.fit(frame[:1400], y[:1400], holdout=0.1)
    kinds = [block["kind"] for block in model.report()["blocks"]]
    assert "landmarks" in kinds
    new = frame[1400:]
    predicted = model.predict(new)
    assert 1 - np.mean((predicted - y[1400:]) ** 2) / np.var(y) > 0.99
    assert model.predict(new[:1])[0] == predicted[0]
    model.save(tmp_path / "arm.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "arm.mercer").predict(new), predicted)
    explained = model.explain(new[:3])
    assert np.isfinite(explained.contributions).all()
    np.testing.assert_allclose(
        explained.baseline + explained.contributions.sum(axis=1), explained.prediction, rtol=0, atol=1e-4
    )
    pipeline = model.to_pipeline()
    np.testing.assert_allclose(pipeline.predict(new), predicted, rtol=0, atol=1e-4)
