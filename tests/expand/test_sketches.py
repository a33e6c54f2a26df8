"""Polynomial, all-subsets and ANOVA kernels: unbiased, with the variance theory gives."""

import numpy as np
import pytest
from scipy import sparse

from estimates import LONG, Z, apply, assert_mean_is, contributions, draw, exact, over_seeds, pairs
from mercer.expand import RandomFeatures
from mercer.expand.random.count_sketch import CountSketch
from mercer.expand.random.sketch import transforms
from mercer.kernels import AllSubsets, Anova, Polynomial

SEEDS = 4000 if LONG else 600


@pytest.mark.parametrize("n", [1, 2, 7, 64])
@pytest.mark.parametrize(
    "kernel",
    [
        Polynomial(1),
        Polynomial(2),
        Polynomial(2, offset=0.0),
        Polynomial(3, 0.5, 0.8),
        Polynomial(4, 1.0, 0.5),
        Polynomial(5, 0.0, 1.2),
    ],
    ids=repr,
)
def test_sketches_are_unbiased_and_vary_no_more_than_the_bound(kernel, n):
    x, z = pairs(6, norm=1.0)
    values = over_seeds(kernel, x, z, n, SEEDS)
    p = kernel.degree
    bound = (2 + 3**p) / n * (kernel.offset + kernel.scale) ** (2 * p)
    if n >= 7 or p <= 3:
        assert_mean_is(values, exact(kernel, x, z))
    else:  # a kurtosis near 1,000 makes the empirical error worthless: the bound on the variance serves
        assert np.all(np.abs(values.mean(axis=0) - exact(kernel, x, z)) <= Z * np.sqrt(bound / SEEDS))
    fourth = np.mean((values - values.mean(axis=0)) ** 4, axis=0)
    error = np.sqrt(np.maximum(fourth - values.var(axis=0) ** 2, 0) / SEEDS)
    assert np.all(values.var(axis=0) <= bound + 3 * error)


def test_a_tree_varies_less_than_one_flat_sketch_of_high_degree(monkeypatch):
    """In high dimension a flat sketch of degree p has variance ~ 3^p for rows that agree, a tree ~ p."""
    x = np.full((1, 32), 32**-0.5)
    kernel, n, seeds = Polynomial(8, offset=0.0), 256, 200
    tree = over_seeds(kernel, x, x, n, seeds).var()
    monkeypatch.setattr("mercer.expand.random.sketch.FLAT", 8)
    assert tree < 0.5 * over_seeds(kernel, x, x, n, seeds).var()


