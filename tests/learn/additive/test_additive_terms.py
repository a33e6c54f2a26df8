"""Boosted terms: what they learn, out of fold, and what they do not learn from noise."""

import numpy as np
import pytest

import mercer
from mercer.learn import AdditiveTerms
from mercer.learn.additive.axes import Axis, codes_of, placed


def rows(n=800, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, size=(n, 4))


def test_terms_find_the_columns_and_the_pair():
    X = rows(1500)
    y = np.sin(3 * X[:, 0]) + 2 * X[:, 1] * X[:, 2]
    terms = AdditiveTerms(max_pairs=1)
    points = terms.fit_transform(X, y)
    assert terms.pairs_.tolist() == [[1, 2]]
    residual = y - y.mean() - points.sum(axis=1)
    assert np.var(residual) < 0.1 * np.var(y)
    new = rows(500, seed=1)
    truth = np.sin(3 * new[:, 0])
    found = terms.transform(new)[:, 0]
    assert np.corrcoef(found, truth)[0, 1] > 0.99


def test_noise_has_hardly_any_points():
    X, y = rows(), np.random.default_rng(3).normal(size=800)
    points = AdditiveTerms(max_pairs=5).fit_transform(X, y)
    assert np.corrcoef(points.sum(axis=1), y)[0, 1] < 4 / np.sqrt(len(y)) if points.std() > 0 else True
    assert np.var(points.sum(axis=1)) < 0.1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_points_of_classes_are_log_odds(n_classes):
    X = rows(1200)
    y = np.digitize(X[:, 0] + X[:, 1], np.linspace(-0.5, 0.5, n_classes - 1) if n_classes > 2 else [0.0])
    terms = AdditiveTerms(task="classification").fit(X, y)
    points = terms.transform(X)
    n_outputs = 1 if n_classes == 2 else n_classes
    assert points.shape == (1200, 4 * n_outputs)
    scores = points.reshape(len(X), 4, n_outputs).sum(axis=1)
    assert mercer.LogisticClassifier().fit(scores, y).score(scores, y) > 0.9


@pytest.mark.parametrize(("name", "value"), [("n_bins", 1), ("n_bins", 251), ("max_pairs", -1), ("learning_rate", 0)])
def test_impossible_parameters_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        AdditiveTerms(**{name: value}).fit(rows(50), rows(50)[:, 0])


def test_a_row_at_its_levels_has_the_same_levels():
    X = np.column_stack([rows(300), np.eye(3)[np.random.default_rng(0).integers(3, size=300)]])
    X[:, 3] = X[:, 3] > 0.5
    X[X[:, 3] == 1, 1] = 0.0
    axes = [Axis.of_number(X, 0, -1, 20), Axis.of_number(X, 1, 3, 20), Axis.of_category(np.arange(4, 7))]
    codes = codes_of(axes, X)
    again = placed(axes, codes, X.shape[1])
    np.testing.assert_array_equal(codes_of(axes, again), codes)
    np.testing.assert_array_equal(again[:, 3:], X[:, 3:])
    assert codes[:, 1].max() == axes[1].n_levels - 1


def test_merged_levels_are_runs_of_bins_and_leave_missing_values_alone():
    X = np.column_stack([np.linspace(0, 1, 500), np.arange(500) % 10 == 0])
    axis = Axis.of_number(X, 0, 1, 100)
    merged = axis.merged(np.bincount(axis.codes(X), minlength=axis.n_levels), 8)
    assert merged.tolist() == sorted(merged.tolist())
    assert len(np.unique(merged[:-1])) == 8
    assert merged[-1] == 8
