"""k-means beside scikit-learn's, its encodings by their formulas, and patches."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from mercer._numeric.block import Block
from mercer.learn import ClusterFeatures, PatchWhitening, extract_patches
from mercer.learn.clusters.lloyd import ClusterSums, lloyd, plus_plus
from mercer.source import MemorySource, StreamSource


def blobs(n=600, k=6, d=5, seed=0):
    rng = np.random.default_rng(seed)
    centers = 20 * rng.normal(size=(k, d))
    return centers[rng.integers(0, k, n)] + rng.normal(size=(n, d)), centers


def test_separated_clusters_are_found():
    X, centers = blobs()
    found = ClusterFeatures(6).fit(X).centers_
    # the mean of about 100 rows in 5 dimensions is within 5 / sqrt(100) of its center
    assert np.all(cdist(centers, found).min(axis=1) < 0.5)


def test_the_sum_of_squares_is_about_that_of_scikit_learn():
    X = load_digits().data
    ours = ClusterFeatures(10).fit(X)
    theirs = KMeans(10, n_init=1, random_state=0).fit(X)
    assert ours.inertia_path_[-1] < 1.05 * theirs.inertia_
    assert np.all(np.diff(ours.inertia_path_) < 0)


def test_a_step_is_that_of_lloyd():
    X, _ = blobs(200)
    start = X[:4]
    moved, path = lloyd(MemorySource(X), start, 1, 0.0)
    labels = cdist(X, start).argmin(axis=1)
    np.testing.assert_allclose(moved, [X[labels == k].mean(axis=0) for k in range(4)], atol=1e-12)
    np.testing.assert_allclose(path, [np.sum((X - start[labels]) ** 2)], rtol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_encodings_are_their_formulas(kind, dtype):
    X, _ = blobs(80)
    X[np.abs(X) < 2] = 0
    X = X.astype(dtype)
    clusters = ClusterFeatures(5).fit(X)
    z = cdist(X, clusters.centers_)
    tolerance = 1e-3 if dtype == np.float32 else 1e-9
    expected = {
        "hard": np.eye(5)[z.argmin(axis=1)],
        "distance": z,
        "triangle": np.maximum(0, z.mean(axis=1, keepdims=True) - z),
    }
    for encoding, table in expected.items():
        out = clone(clusters).set_params(encoding=encoding).fit(X).transform(kind(X))
        assert out.dtype == dtype
        out = out.toarray() if encoding == "hard" else out
        np.testing.assert_allclose(out, table, atol=tolerance)


def test_an_empty_cluster_moves_to_a_far_row():
    X = np.array([[0.0], [1.0], [9.0], [9.0]])
    sums = ClusterSums(np.array([[0.5], [-100.0], [-200.0]])).of(Block(X))
    assert sums.new_centers().ravel().tolist() == [4.75, 9.0, 0.0]
    assert ClusterFeatures(3).fit(X).inertia_path_[-1] == 0


def test_fewer_rows_than_clusters():
    X = np.repeat([[1.0, 2.0], [3.0, 4.0]], 5, axis=0)
    clusters = ClusterFeatures(6).fit(X)
    assert sorted(clusters.centers_.tolist()) == [[1.0, 2.0], [3.0, 4.0]]
    assert len(clusters.get_feature_names_out()) == 2


def test_weights_are_repetitions():
    X, _ = blobs(100)
    weight = np.random.default_rng(0).integers(0, 4, 100)
    a = ClusterFeatures(5).fit(X, sample_weight=weight)
    b = ClusterFeatures(5).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(a.centers_, b.centers_, atol=1e-10)


def test_initial_centers_are_distant_rows():
    X, centers = blobs(300)
    seeds = plus_plus(X, np.ones(300), 6, np.random.default_rng(0))
    assert set(cdist(seeds, centers).argmin(axis=1)) == set(range(6))


def test_more_rows_than_the_sample_stream_like_an_array():
    X, _ = blobs(20_000, d=3)
    whole = ClusterFeatures(7, n_iter=3).fit(X)
    stream = ClusterFeatures(7, n_iter=3).fit(
        StreamSource(lambda: (Block(X[i : i + 3333]) for i in range(0, 20_000, 3333)))
    )
    assert whole.centers_.tobytes() == stream.centers_.tobytes()


def test_overflow_is_refused():
    X, _ = blobs(30)
    with pytest.raises(ValueError, match="overflow"):
        ClusterFeatures(3).fit(X * 1e200)


def test_patches_are_windows_of_images():
    images = np.random.default_rng(0).normal(size=(3, 7, 6, 2))
    patches = extract_patches(images, 4)
    assert patches.shape == (3 * 4 * 3, 32)
    np.testing.assert_array_equal(patches[1 * 12 + 2 * 3 + 1].reshape(4, 4, 2), images[1, 2:6, 1:5])
    drawn = extract_patches(images, 4, n_patches=20)
    assert all(any(np.array_equal(row, patch) for patch in patches) for row in drawn)
    assert np.array_equal(drawn, extract_patches(images, 4, n_patches=20))
    with pytest.raises(ValueError, match="at least 8 pixels"):
        extract_patches(images, 8)


def test_whitening_removes_brightness_contrast_and_correlation():
    patches = extract_patches(load_digits().images, 5, n_patches=4000)
    white = PatchWhitening(contrast=1e-6, eps=1e-9).fit(patches)
    out = white.transform(patches)
    values = np.linalg.eigvalsh(np.cov(out.T, ddof=0))
    np.testing.assert_allclose(values, [0.0] + [1.0] * 24, atol=1e-5)
    np.testing.assert_allclose(white.transform(3 * patches + 7), out, atol=1e-3)
    np.testing.assert_allclose(white.whitening_, white.whitening_.T, atol=1e-6)
