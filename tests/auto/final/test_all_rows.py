"""Linear weights from all rows of a table whose sample was searched, compared with fits of all rows in memory."""

import numpy as np
import pytest
from scipy.special import logsumexp

import mercer
from clocks import Hours
from mercer.auto import fitting
from mercer.auto.budget import memory
from mercer.auto.budget.clock import Clock
from mercer.auto.budget.time_model import MARGIN, PassTimer, TimeUp
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.final import all_rows
from mercer.auto.final.all_rows import StreamedRows, sample_of, weights_from_all
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import EncodedRows
from mercer.auto.search.state import SearchResult, TreeSearch
from mercer.io import read_table
from mercer.linear import LogisticClassifier
from mercer.linear.optimize.streamed import descend
from mercer.linear.ridge.fold_loss import FoldScore
from mercer.source import MemorySource
from mercer.source.accumulator import BLOCK_ROWS
from mercer.stats import Gram

FRACTION = 0.25


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    signal = np.sin(2 * X[:, 0]) + X[:, 1]
    return {"a": X[:, 0], "b": X[:, 1]}, signal + 0.3 * rng.normal(size=n), rng.integers(0, 4, n) / 4


def gigabytes(n_rows, n_classes=0):
    """Memory for `n_rows` rows of two numbers: so little that rows take a fixed fraction of it."""
    room = memory.usable(1e-6)
    return 1e-6 * n_rows / memory.rows_in(room, {"a": "number", "b": "number"}, fitting.effort_of("fast"), n_classes)


def features_of_all(model, data, y, weight=None):
    """Features (those of the sample out of fold), targets and weights of all rows, in memory."""
    predictor = model.predictor
    inside, rest = sample_of(read_table(data, y, weight), FRACTION, 0)
    parts = []
    for source, scores in ((inside, predictor.result.scores), (rest, None)):
        blocks = [block for block in source.blocks() if len(block)]
        encoded = np.vstack([model.encoder.transform(block.X) for block in blocks])
        weights = np.concatenate([np.ones(len(block)) if weight is None else block.weight for block in blocks])
        kept = weights > 0
        Z = predictor.features.features(encoded[kept], scores).astype(float)
        parts.append((Z, np.concatenate([block.y for block in blocks])[kept], weights[kept]))
    return (np.concatenate(each) for each in zip(*parts, strict=True))


def log_loss(scores, label, weight):
    scores = np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
    return float(weight @ (logsumexp(scores, axis=1) - scores[np.arange(len(label)), label]))


@pytest.mark.parametrize(("n_classes", "weighted"), [(2, False), (3, False), (2, True)])
def test_classification_weights_are_those_of_one_logistic_regression(n_classes, weighted):
    """Steps end where the sum of losses can fall by 0.01; the bound is twice that, for float32 products."""
    data, y, weight = table(2400)
    label = np.digitize(y, [0.0] if n_classes == 2 else [-0.7, 0.7])
    given = weight if weighted else None
    model = mercer.fit(data, label, weight=given, effort="fast", memory=gigabytes(2400 * FRACTION, n_classes))
    notes = " ".join(model.report()["notes"])
    assert "the linear weights from all rows, in" in notes
    assert "more would bring" not in notes
    predictor = model.predictor
    Z, label, weights = features_of_all(model, data, label, given)
    scale = 1 / np.sqrt(predictor.penalties[predictor.features.block_of_column])
    unit = min(weight[weight > 0].mean(), 1.0) if weighted else 1.0
    weights = weights / unit
    floor = 1e-7 * float(weights @ np.sum((Z * scale) ** 2, axis=1))
    alpha = max(predictor.alpha, floor)
    exact = LogisticClassifier(alpha, tol=1e-10).fit(Z * scale, label, weights)

    def risk(coef, intercept):
        return log_loss(Z @ coef + intercept, label, weights) + alpha * np.sum((coef / scale[:, None]) ** 2)

    best = risk(exact.coef_.T * scale[:, None], exact.intercept_)
    sample_unit = 1.1 if weighted else 1.0  # the mean weight of the sample is that of all rows up to its noise
    assert best - 1e-6 * best <= risk(predictor.coef, predictor.intercept) <= best + 0.02 * sample_unit


