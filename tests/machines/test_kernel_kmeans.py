"""Kernel k-means is k-means on explicit features, from the same start."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.machines import KernelKMeans
from naive import squared_features


def rows(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + 3 * rng.integers(-1, 2, size=(n, 2))


@pytest.mark.parametrize("seed", range(6))
def test_equals_k_means_on_the_explicit_lift(seed):
    X, new = rows(seed=seed), rows(30, seed=seed + 50)
    start = np.random.default_rng(seed).choice(120, 4, replace=False)
    ours = KernelKMeans(Polynomial(2), n_clusters=4, init=start).fit(X)
    A = squared_features(X)
    theirs = KMeans(4, init=A[start], n_init=1, tol=0.0, algorithm="lloyd").fit(A)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-9)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(squared_features(new)))


def test_labels_are_those_of_predict():
    X = rows()
    machine = KernelKMeans(Gaussian(1.0), n_clusters=5).fit(X)
    np.testing.assert_array_equal(machine.predict(X), machine.labels_)


def test_more_starts_never_end_worse():
    X = rows()
    one, many = (KernelKMeans(Gaussian(1.0), n_clusters=7, n_init=k, random_state=3).fit(X) for k in (1, 10))
    assert many.inertia_ <= one.inertia_


def test_repeated_rows_fill_every_cluster_they_can():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    machine = KernelKMeans(Linear(), n_clusters=3).fit(X)
    assert machine.inertia_ == pytest.approx(0.0, abs=1e-12)
    assert set(machine.labels_) == {0, 1, 2}


@pytest.mark.parametrize("init", [[0, 1], [0, 1, 200], [0.5, 1.5, 2.5], [[0], [1], [2]]])
def test_a_start_must_be_row_numbers(init):
    with pytest.raises(ValueError, match="init must be"):
        KernelKMeans(n_clusters=3, init=init).fit(rows())


def test_more_clusters_than_rows():
    with pytest.raises(ValueError, match="n_samples=3"):
        KernelKMeans(n_clusters=5).fit(rows(3))
