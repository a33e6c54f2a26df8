"""Boosted trees: they learn, their out-of-fold scores are honest, and arrays are all that is needed to predict."""

import numpy as np
import pytest

from mercer import _numeric
from mercer.auto.boosting.boosting import boost, compared
from mercer.auto.boosting.ensemble import Binned, Growth
from mercer.auto.boosting.forest import ranks_at
from mercer.auto.boosting.losses import LogLoss, Squares
from mercer.auto.features.trees import TreeColumns, TreeScoreBlock


def problem(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    signal = np.where(X[:, 0] > 0.3, 2.0, 0.0) * (X[:, 1] > 0) + X[:, 2]
    return X, signal + 0.3 * rng.normal(size=n), rng.integers(0, 5, n)


def test_scores_out_of_fold_explain_the_target_and_new_rows():
    X, y, folds = problem()
    grown = boost(X, Squares(y), folds, Growth(n_trees=120, rate=0.1))
    fresh, truth, _ = problem(seed=1)

    def bagged(rows):
        return np.mean([forest.scores(rows) for forest in grown.forests], axis=0)

    assert len(grown.forests) == 5
    for scores, target in ((grown.scores, y), (bagged(fresh), truth)):
        assert np.mean((scores[:, 0] - target) ** 2) < 0.25 * np.var(target)
    assert np.mean((bagged(X)[:, 0] - y) ** 2) < np.mean((grown.scores[:, 0] - y) ** 2)
    for k, forest in enumerate(grown.forests):  # the scores of a fold are those of the ensemble that never saw it
        np.testing.assert_allclose(forest.scores(X[folds == k]), grown.scores[folds == k], atol=1e-12)
    assert set(np.argsort(grown.gains)[1:]) == {0, 1, 2}


def test_noise_is_left_alone():
    X, _, folds = problem()
    noise = np.random.default_rng(5).normal(size=len(X))
    grown = boost(X, Squares(noise), folds, Growth())
    assert grown.n_rounds <= 10
    assert abs(np.corrcoef(grown.scores[:, 0], noise)[0, 1]) < 5 / np.sqrt(len(X)) or grown.n_rounds == 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes(n_classes):
    X, y, folds = problem()
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    loss = LogLoss(labels, n_classes)
    grown = boost(X, loss, folds, Growth(n_trees=60, rate=0.15))
    told = grown.scores[:, 0] > 0 if n_classes == 2 else grown.scores.argmax(axis=1)
    assert np.mean(told == labels) > 0.75
    assert grown.losses.min() < 0.7 * grown.losses[0]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_slopes_are_derivatives(n_classes):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, n_classes, 6)
    loss = LogLoss(labels, n_classes)
    scores = rng.normal(size=(6, 1 if n_classes == 2 else n_classes))
    gradient, _ = loss.slopes(scores)
    for i in range(6):
        for k in range(scores.shape[1]):
            step = np.zeros_like(scores)
            step[i, k] = 1e-5
            slope = (loss.loss(scores + step) - loss.loss(scores - step)) / 2e-5
            assert abs(slope - gradient[k, i]) < 1e-8


def test_bins_and_thresholds_tell_the_same():
    X = np.random.default_rng(0).normal(size=(500, 3)).round(1)
    for max_bins in (8, 200):
        binned = Binned.of(X, max_bins)
        assert binned.widths.max() <= max_bins
        for j in range(3):
            for b, edge in enumerate(binned.cuts[j]):
                assert np.array_equal(binned.bins[:, j] <= b, X[:, j] <= edge)


def test_a_level_that_no_training_row_had_counts_as_none_of_the_levels():
    rng = np.random.default_rng(0)
    code = rng.integers(1, 5, 400).astype(float)  # 0 is none of the levels, 1 to 4 were met
    y = code % 2 + 0.1 * rng.normal(size=400)
    forest = boost(code[:, None], Squares(y), rng.integers(0, 5, 400), Growth(n_trees=20), codes=[0]).forests[0]
    unseen = np.array([[0.0], [5.0], [99.0], [-1.0]])
    scores = forest.scores(unseen)
    assert np.all(scores == scores[0])
    assert len(np.unique(forest.scores(np.arange(1.0, 5.0)[:, None]))) > 1


@pytest.mark.parametrize("codes", [(), (3,)])
def test_what_was_grown_to_compare_growths_is_not_grown_again(codes):
    X, y, folds = problem()
    X[:, 3] = np.digitize(X[:, 3], [-1.0, 0.0, 1.0])
    growths = [Growth(n_trees=30, max_leaves=4), Growth(n_trees=60, patience=10)]
    race = compared(X, Squares(y), folds, growths, codes)
    n_trees = len(race.best.trees)
    assert [growth for growth, _, _ in race.tried] == growths
    again = boost(X, Squares(y), folds, race.best.growth, codes, known=race.best)
    afresh = boost(X, Squares(y), folds, race.best.growth, codes)
    assert len(race.best.trees) >= n_trees
    assert again.n_rounds == afresh.n_rounds
    assert np.array_equal(again.scores, afresh.scores)
    assert np.array_equal(again.gains, afresh.gains)
    assert np.array_equal(again.forests[0].value, afresh.forests[0].value)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    X, y, folds = problem()
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_THREADS", threads)
        found.append(boost(X, LogLoss((y > 1).astype(int), 2), folds, Growth(n_trees=20)))
    assert np.array_equal(found[0].scores, found[1].scores)
    assert np.array_equal(found[0].gains, found[1].gains)


def test_time_that_is_over_leaves_growths_untried():
    X, y, folds = problem()
    race = compared(X, Squares(y), folds, [Growth(), Growth(max_leaves=5)], enough=lambda: True)
    assert len(race.tried) == 1
    assert race.best.trees == []
    assert boost(X, Squares(y), folds, Growth(), enough=lambda: True, known=race.best).n_rounds == 0


@pytest.mark.parametrize("n", [1, 5, 300])
@pytest.mark.parametrize("n_classes", [None, 3])
def test_the_score_is_the_mean_of_forests_each_with_its_own_order_of_levels(n, n_classes):
    X, y, folds = problem()
    X[:, [1, 3]] = np.digitize(X[:, [1, 3]], [-1.0, 0.0, 1.0])
    loss = Squares(y) if n_classes is None else LogLoss(np.digitize(y, [0.0, 1.0]), n_classes)
    forests = boost(X, loss, folds, Growth(n_trees=20), [1, 3]).forests
    score = TreeScoreBlock(forests, np.ones(len(forests[0].base)), TreeColumns.of(4, []), classes=n_classes is not None)
    expected = 0.0
    for forest in forests:
        out, seen = np.tile(forest.base, (n, 1)), X[:n].copy()
        for column, rank in forest.ranks.items():
            seen[:, column] = ranks_at(rank, seen[:, column])
        nodes = (forest.roots, forest.column, forest.threshold, forest.left, forest.right, forest.value)
        _numeric.add_trees(seen, *nodes, forest.output, out)
        np.testing.assert_array_equal(forest.scores(X[:n]), out)
        expected = expected + out
    assert len({tuple(forest.ranks[3]) for forest in forests}) > 1
    np.testing.assert_array_equal(score.scores(X[:n]), expected / len(forests))
    score.forests = forests[:1]
    np.testing.assert_array_equal(score.scores(X[:n]), forests[0].scores(X[:n]))
