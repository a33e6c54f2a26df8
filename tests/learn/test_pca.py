"""Components beside the singular value decomposition, spectra of noise, and rows made right."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA as SklearnPCA

from mercer._numeric.block import Block
from mercer.learn import PCA
from mercer.learn.pca.scatter import Scatter
from mercer.learn.pca.spectrum import marchenko_pastur_median, noise_from_median, shrinkage
from mercer.source import StreamSource


def rows(n=300, d=12, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.geomspace(3.0, 0.5, d) + offset


def low_rank(n=400, d=30, rank=3, noise=0.05, seed=0):
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + rng.normal(size=d)
    return signal, signal + noise * rng.normal(size=(n, d))


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_exact_components_are_those_of_the_svd(offset):
    X = rows(offset=offset)
    pca, peer = PCA(5).fit(X), SklearnPCA(5, svd_solver="full").fit(X)
    scale = 1e-10 * max(1.0, offset)
    signs = np.sign(np.sum(pca.components_ * peer.components_, axis=1))
    np.testing.assert_allclose(pca.components_, peer.components_ * signs[:, None], atol=scale)
    for name in ("mean_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
        np.testing.assert_allclose(getattr(pca, name), getattr(peer, name), rtol=1e-10, atol=scale)
    np.testing.assert_allclose(pca.transform(X), peer.transform(X) * signs, atol=10 * scale)
    back = pca.inverse_transform(pca.transform(X))
    np.testing.assert_allclose(back, peer.inverse_transform(peer.transform(X)), atol=10 * scale)
    assert np.all(pca.components_[np.arange(5), np.abs(pca.components_).argmax(axis=1)] > 0)
    assert list(pca.get_feature_names_out()) == [f"pca{i}" for i in range(5)]


@settings(deadline=None, max_examples=25)
@given(cuts=st.lists(st.integers(0, 300), max_size=6), order=st.randoms(use_true_random=False))
def test_any_split_in_any_order_gives_the_svd(cuts, order):
    X = rows(offset=3.0)
    parts = [part for part in np.split(X, sorted(cuts)) if len(part)]
    order.shuffle(parts)
    total = Scatter()
    for part in parts:
        total = total.merge(Scatter().of(Block(part)))
    total = total.finish()
    centered = X - X.mean(axis=0)
    np.testing.assert_allclose(total.S, centered.T @ centered, atol=1e-10 * 300 * 9)
    pca = PCA(12)
    pca.n_features_in_ = 12
    pca._finish(total)
    singular = np.linalg.svd(centered, compute_uv=False)
    np.testing.assert_allclose(pca.singular_values_, singular, rtol=1e-10)


def test_merged_pcas_are_that_of_all_rows():
    X = rows(200)
    merged = PCA(3).fit(X[:70]).merge(PCA(3).fit(X[70:]))
    whole = PCA(3).fit(X)
    np.testing.assert_allclose(merged.components_, whole.components_, atol=1e-12)
    np.testing.assert_allclose(merged.singular_values_, whole.singular_values_, rtol=1e-12)


def test_weights_are_repetitions():
    X = rows(60)
    weight = np.random.default_rng(0).integers(0, 4, 60)
    a, b = PCA(4).fit(X, sample_weight=weight), PCA(4).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(a.explained_variance_, b.explained_variance_, rtol=1e-12)
    np.testing.assert_allclose(a.components_, b.components_, atol=1e-10)


def test_float32_rows_and_whitening():
    X = rows(3000).astype(np.float32)
    pca = PCA(4, whiten=True).fit(X)
    Z = pca.transform(X)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(np.cov(Z.T), np.eye(4), atol=1e-4)
    exact = PCA(4).fit(X.astype(np.float64))
    np.testing.assert_allclose(pca.components_, exact.components_, atol=1e-5)
    back = pca.inverse_transform(Z)
    np.testing.assert_allclose(back, exact.inverse_transform(exact.transform(X.astype(np.float64))), atol=1e-3)


def test_a_fraction_of_the_variance():
    X = rows()
    pca = PCA(0.8).fit(X)
    explained = np.cumsum(PCA().fit(X).explained_variance_ratio_)
    assert explained[pca.n_components_ - 1] >= 0.8 > explained[pca.n_components_ - 2]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_randomized_components_of_many_columns(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4)) * [9, 7, 5, 3] @ rng.normal(size=(4, 600)) + 0.1 * rng.normal(size=(150, 600))
    X[rng.uniform(size=X.shape) < 0.5] = 0
    given = X if kind == "dense" else sparse.csr_matrix(X)
    pca, peer = PCA(3, solver="randomized", n_iter=12).fit(given), SklearnPCA(3, svd_solver="full").fit(X)
    np.testing.assert_allclose(pca.singular_values_, peer.singular_values_, rtol=1e-6)
    np.testing.assert_allclose(np.abs(np.sum(pca.components_ * peer.components_, axis=1)), 1.0, atol=1e-6)
    np.testing.assert_allclose(pca.explained_variance_ratio_, peer.explained_variance_ratio_, rtol=1e-6)
    np.testing.assert_allclose(np.abs(pca.transform(given)), np.abs(peer.transform(X)), atol=1e-2)
    assert not hasattr(pca, "merge")


def test_many_columns_stream_without_a_covariance_matrix():
    rng = np.random.default_rng(0)
    X = sparse.random(100, 12_000, density=3e-3, format="csr", random_state=rng)
    pca = PCA(2).fit(X)
    assert pca.solver_ == "randomized"
    stream = PCA(2).fit(StreamSource(lambda: (Block(X[i : i + 33]) for i in range(0, 100, 33))))
    assert pca.components_.tobytes() == stream.components_.tobytes()


def test_marchenko_pastur_median_and_noise_against_a_draw():
    rng = np.random.default_rng(0)
    for m, M in ((120, 120), (120, 480)):
        s = np.linalg.svd(rng.normal(size=(m, M)), compute_uv=False)
        # eigenvalues are rigid: the median of 120 moves by a few spacings of 1 / 120
        assert abs(np.median(s) ** 2 / M - marchenko_pastur_median(m / M)) < 0.03
        assert abs(noise_from_median(0.3 * s, M, m) ** 0.5 - 0.3) < 0.01


def test_shrinkage_has_the_smallest_error_on_planted_low_rank():
    signal, X = low_rank(200, 100, 4, noise=3.0)
    mean = X.mean(axis=0)
    U, s, V = np.linalg.svd(X - mean, full_matrices=False)
    f = shrinkage(s, 200, 100, 9.0)

    def error(factors):
        return np.linalg.norm(mean + (U * (factors * s)) @ V - signal)

    assert error(f) < error((np.arange(100) < 4).astype(float))
    assert error(f) < min(error(0.9 * f), error(1.1 * f))
    assert np.count_nonzero(f) == 4


def test_the_number_of_components_follows_from_the_noise():
    _, X = low_rank(500, 40, 5, noise=0.3)
    assert PCA("auto").fit(X).n_components_ == 5
    assert abs(PCA(5).fit(X).noise_variance_ - 0.09) < 0.01
    assert abs(PCA().fit(X).noise_variance_ - 0.09) < 0.02


@pytest.mark.parametrize("k", [3, "auto", None, 8])
def test_small_noise_is_lowered(k):
    signal, X = low_rank(noise=0.3)
    pca = PCA(k).fit(X[100:])
    for some in (slice(0, 100), slice(100, 400)):  # new rows and old
        before, after = np.linalg.norm(X[some] - signal[some]), np.linalg.norm(pca.repair(X[some]) - signal[some])
        assert after < 0.45 * before  # rank / columns leaves sqrt(3 / 30) = 0.32 of the noise


def test_missing_entries_and_gross_errors_are_repaired_and_named():
    signal, X = low_rank(noise=0.05)
    rng = np.random.default_rng(1)
    pca = PCA(3).fit(X[100:])
    broken = X[:100].copy()
    missing = rng.uniform(size=broken.shape) < 0.1
    gross = (rng.uniform(size=broken.shape) < 0.05) & ~missing
    broken[missing] = np.nan
    broken[gross] += rng.choice([-1, 1], gross.sum()) * rng.uniform(3, 30, gross.sum())
    kept = broken.copy()
    repaired, changes = pca.repair(broken, return_changes=True)
    assert np.array_equal(broken, kept, equal_nan=True)
    assert np.array_equal(changes.missing, missing)
    assert np.mean(changes.gross == gross) > 0.995
    error = np.linalg.norm(repaired - signal[:100], axis=1)
    assert np.median(error) < np.median(np.linalg.norm(X[:100] - signal[:100], axis=1))
    assert np.all(error < 0.6)  # the largest gross error alone would be 3
    assert f"{missing.sum()} missing entries filled" in str(changes)
    only, _ = pca.repair(broken, shrink=False, return_changes=True)
    untouched = ~(changes.missing | changes.gross)
    assert np.array_equal(only[untouched], broken[untouched])


def test_exact_low_rank_is_restored_exactly():
    signal, X = low_rank(noise=0.0)
    pca = PCA(3).fit(X)
    broken = X[:5].copy()
    broken[:, ::4] = np.nan
    broken[2, 5] += 100.0
    np.testing.assert_allclose(pca.repair(broken), signal[:5], atol=1e-5)


def test_outlier_rows_are_not_changed():
    _, X = low_rank()
    pca = PCA(3).fit(X)
    other = 50 * np.random.default_rng(5).normal(size=(1, 30))
    repaired, changes = pca.repair(other, return_changes=True)
    assert changes.outlier_rows.tolist() == [True]
    assert np.array_equal(repaired, other)
    nothing = np.full((1, 30), np.nan)
    np.testing.assert_allclose(pca.repair(nothing)[0], pca.mean_)


def test_repair_of_a_source_and_of_float32():
    _, X = low_rank()
    pca = PCA(3).fit(X)
    X[3, 4] = np.nan
    source = pca.repair(StreamSource(lambda: iter([Block(X)])))
    np.testing.assert_allclose(next(source.blocks()).X, pca.repair(X), atol=1e-12)
    assert pca.repair(X.astype(np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match="infinity: column 1, first at row 0"):
        pca.repair(np.where(np.arange(30) == 1, np.inf, X[:1]))


@pytest.mark.parametrize("bad", [0, 1.0, -2, "many", True])
def test_invalid_numbers_are_refused(bad):
    with pytest.raises(ValueError, match="n_components"):
        PCA(bad).fit(rows())
    with pytest.raises(ValueError, match="exceeds the number of columns"):
        PCA(13).fit(rows())
    with pytest.raises(ValueError, match="needs a whole number"):
        PCA(0.5, solver="randomized").fit(rows())


def test_batches_of_two_blocks_give_the_bits_of_the_whole():
    X = rows(20_000, 5)
    whole, batches = PCA(3).fit(X), clone(PCA(3))
    for part in np.array_split(X, 9):
        batches.partial_fit(part)
    assert whole.components_.tobytes() == batches.components_.tobytes()


def test_a_covariance_matrix_larger_than_memory_is_refused(monkeypatch):
    from mercer._runtime import memory

    monkeypatch.setattr(memory, "available_memory", lambda: 10**8)
    with pytest.raises(MemoryError, match="solver='randomized'"):
        PCA(2, solver="exact").fit(sparse.csr_matrix((3, 6000)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", ["exact", "randomized"])
@pytest.mark.parametrize(("bad", "kind"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_the_first_entry_that_is_not_finite_is_named(dtype, solver, bad, kind):
    X = rows(9000, 4).astype(dtype)
    X[8500, 2], X[8700, 1] = bad, np.nan
    with pytest.raises(ValueError, match=f"contains {kind}: column 2, first at row 8500"):
        PCA(2, solver=solver).fit(X)
    if solver == "exact":
        pca = PCA(2).fit(X[:100])
        with pytest.raises(ValueError, match=f"contains {kind}: column 2, first at row 300"):
            pca.partial_fit(X[8200:8600])
        assert pca.components_.tobytes() == PCA(2).fit(X[:100]).components_.tobytes()


def test_finite_values_whose_sums_overflow_are_not_called_infinite():
    X = np.full((50, 3), 3e38, dtype=np.float32)
    with pytest.raises(ValueError, match="squares of these values overflow"):
        PCA(2).fit(X)
