"""Boosted trees: accuracy, out-of-fold scores without leakage, and predictions from arrays."""

import gc
import weakref

import numpy as np
import pytest

from mercer import _numeric
from mercer.learn.trees.binning import BinnedColumns
from mercer.learn.trees.boosting import boost, compare_params
from mercer.learn.trees.categories import TreeColumns, rank_codes
from mercer.learn.trees.losses import LogisticTreeLoss, SquaredTreeLoss
from mercer.learn.trees.params import TreeParams
from mercer.learn.trees.score import EnsembleScore
from mercer.learn.trees.training_data import TrainingData


def problem(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    signal = np.where(X[:, 0] > 0.3, 2.0, 0.0) * (X[:, 1] > 0) + X[:, 2]
    return X, signal + 0.3 * rng.normal(size=n), rng.integers(0, 5, n)


def test_scores_out_of_fold_explain_the_target_and_new_rows():
    X, y, folds = problem()
    result = boost(X, SquaredTreeLoss(y), folds, TreeParams(n_estimators=120, learning_rate=0.1))
    fresh, truth, _ = problem(seed=1)

    def bagged(rows):
        return np.mean([ensemble.scores(rows) for ensemble in result.ensembles], axis=0)

    assert len(result.ensembles) == 5
    for scores, target in ((result.scores, y), (bagged(fresh), truth)):
        assert np.mean((scores[:, 0] - target) ** 2) < 0.25 * np.var(target)
    assert np.mean((bagged(X)[:, 0] - y) ** 2) < np.mean((result.scores[:, 0] - y) ** 2)
    for k, ensemble in enumerate(result.ensembles):  # the scores of a fold are those of the ensemble that never saw it
        np.testing.assert_allclose(ensemble.scores(X[folds == k]), result.scores[folds == k], atol=1e-12)
    assert set(np.argsort(result.gains)[1:]) == {0, 1, 2}


def test_trees_that_were_applied_are_freed():
    X, y, folds = problem()
    ensemble = boost(X, SquaredTreeLoss(y), folds, TreeParams(n_estimators=5)).ensembles[0]
    ensemble.scores(X)
    ensemble.leaf_numbers(X)
    alive = weakref.ref(ensemble)
    del ensemble
    gc.collect()
    assert alive() is None


def test_noise_is_not_fitted():
    X, _, folds = problem()
    noise = np.random.default_rng(5).normal(size=len(X))
    result = boost(X, SquaredTreeLoss(noise), folds, TreeParams())
    assert result.n_rounds <= 10
    assert abs(np.corrcoef(result.scores[:, 0], noise)[0, 1]) < 5 / np.sqrt(len(X)) or result.n_rounds == 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes(n_classes):
    X, y, folds = problem()
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    loss = LogisticTreeLoss(labels, n_classes)
    result = boost(X, loss, folds, TreeParams(n_estimators=60, learning_rate=0.15))
    found = result.scores[:, 0] > 0 if n_classes == 2 else result.scores.argmax(axis=1)
    assert np.mean(found == labels) > 0.75
    assert result.losses.min() < 0.7 * result.losses[0]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_gradients_are_derivatives(n_classes):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, n_classes, 6)
    loss = LogisticTreeLoss(labels, n_classes)
    scores = rng.normal(size=(6, 1 if n_classes == 2 else n_classes))
    gradient, _ = loss.gradients(scores)
    for i in range(6):
        for k in range(scores.shape[1]):
            step = np.zeros_like(scores)
            step[i, k] = 1e-5
            difference = (loss.loss(scores + step) - loss.loss(scores - step)) / 2e-5
            assert abs(difference - gradient[k, i]) < 1e-8


def test_bins_agree_with_thresholds():
    X = np.random.default_rng(0).normal(size=(500, 3)).round(1)
    for max_bins in (8, 200):
        binned = BinnedColumns.of(X, max_bins)
        assert binned.widths.max() <= max_bins
        for j in range(3):
            for b, edge in enumerate(binned.cuts[j]):
                assert np.array_equal(binned.bins[:, j] <= b, X[:, j] <= edge)


def test_a_category_without_training_rows_counts_as_no_category():
    rng = np.random.default_rng(0)
    code = rng.integers(1, 5, 400).astype(float)  # 0 is no category, 1 to 4 have training rows
    y = code % 2 + 0.1 * rng.normal(size=400)
    data = TrainingData(code[:, None], codes=[0])
    ensemble = boost(data, SquaredTreeLoss(y), rng.integers(0, 5, 400), TreeParams(n_estimators=20)).ensembles[0]
    unseen = np.array([[0.0], [5.0], [99.0], [-1.0]])
    scores = ensemble.scores(unseen)
    assert np.all(scores == scores[0])
    assert len(np.unique(ensemble.scores(np.arange(1.0, 5.0)[:, None]))) > 1


