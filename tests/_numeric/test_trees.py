"""Compiled trees are the trees of the definition, and those of scikit-learn."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from mercer import _numeric
from mercer._numeric import trees


def binned(n=300, d=5, c=1, seed=0, n_bins=40):
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, n_bins, size=(n, d)).astype(np.uint8)
    gradient = np.rint(64 * (np.sin(bins[:, :c] / 5.0) + rng.normal(size=(n, c)))) / 64  # sums are exact
    return bins, gradient, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("c", [1, 3])
@pytest.mark.parametrize("min_weight", [0.0, 12.0])
def test_compiled_trees_are_those_of_the_definition(c, min_weight):
    bins, gradient, weight = binned(c=c)
    ours = _numeric.grow_tree(bins, gradient, weight, 16, min_weight)
    for mine, theirs in zip(ours, trees.grow_tree(bins, gradient, weight, 16, min_weight), strict=True):
        np.testing.assert_array_equal(mine, theirs)
        assert mine.dtype == np.int32
    feature, *_, leaf = ours
    assert np.count_nonzero(feature < 0) == 16
    assert min(weight[leaf == node].sum() for node in np.flatnonzero(feature < 0)) >= min_weight


def test_leaves_are_found_again():
    bins, gradient, weight = binned()
    for module in (trees, _numeric):
        feature, threshold, left, right, leaf = module.grow_tree(bins, gradient, weight, 9, 1.0)
        again = module.tree_leaves(bins, feature, threshold, left, right, np.array([0, 0], dtype=np.int32))
        np.testing.assert_array_equal(again, np.column_stack([leaf, leaf]))
        assert again.dtype == np.int32


@pytest.mark.parametrize("seed", range(4))
def test_the_error_is_that_of_the_best_first_tree_of_scikit_learn(seed):
    bins, gradient, _ = binned(seed=seed)
    peer = DecisionTreeRegressor(max_leaf_nodes=10, random_state=0).fit(bins, gradient[:, 0])
    *_, leaf = _numeric.grow_tree(bins, gradient, np.ones(len(bins)), 10, 1.0)
    means = np.bincount(leaf, gradient[:, 0]) / np.maximum(np.bincount(leaf), 1)
    ours = np.sum((gradient[:, 0] - means[leaf]) ** 2)
    theirs = np.sum((gradient[:, 0] - peer.predict(bins)) ** 2)
    assert ours == pytest.approx(theirs, rel=1e-9)


def test_nothing_to_cut():
    bins = np.zeros((7, 2), dtype=np.uint8)
    for module in (trees, _numeric):
        feature, *_, leaf = module.grow_tree(bins, np.ones((7, 1)), np.ones(7), 4, 1.0)
        assert feature.tolist() == [-1]
        assert leaf.tolist() == [0] * 7
        for wrong in ((bins[:0], np.ones((0, 1)), np.ones(0)), (bins, np.ones((6, 1)), np.ones(7))):
            with pytest.raises(ValueError, match="rows"):
                module.grow_tree(*wrong, 4, 1.0)