@pytest.mark.parametrize("n", [8, 4])
def test_the_sketch_has_the_inner_products_of_convolved_count_sketches(n):
    """Pham and Pagh's definition, with the exclusive or of buckets for their sum: a convolution by its double sum."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4, 5))
    feature_map = draw(Polynomial(2, offset=0.0), 5, n)
    ((first, second),) = ([sketch.of(X) for sketch in sketches] for sketches in feature_map.tree.sketches)
    other = np.arange(n)[:, None] ^ np.arange(n)
    convolved = np.einsum("ij,ikj->ik", first, second[:, other])
    features = apply(feature_map, X)
    np.testing.assert_allclose(features @ features.T, convolved @ convolved.T, atol=1e-12)


@pytest.mark.parametrize("n", [1, 3, 5, 100, 649, 700, 1281, 2**14 + 1, 3 * 2**14])
def test_transforms_cover_the_columns_and_waste_few(n):
    lengths = transforms(n)
    assert sum(lengths[:-1]) < n <= sum(lengths) <= 4 / 3 * n
    assert all(P & (P - 1) == 0 for P in lengths)


@pytest.mark.parametrize("kernel", [Polynomial(2, 0.5, 0.8), Polynomial(3, 2.0, 0.3)], ids=repr)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_constant_and_linear_terms_are_exact(kernel, storage):
    X = np.random.default_rng(0).normal(size=(6, 9))
    features = apply(draw(kernel, 9, 40), storage(X))[:, :10]
    p, c = kernel.degree, kernel.offset
    np.testing.assert_allclose(features @ features.T, c**p + p * c ** (p - 1) * kernel.scale * X @ X.T, rtol=1e-12)


@pytest.mark.parametrize(("degree", "fraction"), [(2, 1.0), (3, 16.0)])
def test_only_the_sketched_terms_vary(degree, fraction):
    """Flat rows at right angles, offset 1: Var = 1/D at degree 2, and (3 + 1)^2/D at degree 3, up to terms in 1/d."""
    d, n, seeds = 64, 65 + 256, 400
    x, z = np.full((1, d), d**-0.5), np.full((1, d), d**-0.5)
    z[:, ::2] *= -1
    variance = over_seeds(Polynomial(degree), x, z, n, seeds).var()
    assert variance * 256 == pytest.approx(fraction, rel=5 * np.sqrt(2 / seeds) + 5 / d)


def test_a_sketch_with_enough_buckets_keeps_lengths():
    """Degree 1: H is a rotation, so that only buckets shared by two coordinates would change an inner product."""
    X = np.random.default_rng(0).normal(size=(5, 60))
    features = apply(draw(Polynomial(1), 60, 64), X)
    np.testing.assert_allclose(features @ features.T, Polynomial(1)(X), rtol=1e-12)


@pytest.mark.parametrize("n_buckets", [6, 32])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_count_sketch_is_its_definition(dtype, n_buckets):
    rng = np.random.default_rng(0)
    sketch = CountSketch.draw(20, n_buckets, rng)
    X = rng.normal(size=(3, 20)).astype(dtype)
    expected = np.zeros((3, n_buckets))
    for j in range(20):
        expected[:, sketch.buckets[j]] += 2.0 * sketch.signs[j] * X[:, j]
    assert sketch.of(X, 2.0).dtype == dtype
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(sketch.of(X, 2.0), expected, atol=tolerance)
    np.testing.assert_allclose(sketch.of(sparse.csr_array(X), 2.0), expected, atol=tolerance)


def test_wide_sparse_rows_are_not_made_dense():
    rng = np.random.default_rng(0)
    indices = np.sort(rng.integers(1_000_000, size=(300, 10)), axis=1).ravel()
    X = sparse.csr_array((rng.normal(size=3000), indices, np.arange(0, 3001, 10)), shape=(300, 1_000_000))
    features = RandomFeatures(Polynomial(2, offset=0.0), n_components=64).fit(X)
    features_of_rows = features.transform(X)
    assert features_of_rows.shape == (300, 64)
    # Each row with itself: 5 standard deviations by the bound of the variance.
    squares = Polynomial(2, offset=0.0).diag(X)
    assert np.all(np.abs(np.sum(features_of_rows**2, axis=1) - squares) <= 5 * np.sqrt(11 / 64) * squares + 1e-12)


@pytest.mark.parametrize("scale", [1.0, 0.4])
@pytest.mark.parametrize("d", [1, 6, 40])
def test_all_subsets_features_are_unbiased_with_the_variance_of_antithetic_pairs(d, scale):
    x, z = pairs(d, norm=0.9)
    kernel, m = AllSubsets(scale), 40_000
    values = contributions(apply(draw(kernel, d, 2 * m), np.vstack([x, z])))
    values = (values[:, :m] + values[:, m:]) / 2
    assert_mean_is(values.T, exact(kernel, x, z), floor=1e-12)
    # E (f f')^2 = prod ((1 + y y')^2 + (y + y')^2), and E f_r f'_r f_-r f'_-r = prod (1 - y^2)(1 - y'^2).
    y, t = np.sqrt(scale) * x, np.sqrt(scale) * z
    square = np.prod((1 + y * t) ** 2 + (y + t) ** 2, axis=1)
    cross = np.prod((1 - y**2) * (1 - t**2), axis=1)
    expected = (square + cross) / 2 - exact(kernel, x, z) ** 2
    fourth = np.mean((values - values.mean(axis=1, keepdims=True)) ** 4, axis=1)
    error = np.sqrt(np.maximum(fourth - values.var(axis=1) ** 2, 0) / m)
    assert np.all(np.abs(values.var(axis=1) - expected) <= 6 * error + 1e-9)


def test_single_all_subsets_features_have_the_relative_variance_of_the_handbook():
    """Var / k^2 = prod (1 + (x + z)^2 / (1 + x z)^2) - 1: maps of one column are single features."""
    x, z = pairs(5, norm=0.6)
    values = over_seeds(AllSubsets(), x, z, 1, 4000)
    k = exact(AllSubsets(), x, z)
    assert_mean_is(values, k)
    expected = np.prod(1 + (x + z) ** 2 / (1 + x * z) ** 2, axis=1) - 1
    fourth = np.mean((values - values.mean(axis=0)) ** 4, axis=0)
    error = np.sqrt((fourth - values.var(axis=0) ** 2) / len(values)) / k**2
    assert np.all(np.abs(values.var(axis=0) / k**2 - expected) <= 6 * error)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("d", [3, 7])
def test_anova_features_are_unbiased(degree, d):
    x, z = pairs(d, norm=1.0)
    values = contributions(apply(draw(Anova(degree), d, 20_000), np.vstack([x, z])))
    assert_mean_is(values.T, exact(Anova(degree), x, z), floor=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_power_sums_and_the_recursion_over_columns_give_the_same_anova_features(degree, dtype, monkeypatch):
    X = np.random.default_rng(0).normal(size=(20, 30)).astype(dtype)
    X[:, ::3] = 0
    by_sums = apply(draw(Anova(degree), 30, 50), X)
    monkeypatch.setattr("mercer.expand.random.signs.NEWTON", 0)
    by_columns = apply(draw(Anova(degree), 30, 50), X)
    size = np.sqrt(np.mean(by_columns**2))
    np.testing.assert_allclose(by_sums, by_columns, atol=(1e-4 if dtype == np.float32 else 1e-12) * size)
    np.testing.assert_allclose(apply(draw(Anova(degree), 30, 50), sparse.csr_array(X)), by_columns, atol=1e-5 * size)


@pytest.mark.parametrize("kernel", [AllSubsets(), Anova(3)], ids=repr)
def test_smaller_maps_of_signs_are_the_beginning_of_larger_ones(kernel):
    small, large = (draw(kernel, 7, n).signs.bytes for n in (10, 41))
    np.testing.assert_array_equal(large[: len(small)], small)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_rows_outside_the_domain_of_all_subsets_are_named(storage):
    X = np.full((300, 4), 0.3)
    X[270, 2] = -1.5
    features = RandomFeatures(AllSubsets(), n_components=16).fit(storage(X))
    with pytest.raises(ValueError, match=r"column 2 is -1.5, first at row 270.*Scale the columns down"):
        features.transform(storage(X))
    assert np.isfinite(RandomFeatures(AllSubsets(scale=0.4), n_components=16).fit_transform(storage(X))).all()


def test_many_columns_near_one_do_not_overflow():
    X = np.full((1, 5000), 0.999)
    features = apply(draw(AllSubsets(), 5000, 8), X)
    assert np.isfinite(features).all()
