"""Error control: stability selection keeps its bound on false positives, knockoffs the false discovery rate."""

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, f_regression

from mercer.select import FilterSelector, KnockoffSelector, StabilitySelector
from mercer.select.resampling.knockoffs import knockoff_threshold, with_knockoffs


def data(seed, n=120, d=40, strong=3, size=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, size * X[:, :strong].sum(axis=1) + rng.normal(size=n)


def test_expected_false_positives_stay_below_the_bound():
    false_positives, bounds = [], []
    for seed in range(8):
        model = StabilitySelector(n_pairs=6, random_state=seed).fit(*data(seed))
        assert model.support_[:3].all()
        false_positives.append(model.support_[3:].sum())
        bounds.append(model.expected_false_positives_)
    assert max(bounds) <= 1.0
    assert np.mean(false_positives) <= np.mean(bounds) + 3 * np.sqrt(np.mean(bounds) / 8)


@pytest.mark.parametrize("selector", [FilterSelector(k=3), SelectKBest(f_regression, k=3)])
def test_any_selector_can_be_used(selector):
    X, y = data(0)
    model = StabilitySelector(selector, n_columns=3, n_pairs=5).fit(X, y)
    assert np.flatnonzero(model.support_).tolist() == [0, 1, 2]
    assert model.n_selected_ == 3
    assert model.expected_false_positives_ == pytest.approx(9 / (0.5 * 40))


def test_stability_refuses_wrong_parameters():
    X, y = data(0)
    for parameters, message in (
        ({"threshold": 0.5}, "threshold must be above"),
        ({"selector": object()}, "get_support"),
        ({"n_pairs": 0}, "n_pairs"),
    ):
        with pytest.raises(ValueError, match=message):
            StabilitySelector(**parameters).fit(X, y)
    with pytest.raises(ValueError, match="at least 4 distinct rows"):
        StabilitySelector().fit(X[:3], y[:3])


@pytest.mark.parametrize("n", [200, 60])
def test_the_false_discovery_rate_of_knockoffs(n):
    """At least 2 d + 1 rows: exact. Fewer: columns modeled as normal."""
    q, runs, proportions, found = 0.25, 50, [], 0
    for seed in range(runs):
        X, y = data(seed, n=n, d=40, strong=12, size=0.6)
        model = KnockoffSelector(q, random_state=seed).fit(X, y)
        assert model.exact_ == (n == 200)
        proportions.append(model.support_[12:].sum() / max(model.support_.sum(), 1))
        found += model.support_[:12].sum()
    assert np.mean(proportions) <= q + 3 * np.std(proportions) / np.sqrt(runs)
    if n == 200:
        assert found / (12 * runs) > 0.9


def test_null_data_give_no_or_few_discoveries():
    q, runs = 0.2, 60
    wrong = [KnockoffSelector(q, random_state=s).fit(*data(s, strong=0, d=20)).support_.any() for s in range(runs)]
    assert np.mean(wrong) <= q + 3 * np.sqrt(q * (1 - q) / runs)


def test_swapping_a_column_with_its_knockoff_changes_no_inner_product():
    X, y = data(1, d=6)
    X, y = X - X.mean(axis=0), y - y.mean()
    X = X / np.linalg.norm(X, axis=0)
    joint, products = with_knockoffs(X.T @ X, X.T @ y, y @ y, len(y), True, np.random.default_rng(0))
    swap = np.arange(12)
    swap[[2, 8]] = [8, 2]
    np.testing.assert_allclose(joint[np.ix_(swap, swap)], joint, atol=1e-12)
    assert np.linalg.eigvalsh(joint)[0] >= -1e-9
    assert np.array_equal(products[:6], X.T @ y)


def test_products_of_knockoffs_have_the_distribution_of_real_ones():
    """Mean and covariance over draws equal those of knockoff columns built from the data."""
    X, y = data(2, n=40, d=4)
    X, y = X - X.mean(axis=0), y - y.mean()
    X = X / np.linalg.norm(X, axis=0)
    corr = X.T @ X
    rng = np.random.default_rng(0)
    drawn = np.array([with_knockoffs(corr, X.T @ y, y @ y, 40, True, rng)[1][4:] for _ in range(3000)])
    s = min(1.0, 2 * np.linalg.eigvalsh(corr)[0] * (1 - 1e-6))
    inverse = np.linalg.inv(corr)
    root = np.linalg.cholesky(2 * s * np.eye(4) - s**2 * inverse).T
    basis = np.linalg.svd(np.column_stack([np.ones(40), X]))[0][:, 5:]
    built = []
    for _ in range(3000):
        Q, R = np.linalg.qr(rng.normal(size=(35, 4)))
        U = basis @ (Q * np.sign(np.diag(R)))  # uniform only with these signs
        built.append((X @ (np.eye(4) - s * inverse) + U @ root).T @ y)
    built = np.array(built)
    error = built.std(axis=0) / np.sqrt(1500)
    assert np.all(np.abs(drawn.mean(axis=0) - built.mean(axis=0)) <= 5 * error)
    np.testing.assert_allclose(drawn.std(axis=0), built.std(axis=0), rtol=5 / np.sqrt(1500))


def test_the_threshold_counts_negative_statistics():
    W = np.array([5.0, 4.0, 3.0, -2.0, 1.0, 0.0])
    assert knockoff_threshold(W, 0.34) == 3.0
    assert knockoff_threshold(W, 0.1) == float("inf")
    with pytest.raises(ValueError, match="fdr must lie"):
        KnockoffSelector(fdr=0).fit(*data(0))
