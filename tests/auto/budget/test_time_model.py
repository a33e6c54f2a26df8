"""Time budgets: predicted times, steps that stop early, and notes about them; tests set the clocks."""

from dataclasses import replace

import numpy as np
import pytest

import mercer
from mercer._numeric.block import Block, collected
from mercer.auto import MercerClassifier, MercerRegressor, refitting, run
from mercer.auto.budget import held_out, probe
from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import EFFORTS
from mercer.auto.budget.progress import Steps
from mercer.auto.budget.time_model import LogisticTime, TimeUp, until
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.final.all_rows import sample_of
from mercer.auto.final.baselines import SharedEncoder
from mercer.auto.holdout.evaluate import _bootstrap_r2
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.evaluation import Evaluator
from mercer.auto.search.fourier import _affordable_width, _MetricSearch
from mercer.io import read_table
from mercer.learn.trees import fold_booster
from mercer.learn.trees.boosting import boost
from mercer.learn.trees.losses import LogisticTreeLoss
from mercer.learn.trees.params import TreeParams
from mercer.linear.ridge.fold_loss import GramFoldLoss
from mercer.linear.ridge.penalties import best_penalties
from mercer.source import MemorySource


class SetClock:
    """A clock that stands still until its time is set."""

    time = 0.0

    def __call__(self):
        return self.time


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.normal(size=n)
    return {"a": a, "b": b}, np.sin(2 * a) + b + 0.1 * rng.normal(size=n)


def notes_of(model):
    return " ".join(model.report()["notes"])


# ---- predicted


def test_fixed_costs_are_not_counted_per_row():
    now, sizes = SetClock(), []

    def encode(source):
        sizes.append(source.n_rows)
        now.time += 0.5 + 0.001 * source.n_rows

    source = MemorySource(np.zeros((5000, 2)), np.zeros(5000))
    seconds = probe.seconds_per_row(source, 3, encode, Clock(1000.0, now))
    assert sizes == [100, 800, 5000]
    assert seconds == pytest.approx(0.001)
    del sizes[:]
    seconds = probe.seconds_per_row(source, 3, encode, Clock(5.0, now))
    assert sizes == [100]  # no time for a second probe; the first gives an upper bound
    assert seconds == pytest.approx(0.6 / 100)


def test_probes_of_few_rows():
    now = SetClock()
    for n in (1, 3, 150):
        source = MemorySource(np.zeros((n, 1)), np.zeros(n))
        assert probe.seconds_per_row(source, 0, lambda _: None, Clock(1.0, now)) == 0.0


def test_a_short_budget_searches_a_sample_and_notes_it(monkeypatch):
    monkeypatch.setattr(run, "seconds_per_row", lambda *_: 1.0)
    data, y = table(3000)
    model = mercer.fit(data, y, effort="fast", time_budget=1000)
    assert "The time budget is short for 3,000 rows: the search used a random sample of about 625." in notes_of(model)
    assert "the linear weights from all rows" in notes_of(model)
    assert model.report()["holdout"]["model"]["value"] > 0.9


def test_no_more_rows_than_the_search_has_time_for(monkeypatch):
    monkeypatch.setattr(run, "seconds_per_row", lambda *_: 0.0)
    data, y = table(3000)
    brief = Clock(0.01, now=lambda: 0.0)
    fit_run = run.FitRun(None, EFFORTS["fast"], 0, Steps(), brief, n_rows=3000)
    rows = run.TIME_FOR_SEARCH * 0.01 * EFFORTS["fast"].entries_per_second / 2  # of two columns
    assert fit_run._fraction_in_time(read_table(data, y), 1.0, 1.0) == pytest.approx(rows / 3000)


@pytest.mark.parametrize("outputs", [1, 2, "classes"])
def test_estimators_search_with_a_sample_where_the_budget_is_short(monkeypatch, outputs):
    monkeypatch.setattr(run, "seconds_per_row", lambda *_: 0.1)
    data, y = table(3000)
    X = np.column_stack(list(data.values()))
    target = y > np.median(y) if outputs == "classes" else y if outputs == 1 else np.column_stack([y, -y])
    kind = MercerClassifier if outputs == "classes" else MercerRegressor
    model = kind(effort="fast", time_budget=1000).fit(X, target)
    assert model.score(X, target) > 0.9
    assert "the linear weights from all rows" in notes_of(model.model_)


def test_a_holdout_that_takes_too_long_is_evaluated_in_part(monkeypatch):
    monkeypatch.setattr(held_out, "predicting_seconds", lambda *_: 1e6)
    data, y = table(6000)
    report = mercer.fit(data, y, effort="fast", time_budget=1000).report()
    assert "The time budget was short: about 41.67% of the holdout were evaluated." in " ".join(report["notes"])
    assert 400 < report["holdout"]["n"] < 600


def test_no_hessian_of_more_columns_than_rows_is_timed():
    def features(span):
        return np.zeros((span.stop - span.start, 1_000_000), dtype=np.float32)  # a Hessian would take 4 TB

    assert LogisticTime.of(features, 20, 1, Clock(10.0)).hessian < 1.0


def test_iterations_of_logistic_regression_fit_into_the_time():
    now = SetClock()

    def features(span):
        now.time += 0.2
        return np.zeros((span.stop - span.start, 3), dtype=np.float32)

    model = LogisticTime.of(features, 100, 1, Clock(10.0, now))
    assert model == LogisticTime(0.2 / 100, 0.0, 0.0)
    assert model.seconds(1000, 5) == pytest.approx(2.0)
    assert LogisticTime(0.0, 1e-3, 0.0).steps(10**6, 3600.0, 24) == 3


