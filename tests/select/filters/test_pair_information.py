"""Conditional mutual information given one other column: against loops, planted pairs and pure noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.datasets import make_classification

from mercer._numeric.block import Block
from mercer.select import FilterSelector
from mercer.select.filters import pair_information
from mercer.source import MemorySource, StreamSource


def conditional_information(v, u, y, n):
    """I(v; y | u) in nats, bias-corrected, and the p-value: a table for each value of u."""
    information, chi2, freedom = 0.0, 0.0, 0
    for value in np.unique(u):
        rows = u == value
        table = np.array(
            [[np.sum((v[rows] == a) & (y[rows] == c)) for c in np.unique(y[rows])] for a in np.unique(v[rows])]
        )
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        some = table > 0
        information += np.sum(table[some] * np.log(table[some] / expected[some]))
        chi2 += np.sum((table - expected) ** 2 / expected)
        freedom += (table.shape[0] - 1) * (table.shape[1] - 1)
    return (information - freedom / 2) / n, stats.chi2.sf(chi2, freedom) if freedom else 1.0


def by_loops(X, y):
    n, d = X.shape
    scores, pvalues, partners = np.zeros(d), np.ones(d), np.full(d, -1)
    tests = sum(len(np.unique(x)) > 1 for x in X.T)
    for i in range(d):
        found = [conditional_information(X[:, i], np.zeros(n) if i == j else X[:, j], y, n) for j in range(d)]
        best = int(np.argmax([score for score, _ in found]))
        scores[i] = max(found[best][0], 0.0)
        partners[i] = -1 if best == i or scores[i] <= 0 else best
        pvalues[i] = min(1.0, tests * min(p for _, p in found))
    return scores, pvalues, partners


def table(n=400, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, 5)).astype(float)
    X[:, 4] = 7.0
    y = (X[:, 0] + X[:, 1] + (rng.random(n) < 0.2)) % classes
    return X, y.astype(int)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_scores_are_those_of_one_table_per_value(classes, make):
    X, y = table(classes=classes)
    found = FilterSelector("pair_information", k=2, target="classes").fit(make(X), y)
    scores, pvalues, partners = by_loops(X, y)
    np.testing.assert_allclose(found.scores_, scores, atol=1e-12)
    np.testing.assert_allclose(found.pvalues_, pvalues, rtol=1e-8)
    assert found.partners_.tolist() == partners.tolist()
    assert found.partners_[4] == -1
    assert found.get_support(indices=True).tolist() == [0, 1]


def test_weights_count_rows():
    X, y = table(150)
    w = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = FilterSelector("pair_information", target="classes", n_bins=3).fit(X, y, sample_weight=w)
    repeated = FilterSelector("pair_information", target="classes", n_bins=3).fit(np.repeat(X, w, 0), np.repeat(y, w))
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, atol=1e-12)
    np.testing.assert_allclose(weighted.pvalues_, repeated.pvalues_, rtol=1e-8)


def test_column_ranges_and_streams_give_the_same_tables(monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 9))
    y = X[:, 2] * X[:, 6] + 0.1 * rng.normal(size=500)
    whole = FilterSelector("pair_information", k=2).fit(X, y)
    assert whole.get_support(indices=True).tolist() == [2, 6]
    assert whole.partners_[[2, 6]].tolist() == [6, 2]
    monkeypatch.setattr(pair_information, "_TABLES", 300)
    monkeypatch.setattr(pair_information, "_INDICATORS", 2000)
    stream = StreamSource(lambda: (Block(X[i : i + 90], y[i : i + 90]) for i in range(0, 500, 90)))
    for source in (MemorySource(X, y), stream):
        parts = FilterSelector("pair_information", k=2).fit(source)
        assert np.array_equal(parts.scores_, whole.scores_)
        assert np.array_equal(parts.pvalues_, whole.pvalues_)


def test_a_pair_that_every_other_filter_is_blind_to():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 40))
    y = np.where(X[:, 11] * X[:, 30] > 0, "same", "other")
    for score in ("pearson", "spearman", "mutual_information"):
        assert not {11, 30} <= set(FilterSelector(score, k=10).fit(X, y).get_support(indices=True))
    assert FilterSelector("pair_information", k=2).fit(X, y).get_support(indices=True).tolist() == [11, 30]
    assert FilterSelector("pair_information", fdr=0.1).fit(X, y).get_support(indices=True).tolist() == [11, 30]


def test_the_columns_of_random_labels_on_the_corners_of_a_cube():
    """As in madelon: 5 columns and 15 mixtures of them determine the corner, and 130 are noise."""
    cube = {"n_informative": 5, "n_redundant": 15, "n_clusters_per_class": 16, "class_sep": 2.0, "flip_y": 0.01}
    X, y = make_classification(2000, 150, **cube, shuffle=False, random_state=0)
    assert FilterSelector("mutual_information", k=20, target="classes").fit(X, y).support_[:20].sum() < 20
    assert FilterSelector("pair_information", k=20, target="classes").fit(X, y).support_[:20].all()


def test_rare_categories_share_a_bin():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(900, 4))
    X[:, 1] = rng.choice(50, size=900, p=[0.3, 0.3, 0.2, *[0.2 / 47] * 47])
    y = (X[:, 1] == 1) ^ (X[:, 3] > 0)
    found = FilterSelector("pair_information", k=2, categorical=[1], target="classes").fit(X, y)
    assert found.get_support(indices=True).tolist() == [1, 3]
    merged = X.copy()
    merged[X[:, 1] > 2, 1] = 3
    again = FilterSelector("pair_information", k=2, categorical=[1], target="classes").fit(merged, y)
    np.testing.assert_allclose(found.scores_, again.scores_, atol=1e-12)


@pytest.mark.parametrize("kind", ["numbers", "rare class", "five classes"])
def test_false_discoveries_on_noise_are_rare(kind):
    """On noise every discovery is false: one may occur in a fraction q = 0.2 of data sets (plus three sigmas of 40)."""
    n_false = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(250, 30))
        codes = {"rare class": rng.random(250) < 0.1, "five classes": rng.integers(0, 5, 250)}
        y = rng.normal(size=250) if kind == "numbers" else codes[kind].astype(str)
        n_false += bool(FilterSelector("pair_information", fdr=0.2).fit(X, y).support_.any())
    assert n_false <= 40 * 0.2 + 3 * np.sqrt(40 * 0.2 * 0.8)
