"""Parts of the search: folds of equal rows, kernel_candidates, penalties with a beginning, and the linear model asked again."""

import numpy as np
import pytest
from mercer.auto.boosting.boosting import compared
from mercer.auto.boosting.ensemble import Growth
from mercer.auto.boosting.losses import Squares
from mercer.auto.ridge.penalties import Equations, best_penalties

from mercer.auto import MercerClassifier, MercerRegressor
from mercer.auto.budget.effort import EFFORTS, sized
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.kernels import kernel_candidates
from mercer.auto.search.state import SearchResult


def test_equal_rows_stand_apart_only_where_asked():
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


def test_masked_lenses_make_waves_along_few_columns_and_prefer_those_of_the_trees():
    X = np.random.default_rng(0).normal(size=(200, 8))
    gains = np.array([10.0, 10.0, 0, 0, 0, 0, 0, 0])
    *_, masked = kernel_candidates(X, gains, ("Gaussian",), (0.5, 1.0), True)
    (title, lens), _ = masked
    waves = lens.waves(400, 0)
    used = waves.frequencies != 0
    assert "3 columns at a time" in title
    assert not lens.bends
    assert used.sum(axis=1).max() <= 3
    assert used[:, :2].mean() > 3 * used[:, 2:].mean()
    even, weighted = kernel_candidates(X, gains, ("Gaussian",), (0.5, 1.0), False)
    assert even[0][1].bends
    assert weighted[0][1].root[0] > weighted[0][1].root[2]


def test_penalties_from_a_partial_guess_are_as_good_as_those_from_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = X[:, 0] + 0.1 * rng.normal(size=300)
    rows = TrainingRows(X, y[:, None], np.arange(300, dtype=np.uint64))
    blocks = np.repeat([0, 1], [2, 10])
    gram = rows.gram(lambda span: X[span].astype(np.float32))
    penalties, known = best_penalties(Equations(gram, blocks))
    _, guessed = best_penalties(Equations(gram, blocks), np.array([penalties[0], np.nan]))
    assert guessed.loss < 1.01 * known.loss


def test_two_shapes_of_trees_are_compared_on_the_same_fold():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(600, 2))
    y = np.floor(4 * X[:, 0]) * np.floor(4 * X[:, 1])
    growths = [Growth(n_trees=20, max_leaves=2), Growth(n_trees=20, max_leaves=31, least_rows=2.0)]
    race = compared(X, Squares(y), rng.integers(0, 5, 600), growths)
    (_, stumps, _), (_, deep, seconds) = race.tried
    assert race.best.growth is growths[1]
    assert deep < stumps
    assert seconds > 0


def test_few_rows_get_more_folds_of_trees_and_many_classes_one_growth():
    effort = EFFORTS["normal"]
    assert sized(effort, 1000, 1).tree_folds == 2 * effort.tree_folds
    assert sized(effort, 10_000, 1) == effort
    assert len(sized(effort, 10_000, 20).growths) == 1


def test_the_columns_alone_are_a_model_of_their_own():
    found = SearchResult(Features([LinearBlock(3)]), np.ones(1), None, None, linear_penalty=2.0)
    assert found.rivals() == [found]
    wider = SearchResult(
        Features([LinearBlock(2), LinearBlock(3)]), np.ones(2), None, np.zeros((4, 1)), linear_penalty=2.0
    )
    itself, alone = wider.rivals()
    assert itself is wider
    assert alone.scores is None
    assert alone.penalties.tolist() == [2.0]


def test_many_classes_are_judged_without_trees_too():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 5, 400)
    X = np.column_stack([y + 0.1 * rng.normal(size=400), rng.normal(size=400)])  # five heaps in a row
    report = MercerClassifier().fit(X, y).model_.report()
    heads = [each for each in report["candidates"] if each["stage"] == "head"]
    assert sum(each["kept"] for each in heads) == 1
    assert any(each["name"] == "logistic on linear + waves" for each in heads)
    assert any(each["name"].endswith("(without trees)") for each in report["candidates"])


def test_linear_classes_are_left_to_the_linear_model():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 5))
    y = (X @ np.array([2.0, -1.0, 0.5, 0.0, 0.0]) + rng.logistic(size=300) > 0).astype(int)
    model = MercerClassifier(effort="fast").fit(X, y).model_
    heads = [each for each in model.report()["candidates"] if each["stage"] == "head"]
    assert sum(each["kept"] for each in heads) == (1 if heads else 0)
    blocks = [block["kind"] for block in model.report()["blocks"]]
    if heads:
        kept = next(each for each in heads if each["kept"])
        assert kept["loss"] == min(each["loss"] for each in heads)
        assert kept["name"] == "logistic on " + " + ".join(blocks)
    else:
        assert blocks == ["linear"]


@pytest.mark.parametrize("effort", ["fast", "normal"])
def test_repeated_rows_are_remembered(effort):
    """Where every row comes three times, new rows may be expected to repeat known ones, and the score knows them."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(250, 3)), 3, axis=0)
    y = np.repeat(rng.normal(size=250), 3)
    order = rng.permutation(len(X))
    X, y = X[order], y[order]
    model = MercerRegressor(effort=effort).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.3
