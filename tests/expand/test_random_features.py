"""Random features: unbiased with the variance theory gives, the same map however it is applied."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mercer.expand import RandomFeatures
from mercer.kernels import Cauchy, Gaussian, Laplace, Linear, Matern, RationalQuadratic
from mercer.linear import RidgeRegressor

SEEDS = 400
KERNELS = {
    "gaussian": Gaussian(1.3),
    "laplace": Laplace(2.0),
    "laplace l1": Laplace(2.0, norm="l1"),
    "cauchy": Cauchy(1.5),
    "matern": Matern(1.5, nu=1.5),
    "rational quadratic": RationalQuadratic(1.2, alpha=0.7),
}


def pairs(d, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(5, d))
    return x, x + rng.normal(size=(5, d)) * np.array([0.1, 0.3, 0.6, 1.0, 1.5])[:, None]


def estimates(kernel, x, z, n_components, seeds, **options):
    maps = (RandomFeatures(kernel, n_components, random_state=seed, **options).fit(x) for seed in range(seeds))
    return np.array([np.sum(m.transform(x) * m.transform(z), axis=1) for m in maps])


def exact(kernel, x, z):
    k = np.array([kernel(a[None], b[None])[0, 0] for a, b in zip(x, z, strict=True)])
    twice = np.array([kernel(a[None], (2 * b - a)[None])[0, 0] for a, b in zip(x, z, strict=True)])
    return k, twice


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("pairing", ["cos-sin", "phase"])
@pytest.mark.parametrize("name", KERNELS)
def test_independent_frequencies_are_unbiased(name, pairing, d):
    kernel, n = KERNELS[name], 64
    x, z = pairs(d)
    k, twice = exact(kernel, x, z)
    mean = estimates(kernel, x, z, n, SEEDS, sampling="iid", pairing=pairing).mean(axis=0)
    variance = (1 + twice - 2 * k**2) / n if pairing == "cos-sin" else (1 + 0.5 * twice - k**2) / n
    # 5.3 standard errors of the mean; 1e-6 allows for cosines in float32.
    assert np.all(np.abs(mean - k) <= 5.3 * np.sqrt(variance / SEEDS) + 1e-6)


@pytest.mark.parametrize("d", [1, 2, 5, 16])
@pytest.mark.parametrize("name", ["gaussian", "laplace", "matern"])
def test_orthogonal_frequencies_are_unbiased_and_no_worse(name, d):
    kernel, n, seeds = KERNELS[name], 64, 1000
    x, z = pairs(d)
    k, twice = exact(kernel, x, z)
    values = estimates(kernel, x, z, n, seeds)
    variance = (1 + twice - 2 * k**2) / n
    assert np.all(np.abs(values.mean(axis=0) - k) <= 5.3 * np.sqrt(variance / seeds) + 1e-6)
    assert np.all(values.var(axis=0) <= variance * (1 + 5 * np.sqrt(2 / seeds) * 1.5) + 1e-9)


@pytest.mark.parametrize("pairing", ["cos-sin", "phase"])
def test_variance_is_the_formula(pairing):
    x, z = pairs(3)
    k, twice = exact(Gaussian(1.3), x, z)
    seeds, n = 2000, 32
    values = estimates(Gaussian(1.3), x, z, n, seeds, sampling="iid", pairing=pairing)
    variance = (1 + twice - 2 * k**2) / n if pairing == "cos-sin" else (1 + 0.5 * twice - k**2) / n
    # The estimates are near normal: the empirical variance errs by sqrt(2/R) relatively, 5 of which are allowed.
    np.testing.assert_allclose(values.var(axis=0), variance, rtol=5 * np.sqrt(2 / seeds) * 1.3)


def test_uniform_error_stays_below_hoeffding():
    n, m, delta = 300, 1024, 1e-6
    X = np.random.default_rng(0).normal(size=(n, 8))
    Z = RandomFeatures(Gaussian(2.0), 2 * m).fit_transform(X)
    bound = np.sqrt(2 / m * np.log(n * (n - 1) / delta))
    assert np.abs(Z @ Z.T - Gaussian(2.0)(X)).max() <= bound
    np.testing.assert_allclose(np.sum(Z * Z, axis=1), 1.0, atol=1e-6)


def test_an_odd_number_of_columns_is_unbiased_too():
    x, z = pairs(2)
    k, _ = exact(Gaussian(1.3), x, z)
    values = estimates(Gaussian(1.3), x, z, 5, 3000, sampling="iid")
    assert values.shape[1] == 5
    assert np.all(np.abs(values.mean(axis=0) - k) <= 5.3 * values.std(axis=0) / np.sqrt(3000) + 1e-6)


@pytest.mark.parametrize("pairing", ["cos-sin", "phase"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_map_does_not_depend_on_blocks_threads_or_storage(pairing, dtype, monkeypatch):
    X = np.random.default_rng(0).normal(size=(1000, 7)).astype(dtype)
    features = RandomFeatures(Gaussian(1.0), 65, pairing=pairing).fit(X)
    monkeypatch.setenv("MERCER_THREADS", "1")
    one = features.transform(X)
    monkeypatch.setenv("MERCER_THREADS", "3")
    assert one.dtype == dtype
    assert np.array_equal(features.transform(X), one)
    assert np.array_equal(np.vstack([features.transform(X[i : i + 37]) for i in range(0, 1000, 37)]), one)
    assert np.array_equal(features.transform(np.asfortranarray(X)), one)
    thin = sparse.csr_matrix(X)
    np.testing.assert_allclose(features.transform(thin), one, atol=3e-6 if dtype == np.float32 else 1e-6)


def test_a_smaller_map_is_the_beginning_of_a_larger_one():
    X = np.random.default_rng(0).normal(size=(10, 4))
    small, large = (RandomFeatures(Gaussian(), n).fit(X).frequencies_ for n in (10, 40))
    np.testing.assert_array_equal(large[:4], small[:4])


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


def test_what_cannot_be_done_is_explained():
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match="not shift-invariant"):
        RandomFeatures(Linear()).fit(X)
    with pytest.raises(TypeError, match="must be one of mercer"):
        RandomFeatures("rbf").fit(X)
    with pytest.raises(ValueError, match="Use sampling='iid'"):
        RandomFeatures(Laplace(norm="l1")).fit(X)
    with pytest.raises(ValueError, match="sampling must be one of"):
        RandomFeatures(sampling="magic").fit(X)
    with pytest.raises(ValueError, match="positive whole number"):
        RandomFeatures(n_components=0).fit(X)
