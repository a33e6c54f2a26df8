"""Landmarks: exact where they span the rows, bounded for every pair elsewhere, for numbers and for objects."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mercer._numeric.block import Block
from mercer.expand import Landmarks
from mercer.expand.landmarks.rows import object_column
from mercer.kernels import (
    AllSubsets,
    Cauchy,
    Constant,
    Custom,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Overlap,
    Polynomial,
    Precomputed,
    Sinc,
)
from mercer.linear import RidgeRegressor
from mercer.source import MemorySource, StreamSource

KERNELS = {
    "gaussian": Gaussian(1.5),
    "gaussian, median": Gaussian("median"),
    "laplace": Laplace(2.0),
    "laplace l1": Laplace(2.0, norm="l1"),
    "cauchy": Cauchy(1.0),
    "matern": Matern(1.5, nu=2.5),
    "sinc": Sinc(2.0),
    "linear": Linear(),
    "polynomial": Polynomial(3),
    "all subsets": AllSubsets(0.3),
    "overlap": Overlap(),
    "custom": Custom(lambda x, z: float(np.minimum(np.abs(x), np.abs(z)).sum())),
    "sum": Gaussian(1.0) + 0.5 * Linear(),
    "product": Laplace(3.0) * Polynomial(2),
    "columns": Gaussian(1.0).on([0, 2]) + Constant(2.0),
    "cosine": Polynomial(2).normalized(),
}
WAYS = ["rpcholesky", "uniform", "kmeans", "all"]
every_kernel = pytest.mark.parametrize("name", KERNELS)


def rows(n=80, d=4, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def clustered(n=1000, seed=0):
    """One large cluster and twenty small ones, far apart."""
    rng = np.random.default_rng(seed)
    centers = 12 * rng.normal(size=(20, 4))
    small = centers[rng.integers(20, size=n // 10)] + 0.1 * rng.normal(size=(n // 10, 4))
    return np.vstack([0.1 * rng.normal(size=(n - len(small), 4)), small])


# the approximation


@every_kernel
def test_it_is_exact_when_every_row_is_a_landmark(name):
    X = rows()
    features = Landmarks(kernel=KERNELS[name], choose="all").fit(X)
    Z, K = features.transform(X), features.kernel_(X)
    # 64 roundings are allowed in a pivot; each of at most n columns adds as much again
    assert np.abs(Z @ Z.T - K).max() <= 1e-11 * np.abs(K).max()


@every_kernel
@pytest.mark.parametrize("choose", ["rpcholesky", "uniform"])
def test_the_bound_holds_for_every_pair(name, choose):
    X, new = rows(), rows(50, seed=1)
    features = Landmarks(15, KERNELS[name], choose=choose).fit(X)
    both = np.vstack([X, new])
    Z, K, r = features.transform(both), features.kernel_(both), features.residual(both)
    slack = 1e-12 * np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    assert np.all(r >= 0)
    assert np.all(np.abs(K - Z @ Z.T) <= np.sqrt(np.outer(r, r)) * (1 + 1e-8) + slack)


def test_residuals_fall_with_landmarks_as_the_path_records():
    X = rows(400, 3)
    features = Landmarks(60, Gaussian(2.0)).fit(X)
    assert features.n_components_ == 60
    assert features.residual_path_.shape == (61,)
    assert np.all(np.diff(features.residual_path_) <= 0)
    assert features.residual_path_[0] == 1
    assert features.residual_path_[-1] == pytest.approx(features.residual(X).mean(), rel=1e-8)
    smaller = Landmarks(25, Gaussian(2.0)).fit(X)
    np.testing.assert_array_equal(smaller.landmarks_, features.landmarks_[:25])
    np.testing.assert_allclose(smaller.transform(X), features.transform(X)[:, :25], atol=1e-10)


def test_rpcholesky_finds_small_clusters_that_uniform_sampling_misses():
    X = clustered()
    left = {
        how: np.mean([Landmarks(40, Gaussian(1.0), how, random_state=s).fit(X).residual(X).mean() for s in range(10)])
        for how in ("rpcholesky", "uniform")
    }
    assert left["rpcholesky"] < 0.5 * left["uniform"]


def test_a_fraction_of_the_trace_takes_the_smallest_number_of_landmarks():
    X = rows(300, 3)
    features = Landmarks(0.02, Gaussian(2.0)).fit(X)
    full = Landmarks(200, Gaussian(2.0)).fit(X)
    m = features.n_components_
    assert full.residual_path_[m] <= 0.02 < full.residual_path_[m - 1]
    assert features.residual(X).mean() <= 0.02


def test_a_fraction_that_is_out_of_reach_is_capped_with_a_warning(monkeypatch):
    monkeypatch.setattr("mercer.expand.landmarks.choice.MAX_LANDMARKS", 20)
    with pytest.warns(UserWarning, match="more than the tolerance 0.01"):
        features = Landmarks(0.01, Gaussian(0.01)).fit(rows(100))
    assert features.n_components_ == 20


# edges


@pytest.mark.parametrize("choose", WAYS)
def test_the_rank_of_the_kernel_limits_the_number(choose):
    X = rows(60, 3)
    features = Landmarks(20, Linear(), choose=choose).fit(X)
    assert features.n_components_ == 3
    np.testing.assert_allclose(features.transform(X) @ features.transform(X).T, X @ X.T, atol=1e-12)
    assert features.get_feature_names_out().tolist() == ["landmarks0", "landmarks1", "landmarks2"]


def test_repeated_rows_are_one_landmark():
    X = np.repeat(rows(5), 6, axis=0)
    assert Landmarks(30, Gaussian()).fit(X).n_components_ == 5
    assert Landmarks(30, Gaussian(), "uniform", whiten=False).fit(X).n_components_ == 5
    assert Landmarks(kernel=Gaussian(), landmarks=X).fit(X).n_components_ == 5
    assert Landmarks(kernel=Gaussian(), landmarks=X, whiten=False).fit(X).transform(X).shape == (30, 30)


@pytest.mark.parametrize("choose", WAYS)
@pytest.mark.parametrize("whiten", [True, False])
def test_one_row_and_rows_without_similarity_have_an_answer(choose, whiten):
    features = Landmarks(10, Gaussian(), choose, whiten=whiten).fit([[1.0, 2.0]])
    np.testing.assert_allclose(features.transform([[1.0, 2.0]]), [[1.0]])
    nothing = Landmarks(10, Linear(), choose, whiten=whiten).fit(np.zeros((4, 2)))
    assert np.all(nothing.transform([[1.0, 2.0]]) == 0)


def test_weights_count_as_repetitions():
    X = rows(60)
    counts = np.random.default_rng(0).integers(0, 4, size=60)
    weighted = Landmarks(10, Gaussian()).fit(X, sample_weight=counts)
    repeated = Landmarks(10, Gaussian()).fit(np.repeat(X, counts, axis=0))
    np.testing.assert_array_equal(weighted.landmarks_, repeated.landmarks_)
    np.testing.assert_allclose(weighted.residual_path_, repeated.residual_path_, atol=1e-14)


# kinds of rows


@pytest.mark.parametrize("choose", ["rpcholesky", "uniform", "all"])
@pytest.mark.parametrize("whiten", [True, False])
def test_float32_stays_float32_and_is_as_accurate_as_it_can_be(choose, whiten):
    X = rows(300, 3)
    features = Landmarks(200, Gaussian(2.0), choose, whiten=whiten).fit(X.astype(np.float32))
    Z = features.transform(X.astype(np.float32))
    assert Z.dtype == np.float32
    exact = features.transform(X.astype(np.float32).astype(np.float64))
    if whiten:
        # pivots are at least 64 roundings, so roundings of the kernel are not magnified beyond a few times that
        assert np.abs(Z @ Z.T - exact @ exact.T).max() <= 300 * np.finfo(np.float32).eps
    else:
        np.testing.assert_allclose(Z, exact, atol=1e-6)


def test_float32_rows_are_safe_on_a_map_fitted_on_float64():
    X = rows(300, 2)
    features = Landmarks(kernel=Gaussian(2.0), choose="all").fit(X)  # pivots down to 1e-14
    Z = features.transform(X.astype(np.float32))
    assert Z.dtype == np.float32
    assert np.abs(Z @ Z.T - Gaussian(2.0)(X)).max() <= 1e-5


@every_kernel
def test_sparse_rows_give_the_same_features(name):
    X = rows() * (rows(seed=2) > 0)
    dense = Landmarks(10, KERNELS[name], whiten=False).fit(X) if name != "custom" else None
    if dense is None:  # a function of rows sees CSR rows as CSR matrices
        return
    thin = clone(dense).fit(sparse.csr_matrix(X))
    np.testing.assert_allclose(thin.transform(sparse.csr_array(X)), dense.transform(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(thin.transform(X), dense.transform(X), rtol=1e-9, atol=1e-9)


def test_kmeans_centers_serve_sparse_rows():
    X = rows() * (rows(seed=2) > 0)
    features = Landmarks(10, Gaussian(), "kmeans").fit(sparse.csr_matrix(X))
    np.testing.assert_allclose(features.transform(sparse.csr_matrix(X)), features.transform(X), atol=1e-9)


def shared_letters(a, b):
    return float(len(set(a) & set(b)))


WORDS = ["kernel", "trick", "landmark", "nystrom", "cholesky", "pivot", "trace", "residual", "kernel", "lift"]
OBJECTS = {
    "strings": (Custom(shared_letters), WORDS),
    "array of strings": (Custom(shared_letters), np.array(WORDS)),
    "series": (Custom(shared_letters), pd.Series(WORDS)),
    "sets": (Overlap(), [set(word) for word in WORDS]),
    "token lists": (Overlap(), [list(word) for word in WORDS]),
    "equal-length token lists": (Overlap(), [[w[0], w[1]] for w in WORDS]),
    "mixed tuples": (Overlap().on(1) + Constant(), [(i % 3, frozenset(word)) for i, word in enumerate(WORDS)]),
    "dictionaries": (Custom(shared_letters), [dict.fromkeys(word, 1.0) for word in WORDS]),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects_of_any_kind_can_be_landmarks(kind):
    kernel, X = OBJECTS[kind]
    features = Landmarks(50, kernel).fit(X)
    Z, K = features.transform(X), kernel(list(X))
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-10)
    assert np.all(features.residual(X) <= 1e-10)
    plain = Landmarks(kernel=kernel, choose="all", whiten=False).fit(X)
    distinct = 10 - len(WORDS) + len(dict.fromkeys(map(repr, map(_sorted, X))))
    np.testing.assert_array_equal(plain.transform(X), kernel(list(X), list(plain.landmarks_)))
    assert plain.n_components_ == distinct
    assert features.certificate(X).max <= features.certificate(X).pointwise.max() + 1e-12


def _sorted(item):
    return sorted(item) if isinstance(item, (set, frozenset)) else item


def test_objects_fit_in_pieces_as_they_do_at_once():
    words = [f"{a}{b}{a * 2}" for a in "abcdefgh" for b in "ijklm"]
    whole = Landmarks(6, Custom(shared_letters)).fit(words)
    pieces = Landmarks(6, Custom(shared_letters))
    for start in range(0, len(words), 7):
        pieces.partial_fit(words[start : start + 7])
    merged = (
        Landmarks(6, Custom(shared_letters)).fit(words[:9]).merge(Landmarks(6, Custom(shared_letters)).fit(words[9:]))
    )
    stream = StreamSource(lambda: (Block(object_column(words[i : i + 11])) for i in range(0, len(words), 11)))
    streamed = Landmarks(6, Custom(shared_letters)).fit(stream)
    assert whole.landmarks_ == pieces.landmarks_ == merged.landmarks_ == streamed.landmarks_
    mapped = np.vstack([block.X for block in streamed.transform(stream).blocks()])
    np.testing.assert_array_equal(mapped, whole.transform(words))
    np.testing.assert_array_equal(whole.transform(words), merged.transform(words))


def test_landmarks_of_ones_own():
    X, S = rows(), rows(7, seed=3)
    plain = Landmarks(kernel=Gaussian(), landmarks=S, whiten=False).fit(X)
    np.testing.assert_allclose(plain.transform(X), Gaussian()(X, S), atol=1e-12)
    assert Landmarks(kernel=Gaussian("median"), landmarks=S).fit(X).kernel_.bandwidth > 0
    words = Landmarks(kernel=Custom(shared_letters), landmarks=["abc", "xyz"], whiten=False).fit(["a"])
    assert words.transform(["cabby", "ax"]).tolist() == [[3.0, 1.0], [1.0, 1.0]]
    with pytest.raises(ValueError, match="X has 3 features, but Landmarks is expecting 4"):
        Landmarks(kernel=Gaussian(), landmarks=S[:, :3]).fit(X)


@pytest.mark.parametrize("choose", ["rpcholesky", "uniform", "all"])
def test_a_precomputed_matrix_has_columns_for_landmarks(choose):
    X, new = rows(), rows(30, seed=1)
    kernel = Gaussian(1.5)
    features = Landmarks(12, Precomputed(), choose).fit(kernel(X))
    direct = Landmarks(kernel=kernel, landmarks=X[features.landmarks_]).fit(X)
    Z, same = features.transform(kernel(new, X)), direct.transform(new)  # up to a rotation
    np.testing.assert_allclose(Z @ Z.T, same @ same.T, atol=1e-9)
    np.testing.assert_allclose(features.residual(kernel(X)), direct.residual(X), atol=1e-9)
    certificate = features.certificate(kernel(X))
    assert np.all(np.abs(certificate.errors) <= certificate.pointwise * (1 + 1e-8))
    own = Landmarks(kernel=Precomputed(), landmarks=[3, 5], whiten=False).fit(kernel(X))
    np.testing.assert_array_equal(own.transform(kernel(new, X)), kernel(new, X)[:, [3, 5]])


# streams


@settings(max_examples=20, deadline=None)
@given(cuts=st.lists(st.integers(1, 119), max_size=6, unique=True), choose=st.sampled_from(WAYS))
def test_any_cut_of_the_rows_gives_the_same_landmarks(cuts, choose):
    X = np.round(rows(120), 1)
    pieces = np.split(X, sorted(cuts))
    whole = Landmarks(12, Gaussian("median"), choose).fit(X)
    stream = clone(whole).fit(StreamSource(lambda: map(Block, pieces)))
    partial = clone(whole)
    for piece in pieces:
        partial.partial_fit(piece)
    for other in (stream, partial):
        assert other.landmarks_.tobytes() == whole.landmarks_.tobytes()
        assert other.whitening_.tobytes() == whole.whitening_.tobytes()
        assert other.kernel_ == whole.kernel_


def test_all_keeps_the_order_of_the_data_and_merges():
    X = rows(20)
    both = Landmarks(kernel=Gaussian(), choose="all", whiten=False).fit(X[:12])
    both.merge(Landmarks(kernel=Gaussian(), choose="all", whiten=False).fit(X[10:]))
    np.testing.assert_array_equal(both.landmarks_, X)
    source = Landmarks(kernel=Gaussian(), choose="all", whiten=False).fit(MemorySource(X)).transform(MemorySource(X))
    np.testing.assert_allclose(np.vstack([b.X for b in source.blocks()]), Gaussian()(X), atol=1e-12)


def test_a_second_fit_forgets_the_first():
    X = rows()
    features = Landmarks(10, Gaussian()).fit(X)
    features.set_params(whiten=False, choose="uniform").fit(X)
    assert not hasattr(features, "whitening_")
    assert not hasattr(features, "residual_path_")


def test_a_pickled_map_is_the_same_map():
    X = rows()
    features = Landmarks(10, Gaussian()).fit(X)
    Z = features.transform(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(features)).transform(X), Z)


# certificates and ridge


def test_the_certificate_has_deterministic_bounds():
    X = rows(200, 3)
    features = Landmarks(25, Gaussian(2.0)).fit(X)
    certificate = features.certificate(X)
    r = features.residual(X)
    Z, K = features.transform(X), Gaussian(2.0)(X)
    assert np.all(np.abs(certificate.errors) <= certificate.pointwise * (1 + 1e-8))
    assert certificate.residual_sum == pytest.approx(r.sum())
    assert certificate.residual_max == pytest.approx(r.max())
    assert np.linalg.norm(K - Z @ Z.T, 2) <= certificate.residual_sum
    assert certificate.unexplained == pytest.approx(r.mean())
    assert "for certain" in str(certificate)
    assert certificate.as_dict()["residual_sum"] == certificate.residual_sum
    assert features.certificate(MemorySource(X)).residual_sum == pytest.approx(certificate.residual_sum)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
def test_ridge_on_landmarks_is_as_near_to_kernel_ridge_as_certified(alpha):
    X = rows(200, 3)
    y = np.sin(X[:, 0]) + X[:, 1]
    features = Landmarks(30, Gaussian(2.0)).fit(X)
    near = Ridge(alpha, fit_intercept=False).fit(features.transform(X), y).predict(features.transform(X))
    exact = KernelRidge(alpha=alpha, kernel="precomputed").fit(Gaussian(2.0)(X), y).predict(Gaussian(2.0)(X))
    bound = features.certificate(X).fitted_value_bound(alpha)
    assert np.linalg.norm(near - exact) <= bound * np.linalg.norm(y) * (1 + 1e-8)


def test_a_narrow_kernel_is_the_nearest_neighbor():
    X = rows(60, 2)
    y = np.random.default_rng(1).normal(size=60)
    new = rows(40, 2, seed=5)
    nearest = y[np.argmin(((new[:, None] - X) ** 2).sum(axis=2), axis=1)]
    S = Landmarks(kernel=Gaussian(0.02).normalized(), choose="all", whiten=False).fit(X)
    similarity = S.transform(new)
    seen = similarity.max(axis=1) > 0  # beyond 38 bandwidths the similarity is 0 in float64
    votes = similarity[seen] @ y / similarity[seen].sum(axis=1)
    agree = np.abs(votes - nearest[seen]) < 0.05
    assert seen.sum() >= 30
    assert agree.mean() >= 0.9


def test_it_searches_and_learns_in_a_pipeline():
    X = rows(300, 2)
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    model = make_pipeline(Landmarks(80, Gaussian()), RidgeRegressor())
    search = GridSearchCV(model, {"landmarks__kernel__bandwidth": [0.7, 100.0]}, cv=3).fit(X, y)
    assert search.best_params_["landmarks__kernel__bandwidth"] == 0.7
    assert search.best_score_ > 0.95


# refusals


def test_what_cannot_be_done_is_explained():
    X = rows()
    for wrong, error, message in [
        ({"kernel": "rbf"}, ValueError, "Did you mean 'gaussian'"),
        ({"kernel": np.dot}, TypeError, "must be one of mercer"),
        ({"n_components": Gaussian(2.0)}, TypeError, "Did you mean kernel=Gaussian"),
        ({"choose": "magic"}, ValueError, "choose must be one of"),
        ({"n_components": 0}, ValueError, "positive whole number or a fraction"),
        ({"n_components": 1.5}, ValueError, "positive whole number or a fraction"),
        ({"n_components": 0.1, "choose": "uniform"}, ValueError, "needs choose='rpcholesky'"),
        ({"kernel": Precomputed(), "landmarks": [99]}, ValueError, "among the 80 training rows"),
        ({"kernel": Precomputed(), "choose": "kmeans"}, ValueError, "needs rows of numbers"),
    ]:
        with pytest.raises(error, match=message):
            Landmarks(**wrong).fit(X @ X.T if isinstance(wrong.get("kernel"), Precomputed) else X)
    with pytest.raises(ValueError, match="whiten=True only"):
        Landmarks(kernel=Gaussian(), whiten=False).fit(X).residual(X)
    with pytest.raises(ValueError, match="needs rows of numbers"):
        Landmarks(kernel=Custom(shared_letters), choose="kmeans").fit(WORDS)
    with pytest.raises(ValueError, match="must agree on what a row is"):
        Landmarks(kernel=Custom(shared_letters)).fit(WORDS).transform(X[:, :1])
    with pytest.raises(ValueError, match="drop their columns as well"):
        Landmarks(kernel=Precomputed()).fit(X @ X.T, sample_weight=np.arange(80))


@pytest.mark.parametrize("choose", ["rpcholesky", "uniform"])
def test_a_similarity_that_is_no_kernel_is_refused_unless_it_stays_plain(choose):
    X = rows(20)
    distance = Custom(lambda x, z: 1.0 + float(np.abs(x - z).sum()))
    with pytest.raises(ValueError, match="Mercer kernel"):
        Landmarks(10, distance, choose).fit(X)
    assert Landmarks(10, distance, "uniform", whiten=False).fit_transform(X).shape == (20, 10)
