"""Time budgets: what is foreseen, what is cut short, and what is said about it; clocks are wound by the tests."""

import numpy as np
import pytest

import mercer
from mercer._numeric.block import Block, collected
from mercer.auto import MercerClassifier, MercerRegressor, job
from mercer.auto.boosting import ensemble
from mercer.auto.boosting.boosting import boost
from mercer.auto.boosting.ensemble import Growth
from mercer.auto.boosting.losses import LogLoss
from mercer.auto.budget import probe as pilot
from mercer.auto.budget.effort import EFFORTS, Clock
from mercer.auto.budget.progress import Steps
from mercer.auto.budget.time_model import LogisticPace, TimeUp, until
from mercer.auto.final.all_rows import sample_of
from mercer.auto.final.baselines import Once
from mercer.auto.holdout.evaluate import _bootstrap_r2
from mercer.auto.ridge.penalties import Equations, best_penalties
from mercer.auto.rows.training import Rows
from mercer.auto.search.evaluation import Candidate
from mercer.auto.search.fourier import WaveStage
from mercer.auto.search.search import Search
from mercer.io import read_table
from mercer.source import MemorySource


class Wound:
    """A clock that stands still unless it is told how much time went by."""

    time = 0.0

    def __call__(self):
        return self.time


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.normal(size=n)
    return {"a": a, "b": b}, np.sin(2 * a) + b + 0.1 * rng.normal(size=n)


def said(model):
    return " ".join(model.report()["said"])


# ---- foreseen


def test_what_is_paid_once_is_not_counted_for_every_row():
    hours, sizes = Wound(), []

    def encode(source):
        sizes.append(source.n_rows)
        hours.time += 0.5 + 0.001 * source.n_rows

    source = MemorySource(np.zeros((5000, 2)), np.zeros(5000))
    seconds = pilot.seconds_per_row(source, 3, encode, Clock(1000.0, hours))
    assert sizes == [100, 400, 1600]
    assert seconds == pytest.approx(0.001)
    del sizes[:]
    seconds = pilot.seconds_per_row(source, 3, encode, Clock(5.0, hours))
    assert sizes == [100]  # there is no time for another trial, and the first tells at least a bound
    assert seconds == pytest.approx(0.6 / 100)


def test_trials_of_few_rows():
    hours = Wound()
    for n in (1, 3, 150):
        source = MemorySource(np.zeros((n, 1)), np.zeros(n))
        assert pilot.seconds_per_row(source, 0, lambda _: None, Clock(1.0, hours)) == 0.0


def test_a_short_budget_searches_with_a_sample_and_says_so(monkeypatch):
    monkeypatch.setattr(job, "seconds_per_row", lambda *_: 1.0)
    data, y = table(3000)
    model = mercer.fit(data, y, effort="fast", time_budget=1000)
    assert "The time budget is short for 3,000 rows: the search saw an even sample of about 625." in said(model)
    assert "the linear weights from all rows" in said(model)
    assert model.report()["holdout"]["model"]["value"] > 0.9


def test_no_more_rows_than_a_search_gets_through(monkeypatch):
    monkeypatch.setattr(job, "seconds_per_row", lambda *_: 0.0)
    data, y = table(3000)
    brief = Clock(0.01, now=lambda: 0.0)
    one = job.Job(None, EFFORTS["fast"], 0, Steps(), brief, n_rows=3000)
    rows = job.SEARCH * 0.01 * EFFORTS["fast"].pace / 2  # of two columns
    assert one.share_in_time(read_table(data, y), 1.0, 1.0) == pytest.approx(rows / 3000)


@pytest.mark.parametrize("outputs", [1, 2, "classes"])
def test_estimators_search_with_a_sample_where_the_budget_is_short(monkeypatch, outputs):
    monkeypatch.setattr(job, "seconds_per_row", lambda *_: 0.1)
    data, y = table(3000)
    X = np.column_stack(list(data.values()))
    target = y > np.median(y) if outputs == "classes" else y if outputs == 1 else np.column_stack([y, -y])
    kind = MercerClassifier if outputs == "classes" else MercerRegressor
    model = kind(effort="fast", time_budget=1000).fit(X, target)
    assert model.score(X, target) > 0.9
    assert "the linear weights from all rows" in said(model.model_)


def test_a_holdout_that_takes_too_long_is_judged_in_part(monkeypatch):
    monkeypatch.setattr(job, "predicting_seconds", lambda *_: 1e6)
    data, y = table(6000)
    report = mercer.fit(data, y, effort="fast", time_budget=1000).report()
    assert "The holdout was judged by about 42 % of its rows" in " ".join(report["said"])
    assert 400 < report["holdout"]["n"] < 600


def test_steps_of_logistic_regression_fit_into_the_time():
    hours = Wound()

    def features(span):
        hours.time += 0.2
        return np.zeros((span.stop - span.start, 3), dtype=np.float32)

    pace = LogisticPace.of(features, 100, 1, Clock(10.0, hours))
    assert pace == LogisticPace(0.2 / 100, 0.0, 0.0)
    assert pace.seconds(1000, 5) == pytest.approx(2.0)
    assert LogisticPace(0.0, 1e-3, 0.0).steps(10**6, 3600.0, 24) == 3


