"""Trees as features: leaves that are boxes, scores out of fold."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.metrics import roc_auc_score

from mercer._numeric.block import Block
from mercer.learn import TreeFeatures
from mercer.learn.out_of_fold import fold_of
from mercer.linear import RidgeRegressor
from mercer.source import MemorySource


def problem(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 4))
    return X, np.sign(X[:, 0] * X[:, 1]) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("ensemble", ["boosted", "forest"])
def test_leaves_are_one_indicator_per_tree(ensemble):
    X, y = problem()
    trees = TreeFeatures(n_trees=6, max_leaves=5, ensemble=ensemble)
    Z = trees.fit_transform(X, y)
    assert sparse.issparse(Z)
    assert Z.shape == (400, trees.n_features_out_) == (400, len(trees.get_feature_names_out()))
    assert trees.n_features_out_ <= 2 * 6 * 5
    np.testing.assert_array_equal(Z.sum(axis=1), 6.0)  # of the ensemble that has not seen the row
    new = trees.transform(X)
    np.testing.assert_allclose(new.sum(axis=1), 6.0)
    assert set(np.unique(new.data)) == {0.5}  # half of each of the two


@pytest.mark.parametrize("encoding", ["leaves", "score"])
@pytest.mark.parametrize("ensemble", ["boosted", "forest"])
def test_a_row_is_shown_what_was_learned_without_its_fold(encoding, ensemble):
    X, y = problem()
    trees = TreeFeatures(encoding, n_trees=4, max_leaves=4, ensemble=ensemble, n_folds=3)
    first = trees.fit_transform(X, y)
    fold = fold_of(Block(X), 3, 0)
    changed = np.where(fold == 1, 0.5 - 3 * y, y)
    second = trees.fit_transform(X, changed)
    if encoding == "leaves":
        width = [sum(leaves.widths) for leaves in trees._without]
        assert width[0] == width[2] == width[1]
        first, second = first.toarray(), second.toarray()
    np.testing.assert_array_equal(second[fold == 1], first[fold == 1])


def test_scores_of_new_rows_are_those_of_an_ensemble_of_all():
    """Below 255 different values both bin alike, and grow the same trees; gradients are float32 there."""
    X, y = problem(250)
    trees = TreeFeatures("score", n_trees=10, max_leaves=8).fit(X, y)
    peer = HistGradientBoostingRegressor(max_iter=10, max_leaf_nodes=8, early_stopping=False, random_state=0)
    np.testing.assert_allclose(trees.transform(X)[:, 0], peer.fit(X, y).predict(X), atol=1e-4)
    weight = np.random.default_rng(0).uniform(1e-4, 1e-3, 250)  # their scale does not matter
    weighted = TreeFeatures("score", n_trees=10, max_leaves=8).fit(X, y, sample_weight=weight).transform(X)[:, 0]
    assert np.corrcoef(weighted, peer.fit(X, y, weight).predict(X))[0, 1] > 0.9
    labels = np.where(y > 0, "b", "a")
    margins = TreeFeatures("score", n_trees=10, max_leaves=8).fit(X, labels).transform(X)
    peer = HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=8, early_stopping=False, random_state=0)
    assert np.mean((margins[:, 0] > 0) == peer.fit(X, y > 0).predict(X)) > 0.9  # leaves are limited otherwise there


@pytest.mark.parametrize("kind", ["number", "two", "three"])
def test_extra_trees_are_those_of_scikit_learn(kind):
    X, y = problem(200)
    labels = np.digitize(X[:, 0], [0.0] if kind == "two" else [-0.5, 0.5])
    trees = TreeFeatures("score", n_trees=6, max_leaves=5, ensemble="forest")
    found = trees.fit(X, y if kind == "number" else np.array(["a", "b", "c"])[labels]).transform(X)
    if kind == "number":
        peer = ExtraTreesRegressor(6, max_leaf_nodes=5, random_state=0).fit(X, y)
        np.testing.assert_allclose(found[:, 0], peer.predict(X))
        return
    chances = ExtraTreesClassifier(6, max_leaf_nodes=5, random_state=0).fit(X, labels).predict_proba(X)
    shrunk = (chances * 6 + 0.5) / 7
    expected = np.log(shrunk / (1 - shrunk))
    np.testing.assert_allclose(found, expected[:, 1:] if kind == "two" else expected)


@pytest.mark.parametrize("ensemble", ["boosted", "forest"])
@pytest.mark.parametrize("encoding", ["leaves", "score"])
def test_trees_see_what_a_line_cannot(encoding, ensemble):
    X, y = problem(800)
    trees = TreeFeatures(encoding, n_trees=30, max_leaves=8, ensemble=ensemble)
    Z = trees.fit_transform(X[:500], y[:500])
    model = RidgeRegressor().fit(Z, y[:500])
    assert RidgeRegressor().fit(X[:500], y[:500]).score(X[500:], y[500:]) < 0.1
    assert model.score(trees.transform(X[500:]), y[500:]) > (0.6 if ensemble == "boosted" else 0.4)


@pytest.mark.parametrize("encoding", ["leaves", "score"])
def test_noise_scores_nothing(encoding):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 5)), rng.normal(size=500)
    Z = TreeFeatures(encoding, n_trees=15, max_leaves=8).fit_transform(X, y)
    assert RidgeRegressor().fit(Z, y).losses_.min() > 0.96 * y.var()


def test_more_classes_and_outputs():
    X, y = problem()
    three = np.array(["x", "y", "z"])[np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])]
    for ensemble in ("boosted", "forest"):
        trees = TreeFeatures("score", n_trees=5, ensemble=ensemble)
        Z = trees.fit_transform(X, three)
        assert Z.shape == (400, 3)
        assert trees.get_feature_names_out().tolist() == [f"treefeatures_score_{name}" for name in "xyz"]
        assert roc_auc_score(three == "z", Z[:, 2]) > 0.9
    two = TreeFeatures("score", n_trees=5).fit_transform(X, np.column_stack([y, -y]))
    np.testing.assert_allclose(two[:, 0], -two[:, 1], atol=1e-6)
    assert TreeFeatures(n_trees=3).fit_transform(X, three).shape[0] == 400


def test_a_class_that_is_missing_without_a_fold():
    X, y = problem(60)
    labels = np.where(y > 0, "b", "a").astype(object)
    labels[0] = "c"
    for ensemble in ("boosted", "forest"):
        Z = TreeFeatures("score", n_trees=3, ensemble=ensemble).fit_transform(X, labels)
        assert np.isfinite(Z).all()
        assert Z[0, 2] == Z[0].min()  # nobody has told the ensemble of this row about its class


def test_a_source_gives_the_same_out_of_fold_values():
    X, y = problem()
    for encoding in ("leaves", "score"):
        expected = TreeFeatures(encoding, n_trees=3).fit_transform(X, y)
        mapped = TreeFeatures(encoding, n_trees=3).fit_transform(MemorySource(X, y))
        (block,) = mapped.blocks()
        difference = block.X - expected
        assert np.abs(difference).max() == 0


def test_weights_of_zero_are_rows_that_are_not_there_but_are_still_mapped():
    X, y = problem(200)
    weight = np.where(np.arange(200) < 150, 1.0, 0.0)
    Z = TreeFeatures("score", n_trees=4).fit_transform(X, y, sample_weight=weight)
    expected = TreeFeatures("score", n_trees=4).fit_transform(X[:150], y[:150])
    assert Z.shape == (200, 1)
    np.testing.assert_array_equal(Z[:150], expected)


def test_wrong_parameters_are_refused():
    X, y = problem(50)
    for parameters in ({"encoding": "boxes"}, {"ensemble": "oak"}, {"n_trees": 0}, {"max_leaves": 1}, {"n_folds": 1}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            TreeFeatures(**parameters).fit(X, y)


def test_rows_that_are_all_alike_have_no_folds():
    with pytest.raises(ValueError, match="n_samples=5"):
        TreeFeatures().fit(np.ones((5, 2)), np.arange(5.0) / 3)
