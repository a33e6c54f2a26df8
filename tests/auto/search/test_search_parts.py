"""Parts of the search: folds of equal rows, kernel candidates, starting penalties, and the final linear model."""

import numpy as np
import pytest

from mercer.auto import MercerClassifier, MercerRegressor
from mercer.auto.budget.effort import EFFORTS, sized
from mercer.auto.features.linear import LinearBlock, SelectedBlock
from mercer.auto.features.union import Features
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.kernels import kernel_candidates
from mercer.auto.search.state import SearchResult, TreeSearch
from mercer.learn.trees.boosting import compare_params
from mercer.learn.trees.losses import SquaredTreeLoss
from mercer.learn.trees.params import TreeParams
from mercer.linear.ridge.fold_loss import GramFoldLoss
from mercer.linear.ridge.penalties import best_penalties


def test_equal_rows_share_folds_except_in_random_folds():
    ids = np.repeat(np.arange(2000, dtype=np.uint64), 2)
    rows = TrainingRows(np.zeros((4000, 1)), np.zeros((4000, 1)), ids, 3)
    assert np.array_equal(rows.folds[::2], rows.folds[1::2])
    folds = rows.random_folds(5)
    together = np.mean(folds[::2] == folds[1::2])
    assert abs(together - 0.2) < 5 * np.sqrt(0.2 * 0.8 / 2000)
    counts = np.bincount(folds, minlength=5)
    assert np.all(np.abs(counts - 800) < 5 * np.sqrt(4000 * 0.2 * 0.8))
    order = np.random.default_rng(0).permutation(4000)
    moved = TrainingRows(rows.X, rows.Y, ids[order], 3).random_folds(5)
    for k in range(20):  # equal rows have the same folds in any order
        assert sorted(moved[ids[order] == k]) == sorted(folds[ids == k])


def test_kernels_on_subsets_use_few_columns_and_prefer_those_of_the_trees():
    X = np.random.default_rng(0).normal(size=(200, 8))
    gains = np.array([10.0, 10.0, 0, 0, 0, 0, 0, 0])
    *_, on_subsets = kernel_candidates(X, gains, ("Gaussian",), (0.5, 1.0), True)
    (title, kernel), _ = on_subsets
    used = kernel.features(400, 0).frequencies != 0
    assert "3 columns at a time" in title
    assert not kernel.supports_metric
    assert used.sum(axis=1).max() <= 3
    assert used[:, :2].mean() > 3 * used[:, 2:].mean()
    unweighted, weighted = kernel_candidates(X, gains, ("Gaussian",), (0.5, 1.0), False)
    assert unweighted[0][1].supports_metric
    assert weighted[0][1].root[0] > weighted[0][1].root[2]


def test_penalties_from_a_partial_start_are_as_good_as_without_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = X[:, 0] + 0.1 * rng.normal(size=300)
    rows = TrainingRows(X, y[:, None], np.arange(300, dtype=np.uint64))
    blocks = np.repeat([0, 1], [2, 10])
    gram = rows.gram(lambda span: X[span].astype(np.float32))
    penalties, known = best_penalties(GramFoldLoss(gram, blocks))
    _, started = best_penalties(GramFoldLoss(gram, blocks), np.array([penalties[0], np.nan]))
    assert started.loss < 1.01 * known.loss


def test_tree_parameters_are_compared_on_the_same_fold():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(600, 2))
    y = np.floor(4 * X[:, 0]) * np.floor(4 * X[:, 1])
    candidates = [
        TreeParams(n_estimators=20, max_leaf_nodes=2),
        TreeParams(n_estimators=20, max_leaf_nodes=31, min_samples_leaf=2.0),
    ]
    compared = compare_params(X, SquaredTreeLoss(y), rng.integers(0, 5, 600), candidates)
    stumps, deep = compared.trials
    assert compared.best.params is candidates[1]
    assert deep.loss < stumps.loss
    assert deep.seconds > 0


def test_few_rows_get_more_tree_folds_and_many_classes_one_candidate():
    effort = EFFORTS["normal"]
    assert sized(effort, 1000, 1).tree_folds == 2 * effort.tree_folds
    assert sized(effort, 10_000, 1) == effort
    assert len(sized(effort, 10_000, 20).tree_params) == 1


def test_the_linear_block_alone_is_an_alternative():
    found = SearchResult(Features([LinearBlock(3)]), np.ones(1), None, TreeSearch(), linear_penalty=2.0)
    assert found.alternatives() == [found]
    features, trees = Features([SelectedBlock(np.arange(2), 3), LinearBlock(3)]), TreeSearch(scores=np.zeros((4, 1)))
    wider = SearchResult(features, np.ones(2), None, trees, linear_penalty=2.0)
    itself, alone = wider.alternatives()
    assert itself is wider
    assert alone.scores is None
    assert [block.kind for block in alone.features.blocks] == ["linear"]
    assert alone.penalties.tolist() == [2.0]


def test_several_classes_are_evaluated_without_trees_as_well():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 5, 400)
    X = np.column_stack([y + 0.1 * rng.normal(size=400), rng.normal(size=400)])  # five clusters in a row
    report = MercerClassifier().fit(X, y).model_.report()
    finals = [each for each in report["candidates"] if each["stage"] == "final"]
    assert sum(each["kept"] for each in finals) == 1
    assert any(each["name"] == "logistic on linear + fourier" for each in finals)
    assert any(each["name"].endswith("(without trees)") for each in report["candidates"])


def test_linearly_separable_classes_choose_the_best_final_model():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 5))
    y = (X @ np.array([2.0, -1.0, 0.5, 0.0, 0.0]) + rng.logistic(size=300) > 0).astype(int)
    model = MercerClassifier(effort="fast").fit(X, y).model_
    finals = [each for each in model.report()["candidates"] if each["stage"] == "final"]
    assert sum(each["kept"] for each in finals) == (1 if finals else 0)
    blocks = [block["kind"] for block in model.report()["blocks"]]
    if finals:
        kept = next(each for each in finals if each["kept"])
        assert kept["name"] == "logistic on linear"  # the simplest within two standard errors of the best
        assert kept["name"] == "logistic on " + " + ".join(blocks)
    else:
        assert blocks == ["linear"]


@pytest.mark.parametrize("effort", ["fast", "normal"])
def test_repeated_rows_are_recognized(effort):
    """Where every row occurs three times, new rows repeat training rows, and trees recognize them."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(250, 3)), 3, axis=0)
    y = np.repeat(rng.normal(size=250), 3)
    order = rng.permutation(len(X))
    X, y = X[order], y[order]
    model = MercerRegressor(effort=effort).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.3