@pytest.mark.parametrize("codes", [(), (3,)])
def test_trees_of_the_comparison_are_not_grown_again(codes):
    X, y, folds = problem()
    X[:, 3] = np.digitize(X[:, 3], [-1.0, 0.0, 1.0])
    candidates = [TreeParams(n_estimators=30, max_leaf_nodes=4), TreeParams(n_estimators=60, early_stopping_rounds=10)]
    data = TrainingData(X, codes)
    compared = compare_params(data, SquaredTreeLoss(y), folds, candidates)
    n_trees = len(compared.best.trees)
    assert [trial.params for trial in compared.trials] == candidates
    again = boost(data, SquaredTreeLoss(y), folds, compared.best.params, first=compared.best)
    afresh = boost(data, SquaredTreeLoss(y), folds, compared.best.params)
    assert len(compared.best.trees) >= n_trees
    assert again.n_rounds == afresh.n_rounds
    assert np.array_equal(again.scores, afresh.scores)
    assert np.array_equal(again.gains, afresh.gains)
    assert np.array_equal(again.ensembles[0].value, afresh.ensembles[0].value)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    X, y, folds = problem()
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_THREADS", threads)
        found.append(boost(X, LogisticTreeLoss((y > 1).astype(int), 2), folds, TreeParams(n_estimators=20)))
    assert np.array_equal(found[0].scores, found[1].scores)
    assert np.array_equal(found[0].gains, found[1].gains)


@pytest.mark.parametrize("cells", [2, 8])
def test_still_larger_trees_are_tried_where_larger_ones_do_much_better(cells):
    rng = np.random.default_rng(1)
    X, folds = rng.uniform(size=(4000, 2)), np.arange(4000) % 5
    y = rng.normal(size=(cells, cells))[tuple(np.floor(cells * X).astype(int).T)]
    sizes = [TreeParams(10, leaves, 0.3, 5.0, max_features=1.0) for leaves in (8, 24, 200)]
    data, loss = TrainingData(X), SquaredTreeLoss(y + 0.1 * rng.normal(size=4000))
    compared = compare_params(data, loss, folds, sizes[:2], larger=sizes[2])
    assert [trial.params for trial in compared.trials] == sizes[: 3 if cells == 8 else 2]
    assert (compared.best.params == sizes[2]) == (cells == 8)
    stopped = compare_params(data, loss, folds, sizes[:2], lambda: True, sizes[2])
    assert len(stopped.trials) == 1


def test_without_time_only_the_first_candidate_is_tried():
    X, y, folds = problem()
    candidates = [TreeParams(), TreeParams(max_leaf_nodes=5)]
    compared = compare_params(X, SquaredTreeLoss(y), folds, candidates, should_stop=lambda: True)
    assert len(compared.trials) == 1
    assert compared.best.trees == []
    result = boost(X, SquaredTreeLoss(y), folds, TreeParams(), should_stop=lambda: True, first=compared.best)
    assert result.n_rounds == 0


@pytest.mark.parametrize("n", [1, 5, 300])
@pytest.mark.parametrize("n_classes", [None, 3])
def test_the_score_is_the_mean_of_ensembles_each_with_its_own_order_of_categories(n, n_classes):
    X, y, folds = problem()
    X[:, [1, 3]] = np.digitize(X[:, [1, 3]], [-1.0, 0.0, 1.0])
    loss = SquaredTreeLoss(y) if n_classes is None else LogisticTreeLoss(np.digitize(y, [0.0, 1.0]), n_classes)
    ensembles = boost(TrainingData(X, [1, 3]), loss, folds, TreeParams(n_estimators=20)).ensembles
    score = EnsembleScore(ensembles, TreeColumns.of(4))
    expected = 0.0
    for ensemble in ensembles:
        out, seen = np.tile(ensemble.base, (n, 1)), X[:n].copy()
        for column, rank in ensemble.ranks.items():
            seen[:, column] = rank_codes(rank, seen[:, column])
        nodes = (ensemble.roots, ensemble.column, ensemble.threshold, ensemble.left, ensemble.right, ensemble.value)
        _numeric.add_trees(seen, *nodes, ensemble.output, out)
        np.testing.assert_array_equal(ensemble.scores(X[:n]), out)
        expected = expected + out
    assert len({tuple(ensemble.ranks[3]) for ensemble in ensembles}) > 1
    np.testing.assert_array_equal(score.scores(X[:n]), expected / len(ensembles))
    score.ensembles = ensembles[:1]
    np.testing.assert_array_equal(score.scores(X[:n]), ensembles[0].scores(X[:n]))
