"""Trees that rise or fall along columns, and their compiled twins; boosting with other losses."""

import numpy as np
import pytest

from mercer import _numeric
from mercer._numeric.trees import grower
from mercer.learn.trees.boosting import boost
from mercer.learn.trees.losses import LogisticTreeLoss, SquaredTreeLoss
from mercer.learn.trees.params import TreeParams
from mercer.learn.trees.score_losses import ScoreTreeLoss
from mercer.learn.trees.training_data import TrainingData
from mercer.linear.regression_losses import HuberLoss, PinballLoss, TweedieLoss


def grown(function, signs, seed=0, n=300):
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, 12, size=(n, 3)).astype(np.uint8)
    gradient = (np.sin(bins[:, 0]) - 0.2 * bins[:, 1] + rng.normal(size=n))[:, None]
    task = (bins, gradient, rng.uniform(0.5, 1.5, n), np.arange(n), np.arange(3), np.full(3, 12))
    return function(*task, 12, 5.0, 1.0, signs=signs)


@pytest.mark.parametrize("signs", [(1, 0, 0), (-1, 1, 0), (1, -1, 1), (0, 0, 0)])
def test_the_compiled_tree_is_that_of_numpy(signs):
    for seed in range(3):
        compiled, plain = (grown(each, np.array(signs), seed) for each in (_numeric.grow_tree, grower.grow_tree))
        for one, other in zip(compiled, plain, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_signs_of_zero_change_nothing():
    free, none = (grown(_numeric.grow_tree, signs) for signs in (None, np.zeros(3, dtype=np.int64)))
    for one, other in zip(free[:4], none[:4], strict=True):
        assert np.array_equal(one, other)


LOSSES = {
    "squared": lambda y: SquaredTreeLoss(y),
    "logistic": lambda y: LogisticTreeLoss((y > 0).astype(int), 2),
    "median": lambda y: ScoreTreeLoss(y, (PinballLoss(0.5),)),
    "huber": lambda y: ScoreTreeLoss(y, (HuberLoss(1.0),)),
    "poisson": lambda y: ScoreTreeLoss(np.floor(np.exp(y)), (TweedieLoss(1.0),)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_boosted_scores_are_monotone_to_the_last_bit(name):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=400)
    params = TreeParams(n_estimators=30, early_stopping_rounds=None, max_leaf_nodes=8)
    data = TrainingData(X, signs=np.array([1, -1, 0]))
    result = boost(data, LOSSES[name](y), np.arange(400) % 2, params)
    rows, steps = rng.normal(size=(2000, 3)), rng.exponential(size=2000)
    for column, sign in ((0, 1), (1, -1)):
        other = rows.copy()
        other[:, column] += steps
        for ensemble in result.ensembles:
            assert np.all(sign * (ensemble.scores(other) - ensemble.scores(rows)) >= 0)
    assert np.ptp(result.scores) > 0


def test_leaves_of_quantile_trees_are_quantiles():
    rng = np.random.default_rng(2)
    X = np.repeat([[0.0], [1.0]], 200, axis=0)
    y = X[:, 0] * 5 + rng.exponential(size=400)
    params = TreeParams(n_estimators=60, learning_rate=0.3, early_stopping_rounds=None, max_features=1.0)
    scores = boost(X, ScoreTreeLoss(y, (PinballLoss(0.2), PinballLoss(0.9))), np.arange(400) % 2, params).scores
    for k, tau in enumerate((0.2, 0.9)):
        for value in (0.0, 1.0):
            inside = X[:, 0] == value
            below = np.mean(y[inside] <= scores[inside, k])
            assert abs(below - tau) < 4 * np.sqrt(2 * tau * (1 - tau) / 100)  # both the quantile and the rows vary
