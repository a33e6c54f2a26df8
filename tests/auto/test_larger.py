"""Weights of all rows of a table that is searched by a sample: the fits on all rows in memory are the oracles."""

import numpy as np
import pytest
from scipy.special import logsumexp

import mercer
from clocks import Hours
from mercer.auto import fitting
from mercer.auto.budget import memory
from mercer.auto.budget.effort import Clock
from mercer.auto.budget.time_model import MARGIN, Passing, TimeUp
from mercer.auto.final import all_rows as larger
from mercer.io import read_table
from mercer.linear import LogisticClassifier
from mercer.linear.optimize.streamed import descend
from mercer.source import MemorySource
from mercer.source.accumulator import BLOCK_ROWS

SHARE = 0.25


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    signal = np.sin(2 * X[:, 0]) + X[:, 1]
    return {"a": X[:, 0], "b": X[:, 1]}, signal + 0.3 * rng.normal(size=n), rng.integers(0, 4, n) / 4


def gigabytes(n_rows, n_classes=0):
    """Memory for so many rows of two numbers: so little that rows take a fixed share of it."""
    room = memory.usable(1e-6)
    return 1e-6 * n_rows / memory.rows_in(room, {"a": "number", "b": "number"}, fitting.sizes("fast"), n_classes)


def features_of_all(model, data, y, weight=None):
    """Features (those of the sample out of fold), targets and weights of all rows, in memory."""
    predictor = model.predictor
    inside, rest = fitting.sample_of(read_table(data, y, weight), SHARE, 0)
    parts = []
    for source, scores in ((inside, predictor.found.scores), (rest, None)):
        blocks = [block for block in source.blocks() if len(block)]
        encoded = np.vstack([model.encoder.transform(block.X) for block in blocks])
        heavy = np.concatenate([np.ones(len(block)) if weight is None else block.weight for block in blocks])
        kept = heavy > 0
        Z = predictor.dictionary.features(encoded[kept], scores).astype(float)
        parts.append((Z, np.concatenate([block.y for block in blocks])[kept], heavy[kept]))
    return (np.concatenate(each) for each in zip(*parts, strict=True))


def log_loss(scores, label, weight):
    scores = np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
    return float(weight @ (logsumexp(scores, axis=1) - scores[np.arange(len(label)), label]))


@pytest.mark.parametrize(("n_classes", "weighted"), [(2, False), (3, False), (2, True)])
def test_classes_have_the_weights_of_one_logistic_regression(n_classes, weighted):
    """Steps end where 0.01 is left to gain in the sum of losses; twice that leaves room for float32 products."""
    data, y, weight = table(2400)
    label = np.digitize(y, [0.0] if n_classes == 2 else [-0.7, 0.7])
    given = weight if weighted else None
    model = mercer.fit(data, label, weight=given, effort="fast", memory=gigabytes(2400 * SHARE, n_classes))
    said = " ".join(model.report()["said"])
    assert "the linear weights from all rows, in" in said
    assert "more would bring" not in said
    predictor = model.predictor
    Z, label, heavy = features_of_all(model, data, label, given)
    scale = 1 / np.sqrt(predictor.penalties[predictor.dictionary.block_of_column])
    unit = min(weight[weight > 0].mean(), 1.0) if weighted else 1.0
    heavy = heavy / unit
    floor = 1e-7 * float(heavy @ np.sum((Z * scale) ** 2, axis=1))
    alpha = max(predictor.alpha, floor)
    exact = LogisticClassifier(alpha, tol=1e-10).fit(Z * scale, label, heavy)

    def risk(coef, intercept):
        return log_loss(Z @ coef + intercept, label, heavy) + alpha * np.sum((coef / scale[:, None]) ** 2)

    best = risk(exact.coef_.T * scale[:, None], exact.intercept_)
    sample_unit = 1.1 if weighted else 1.0  # the mean weight of the sample is that of all rows up to its noise
    assert best - 1e-6 * best <= risk(predictor.coef, predictor.intercept) <= best + 0.02 * sample_unit


def test_weighted_quantities_have_the_weights_of_one_ridge():
    data, y, weight = table(2400)
    model = mercer.fit(data, y, weight=weight, effort="fast", memory=gigabytes(2400 * SHARE))
    predictor = model.predictor
    Z, t, heavy = features_of_all(model, data, y, weight)
    Z, t = (each - np.average(each, axis=0, weights=heavy) for each in (Z, t))
    penalty = predictor.penalties[predictor.dictionary.block_of_column]

    def risk(w, unit):
        return heavy @ (t - Z @ w) ** 2 / unit + np.sum(penalty * w**2)

    inside = np.concatenate([b.weight for b in fitting.sample_of(read_table(data, y, weight), SHARE, 0)[0].blocks()])
    unit = inside[inside > 0].mean()
    exact = np.linalg.solve((Z.T * heavy) @ Z / unit + np.diag(penalty), (Z.T * heavy) @ t / unit)
    # Penalties are ten times the rounding of the Gram matrix at least: see the test of weights without weights.
    assert risk(predictor.coef[:, 0], unit) - risk(exact, unit) < 0.02 * np.sum(penalty * exact**2)


def problem(n=8000, d=6, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    logits = X @ rng.normal(size=(d, n_classes))
    return X, np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)


@pytest.mark.parametrize(("n_classes", "d"), [(2, 6), (3, 6), (20, 26)])
def test_few_passes_lead_from_the_sample_to_all_rows(n_classes, d):
    """Curvatures of two classes, of few in full, and of more by products."""
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


def test_one_pass_brings_most_of_what_all_rows_have_to_say():
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
    away = [np.linalg.norm(point[:-1] - exact.coef_.T) for point in (start, found.point)]
    # The rest is of the order of the sample's own error in the curvature, sqrt(6 / 2000), times a few.
    assert away[1] < 0.25 * away[0]


def test_a_pass_that_will_not_end_in_time_is_given_up():
    passing = Passing(Clock(50.0, Hours(1.0)), 100 * BLOCK_ROWS)
    for _ in range(3):
        passing.block()
    with pytest.raises(TimeUp):
        passing.block()
    passing = Passing(Clock(200.0, Hours(1.0)), 100 * BLOCK_ROWS)
    for _ in range(100):
        passing.block()
    passing = Passing(Clock(), 10)
    passing.block()


def test_classes_that_the_sample_has_not_seen_are_told():
    data, y, _ = table(1600)
    label = np.digitize(y, [0.0]).astype(object)
    label[:] = np.where(label == 0, "no", "yes")
    rest = fitting.sample_of(read_table(data, y), SHARE, 0)[1]
    outside = next(rest.blocks()).y[:2]
    label[np.isin(y, outside)] = "odd"
    model = mercer.fit(data, label, effort="fast", holdout=0, memory=gigabytes(1600 * SHARE))
    said = " ".join(model.report()["said"])
    assert "2 rows are of classes that the sample has none of (odd)" in said
    assert model.classes_.tolist() == ["no", "yes"]


def test_scores_of_trees_are_kept_between_passes(monkeypatch):
    data, y, _ = table(1600)
    label = (y > 0).astype(int)
    told = []
    for room in (0, 1e8):
        monkeypatch.setattr(larger, "_KEPT", room)
        told.append(mercer.fit(data, label, effort="fast", memory=gigabytes(1600 * SHARE)).predictor.coef)
    assert np.allclose(*told, rtol=1e-3, atol=1e-4 * np.abs(told[0]).max())
