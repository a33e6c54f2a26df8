"""The estimator: compositions, the same map however it is applied, errors that help."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from estimates import LONG, assert_mean_is, draw, exact, exact_twice, over_seeds, pairs
from mercer.expand import RandomFeatures
from mercer.expand.random.fourier import FourierMap
from mercer.io import load, save
from mercer.kernels import (
    AllSubsets,
    Anova,
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

SEEDS = 4000 if LONG else 400

COMPOSITIONS = [
    Constant(2.0),
    Linear(),
    3 * Linear() + 1,
    Gaussian(1.3) + 0.5 * Polynomial(2),
    Gaussian(1.3) + Laplace(norm="l1") + Linear().on([0, 2]) + 2,
    Gaussian(1.3) * Linear(),
    2 * Gaussian(1.3) * Polynomial(2, 0.5) * Cauchy(2.0),
    Gaussian(1.3).on([0]) * Polynomial(2).on([1, 2]),
    Gaussian(1.3) * (Linear() + 1),
    Cauchy() * (Anova(2) + AllSubsets(0.5) + Gaussian(0.7)),
    Linear() * Linear(),
    Polynomial(2).normalized(),
    (Gaussian(1.3) + Linear()).normalized() * Matern(),
    AllSubsets(0.5).on([1, 2]) + Anova(2),
    0 * Polynomial(2) + Gaussian(),
    Polynomial(0) + Anova(0),
]


@pytest.mark.parametrize("kernel", COMPOSITIONS, ids=repr)
def test_compositions_are_unbiased(kernel):
    x, z = pairs(4, norm=0.9)
    for n in (5, 32):
        assert_mean_is(over_seeds(kernel, x, z, n, SEEDS), exact(kernel, x, z))


@pytest.mark.parametrize("kernel", [*COMPOSITIONS, Gaussian(), Laplace(norm="l1"), Sinc()], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_map_does_not_depend_on_blocks_threads_or_storage(kernel, dtype, monkeypatch):
    X = np.random.default_rng(0).uniform(-0.9, 0.9, size=(600, 4)).astype(dtype)
    features = RandomFeatures(kernel, n_components=37).fit(X)
    monkeypatch.setenv("MERCER_THREADS", "1")
    one = features.transform(X)
    monkeypatch.setenv("MERCER_THREADS", "3")
    assert one.dtype == dtype
    assert one.shape == (600, 37)
    assert np.array_equal(features.transform(X), one)
    close = {"rtol": 0, "atol": 1e-5 if dtype == np.float32 else 2e-6}  # cosines have float32's accuracy
    np.testing.assert_allclose(np.vstack([features.transform(X[i : i + 41]) for i in range(0, 600, 41)]), one, **close)
    np.testing.assert_allclose(features.transform(np.asfortranarray(X)), one, **close)
    np.testing.assert_allclose(features.transform(sparse.csr_matrix(X)), one, **close)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(features)).transform(X), one)


@pytest.mark.parametrize("pairing", ["cos-sin", "phase"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fourier_features_are_the_same_bits_for_any_blocks(pairing, dtype):
    X = np.random.default_rng(0).normal(size=(1000, 7)).astype(dtype)
    features = RandomFeatures(Gaussian(1.0), n_components=65, pairing=pairing).fit(X)
    one = features.transform(X)
    assert np.array_equal(np.vstack([features.transform(X[i : i + 37]) for i in range(0, 1000, 37)]), one)


def test_a_product_varies_as_products_of_independent_columns_do():
    """Var <= ((1 + k(2r)/2)(|x|^2 |z|^2 + 2 <x, z>^2) - k^2 <x, z>^2)/n for a Gaussian times a linear kernel."""
    d, n, seeds = 16, 64, 1000
    x, z = pairs(d, norm=1.0)
    values = over_seeds(Gaussian(1.0) * Linear(), x, z, n, seeds)
    k, twice = exact(Gaussian(1.0), x, z), exact_twice(Gaussian(1.0), x, z)
    dot = np.sum(x * z, axis=1)
    bound = ((1 + twice / 2) * (1 + 2 * dot**2) - (k * dot) ** 2) / n
    assert np.all(values.var(axis=0) <= bound * (1 + 5 * np.sqrt(3 / seeds)))


@pytest.mark.parametrize("kernel", [Gaussian(), 3 * Laplace() + Gaussian(), Matern().on([1]) + 2], ids=repr)
def test_cos_sin_pairs_have_the_exact_norm(kernel):
    X = np.random.default_rng(0).normal(size=(20, 4))
    n = 65 if kernel.mass == 3 else 64  # an even number for the features, and a column for the constant
    Z = RandomFeatures(kernel, n_components=n).fit_transform(X)
    np.testing.assert_allclose(np.sum(Z * Z, axis=1), kernel.mass, atol=1e-5)


def test_columns_are_allocated_in_proportion():
    X = np.zeros((3, 4))
    features = RandomFeatures(3 * Gaussian() + Laplace() + Linear() + 5, n_components=101).fit(X)
    assert [part.n_components for part in features._map.parts] == [72, 24, 4, 1]
    assert features.sampling_ == "orthogonal, exact"


def test_more_terms_than_columns_are_drawn_at_random_and_unbiased():
    kernel = sum(2.0**j * Gaussian(1.3).on([j]) for j in range(4)) + Polynomial(2)
    x, z = pairs(4, norm=0.9)
    for n in (1, 3):
        assert_mean_is(over_seeds(kernel, x, z, n, 2000), exact(kernel, x, z))


def test_sampling_methods_are_reported():
    X = np.random.default_rng(0).normal(size=(5, 3))
    told = {
        Gaussian: "orthogonal",
        Sinc: "iid",
        Polynomial: "tensor sketch",
        Anova: "signs",
        Linear: "exact",
    }
    assert {kernel: RandomFeatures(kernel(), n_components=16).fit(X).sampling_ for kernel in told} == told
    assert RandomFeatures(Gaussian(), n_components=16, sampling="structured").fit(X).sampling_ == "structured"
    fitted = RandomFeatures(Gaussian().on([0, 2]), n_components=16, sampling="quasi").fit(X)
    assert fitted.sampling_ == "quasi"
    assert fitted.frequencies_.shape == (8, 3)
    assert not fitted.frequencies_[:, 1].any()
    fitted.set_params(kernel=Polynomial(2)).fit(X)
    assert not hasattr(fitted, "frequencies_")


def test_columns_can_be_named():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=["a", "b", "c"])
    named = RandomFeatures(Gaussian("median").on(["c", "a"]) + Linear().on("b"), n_components=32).fit(X)
    by_number = RandomFeatures(Gaussian("median").on([2, 0]) + Linear().on([1]), n_components=32).fit(X.to_numpy())
    np.testing.assert_array_equal(named.transform(X), by_number.transform(X.to_numpy()))


@pytest.mark.parametrize("kernel", [Gaussian(), Polynomial(3), Polynomial(2) * Gaussian(), Anova(2)], ids=repr)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_nothing_larger_than_a_block_is_held_beside_the_output(kernel, storage, monkeypatch):
    monkeypatch.setenv("MERCER_THREADS", "1")
    n, width, rows = 4096, 512, 256
    X = storage(np.random.default_rng(0).normal(size=(n, 4)))
    features = RandomFeatures(kernel, n_components=width).fit(X)
    features.transform(X[:10])
    tracemalloc.start()
    out = features.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    block = rows * width * out.itemsize
    assert peak <= out.nbytes + 1.1 * block  # a tenth for the small things


def test_uniform_error_stays_below_hoeffding():
    n, m, delta = 300, 1024, 1e-6
    X = np.random.default_rng(0).normal(size=(n, 8))
    Z = RandomFeatures(Gaussian(2.0), n_components=2 * m).fit_transform(X)
    bound = np.sqrt(2 / m * np.log(n * (n - 1) / delta))
    assert np.abs(Z @ Z.T - Gaussian(2.0)(X)).max() <= bound
    np.testing.assert_allclose(np.sum(Z * Z, axis=1), 1.0, atol=1e-6)


def test_an_odd_number_of_columns_is_unbiased_too():
    x, z = pairs(2)
    assert_mean_is(over_seeds(Gaussian(1.3), x, z, 5, 2000, sampling="iid"), exact(Gaussian(1.3), x, z))


def test_the_default_bandwidth_is_the_median_distance_and_grid_search_reaches_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.sin(3 * X[:, 0])
    fitted = RandomFeatures(n_components=32).fit(X)
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))[np.triu_indices(300, 1)]
    assert abs(fitted.kernel_.bandwidth / np.median(distances) - 1) < 0.1
    assert fitted.kernel is None
    model = make_pipeline(RandomFeatures(Gaussian(), n_components=64), RidgeRegressor())
    search = GridSearchCV(model, {"randomfeatures__kernel__bandwidth": [0.5, 50.0]}, cv=3).fit(X, y)
    assert search.best_params_["randomfeatures__kernel__bandwidth"] == 0.5
    assert clone(model).get_params()["randomfeatures__kernel__bandwidth"] == 1.0


@pytest.mark.parametrize(
    "kernel",
    [Custom(np.dot), Precomputed(), Gaussian() + Overlap(), (2 * Overlap()).on([0])],
    ids=["custom", "precomputed", "sum", "columns"],
)
def test_kernels_without_random_features_say_what_to_use(kernel):
    with pytest.raises(ValueError, match=r"(Custom|Precomputed|Overlap).* has no random features.*Landmarks"):
        RandomFeatures(kernel).fit(np.zeros((3, 2)))


def test_what_cannot_be_done_is_explained():
    X = np.zeros((3, 4))
    with pytest.raises(ValueError, match="Did you mean 'gaussian'"):
        RandomFeatures("rbf").fit(X)
    with pytest.raises(TypeError, match="must be one of mercer"):
        RandomFeatures(np.dot).fit(X)
    with pytest.raises(TypeError, match="n_components=64"):
        RandomFeatures(64).fit(X)
    with pytest.raises(TypeError, match="positional"):
        RandomFeatures(Gaussian(), 64)
    with pytest.raises(ValueError, match="sampling must be one of"):
        RandomFeatures(sampling="magic").fit(X)
    with pytest.raises(ValueError, match="positive whole number"):
        RandomFeatures(n_components=0).fit(X)
    with pytest.raises(ValueError, match="at most 3 dimensions"):
        RandomFeatures(Sinc(radial=True)).fit(X)
    with pytest.raises(ValueError, match="only 4 columns"):
        RandomFeatures(Gaussian().on([7])).fit(X)
    with pytest.raises(ValueError, match="Sobol points have at most"):
        draw(Gaussian(), 30_000, 4, sampling="quasi")


def test_features_of_given_frequencies():
    frequencies = np.random.default_rng(1).normal(size=(33, 5))
    X = np.random.default_rng(2).normal(size=(700, 5))
    features = RandomFeatures.from_frequencies(frequencies)
    assert features.n_components == 66
    assert features.n_features_in_ == 5
    assert features.pairing == "cos-sin"
    assert features.sampling_ == "given"
    np.testing.assert_array_equal(features.frequencies_, frequencies)
    for dtype in (np.float32, np.float64):
        rows = X.astype(dtype)
        reference = FourierMap(frequencies, np.zeros(0), float(np.sqrt(1.0 / 33)), "given")
        reference.ready(rows.dtype, False)
        out = np.empty((700, 66), dtype=dtype)
        for start in range(0, 700, reference.rows):
            reference.apply(rows[start : start + reference.rows], out[start : start + reference.rows])
        np.testing.assert_array_equal(features.transform(rows), out)
    arguments = X @ frequencies.T
    np.testing.assert_allclose(
        features.transform(X), np.hstack([np.cos(arguments), np.sin(arguments)]) / np.sqrt(33), atol=1e-6
    )
    assert len(features.get_feature_names_out()) == 66
    with pytest.raises(ValueError, match="made without a kernel"):
        features.certificate(X)


def test_given_frequencies_of_a_kernel(tmp_path):
    kernel = 3.0 * Gaussian(2.0)
    drawn = RandomFeatures(kernel, n_components=512).fit(np.zeros((1, 3)))
    X = np.random.default_rng(2).normal(size=(100, 3))
    features = RandomFeatures.from_frequencies(drawn.frequencies_, kernel)
    np.testing.assert_array_equal(features.transform(X), drawn.transform(X))
    assert features.certificate(X).max == drawn.certificate(X).max
    save(features, tmp_path / "features.mercer")
    np.testing.assert_array_equal(load(tmp_path / "features.mercer").transform(X), features.transform(X))
    copy = clone(features)
    assert copy.kernel == kernel
    assert copy.n_components == 512
    assert not hasattr(copy, "frequencies_")
    np.testing.assert_array_equal(copy.fit(X).transform(X), drawn.transform(X))


def test_wrong_frequencies_are_refused():
    with pytest.raises(ValueError, match="matrix"):
        RandomFeatures.from_frequencies(np.ones(3))
    with pytest.raises(ValueError, match="finite"):
        RandomFeatures.from_frequencies([[np.nan]])
    for kernel in (Polynomial(2), Gaussian("median")):
        with pytest.raises(ValueError, match="not shift-invariant with every parameter a number"):
            RandomFeatures.from_frequencies([[1.0]], kernel)
