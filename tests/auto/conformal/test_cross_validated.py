"""Intervals of ridge regression by CV+: coverage of simulated rows, and widths that follow the row."""

import numpy as np
import pytest

from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.final.linear import fit_linear
from mercer.auto.rows.targets import NumericTarget
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.state import SearchResult, TreeSearch
from mercer.linear.ridge.fold_loss import FoldScore


def fitted(X, y, penalty=1.0):
    """The predictor of the columns alone, with its calibration."""
    target = NumericTarget.of(y, False)
    rows = TrainingRows(X, target.numbers(y), np.random.default_rng(len(X)).integers(0, 2**63, len(X), dtype=np.uint64))
    score = FoldScore(np.zeros(5), 0.0, np.zeros(1))
    found = SearchResult(Features([LinearBlock(X.shape[1])]), np.array([penalty]), score, TreeSearch())
    return fit_linear(found, None, rows, None, target, 0)[0]


def coverage(predictor, X, y, level=0.9):
    ends = predictor.intervals(X, level)[:, 0]
    return (y >= ends[:, 0]) & (y <= ends[:, 1])


@pytest.mark.parametrize("signal", [0.0, 1.0])
def test_intervals_cover_new_rows(signal):
    """300 sets, with and without anything to learn: mean coverage of at least the level, less 3 standard errors."""
    rng, covered = np.random.default_rng(0), []
    for _ in range(300):
        X = rng.normal(size=(140, 3))
        y = signal * X.sum(axis=1) + rng.normal(size=len(X))
        covered.append(coverage(fitted(X[:60], y[:60]), X[60:], y[60:]).mean())
    assert np.mean(covered) >= 0.9 - 3 * np.std(covered) / np.sqrt(len(covered))
    assert np.mean(covered) < 0.94  # one in 61 of discretization, and models of 48 rows instead of 60


@pytest.mark.parametrize("n", [400, 3000])
def test_widths_follow_the_row(n):
    """The coverage per decile of the true spread varies less than half as much as with constant width."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (n + 20_000, 2))
    spread = np.exp(1.5 * X[:, 0])
    y = X.sum(axis=1) + spread * rng.normal(size=len(X))
    predictor = fitted(X[:n], y[:n])
    new, known = slice(n, None), predictor.calibration
    assert known.log_scales is not None
    inside = coverage(predictor, X[new], y[new])
    residuals = np.abs(y[:n, None] - predictor.scores(X[:n]))
    constant = np.abs(y[new] - predictor.predict(X[new])) <= np.quantile(residuals, 0.9)
    parts = np.array_split(np.argsort(spread[new]), 10)
    ours, others = (np.std([each[part].mean() for part in parts]) for each in (inside, constant))
    assert ours < others / 2
    assert abs(inside.mean() - 0.9) < 0.02


def test_equal_errors_have_one_width():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(800, 2))
    predictor = fitted(X, X.sum(axis=1) + rng.normal(size=800))
    width = np.ptp(predictor.intervals(X, 0.9)[:, 0], axis=1)
    assert width.std() < 0.1 * width.mean()


def test_exact_targets_have_intervals_of_no_width():
    X = np.random.default_rng(3).normal(size=(600, 2))
    ends = fitted(X, X.sum(axis=1), 1e-9).intervals(X, 0.9)[:, 0]
    assert np.all(np.isfinite(ends))
    assert np.max(ends[:, 1] - ends[:, 0]) < 1e-6


def test_intervals_grow_with_the_level_and_contain_the_prediction():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 2))
    predictor = fitted(X, X[:, 0] + rng.normal(size=300))
    narrow, wide = predictor.intervals(X, 0.5)[:, 0], predictor.intervals(X, 0.95)[:, 0]
    assert np.all(wide[:, 0] <= narrow[:, 0])
    assert np.all(wide[:, 1] >= narrow[:, 1])
    prediction = predictor.predict(X)
    assert np.all((narrow[:, 0] <= prediction) & (prediction <= narrow[:, 1]))
    assert np.all(np.isinf(predictor.intervals(X, 0.999)))


def test_a_row_has_the_same_interval_alone():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 2))
    predictor = fitted(X, X[:, 0] + np.exp(X[:, 1]) * rng.normal(size=300))
    together = predictor.intervals(X, 0.9)
    np.testing.assert_array_equal(together[7:8], predictor.intervals(X[7:8], 0.9))


def test_weights_count_as_rows():
    """A row of weight 2 has the mass of two."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 1))
    y = rng.normal(size=200)
    target, ids = NumericTarget.of(y, False), np.arange(200, dtype=np.uint64)
    rows = TrainingRows(X, target.numbers(y), ids, weight=np.full(200, 2.0))
    score = FoldScore(np.zeros(5), 0.0, np.zeros(1))
    found = SearchResult(Features([LinearBlock(1)]), np.array([1.0]), score, TreeSearch())
    predictor = fit_linear(found, None, rows, None, target, 0)[0]
    made = predictor.calibration
    assert sum(fold.mass for fold in made.scores[0]) == pytest.approx(200 / 201)