def search(clock):
    data, y = table(300)
    X = np.column_stack(list(data.values()))
    rows = Rows(X, y[:, None], np.arange(len(y), dtype=np.uint64))
    return Search(rows, None, EFFORTS["normal"], clock, 0, Steps())


def test_waves_and_bins_that_do_not_fit_are_not_tried():
    one = search(Clock(10.0, Wound()))
    one.candidates.append(Candidate("kernel", "", 1.0, 1.0, 256))
    waves = WaveStage(one)
    assert waves._affordable(512) == 512
    one.candidates.append(Candidate("kernel", "", 1.0, 1e4, 256))
    assert waves._affordable(512) == 0
    assert not waves._affords_metric(1)
    one._tried_blocks, one._tried_seconds = [], 100.0
    assert not one.affords(2, 1.0)


# ---- cut short


def test_trees_are_cut_short_between_two_rounds(monkeypatch):
    """What was grown of an unfinished stride is not used: the result is that of the rounds before it."""
    monkeypatch.setattr(ensemble, "_LONG", 0.0)  # so every round but those of the first stride is asked for
    rng = np.random.default_rng(0)
    X, folds = rng.normal(size=(300, 4)), np.arange(300) % 3
    label = np.digitize(X[:, 0] + 0.3 * rng.normal(size=300), [-0.5, 0.5])
    loss = LogLoss(label, 3)
    asked = [0]

    def enough():
        asked[0] += 1
        return asked[0] > (1 + 3) + (1 + 3 * 5) + 12  # two strides of 3 folds, then of 5 rounds each, and some

    cut = boost(X, loss, folds, Growth(n_trees=200, patience=200), (), enough)
    whole = boost(X, loss, folds, Growth(n_trees=10, patience=200))
    assert cut.n_rounds == whole.n_rounds == 10
    assert np.array_equal(cut.scores, whole.scores)


def test_penalties_are_the_best_so_far():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)).astype(np.float32)
    rows = Rows(X, X[:, :1] + rng.normal(size=(200, 1)), np.arange(200, dtype=np.uint64))
    gram = rows.gram(lambda span: X[span])
    blocks = np.array([0, 0, 0, 1, 1, 1])
    hurried = Equations(gram, blocks, lambda: hurried.n_factored >= 10)
    penalties, scored = best_penalties(hurried)
    assert hurried.n_factored == 10
    assert scored.loss == Equations(gram, blocks).score(penalties).loss
    free, better = best_penalties(Equations(gram, blocks))
    assert better.loss <= scored.loss
    assert free.shape == penalties.shape


def test_learning_again_is_given_up_at_the_end_of_the_time(monkeypatch):
    def too_late(*_):
        raise TimeUp

    monkeypatch.setattr(job, "learn_again", too_late)
    data, y = table()
    model = mercer.fit(data, y, effort="fast", time_budget=1000)
    assert "would have taken more than the time budget left" in said(model)
    assert "learn again from all rows" not in model.report()["seconds"]


def test_until():
    hours = Wound()
    enough = until(Clock(1.0, hours))
    assert not enough()
    hours.time = 2.0
    with pytest.raises(TimeUp):
        enough()


def test_the_rest_of_a_clock_begins_anew():
    hours = Wound()
    clock = Clock(10.0, hours)
    hours.time = 4.0
    rest = clock.rest()
    assert (rest.budget, rest.left(), rest.allows(0.1)) == (6.0, 6.0, True)
    assert Clock().rest().left() == np.inf


# ---- spared


def test_rows_are_encoded_once_for_two_models():
    class Counting:
        n = 0

        def transform(self, X):
            self.n += 1
            return 2 * X

    once, X = Once(Counting()), np.ones(3)
    assert once.transform(X) is once.transform(X)
    once.transform(X.copy())
    assert once.encoder.n == 2


def test_a_gathered_sample_is_the_sample():
    data, y = table(3000)
    source = read_table(data, y, weight=np.arange(3000.0))
    part = sample_of(source, 0.2, 0)[0]
    whole = pilot.gathered(part)
    blocks = [block for block in part.blocks() if len(block)]
    assert whole.n_rows == sum(map(len, blocks))
    (found,) = whole.blocks()
    for field in ("y", "weight", "ids"):
        assert np.array_equal(getattr(found, field), np.concatenate([getattr(block, field) for block in blocks]))


def test_first_rows_of_arrays():
    source = MemorySource(np.arange(20000.0)[:, None], np.arange(20000.0))
    assert pilot.first_rows(source, 9000).y.tolist() == list(range(9000))
    sparse_rows = collected([Block(np.eye(2)), Block(np.eye(2))])
    assert sparse_rows.X.shape == (4, 2)


def test_intervals_of_many_rows_come_from_groups():
    """The spread over G groups is that over rows up to 1 / sqrt(2 G), that of B draws is known to 1 / sqrt(2 B)."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=2500)
    one, two = y + rng.normal(size=2500), y + 0.5 * rng.normal(size=2500)
    widths = [
        [each.high - each.low for each in _bootstrap_r2(y[rows], one[rows], two[rows], 0.95, 0)]
        for rows in (slice(None), slice(0, 2000))
    ]
    assert np.allclose(widths[0], np.array(widths[1]) * np.sqrt(2000 / 2500), rtol=0.15)
