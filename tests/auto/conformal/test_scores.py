"""Conformity scores: ranks, CV+ bounds against a slow definition, coverage of simulated rows."""

import numpy as np
import pytest

from mercer._runtime.errors import ParameterError
from mercer.auto.conformal.calibration import IntervalCalibration, SetCalibration
from mercer.auto.conformal.scores import CalibrationScores, checked_level, row_masses, upper_bounds


@pytest.mark.parametrize("n", [1, 9, 10, 99, 1000])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.99])
def test_quantile_is_the_rank_of_split_conformal_prediction(n, level):
    values = np.random.default_rng(n).normal(size=n)
    found = CalibrationScores.of(values, row_masses(np.ones(n))).quantile(level)
    rank = int(np.ceil((n + 1) * level - 1e-9))
    assert found == (np.sort(values)[rank - 1] if rank <= n else np.inf)


def test_thinned_scores_are_rounded_up_by_less_than_their_distance():
    values = np.random.default_rng(0).exponential(size=20_000)
    kept = CalibrationScores.of(values, row_masses(np.ones(len(values))))
    assert len(kept.values) == 1000
    for level in (0.1, 0.5, 0.9, 0.99):
        exact = np.quantile(values, level)
        assert exact <= kept.quantile(level) <= np.quantile(values, min(level + 0.0011, 1.0))


def test_cross_validation_plus_is_the_quantile_of_all_shifted_scores():
    rng = np.random.default_rng(1)
    sizes, level = [30, 41, 17], 0.9
    masses = row_masses(np.ones(sum(sizes)))
    raw = [rng.exponential(size=n) for n in sizes]
    folds = [CalibrationScores.of(each, masses[: len(each)]) for each in raw]
    center, scale = rng.normal(size=(50, 3)), rng.uniform(0.5, 2.0, (50, 3))
    ends = np.hstack([center[:, [k]] + scale[:, [k]] * each for k, each in enumerate(raw)])
    expected = np.sort(ends, axis=1)[:, int(np.ceil(level * (sum(sizes) + 1))) - 1]
    np.testing.assert_allclose(upper_bounds(folds, center, scale, level), expected, rtol=1e-12, atol=1e-12)


def test_rows_of_a_group_share_the_mass_of_one():
    masses = row_masses(np.ones(5), np.array([7, 7, 7, 2, 2]))
    np.testing.assert_allclose(masses, [1 / 9, 1 / 9, 1 / 9, 1 / 6, 1 / 6])


def test_split_intervals_cover_as_often_as_theory_says():
    """300 sets: mean coverage within 3 standard errors of [level, level + 1 / (n + 1)]."""
    rng, n, level = np.random.default_rng(2), 40, 0.9
    covered = []
    for _ in range(300):
        made = IntervalCalibration.split(rng.standard_t(4, (n, 1)))
        ends = made.intervals(np.zeros((1, 1)), None, None, level)
        new = rng.standard_t(4, 200)
        covered.append(np.mean((new >= ends[0, 0, 0]) & (new <= ends[0, 0, 1])))
    error = 3 * np.std(covered) / np.sqrt(len(covered))
    assert level - error <= np.mean(covered) <= level + 1 / (n + 1) + error


def test_sets_cover_every_class_if_asked_to():
    """Probabilities that favor a frequent class: sets cover the other one only with bounds of its own."""
    rng, level, rare = np.random.default_rng(3), 0.9, []
    for per_class in (False, True):
        covered = []
        for _ in range(100):
            codes = (rng.uniform(size=600) < 0.2).astype(int)
            score = rng.normal(loc=1.5 * codes - 1.5)
            p = np.column_stack([1 / (1 + np.exp(score)), 1 / (1 + np.exp(-score))])
            sets = SetCalibration.of(p[:300], codes[:300]).sets(p[300:], level, per_class)
            inside = sets[np.arange(300), codes[300:]]
            covered.append((inside.mean(), inside[codes[300:] == 1].mean()))
        total, small = np.mean(covered, axis=0)
        error = 3 * np.std(covered, axis=0) / np.sqrt(len(covered))
        assert total >= level - error[0]
        rare.append((small, error[1]))
    assert rare[0][0] < level - 0.05
    assert rare[1][0] >= level - rare[1][1]


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, "0.9", None, True, float("nan")])
def test_levels_are_probabilities(level):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        checked_level(level)