def evaluator_of(clock):
    data, y = table(300)
    X = np.column_stack(list(data.values()))
    rows = TrainingRows(X, y[:, None], np.arange(len(y), dtype=np.uint64))
    return Evaluator(rows, None, EFFORTS["normal"], clock, 0, Steps())


def test_random_features_and_bins_that_exceed_the_time_are_not_tried():
    evaluator, features = evaluator_of(Clock(10.0, SetClock())), Features([LinearBlock(2)])
    assert _affordable_width(evaluator, 512, seconds=1.0) == 512
    assert _affordable_width(evaluator, 512, seconds=1e4) == 0
    assert not _MetricSearch(evaluator, features, seconds=1e4).affordable(1)
    state = evaluator.first(features)
    assert evaluator.affords(replace(state, last_seconds=1.0), 2, 1.0)
    assert not evaluator.affords(replace(state, last_seconds=100.0), 2, 1.0)


# ---- stopped early


def test_boosting_stops_early_between_two_rounds(monkeypatch):
    """The rounds of an unfinished evaluation interval are not used: the result is that of the rounds before it."""
    monkeypatch.setattr(fold_booster, "_SLOW_ROUND_SECONDS", 0.0)  # the callback is called before each round
    rng = np.random.default_rng(0)
    X, folds = rng.normal(size=(300, 4)), np.arange(300) % 3
    label = np.digitize(X[:, 0] + 0.3 * rng.normal(size=300), [-0.5, 0.5])
    loss = LogisticTreeLoss(label, 3)
    calls = [0]

    def should_stop():
        calls[0] += 1
        return calls[0] > (1 + 3) + (1 + 3 * 5) + 12  # two intervals of 3 folds, then of 5 rounds each, and some

    cut = boost(X, loss, folds, TreeParams(n_estimators=200, early_stopping_rounds=200), should_stop)
    whole = boost(X, loss, folds, TreeParams(n_estimators=10, early_stopping_rounds=200))
    assert cut.n_rounds == whole.n_rounds == 10
    assert np.array_equal(cut.scores, whole.scores)


def test_out_of_time_penalties_are_the_best_so_far():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)).astype(np.float32)
    rows = TrainingRows(X, X[:, :1] + rng.normal(size=(200, 1)), np.arange(200, dtype=np.uint64))
    gram = rows.gram(lambda span: X[span])
    blocks = np.array([0, 0, 0, 1, 1, 1])
    hurried = GramFoldLoss(gram, blocks, lambda: hurried.n_factored >= 10)
    penalties, scored = best_penalties(hurried)
    assert hurried.n_factored == 10
    assert scored.loss == GramFoldLoss(gram, blocks).score(penalties).loss
    free, better = best_penalties(GramFoldLoss(gram, blocks))
    assert better.loss <= scored.loss
    assert free.shape == penalties.shape


def test_a_refit_is_abandoned_at_the_end_of_the_time(monkeypatch):
    def too_late(*_):
        raise TimeUp

    monkeypatch.setattr(refitting, "learn_again", too_late)
    data, y = table()
    model = mercer.fit(data, y, effort="fast", time_budget=1000)
    assert "would have taken more than the time budget left" in notes_of(model)
    assert "refit" not in model.report()["seconds"]


def test_a_callback_raises_at_the_end_of_the_time():
    now = SetClock()
    should_stop = until(Clock(1.0, now))
    assert not should_stop()
    now.time = 2.0
    with pytest.raises(TimeUp):
        should_stop()


def test_the_rest_of_a_clock_starts_now():
    now = SetClock()
    clock = Clock(10.0, now)
    now.time = 4.0
    rest = clock.rest()
    assert (rest.budget, rest.left(), rest.allows(0.1)) == (6.0, 6.0, True)
    assert Clock().rest().left() == np.inf


# ---- saved


def test_rows_are_encoded_once_for_two_models():
    class Counting:
        n = 0

        def transform(self, X):
            self.n += 1
            return 2 * X

    shared, X = SharedEncoder(Counting()), np.ones(3)
    assert shared.transform(X) is shared.transform(X)
    shared.transform(X.copy())
    assert shared.encoder.n == 2


def test_a_gathered_sample_is_the_sample():
    data, y = table(3000)
    source = read_table(data, y, weight=np.arange(3000.0))
    part = sample_of(source, 0.2, 0)[0]
    whole = probe.gathered(part)
    blocks = [block for block in part.blocks() if len(block)]
    assert whole.n_rows == sum(map(len, blocks))
    (found,) = whole.blocks()
    for field in ("y", "weight", "ids"):
        assert np.array_equal(getattr(found, field), np.concatenate([getattr(block, field) for block in blocks]))


def test_first_rows_of_arrays():
    source = MemorySource(np.arange(20000.0)[:, None], np.arange(20000.0))
    assert probe.first_rows(source, 9000).y.tolist() == list(range(9000))
    joined = collected([Block(np.eye(2)), Block(np.eye(2))])
    assert joined.X.shape == (4, 2)


def test_bootstrap_intervals_of_many_rows_resample_groups():
    """Relative errors of the standard deviation: 1 / sqrt(2 G) for G groups, 1 / sqrt(2 B) for B resamples."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=2500)
    one, two = y + rng.normal(size=2500), y + 0.5 * rng.normal(size=2500)
    widths = [
        [each.high - each.low for each in _bootstrap_r2(y[rows], one[rows], two[rows], 0.95, 0)]
        for rows in (slice(None), slice(0, 2000))
    ]
    assert np.allclose(widths[0], np.array(widths[1]) * np.sqrt(2000 / 2500), rtol=0.15)
