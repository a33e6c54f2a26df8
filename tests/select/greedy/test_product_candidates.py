"""Products of columns as candidates that are never written out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from mercer.select import GreedySelector
from mercer.select.greedy.candidates import ColumnCandidates
from mercer.select.greedy.product_candidates import ProductCandidates, factors


def written_out(X):
    pairs = list(itertools.combinations(range(X.shape[1]), 2))
    return np.column_stack([X, *(X[:, i] * X[:, j] for i, j in pairs)]), [(j, -1) for j in range(X.shape[1])] + pairs


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_sums_over_candidates_are_those_of_columns_written_out(make):
    rng = np.random.default_rng(0)
    X, v, h = rng.normal(size=(40, 5)) + 0.5, rng.normal(size=40), rng.uniform(size=40)
    full, terms = written_out(X)
    pairs = ProductCandidates(make(X))
    numbers = [j if k < 0 else 5 + 5 * j + k for j, k in terms]
    np.testing.assert_allclose(pairs.products(v)[numbers], full.T @ v, atol=1e-12)
    np.testing.assert_allclose(pairs.squares(h)[numbers], (full**2).T @ h, rtol=1e-12)
    mean = h @ full / h.sum()
    for centered in (True, False):
        moments = pairs.moments(h, centered)
        about = full - mean * centered
        np.testing.assert_allclose(moments.squares[numbers], h @ about**2, rtol=1e-9)
    for number, term in zip(numbers, terms, strict=True):
        assert (*factors(number, 5), -1)[:2] == term
        np.testing.assert_allclose(pairs.column(number), full[:, numbers.index(number)])
    seen = {}
    for indices, columns in pairs.chunks():
        seen |= {int(j): columns[:, i] for i, j in enumerate(indices)}
    assert sorted(seen) == sorted(numbers)
    np.testing.assert_allclose(np.stack([seen[number] for number in numbers], axis=1), full)
    assert sum(columns.shape[1] for _, columns in ColumnCandidates(make(X)).chunks()) == 5


@pytest.mark.parametrize(("loss", "step"), [("squared", "refit"), ("squared", "line"), ("logistic", "gradient")])
def test_the_path_is_that_of_columns_written_out(loss, step):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 6)) + 0.3
    y = X[:, 0] + 2 * X[:, 1] * X[:, 4] - X[:, 2] * X[:, 3] + rng.normal(size=120)
    y = y > 0 if loss == "logistic" else y
    full, terms = written_out(X)
    lazy = GreedySelector(k=4, loss=loss, step=step, interactions=2).fit(X, y)
    plain = GreedySelector(k=4, loss=loss, step=step).fit(full, y)
    assert [tuple(pair) for pair in lazy.path_.feature.tolist()] == [terms[j] for j in plain.path_.feature]
    np.testing.assert_allclose(lazy.path_.risk, plain.path_.risk, rtol=1e-8)
    use = "predict" if loss == "squared" else "decision_function"
    np.testing.assert_allclose(getattr(lazy, use)(X), getattr(plain, use)(full), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(lazy.transform(X), plain.transform(full))
    np.testing.assert_allclose(lazy.transform(sparse.csr_array(X)).toarray(), lazy.transform(X))


def test_a_planted_pair_among_a_thousand_columns():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 1000)).astype(np.float32)
    y = X[:, 123] * X[:, 877] + 0.5 * X[:, 5] + 0.3 * rng.normal(size=400)
    model = GreedySelector(k=2, interactions=2).fit(X, y)
    assert model.path_.feature.tolist() == [[123, 877], [5, -1]]
    assert model.get_feature_names_out().tolist() == ["x5", "x123 x877"]
    assert model.transform(X).dtype == np.float32
    assert model.get_support(indices=True).tolist() == [5, 123, 877]
    assert not hasattr(model, "inverse_transform")
