"""P-splines of boosted columns: lines stay, noise goes, steps remain where held-out rows want them."""

import numpy as np

from mercer.learn import AdditiveTerms
from mercer.learn.additive.smooth import whittaker


def test_lines_stay_and_a_large_penalty_gives_the_weighted_line():
    rng = np.random.default_rng(0)
    x, weight = np.arange(40.0), rng.uniform(0.5, 3, 40)
    lines = np.column_stack([2 + 3 * x, 1 - x])
    np.testing.assert_allclose(whittaker(lines, weight, 50.0), lines, rtol=0, atol=1e-9)
    noisy = lines + rng.normal(size=lines.shape)
    fitted = np.polynomial.polynomial.polyfit(x, noisy, 1, w=np.sqrt(weight))
    np.testing.assert_allclose(whittaker(noisy, weight, 1e9), fitted[0] + np.outer(x, fitted[1]), rtol=0, atol=1e-3)


def test_bins_without_rows_are_interpolated():
    weight = np.ones(9)
    weight[4] = 0
    curve = np.arange(9.0)
    curve[4] = 100
    np.testing.assert_allclose(whittaker(curve[:, None], weight, 0.01)[:, 0], np.arange(9.0), atol=1e-4)


def roughness(values):
    return float(np.sum(np.diff(values, n=2) ** 2))


def test_curves_are_smooth_where_the_truth_is_and_steps_stay_steps(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(1500, 2))
    y = np.sin(6 * X[:, 0]) + 4.0 * (X[:, 1] > 0.5) + 0.3 * rng.normal(size=1500)
    tables = AdditiveTerms(n_bins=64).fit(X, y).tables_
    curve, step = (tables.mains[j][:, 0] for j in (0, 1))
    monkeypatch.setattr("mercer.learn.additive.boosting.smoothed", lambda per_fold, boosters: per_fold)
    before = AdditiveTerms(n_bins=64).fit(X, y).tables_.mains[0][:, 0]
    assert roughness(curve) < 0.5 * roughness(before)
    inside = int(np.searchsorted(tables.axes[1].values, 0.5))
    assert step[inside + 1] - step[inside - 2] > 3.2
