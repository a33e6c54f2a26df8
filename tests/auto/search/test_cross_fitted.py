"""Supervised blocks of few rows: each fold is evaluated with what is fitted without it."""

import numpy as np
import pytest

from mercer.auto import MercerClassifier, MercerRegressor
from mercer.auto.features.base import Refit
from mercer.auto.features.cross_fitted import CrossFitted
from mercer.auto.features.fourier import FourierBlock
from mercer.auto.features.linear import SelectedBlock
from mercer.auto.search.kernels import kernel_candidates
from mercer.learn.trees.boosting import gains_per_fold
from mercer.learn.trees.losses import LogisticTreeLoss, SquaredTreeLoss
from mercer.learn.trees.params import TreeParams

PARAMS = TreeParams(n_estimators=10, max_leaf_nodes=6, min_samples_leaf=5)


def table(n=90, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n), np.arange(n) % 5


@pytest.mark.parametrize("classes", [False, True])
def test_gains_without_a_fold_are_independent_of_its_targets(classes):
    X, y, folds = table()

    def gains(y):
        loss = LogisticTreeLoss((y > 0).astype(int), 2) if classes else SquaredTreeLoss(y)
        return gains_per_fold(X, loss, folds, PARAMS)

    changed = np.where(folds == 2, -y - 1.0, y)
    before, after = gains(y), gains(changed)
    assert len(before) == 5
    assert [np.array_equal(one, two) for one, two in zip(before, after, strict=True)] == [
        fold == 2 for fold in range(5)
    ]


def test_no_gains_per_fold_without_time():
    X, y, folds = table()
    assert gains_per_fold(X, SquaredTreeLoss(y), folds, PARAMS, should_stop=lambda: True) == []


def test_only_supervised_kernel_candidates_are_cross_fitted():
    X, y, folds = table()
    per_fold = gains_per_fold(X, SquaredTreeLoss(y), folds, PARAMS)
    families = kernel_candidates(X, np.sum(per_fold, axis=0), ("Gaussian",), (0.5, 1.0), True, per_fold)
    known = {title: kernel for family in families for title, kernel in family}
    assert {title: len(kernel.per_fold) for title, kernel in known.items()} == {
        "Gaussian, 0.5 x median, unweighted columns": 0,
        "Gaussian, 1 x median, unweighted columns": 0,
        "Gaussian, 0.5 x median, columns weighted by trees": 5,
        "Gaussian, 1 x median, columns weighted by trees": 5,
        "Gaussian, 0.5 x median, on 3 columns at a time": 5,
        "Gaussian, 1 x median, on 3 columns at a time": 5,
    }
    weighted = known["Gaussian, 1 x median, columns weighted by trees"]
    block = weighted.features(20, 0)
    assert isinstance(block, CrossFitted)
    assert block.width == 20
    for fold, kernel in enumerate(weighted.per_fold):
        np.testing.assert_array_equal(block.without_fold(fold).frequencies, kernel.features(20, 0).frequencies)
    for kernel in weighted.per_fold:
        assert not np.array_equal(kernel.root, weighted.root)
    assert type(block.for_new_rows()) is FourierBlock
    assert (
        len(kernel_candidates(X, np.ones(12), ("Gaussian",), (1.0,), False, [np.zeros(12)] * 5)[1][0][1].per_fold) == 0
    )


def test_kernels_that_trees_suggest_gain_nothing_on_noise():
    """With weights of all rows, the kernel would appear to reduce the loss by a quarter."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 300)), rng.normal(size=100)
    tried = MercerRegressor(effort="fast").fit(X, y).model_.predictor.candidates
    without, kernel = (each.loss for each in tried if each.stage == "kernel")
    assert kernel > 0.98 * without


@pytest.mark.parametrize("classes", [False, True])
def test_relevant_columns_are_selected_among_many(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(620, 400))
    y = X[:, [7, 30, 200]].sum(axis=1) + 0.3 * rng.normal(size=620)
    y = y > 0 if classes else y
    make = MercerClassifier if classes else MercerRegressor
    model = make(effort="fast").fit(X[:120], y[:120])
    blocks = {block.kind: block for block in model.model_.predictor.features.blocks}
    assert {7, 30, 200} <= set(blocks["selected"].columns.tolist())
    few = make(effort="fast", max_features=401).fit(X[:120], y[:120])  # too few for two selected columns
    assert all(block.kind != "selected" for block in few.model_.predictor.features.blocks)
    assert model.score(X[120:], y[120:]) > few.score(X[120:], y[120:]) + 0.05
    names = model.model_.get_feature_names_out().tolist()
    assert len(set(names)) == len(names)
    assert "x7_selected" in names


def test_selected_columns_follow_their_new_positions():
    X = np.random.default_rng(0).normal(size=(5, 4))
    block = SelectedBlock(np.array([3, 0]), 4)
    positions = np.array([3, 1, -1, 2])  # the first column is gone, and there is a new one
    moved = block.refit(Refit(None, positions, None))
    np.testing.assert_array_equal(moved.features(X[:, np.maximum(positions, 0)]), block.features(X)[:, :1])
    np.testing.assert_array_equal(moved.refit(Refit(None, np.array([1, 0, 2, 3]), None)).columns, [1])
    assert moved.refit(Refit(None, np.array([1, -1, 2, 3]), None)) is None


def test_a_fitted_model_has_no_cross_fitted_blocks():
    X, y, _ = table(n=120, d=150)
    for model in (MercerRegressor(effort="fast").fit(X, y), MercerClassifier(effort="fast").fit(X, y > 0)):
        assert all(type(block) is not CrossFitted for block in model.model_.predictor.features.blocks)
