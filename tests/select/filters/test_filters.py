"""Filters: SciPy's and scikit-learn's values, exact formulas for tables, minimum losses of per-column optimizers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse, stats
from sklearn.feature_selection import f_classif, f_regression, mutual_info_classif, mutual_info_regression
from sklearn.metrics import mutual_info_score

from mercer._numeric.block import Block
from mercer.select import FilterSelector, discoveries, knn_mutual_information
from mercer.select.filters.cross_moments import CrossMoments
from mercer.select.filters.minimum_loss import hinge_minimum, logistic_minimum
from mercer.select.filters.rank_correlation import average_ranks
from mercer.source import MemorySource, StreamSource

rng = np.random.default_rng(0)
N = 300
X = rng.normal(size=(N, 6))
X[:, 3] = np.round(X[:, 3])  # ties
X[:, 5] = 2.5
Y = X[:, 0] + np.round(X[:, 3]) + rng.normal(size=N)
LABELS = np.array(["a", "b", "c"])[np.digitize(Y, [-0.5, 0.8])]
BINARY = np.where(Y > 0, "yes", "no")


def fitted(*args, X=X, y=Y, weight=None, **kwargs):
    return FilterSelector(*args, **kwargs).fit(X, y, weight)


# --- correlations


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_pearson_is_scipys(storage):
    model = fitted(X=storage(X))
    for j in range(5):
        r, p = stats.pearsonr(X[:, j], Y)
        assert model.correlations_[j] == pytest.approx(r, abs=1e-12)
        assert model.pvalues_[j] == pytest.approx(p, rel=1e-8, abs=1e-15)
    assert (model.scores_[5], model.pvalues_[5]) == (0.0, 1.0)
    np.testing.assert_allclose(fitted("squared").scores_, model.scores_**2)


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_offsets_cost_pearson_no_accuracy(offset):
    moved = fitted(X=X[:, :5] + offset, y=Y + offset).scores_
    np.testing.assert_allclose(moved, fitted().scores_[:5], atol=1e-15 * offset * 10)


def test_classes_are_scored_by_the_analysis_of_variance():
    F, p = f_classif(X[:, :5], LABELS)
    model = fitted(y=LABELS)
    eta2 = model.scores_[:5] ** 2
    np.testing.assert_allclose(eta2 / 2 / ((1 - eta2) / (N - 3)), F, rtol=1e-8)
    np.testing.assert_allclose(model.pvalues_[:5], p, rtol=1e-7, atol=1e-15)
    binary = fitted(y=BINARY)
    for j in range(5):
        assert binary.correlations_[j] == pytest.approx(stats.pearsonr(X[:, j], BINARY == "yes")[0], abs=1e-12)
    F, p = f_regression(X[:, :5], (BINARY == "yes").astype(float))
    np.testing.assert_allclose(binary.pvalues_[:5], p, rtol=1e-7, atol=1e-15)


@pytest.mark.parametrize("y", [Y, np.round(Y), BINARY])
def test_spearman_is_scipys(y):
    model = fitted("spearman", y=y)
    numbers = (y == "yes").astype(float) if y.dtype.kind == "U" else y
    for j in range(5):
        rho, p = stats.spearmanr(X[:, j], numbers)
        assert model.correlations_[j] == pytest.approx(rho, abs=1e-12)
        assert model.pvalues_[j] == pytest.approx(p, rel=1e-7, abs=1e-15)
    assert model.scores_[5] == 0


def test_spearman_ranks_both_variables():
    v = rng.normal(size=200)
    model = fitted("spearman", X=v[:, None], y=np.exp(3 * v))
    assert model.scores_[0] == pytest.approx(1.0, abs=1e-12)
    assert fitted("pearson", X=v[:, None], y=np.exp(3 * v)).scores_[0] < 0.7


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.integers(1, 4))
def test_average_ranks(values, times):
    x = np.array(values, dtype=float)
    np.testing.assert_array_equal(average_ranks(x), stats.rankdata(x))
    repeated = stats.rankdata(np.repeat(x, times)).reshape(-1, times)[:, 0]
    np.testing.assert_allclose(average_ranks(x, np.full(len(x), float(times))), repeated)


@pytest.mark.parametrize("score", ["pearson", "spearman", "mutual_information", "squared", "logistic", "hinge"])
def test_a_weight_is_a_number_of_equal_rows(score):
    times = rng.integers(1, 4, N)
    y = BINARY if score in ("logistic", "hinge") else Y
    weighted = fitted(score, y=y, weight=times.astype(float), n_bins=400)
    repeated = fitted(score, X=np.repeat(X, times, axis=0), y=np.repeat(y, times), n_bins=400)
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, atol=1e-9)


# --- mutual information


def test_mutual_information_of_tables_is_exact():
    codes = np.column_stack([rng.integers(0, k, N) for k in (2, 3, 5)]).astype(float)
    y = (codes[:, 1] + (rng.random(N) < 0.3)) % 3
    model = fitted("mutual_information", X=codes, y=y, k="all")
    for j, k in enumerate((2, 3, 5)):
        plain = mutual_info_score(codes[:, j], y)
        assert model.scores_[j] == pytest.approx(max(plain - (k - 1) * 2 / (2 * N), 0), abs=1e-12)
        table = np.histogram2d(codes[:, j], y, bins=(k, 3))[0]
        assert model.pvalues_[j] == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue, rel=1e-8)


def test_mutual_information_of_gaussians():
    """-log(1 - r^2)/2 for a normal pair; 16 bins lose a little, sampling adds noise of order 1/sqrt(n)."""
    n, r = 40_000, 0.7
    a, b = rng.normal(size=(2, n))
    found = fitted("mutual_information", X=np.column_stack([a, b]), y=r * a + np.sqrt(1 - r**2) * b).scores_
    assert found == pytest.approx([-0.5 * np.log(1 - r**2), -0.5 * np.log(r**2)], abs=0.03)


def test_binned_information_ranks_columns_as_nearest_neighbors_do():
    n = 2000
    signal = rng.normal(size=n)
    noise = np.geomspace(0.2, 10, 20)
    columns = signal[:, None] + noise * rng.normal(size=(n, 20))
    columns[:, ::2] = (columns[:, ::2]) ** 3
    for y, reference in ((signal, mutual_info_regression), (signal > 0.3, mutual_info_classif)):
        ours = fitted("mutual_information", X=columns, y=y).scores_
        assert stats.spearmanr(ours, reference(columns, y, random_state=0))[0] > 0.9


def test_nearest_neighbors_are_scikit_learns():
    y = X[:, 0] + 0.3 * rng.normal(size=N)
    ours, theirs = knn_mutual_information(X[:, :3], y), mutual_info_regression(X[:, :3], y, random_state=0)
    np.testing.assert_allclose(ours, theirs, atol=1e-8)
    ours, theirs = knn_mutual_information(X[:, :3], LABELS), mutual_info_classif(X[:, :3], LABELS, random_state=0)
    np.testing.assert_allclose(ours, theirs, atol=1e-8)
    with pytest.raises(ValueError, match="more than 3 rows"):
        knn_mutual_information(X[:3], y[:3])


# --- minimum losses


def losses(kind, theta, x, sign):
    margin = sign * (theta[0] * x + theta[1])
    return np.sum(np.logaddexp(0, -margin)) if kind == "logistic" else np.sum(np.maximum(0, 1 - margin))


def hinge_program(x, sign):
    """The minimum hinge loss by linear programming."""
    n = len(x)
    A = np.column_stack([-sign * x, -sign, -np.eye(n)])
    bounds = [(None, None), (None, None)] + [(0, None)] * n
    return optimize.linprog(np.r_[0, 0, np.ones(n)], A, -np.ones(n), bounds=bounds).fun


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 40), st.floats(0, 3))
def test_minimum_losses_equal_those_of_optimizers(seed, n, signal):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=n), 1)
    sign = np.where(signal * x + rng.normal(size=n) > 0.3, 1.0, -1.0)
    pos, neg = (sign > 0)[None, :] * 1.0, (sign < 0)[None, :] * 1.0
    assert hinge_minimum(x[None, :], pos, neg)[0] == pytest.approx(hinge_program(x, sign), abs=1e-7)
    best = min(
        optimize.minimize(lambda t: losses("logistic", t, x, sign), start, method="BFGS").fun
        for start in ([0.0, 0.0], [1.0, 0.0])
    )
    assert logistic_minimum(x[None, :], pos, neg)[0] <= best + 1e-5
    if pos.sum() and neg.sum():
        assert logistic_minimum(x[None, :], pos, neg)[0] >= best - 1e-3 * n


@pytest.mark.parametrize("kind", ["logistic", "hinge"])
def test_loss_filters_score_the_gain_of_an_affine_predictor(kind):
    model = fitted(kind, y=BINARY, n_bins=N)  # a bin for every value: exact
    sign = np.where(BINARY == "yes", 1.0, -1.0)
    minority = min(np.sum(sign > 0), np.sum(sign < 0))
    p = minority / N
    base = 2 * minority if kind == "hinge" else -N * (p * np.log(p) + (1 - p) * np.log(1 - p))
    for j in range(5):
        if kind == "hinge":
            minimum = hinge_program(X[:, j], sign)
        else:
            minimum = optimize.minimize(lambda t, j=j: losses(kind, t, X[:, j], sign), [0.0, 0.0]).fun
        assert model.scores_[j] == pytest.approx(1 - minimum / base, abs=1e-6)
    assert model.scores_[5] == pytest.approx(0.0, abs=1e-12)
    coarse = fitted(kind, y=BINARY).scores_
    np.testing.assert_allclose(coarse, model.scores_, atol=1e-3)
    assert (model.pvalues_ is None) == (kind == "hinge")


def test_categorical_columns_have_closed_forms():
    codes = np.column_stack([rng.integers(0, 4, N), X[:, 0]]).astype(float)
    y = np.where((codes[:, 0] % 2 == 0) ^ (rng.random(N) < 0.2), "u", "v")
    table = np.array([[np.sum((codes[:, 0] == c) & (y == u)) for u in "uv"] for c in range(4)], dtype=float)
    total = table.sum(axis=0)
    entropy = -np.sum(total * np.log(total / N))
    given_category = -np.sum(table * np.log(table / table.sum(axis=1, keepdims=True)))
    logistic = fitted("logistic", X=codes, y=y, categorical=[0])
    assert logistic.scores_[0] == pytest.approx(1 - given_category / entropy)
    assert logistic.scores_[0] > fitted("logistic", X=codes, y=y).scores_[0] + 0.1  # as a number it explains little
    hinge = fitted("hinge", X=codes, y=y, categorical=[True, False])
    assert hinge.scores_[0] == pytest.approx(1 - np.sum(table.min(axis=1)) / total.min())
    chi2 = stats.chi2_contingency(table, correction=False)
    pearson = fitted(X=codes, y=y, categorical=[0])
    assert pearson.scores_[0] == pytest.approx(np.sqrt(chi2.statistic / N))
    assert pearson.pvalues_[0] == pytest.approx(chi2.pvalue, rel=1e-6)
    groups = [Y[codes[:, 0] == c] for c in range(4)]
    numbers = fitted(X=codes, y=Y, categorical=[0])
    assert numbers.pvalues_[0] == pytest.approx(stats.f_oneway(*groups).pvalue, rel=1e-8)
    ranked = fitted("spearman", X=codes, y=Y, categorical=[0])
    ranks = stats.rankdata(Y)
    assert ranked.pvalues_[0] == pytest.approx(
        stats.f_oneway(*(ranks[codes[:, 0] == c] for c in range(4))).pvalue, rel=1e-8
    )
    residual = sum(
        np.sum((table[c] / table[c].sum() - np.eye(2)[i]) ** 2) * table[c, i] for c in range(4) for i in (0, 1)
    )
    constant = sum(np.sum((total / N - np.eye(2)[i]) ** 2) * total[i] for i in (0, 1))
    assert fitted("squared", X=codes, y=y, categorical=[0]).scores_[0] == pytest.approx(1 - residual / constant)


def test_multi_class_losses_add_up_one_against_the_rest():
    for kind in ("logistic", "hinge"):
        whole = fitted(kind, y=LABELS, n_bins=N)
        assert whole.scores_.argmax() in (0, 3)
        assert np.all((whole.scores_ >= -1e-12) & (whole.scores_ <= 1))


# --- selection, streams


def test_the_best_k_and_their_names():
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = FilterSelector(k=2, categorical=["d"]).fit(frame, Y)
    assert model.get_feature_names_out().tolist() == ["a", "d"]
    assert model.transform(frame).shape == (N, 2)
    assert FilterSelector(k="all").fit(frame, Y).get_support().all()
    assert "score" in model.get_params()
    assert not hasattr(model, "score")


@pytest.mark.parametrize("score", ["pearson", "spearman", "mutual_information", "squared", "logistic", "hinge"])
def test_streams_of_labels_and_categories_give_the_same_bits(score):
    blocks = lambda: (Block(X[i : i + 31], LABELS[i : i + 31]) for i in range(0, N, 31))  # noqa: E731
    whole = fitted(score, y=LABELS, categorical=[3])
    stream = FilterSelector(score, categorical=[3]).fit(StreamSource(blocks))
    assert whole.scores_.tobytes() == stream.scores_.tobytes()
    if score in ("pearson", "squared"):
        pieces = FilterSelector(score, categorical=[3])
        for block in blocks():
            pieces.partial_fit(block.X, block.y)
        assert pieces.scores_.tobytes() == whole.scores_.tobytes()


@settings(max_examples=30)
@given(st.integers(1, N - 1), st.booleans())
def test_moments_merge(cut, labeled):
    y = LABELS if labeled else Y
    weight = np.linspace(0.5, 2, N)
    empty = CrossMoments()
    parts = [empty.of(Block(X[rows], y[rows], weight[rows])) for rows in (slice(0, cut), slice(cut, N))]
    whole = empty.of(Block(X, y, weight)).finish().association()
    merged = parts[0].merge(parts[1]).finish().association()
    np.testing.assert_allclose(merged.score, whole.score, atol=1e-12)


def test_equal_rows_with_different_targets_all_count():
    x = np.tile([0.0, 1.0], 200)[:, None]
    y = x[:, 0] + rng.normal(size=400)
    for score in ("spearman", "mutual_information"):
        memory = fitted(score, X=x, y=y).scores_
        stream = FilterSelector(score).fit(StreamSource(lambda: iter([Block(x, y)]))).scores_
        assert memory.tobytes() == stream.tobytes()
    assert fitted("spearman", X=x, y=y).correlations_[0] == pytest.approx(stats.spearmanr(x[:, 0], y)[0])


def test_large_streams_use_the_sample():
    n = 20_000
    x = rng.normal(size=(n, 2))
    y = x[:, 0] + rng.normal(size=n)
    exact = fitted("spearman", X=x, y=y).scores_
    sampled = FilterSelector("spearman").fit(StreamSource(lambda: iter([Block(x, y)]))).scores_
    assert np.abs(exact - sampled).max() < 5 / np.sqrt(16_384)


# --- false discoveries


def test_discoveries_are_scipys():
    for _ in range(20):
        p = np.where(rng.random(50) < 0.3, rng.random(50) * 1e-3, rng.random(50))
        for method in ("bh", "by"):
            adjusted = stats.false_discovery_control(p, method=method)
            np.testing.assert_array_equal(discoveries(p, 0.1, method), adjusted <= 0.1)
    assert not discoveries(np.ones(3)).any()
    assert discoveries(np.zeros(0)).shape == (0,)


@pytest.mark.parametrize("score", ["pearson", "spearman", "mutual_information"])
def test_the_false_discovery_rate_is_held_on_null_data(score):
    """Without any signal every discovery is false: their rate is that of runs with at least one, at most q."""
    runs, q, rng = 200 if score == "pearson" else 60, 0.1, np.random.default_rng(5)
    any_found = [
        FilterSelector(score, fdr=q).fit(rng.normal(size=(100, 20)), rng.normal(size=100)).support_.any()
        for _ in range(runs)
    ]
    assert np.mean(any_found) <= q + 3 * np.sqrt(q * (1 - q) / runs)


def test_the_false_discovery_rate_is_held_among_true_ones():
    runs, q, rng = 200, 0.2, np.random.default_rng(6)
    proportions = []
    for _ in range(runs):
        Z = rng.normal(size=(100, 30))
        found = FilterSelector(fdr=q).fit(Z, Z[:, :5].sum(axis=1) + rng.normal(size=100)).support_
        proportions.append(found[5:].sum() / max(found.sum(), 1))
    assert np.mean(proportions) <= q + 3 * np.std(proportions) / np.sqrt(runs)


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({"score": "gini"}, Y, "score must be one of"),
        ({"k": 0}, Y, "k must be"),
        ({"fdr": 1.0}, Y, "fdr must lie"),
        ({"score": "hinge", "fdr": 0.1}, BINARY, "no test"),
        ({"score": "logistic"}, Y, "Unknown label type"),
        ({"score": "logistic", "target": "numbers"}, Y, "needs classes"),
        ({"categorical": ["unknown"]}, Y, "no column 'unknown'"),
        ({"categorical": [True]}, Y, "mask of categorical"),
        ({"target": "classes"}, Y, "Unknown label type"),
    ],
)
def test_wrong_use_is_refused(parameters, y, message):
    with pytest.raises(ValueError, match=message):
        FilterSelector(**parameters).fit(X, y)


def test_one_class_has_score_zero_or_is_refused():
    assert fitted("pearson", y=np.full(N, "a")).scores_.max() == 0
    with pytest.raises(ValueError, match="at least 2 classes"):
        fitted("logistic", y=np.full(N, "a"))
    assert FilterSelector("pearson").fit(MemorySource(X, np.zeros(N))).scores_.max() == 0