def test_weighted_regression_has_the_weights_of_one_ridge():
    data, y, weight = table(2400)
    model = mercer.fit(data, y, weight=weight, effort="fast", memory=gigabytes(2400 * FRACTION))
    predictor = model.predictor
    Z, t, weights = features_of_all(model, data, y, weight)
    Z, t = (each - np.average(each, axis=0, weights=weights) for each in (Z, t))
    penalty = predictor.penalties[predictor.features.block_of_column]

    def risk(w, unit):
        return weights @ (t - Z @ w) ** 2 / unit + np.sum(penalty * w**2)

    inside = np.concatenate([b.weight for b in sample_of(read_table(data, y, weight), FRACTION, 0)[0].blocks()])
    unit = inside[inside > 0].mean()
    exact = np.linalg.solve((Z.T * weights) @ Z / unit + np.diag(penalty), (Z.T * weights) @ t / unit)
    # Penalties are at least ten times the rounding error of the Gram matrix: see test_budgets.py.
    assert risk(predictor.coef[:, 0], unit) - risk(exact, unit) < 0.02 * np.sum(penalty * exact**2)


def wide(n=400, p=700):
    """Fewer rows than columns, streamed beside a quarter of them in memory."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)).astype(np.float32).astype(float)
    y = X[:, :10].sum(axis=1) + rng.normal(size=n)
    weight = rng.integers(1, 4, n).astype(float)
    ids = np.arange(n, dtype=np.uint64)
    sample = EncodedRows(X[:100], y[:100], ids[:100], weight=weight[:100])
    features = Features([LinearBlock(p)])
    penalties = np.array([50.0])
    result = SearchResult(features, penalties, FoldScore(np.ones(5), 1.0, np.zeros(1)), TreeSearch())
    predictor = Predictor(features, np.zeros((p, 1)), np.zeros(1), None, penalties, result=result)
    rest = MemorySource(X[100:], y[100:], weight[100:])
    return X, y, weight, StreamedRows(predictor, AsTheyAre(), sample, rest, n, 0)


class AsTheyAre:
    """An encoder of encoded rows."""

    def transform(self, source):
        return source


def test_fewer_rows_than_features_are_solved_in_the_space_of_the_rows(monkeypatch):
    X, y, weight, rows = wide()
    monkeypatch.setattr(Gram, "of", lambda *_: pytest.fail("a matrix of features"))
    found = all_rows.regression_of_all(rows)
    Z, t = (each - np.average(each, axis=0, weights=weight) for each in (X, y))
    exact = np.linalg.solve((Z.T * weight) @ Z + 50.0 * np.eye(Z.shape[1]), (Z.T * weight) @ t)
    np.testing.assert_allclose(found.coef[:, 0], exact, atol=1e-6 * np.abs(exact).max())
    np.testing.assert_allclose(found.intercept[0], np.average(y - X @ exact, weights=weight), atol=1e-6)


def test_equations_beyond_the_memory_are_left_to_the_sample():
    *_, rows = wide()
    rows.memory, notes = 1e-5, []
    assert weights_from_all(rows, 0.0, notes) is rows.predictor
    assert "equations of all rows and 700 features do not fit into 1e-05 GB of memory" in notes[0]


def test_a_pass_that_the_sample_shows_to_be_too_long_is_not_begun(monkeypatch):
    *_, rows = wide(n=1000, p=5)
    rows.clock = Clock(5.5, Hours(1.0))
    monkeypatch.setattr(StreamedRows, "others", lambda self: self.rest.map(lambda _: pytest.fail("a pass was begun")))
    with pytest.raises(TimeUp):  # an hour for 100 of the rows
        all_rows.equations_of_all(rows, None)


def problem(n=8000, d=6, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    logits = X @ rng.normal(size=(d, n_classes))
    return X, np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)


@pytest.mark.parametrize(("n_classes", "d"), [(2, 6), (3, 6), (20, 26)])
def test_few_passes_lead_from_the_weights_of_the_sample_to_those_of_all_rows(n_classes, d):
    """Hessians of two classes, of few classes in full, and of more by products with vectors."""
    X, y = problem(4000, d, n_classes)
    n = len(X) // 4
    first = LogisticClassifier(1.0).fit(X[:n], y[:n])
    exact = LogisticClassifier(1.0, tol=1e-10).fit(X.astype(float), y)
    start = np.vstack([first.coef_.T, first.intercept_])
    inside, others = MemorySource(X[:n], y[:n]), MemorySource(X[n:], y[n:])
    found = descend(start, 1.0, inside, lambda: others, len(X) / n)

    def risk(coef, intercept):
        return log_loss(X @ coef + intercept, y, np.ones(len(y))) + np.sum(coef**2)

    assert found.converged
    assert found.n_passes <= (6 if n_classes <= 3 else 16)
    assert risk(found.point[:-1], found.point[-1]) <= risk(exact.coef_.T, exact.intercept_) + 0.02


def test_one_pass_closes_most_of_the_distance():
    X, y = problem()
    n = len(X) // 4
    first = LogisticClassifier(1.0).fit(X[:n], y[:n])
    exact = LogisticClassifier(1.0).fit(X.astype(float), y)
    start = np.vstack([first.coef_.T, first.intercept_])
    inside, others = MemorySource(X[:n], y[:n]), MemorySource(X[n:], y[n:])
    clock = Clock(4.0, Hours(1.0))
    timing = (lambda seconds: MARGIN * seconds <= clock.left()), clock.spent
    found = descend(start, 1.0, inside, lambda: others, len(X) / n, *timing)
    assert (found.n_passes, found.converged) == (1, False)
    distance = [np.linalg.norm(point[:-1] - exact.coef_.T) for point in (start, found.point)]
    # The rest is of the order of the sample's error of the Hessian, sqrt(6 / 2000), times a few.
    assert distance[1] < 0.25 * distance[0]


def test_a_pass_that_will_not_end_in_time_raises():
    timer = PassTimer(Clock(50.0, Hours(1.0)), 100 * BLOCK_ROWS)
    for _ in range(3):
        timer.block()
    with pytest.raises(TimeUp):
        timer.block()
    timer = PassTimer(Clock(200.0, Hours(1.0)), 100 * BLOCK_ROWS)
    for _ in range(100):
        timer.block()
    timer = PassTimer(Clock(), 10)
    timer.block()


def test_classes_that_the_sample_lacks_are_noted():
    data, y, _ = table(1600)
    label = np.digitize(y, [0.0]).astype(object)
    label[:] = np.where(label == 0, "no", "yes")
    rest = sample_of(read_table(data, y), FRACTION, 0)[1]
    outside = next(rest.blocks()).y[:2]
    label[np.isin(y, outside)] = "odd"
    model = mercer.fit(data, label, effort="fast", holdout=0, memory=gigabytes(1600 * FRACTION))
    notes = " ".join(model.report()["notes"])
    assert "2 rows belong to classes that are not in the sample (odd)" in notes
    assert model.classes_.tolist() == ["no", "yes"]


def test_scores_of_trees_are_kept_between_passes(monkeypatch):
    data, y, _ = table(1600)
    label = (y > 0).astype(int)
    coefs = []
    for room in (0, 1e8):
        monkeypatch.setattr(all_rows, "_MAX_KEPT_BYTES", room)
        coefs.append(mercer.fit(data, label, effort="fast", memory=gigabytes(1600 * FRACTION)).predictor.coef)
    assert np.allclose(*coefs, rtol=1e-3, atol=1e-4 * np.abs(coefs[0]).max())
