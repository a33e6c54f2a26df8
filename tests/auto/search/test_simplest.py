"""Few rows: the simplest model that their errors cannot tell from the best."""

from dataclasses import replace

import numpy as np
import pytest

import mercer
from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import EFFORTS
from mercer.auto.budget.progress import Steps
from mercer.auto.constants import NO_WEIGHT
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.products import ProductBlock
from mercer.auto.features.union import Features
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.equations import row_space_loss
from mercer.auto.search.evaluation import Evaluator
from mercer.auto.search.simplest import per_distinct_row, simplest, simplest_model
from mercer.linear.ridge.fold_loss import FoldScore
from mercer.linear.ridge.row_space import RowSpaceFoldLoss


def test_the_standard_error_is_that_of_paired_errors():
    hard = np.linspace(0.0, 10.0, 400)  # rows are hard or easy for all models
    steps = np.tile([0.01, -0.01], 200)
    close, far = hard + steps + 1e-4, hard + steps + 0.01
    assert simplest([close, hard]) == 0
    assert simplest([far, hard]) == 1
    assert simplest([far, close, hard]) == 1
    assert simplest([hard, close, far]) == 0


def test_blocks_need_two_standard_errors_and_columns_one_above_the_mean():
    steps = np.tile([1.0, -1.0], 200)  # one standard error of the mean is 0.05
    zero, error = np.zeros(400), np.std(steps, ddof=1) / 20
    assert simplest_model([steps + 9.0, steps + 1.5 * error, zero]) == 1
    assert simplest_model([steps + 9.0, steps + 2.5 * error, zero]) == 2
    assert simplest_model([steps + 1.5 * error, zero]) == 1
    assert simplest_model([steps + 0.5 * error, zero]) == 0


def test_equal_rows_count_once():
    ids = np.array([5, 3, 5, 9], dtype=np.uint64)
    assert per_distinct_row(np.array([1.0, 2.0, 4.0, 8.0]), ids).tolist() == [2.0, 5.0, 8.0]
    columns = np.linspace(0.0, 3.0, 30)
    mean = columns + np.tile([0.12, -0.1], 15)  # half a standard error worse
    many = np.arange(30).repeat(50)
    assert simplest_model([mean, columns]) == simplest_model([mean.repeat(50), columns.repeat(50)], many) == 0
    assert simplest_model([mean.repeat(50), columns.repeat(50)]) == 1


