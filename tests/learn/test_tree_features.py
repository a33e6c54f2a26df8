"""Trees as features: leaves that are boxes, scores out of fold."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss, r2_score, roc_auc_score

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer.learn import TreeFeatures
from mercer.linear import RidgeRegressor
from mercer.source import MemorySource


def problem(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 4))
    return X, np.sign(X[:, 0] * X[:, 1]) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("ensemble", ["boosted", "forest"])
def test_leaves_are_one_indicator_per_tree(ensemble):
    X, y = problem()
    trees = TreeFeatures(n_estimators=6, max_leaf_nodes=5, ensemble=ensemble)
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
def test_rows_get_features_learned_without_their_fold(encoding, ensemble):
    X, y = problem()
    trees = TreeFeatures(encoding, n_estimators=4, max_leaf_nodes=4, ensemble=ensemble, n_folds=3)
    first = trees.fit_transform(X, y)
    fold = fold_of(Block(X).ids, 3, 0)
    changed = np.where(fold == 1, 0.5 - 3 * y, y)
    second = trees.fit_transform(X, changed)
    if encoding == "leaves":
        width = [sum(ensemble.n_leaves) for ensemble in trees.ensembles_]
        assert width[0] == width[2] == width[1]
        first, second = first.toarray(), second.toarray()
    np.testing.assert_array_equal(second[fold == 1], first[fold == 1])


@pytest.mark.parametrize("seed", range(3))
def test_boosted_scores_are_as_good_as_those_of_scikit_learn(seed):
    X, y = problem(2000, seed)
    shape = {"max_iter": 30, "max_leaf_nodes": 8, "early_stopping": False}
    trees = TreeFeatures("score", n_estimators=30, max_leaf_nodes=8)
    train, test = slice(0, 1000), slice(1000, None)
    score = trees.fit(X[train], y[train]).transform(X[test])[:, 0]
    peer = HistGradientBoostingRegressor(**shape).fit(X[train], y[train]).predict(X[test])
    assert r2_score(y[test], score) > r2_score(y[test], peer) - 0.03
    margin = trees.fit(X[train], y[train] > 0).transform(X[test])[:, 0]
    peer = HistGradientBoostingClassifier(**shape).fit(X[train], y[train] > 0).decision_function(X[test])
    assert log_loss(y[test] > 0, expit(margin)) < log_loss(y[test] > 0, expit(peer)) + 0.03


def test_the_first_boosted_step_is_that_of_newton():
    right = np.repeat([False, True], 100)
    y = np.where(np.arange(200) % 100 < np.where(right, 75, 15), 1, 0)
    X = np.column_stack([right, np.arange(200) / 1e6])  # all rows differ: equal ones share a fold
    trees = TreeFeatures("score", n_estimators=1, max_leaf_nodes=2).fit(X, y)
    fold, expected = fold_of(Block(X).ids, 5, 0), np.zeros(2)
    for k in range(5):
        p = y[fold != k].mean()
        for side in (0, 1):
            rows = y[(fold != k) & (right == side)]
            step = np.sum(rows - p) / (len(rows) * p * (1 - p) + 1.0)
            expected[side] += (np.log(p / (1 - p)) + 0.1 * step) / 5
    np.testing.assert_allclose(trees.transform(X[[50, 150]])[:, 0], expected, atol=1e-5)


def test_new_rows_get_the_mean_of_the_ensembles_outside_the_folds():
    X, y = problem()
    trees = TreeFeatures("score", n_estimators=7, max_leaf_nodes=5, n_folds=3)
    held_out, new = trees.fit_transform(X, y), trees.transform(X)
    members = [ensemble.scores(X) for ensemble in trees.ensembles_]
    assert len(members) == 3
    np.testing.assert_allclose(new, np.mean(members, axis=0), atol=1e-14)
    fold = fold_of(Block(X).ids, 3, 0)
    for k, scores in enumerate(members):
        np.testing.assert_array_equal(held_out[fold == k], scores[fold == k])
    assert [len(ensemble.roots) for ensemble in trees.ensembles_] == [7, 7, 7]


def test_early_stopping_keeps_the_rounds_up_to_the_lowest_held_out_loss():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.normal(size=300)
    trees = TreeFeatures("score", n_estimators=100, early_stopping_rounds=10).fit(X, y)
    assert max(len(ensemble.roots) for ensemble in trees.ensembles_) <= 10
    assert len(TreeFeatures("score", n_estimators=23).fit(X, y).ensembles_[0].roots) == 23


@pytest.mark.parametrize("n_classes", [2, 3])
def test_standardized_scores_and_probabilities(n_classes):
    X, y = problem()
    labels = np.digitize(y, [0.0] if n_classes == 2 else [-0.9, 0.9])
    raw = TreeFeatures("score", n_estimators=10).fit_transform(X, labels)
    trees = TreeFeatures("score", n_estimators=10, standardize=True, probabilities=True, dtype="float32")
    Z = trees.fit_transform(X, labels)
    c = raw.shape[1]
    assert Z.dtype == trees.transform(X).dtype == np.float32
    assert Z.shape == (400, 2 * c) == (400, len(trees.get_feature_names_out()))
    np.testing.assert_allclose(Z[:, :c], raw / raw.std(axis=0), rtol=1e-6)
    p = expit(raw) if c == 1 else softmax(raw, axis=1)
    np.testing.assert_allclose(Z[:, c:], 4 * p, rtol=1e-6)
    assert trees.get_feature_names_out()[c].startswith("treefeatures_probability")


def test_indicators_of_a_category_are_one_column_to_trees():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 12, 600)
    X = np.column_stack([rng.normal(size=600), np.eye(12)[code]])
    y = rng.permutation(12)[code] % 2 + 0.1 * rng.normal(size=600)
    shape = {"n_estimators": 10, "max_leaf_nodes": 2, "learning_rate": 0.3}
    grouped = TreeFeatures("score", one_hot_columns=[slice(1, 13)], **shape).fit_transform(X, y)[:, 0]
    single = TreeFeatures("score", **shape).fit_transform(X, y)[:, 0]
    assert r2_score(y, grouped) > 0.9 > r2_score(y, single) + 0.2


@pytest.mark.parametrize("ensemble", ["boosted", "forest"])
@pytest.mark.parametrize("encoding", ["leaves", "score"])
def test_trees_find_interactions(encoding, ensemble):
    X, y = problem(800)
    trees = TreeFeatures(encoding, n_estimators=30, max_leaf_nodes=8, ensemble=ensemble)
    Z = trees.fit_transform(X[:500], y[:500])
    model = RidgeRegressor().fit(Z, y[:500])
    assert RidgeRegressor().fit(X[:500], y[:500]).score(X[500:], y[500:]) < 0.1
    assert model.score(trees.transform(X[500:]), y[500:]) > (0.6 if ensemble == "boosted" else 0.4)


@pytest.mark.parametrize("encoding", ["leaves", "score"])
def test_noise_scores_nothing(encoding):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 5)), rng.normal(size=500)
    Z = TreeFeatures(encoding, n_estimators=15, max_leaf_nodes=8).fit_transform(X, y)
    assert RidgeRegressor().fit(Z, y).losses_.min() > 0.96 * y.var()


def test_more_classes_and_outputs():
    X, y = problem()
    three = np.array(["x", "y", "z"])[np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])]
    for ensemble in ("boosted", "forest"):
        trees = TreeFeatures("score", n_estimators=5, ensemble=ensemble)
        Z = trees.fit_transform(X, three)
        assert Z.shape == (400, 3)
        assert trees.get_feature_names_out().tolist() == [f"treefeatures_score_{name}" for name in "xyz"]
        assert roc_auc_score(three == "z", Z[:, 2]) > 0.9
    two = TreeFeatures("score", n_estimators=5).fit_transform(X, np.column_stack([y, -y]))
    np.testing.assert_allclose(two[:, 0], -two[:, 1], atol=1e-6)
    assert TreeFeatures(n_estimators=3).fit_transform(X, three).shape[0] == 400


def test_a_class_that_is_missing_without_a_fold():
    X, y = problem(60)
    labels = np.where(y > 0, "b", "a").astype(object)
    labels[0] = "c"
    for ensemble in ("boosted", "forest"):
        Z = TreeFeatures("score", n_estimators=3, ensemble=ensemble).fit_transform(X, labels)
        assert np.isfinite(Z).all()
        assert Z[0, 2] == Z[0].min()  # the ensemble of this row has not seen its class


def test_a_source_gives_the_same_out_of_fold_values():
    X, y = problem()
    for encoding in ("leaves", "score"):
        expected = TreeFeatures(encoding, n_estimators=3).fit_transform(X, y)
        mapped = TreeFeatures(encoding, n_estimators=3).fit_transform(MemorySource(X, y))
        (block,) = mapped.blocks()
        difference = block.X - expected
        assert np.abs(difference).max() == 0


def test_rows_of_weight_zero_are_mapped_but_not_learned_from():
    X, y = problem(200)
    weight = np.where(np.arange(200) < 150, 1.0, 0.0)
    Z = TreeFeatures("score", n_estimators=4).fit_transform(X, y, sample_weight=weight)
    expected = TreeFeatures("score", n_estimators=4).fit_transform(X[:150], y[:150])
    assert Z.shape == (200, 1)
    np.testing.assert_array_equal(Z[:150], expected)


@pytest.mark.parametrize("ensemble", ["boosted", "forest"])
@pytest.mark.parametrize("encoding", ["leaves", "score"])
def test_blocks_without_rows_and_a_single_class(encoding, ensemble):
    X, y = problem(100)
    trees = TreeFeatures(encoding, n_estimators=3, ensemble=ensemble).fit(X, y)
    (block,) = trees.transform(MemorySource(X).where(lambda block: np.zeros(len(block), dtype=bool))).blocks()
    assert block.X.shape == (0, trees.n_features_out_)
    assert TreeFeatures(encoding, n_estimators=3, ensemble=ensemble).fit_transform(X, ["a"] * 100).shape[0] == 100


def test_leaves_of_no_trees():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    trees = TreeFeatures(n_estimators=20, learning_rate=2.0, early_stopping_rounds=5)  # steps too long to gain
    assert trees.fit_transform(X, y).shape == trees.transform(X).shape == (100, trees.n_features_out_) == (100, 0)


def test_wrong_parameters_are_refused():
    X, y = problem(50)
    wrong = {"encoding": "boxes", "ensemble": "oak", "n_estimators": 0, "max_leaf_nodes": 1, "n_folds": 1}
    wrong |= {"learning_rate": 0.0, "min_samples_leaf": -1, "early_stopping_rounds": 0}
    for parameters in ({name: value} for name, value in wrong.items()):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            TreeFeatures(**parameters).fit(X, y)


def test_equal_rows_have_no_folds():
    with pytest.raises(ValueError, match="n_samples=5"):
        TreeFeatures().fit(np.ones((5, 2)), np.arange(5.0) / 3)
