"""Kernel PCA is PCA on explicit features; pre-images bring noisy rows back."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from mercer.kernels import Custom, Gaussian, Linear, Polynomial, Precomputed
from mercer.machines import KernelPCA
from naive import squared_features


def rows(n=80, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) * np.arange(1, d + 1)


@pytest.mark.parametrize("k", [1, 4])
def test_equals_pca_on_the_explicit_lift(k):
    X, new = rows(), rows(20, seed=1)
    ours = KernelPCA(Polynomial(2), n_components=k).fit(X)
    A, B = squared_features(X), squared_features(new)
    theirs = PCA(k).fit(A)
    signs = np.sign(np.sum(ours.transform(X) * theirs.transform(A), axis=0))
    scale = np.abs(theirs.transform(B)).max()
    np.testing.assert_allclose(ours.transform(X), signs * theirs.transform(A), atol=1e-9 * scale)
    np.testing.assert_allclose(ours.transform(new), signs * theirs.transform(B), atol=1e-9 * scale)
    np.testing.assert_allclose(ours.eigenvalues_ / 79, theirs.explained_variance_, rtol=1e-9)


def test_components_beyond_the_rank_are_zero():
    X = rows(30, 2)
    Z = KernelPCA(Linear(), n_components=5).fit_transform(X)
    assert np.all(Z[:, 2:] == 0)
    assert np.all(np.abs(Z[:, :2]).max(axis=0) > 0.1)


def test_the_training_rows_have_mean_zero_and_the_variances_of_the_eigenvalues():
    machine = KernelPCA(Gaussian(2.0), n_components=3)
    Z = machine.fit_transform(rows())
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z.T @ Z, np.diag(machine.eigenvalues_), atol=1e-10)
    assert np.all(np.take_along_axis(Z, np.abs(Z).argmax(axis=0)[None], axis=0) > 0)


def test_pre_images_of_the_linear_kernel_are_projections():
    X = rows(60, 3)
    machine = KernelPCA(Linear(), n_components=3).fit(X)
    back = machine.inverse_transform(machine.transform(X))
    assert np.abs(back - X).mean() < 0.15 * np.abs(X).mean()


def test_pre_images_remove_noise_from_a_circle():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    clean = np.column_stack([np.cos(angle), np.sin(angle)])
    noisy = clean + 0.15 * rng.normal(size=clean.shape)
    machine = KernelPCA(Gaussian(0.7), n_components=5).fit(noisy)
    back = machine.inverse_transform(machine.transform(noisy))
    assert np.mean((np.linalg.norm(back, axis=1) - 1) ** 2) < 0.5 * np.mean((np.linalg.norm(noisy, axis=1) - 1) ** 2)


def test_the_fixed_point_is_closer_than_where_it_started():
    X = rows(100, 2)
    machine = KernelPCA(Gaussian(1.5), n_components=4).fit(X)
    Z = machine.transform(X)
    # P phi = sum_i g_i phi(x_i), and ||phi(z) - P phi||^2 = 1 - 2 sum_i g_i k(z, x_i) + ||P phi||^2.
    g = Z @ (machine.eigenvectors_ / np.sqrt(machine.eigenvalues_)).T
    g += (1 - g.sum(axis=1, keepdims=True)) / 100
    constant = 1 + np.sum((g @ machine.kernel_(X)) * g, axis=1)
    learned, improved = machine._preimage_regressor().predict(Z), machine.inverse_transform(Z)
    before, after = (constant - 2 * np.sum(g * machine.kernel_(z, X), axis=1) for z in (learned, improved))
    assert after.min() >= -1e-12
    assert np.all(after <= before + 1e-12)
    assert after.sum() < 0.9 * before.sum()


@pytest.mark.parametrize("kernel", [Precomputed(), Custom(lambda a, b: float(len(set(a) & set(b))))])
def test_only_numbers_have_pre_images(kernel):
    X = rows(10) @ rows(10).T if isinstance(kernel, Precomputed) else ["kernel", "trick", "line", "nearest"] * 3
    machine = KernelPCA(kernel).fit(X)
    with pytest.raises((ValueError, AttributeError)) as refusal:
        machine.inverse_transform(np.zeros((1, 2)))
    assert "pre-images" in str(refusal.value.__cause__ or refusal.value)


def test_more_components_than_rows():
    with pytest.raises(ValueError, match="exceeds the number of rows"):
        KernelPCA(n_components=9).fit(rows(5))