def test_a_model_with_an_infinite_error_is_no_reference():
    fine, better, infinite = np.tile([2.0, 1.0], 20), np.tile([0.2, 0.1], 20), np.tile([np.inf, 0.0], 20)
    with np.errstate(all="raise"):
        assert simplest([infinite, fine, better]) == 2
        assert simplest([fine, infinite, infinite]) == 0
        assert simplest([infinite, fine]) == 1
        assert simplest([infinite, infinite]) == 0
        assert simplest_model([fine, infinite]) == 0
        assert simplest_model([infinite, fine]) == 1
        assert simplest_model([fine, infinite, better], np.arange(40) // 2) == 2
        assert simplest_model([infinite, infinite]) == 0


@pytest.mark.parametrize("where", ["rows", "folds"])
def test_a_candidate_with_an_infinite_loss_is_not_kept(monkeypatch, where):
    """The equations of one fold cannot be solved: for single rows, or with any penalty at all."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = np.sin(2 * X[:, :1]) + 0.1 * rng.normal(size=(60, 1))
    rows = TrainingRows(X, Y - Y.mean(), rng.integers(0, 2**60, 60).astype(np.uint64))
    search = Evaluator(rows, None, EFFORTS["fast"], Clock(), 0, Steps())
    columns = Features([LinearBlock(3)])
    first = search.first(columns)
    larger = columns.plus(ProductBlock.fitted(X, np.array([[0, 0], [1, 2]])))
    with np.errstate(all="raise"):
        solved = RowSpaceFoldLoss._solved
        with monkeypatch.context() as patched:
            patched.setattr(
                RowSpaceFoldLoss, "_solved", lambda self, k, system: None if k == 1 else solved(self, k, system)
            )
            if where == "rows":
                patched.setattr(
                    RowSpaceFoldLoss, "score", lambda self, *_, **__: FoldScore(np.ones(5), 0.01, np.zeros(2))
                )
            broken = search.trial(first, "products", "2 products", larger)
        assert np.isinf(broken.errors).sum() == np.count_nonzero(rows.folds == 1)
        assert np.isinf(broken.loss) == (where == "folds")
        after = search.keep_if_better(first, broken)
        assert after.kept is first.kept
        assert after.candidates[-1].why == "its equations cannot be solved in every fold"
        # As a reference it says nothing.
        whole = search.trial(first, "products", "2 products", larger)
        assert search.keep_if_better(replace(first, kept=broken), whole).kept.candidate.kept


def test_a_search_whose_columns_cannot_be_solved_says_so(monkeypatch):
    monkeypatch.setattr(RowSpaceFoldLoss, "_solved", lambda *_: None)
    X = np.random.default_rng(0).normal(size=(60, 3))
    rows = TrainingRows(X, X[:, :1], np.arange(60, dtype=np.uint64))
    with pytest.raises(ValueError, match="No penalty could be scored"):
        Evaluator(rows, None, EFFORTS["fast"], Clock(), 0, Steps()).first(Features([LinearBlock(3)]))


@pytest.mark.parametrize("weighted", [False, True])
def test_errors_of_rows_are_those_of_refits(weighted):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 60))
    Y = X[:, :3].sum(axis=1, keepdims=True) + rng.normal(size=(40, 1))
    weight = rng.uniform(0.5, 2.0, 40) if weighted else None
    rows = TrainingRows(X, Y - Y.mean(), rng.integers(0, 2**60, 40).astype(np.uint64), weight=weight)
    system = row_space_loss(rows, Features([LinearBlock(60)]), None)
    penalties = np.array([5.0])
    losses, score = system.row_losses(penalties), system.score(penalties)
    np.testing.assert_allclose([losses[rows.folds == k].sum() for k in range(5)], score.per_fold)
    for k in range(5):
        coef, intercept = system.weights_without(k, penalties)
        own = rows.folds == k
        errors = (X[own].astype(np.float32) @ coef + intercept - rows.Y[own])[:, 0] ** 2
        np.testing.assert_allclose(losses[own], errors * rows.counts[own], rtol=1e-4, atol=1e-8)
    nothing = system.row_losses(NO_WEIGHT * system.scale())
    for k in range(5):
        own = rows.folds == k
        mean = np.average(rows.Y[~own, 0], weights=rows.counts[~own])
        np.testing.assert_allclose(nothing[own], (rows.Y[own, 0] - mean) ** 2 * rows.counts[own], rtol=1e-5)


def test_noise_is_predicted_by_its_mean():
    """Of tables of noise, hardly any model explains less than the mean by more than the error of the mean."""
    rng, explained, covered = np.random.default_rng(3), [], 0
    shapes = [(80, 10), (60, 150), (100, 300), (120, 40), (100, 300), (80, 200)]
    for n, p in shapes:
        X, y = rng.normal(size=(n + 1000, p)), rng.normal(size=n + 1000)
        model = mercer.fit(X[:n], y[:n], effort="fast", report=False)
        covered += model.report()["holdout"]["model"]["low"] <= 0
        explained.append(1 - np.mean((model.predict(X[n:]) - y[n:]) ** 2) / np.var(y[n:]))
    assert covered >= len(shapes) - 1
    assert np.mean(explained) > -0.04  # a mean of 80 rows costs 1/80
    assert np.median(explained) > -0.03


def test_a_sparse_signal_among_many_columns():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1120, 800))
    y = X[:, :5] @ np.array([2.0, -1.5, 1.0, 1.0, -1.0]) + rng.normal(size=1120)
    model = mercer.fit(X[:120], y[:120], effort="fast", report=False)
    explained = 1 - np.mean((model.predict(X[120:]) - y[120:]) ** 2) / np.var(y[120:])
    assert explained > 0.8


def test_interactions_are_still_found():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1200, 4))
    y = ((X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=1200)) > 0).astype(int)
    model = mercer.fit(X[:250], y[:250], effort="fast", report=False)
    assert np.mean(model.predict(X[250:]) == y[250:]) > 0.8
    finals = [each for each in model.report()["candidates"] if each["stage"] == "final"]
    assert any(each["name"] == "the frequencies of the classes" and not each["kept"] for each in finals)


def test_linear_classes_take_the_columns_alone():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 200))
    y = (X[:, :20].sum(axis=1) + 0.5 * rng.normal(size=150) > 0).astype(int)
    model = mercer.fit(X, y, effort="fast", holdout=0, report=False)
    assert [block["kind"] for block in model.report()["blocks"]] == ["linear"]
