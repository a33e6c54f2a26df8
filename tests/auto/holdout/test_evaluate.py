"""Coverage of the confidence intervals; the holdout is read once."""

import numpy as np
import pytest

from mercer.auto.holdout.evaluate import evaluate, paired_gain, wilson
from mercer.source import MemorySource


class CountedPredictor:
    def __init__(self, function):
        self.function, self.calls = function, 0

    def predict(self, X):
        self.calls += 1
        return self.function(X)


def test_wilson_solves_its_equation():
    """The ends p of the score interval satisfy |p_hat - p| = z sqrt(p (1 - p) / n)."""
    z = 1.959963984540054
    for hits, n in ((1, 10), (37, 40), (500, 1000)):
        estimate = wilson(hits, n)
        for p in (estimate.low, estimate.high):
            assert np.isclose(abs(hits / n - p), z * np.sqrt(p * (1 - p) / n), rtol=1e-9)


def test_wilson_of_no_and_of_all_hits():
    assert wilson(0, 10).low == 0.0
    assert wilson(10, 10).high == 1.0
    assert wilson(10, 10).low < 1.0


def test_the_interval_of_the_gain_of_equal_models_contains_zero():
    right = np.ones(100, dtype=bool)
    gain = paired_gain(right, right)
    assert gain.value == 0.0
    assert gain.low < 0 < gain.high


def test_paired_gain_covers_the_truth():
    """Simulated coverage of a 95 % interval: within five standard deviations of at least 95 %."""
    rng, n, runs = np.random.default_rng(0), 120, 1500
    covered = 0
    for _ in range(runs):
        kind = rng.choice(4, size=n, p=[0.8, 0.1, 0.04, 0.06])  # both right, only second, only first, neither
        gain = paired_gain(np.isin(kind, (0, 2)), np.isin(kind, (0, 1)))
        covered += gain.low <= 0.06 <= gain.high
    assert covered / runs > 0.95 - 5 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_each_model_sees_each_row_once(task):
    X = np.linspace(-1, 1, 200)[:, None]
    y = (X[:, 0] > 0).astype(float)
    first, second = (
        CountedPredictor(lambda X: np.zeros(len(X))),
        CountedPredictor(lambda X: (X[:, 0] > 0).astype(float)),
    )
    comparison = evaluate(first, second, MemorySource(X, y), task)
    assert first.calls == second.calls == 1
    assert comparison.n == 200
    assert comparison.clear
    assert comparison.second.value == 1.0
    assert comparison.first.value == {"classification": 0.5, "regression": -1.0}[task]
    assert np.isclose(comparison.gain.value, comparison.second.value - comparison.first.value)


def test_bootstrap_is_the_same_twice():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 1)), rng.normal(size=50)
    models = CountedPredictor(lambda X: 0.1 * X[:, 0]), CountedPredictor(lambda X: 0.2 * X[:, 0])
    assert evaluate(*models, MemorySource(X, y), "regression") == evaluate(*models, MemorySource(X, y), "regression")


def test_empty_holdout():
    source = MemorySource(np.ones((3, 1)), np.ones(3)).where(lambda block: np.zeros(len(block), dtype=bool))
    with pytest.raises(ValueError, match="holdout has no rows"):
        evaluate(CountedPredictor(len), CountedPredictor(len), source, "regression")
