"""What every linear projection promises: lengths on average, linearity, one map for every form of the rows."""

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.base import clone

from mercer.bounds import jl_dimension
from mercer.project import GaussianProjection, HadamardProjection, SparseProjection
from mercer.source import MemorySource

TABLE = [
    GaussianProjection(48),
    HadamardProjection(48),
    SparseProjection(48),
    SparseProjection(48, nonzeros=1),
]
every_projection = pytest.mark.parametrize("projection", TABLE, ids=str)


def normal(n=40, d=100, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


@every_projection
def test_the_matrix_is_the_map(projection):
    X = normal()
    projection = clone(projection).fit(X)
    A = projection.matrix()
    assert A.shape == (48, 100)
    np.testing.assert_allclose(projection.transform(X), X @ A.T, atol=1e-12)


@every_projection
def test_squared_lengths_are_kept_on_average(projection):
    """Each kind has Var||Ax||^2 <= (2/m)||x||^4; over R seeds the mean is within 5 standard errors."""
    x, repeats = normal(1) * np.arange(100), 400
    maps = (clone(projection).set_params(random_state=seed).fit(x) for seed in range(repeats))
    ratios = [np.sum(a.transform(x) ** 2) / np.sum(x**2) for a in maps]
    assert abs(np.mean(ratios) - 1) <= 5 * np.sqrt(2 / 48 / repeats)


@every_projection
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_sparse_and_streamed_rows_agree(projection, dtype):
    X = normal(dtype=dtype) * (normal(seed=1) > 0.5)
    X = X.astype(dtype)
    projection = clone(projection).fit(X)
    Y = projection.transform(X)
    assert Y.dtype == dtype
    tolerance = 100 * np.finfo(dtype).eps
    np.testing.assert_allclose(projection.transform(sparse.csr_matrix(X)), Y, atol=tolerance, rtol=tolerance)
    streamed = np.vstack([block.X for block in projection.transform(MemorySource(X)).blocks()])
    np.testing.assert_allclose(streamed, Y, atol=tolerance, rtol=tolerance)


@every_projection
def test_a_copy_is_the_same_map(projection):
    X = normal()
    projection = clone(projection).fit(X)
    projection.transform(X.astype(np.float32))
    assert (pickle.loads(pickle.dumps(projection)).transform(X) == projection.transform(X)).all()
    assert (clone(projection).fit(X[:1]).transform(X) == projection.transform(X)).all()
    assert (clone(projection).set_params(random_state=1).fit(X).transform(X) != projection.transform(X)).any()


@every_projection
@pytest.mark.parametrize("threads", ["1", "3"])
def test_threads_do_not_matter(projection, threads, monkeypatch):
    X = normal(3000)
    projection = clone(projection).fit(X)
    Y = projection.transform(X)
    monkeypatch.setenv("MERCER_THREADS", threads)
    assert (projection.transform(X) == Y).all()


@pytest.mark.parametrize(
    "projection", [GaussianProjection(eps=0.3), HadamardProjection(eps=0.3), SparseProjection(eps=0.3)], ids=str
)
def test_automatic_dimension_counts_the_rows(projection):
    X = normal(50, 2000)
    fitted = clone(projection).fit(X)
    needed = jl_dimension(0.3, 0.01, n=50)
    assert needed <= fitted.n_components_ < needed + 8
    halves = clone(projection).fit(X[:20]).merge(clone(projection).fit(X[20:]))
    assert halves.n_components_ == fitted.n_components_
    Y = fitted.transform(X)
    i, j = np.triu_indices(50, 1)
    ratios = np.sum((Y[i] - Y[j]) ** 2, axis=1) / np.sum((X[i] - X[j]) ** 2, axis=1)
    # The dimension is proved for the Gaussian law; the other two promise it for all but a few pairs.
    assert np.quantile(abs(ratios - 1), 1.0 if isinstance(projection, GaussianProjection) else 0.99) <= 0.3


@pytest.mark.parametrize("projection", [GaussianProjection(), HadamardProjection(), SparseProjection()], ids=str)
def test_a_pointless_projection_is_refused(projection):
    with pytest.raises(ValueError, match=r"takes [\d,]+ components, but there are only\s+n_features=100 columns"):
        clone(projection).fit(normal())


@every_projection
@pytest.mark.parametrize("wrong", [0, -1, 2.5, "many", True, None])
def test_impossible_numbers_of_components_are_refused(projection, wrong):
    with pytest.raises(ValueError, match="n_components must be 'auto' or a whole number"):
        clone(projection).set_params(n_components=wrong).fit(normal())


def test_an_impossible_accuracy_is_refused():
    with pytest.raises(ValueError, match="eps must be"):
        GaussianProjection(eps=-1.0).fit(normal())
    with pytest.raises(ValueError, match="delta must be"):
        GaussianProjection(delta=2).fit(normal())


@every_projection
def test_a_certificate_measures_distances(projection):
    X = normal(60, 300)
    fitted = clone(projection).set_params(n_components=240).fit(X)
    certificate = fitted.certificate(X, delta=0.01)
    Y, (i, j) = fitted.transform(X), np.triu_indices(60, 1)
    errors = np.sum((Y[i] - Y[j]) ** 2, axis=1) / np.sum((X[i] - X[j]) ** 2, axis=1) - 1
    np.testing.assert_allclose(certificate.max, abs(errors).max(), rtol=1e-9)


@every_projection
def test_memory_stays_within_a_few_blocks_of_the_output(projection):
    X = sparse.random(4000, 100, 0.05, format="csr", random_state=0)
    projection = clone(projection).set_params(n_components=512).fit(X)
    tracemalloc.start()
    out = projection.transform(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= out.nbytes + (10 << 20)


# ---- the Gaussian law ----


def test_gaussian_lengths_have_the_chi_square_law():
    """m||Av||^2/||v||^2 ~ chi^2_m for R independent maps, taken from the independent components of one large one."""
    m, repeats = 8, 5000
    for seed, v in enumerate(([1.0, 0, 0], [1.0, -2, 3], [1e-8, 1, 1e8])):
        y = GaussianProjection(m * repeats, random_state=seed).fit_transform([v]) * np.sqrt(m * repeats)
        found = np.sum(y.reshape(repeats, m) ** 2, axis=1) / np.dot(v, v)
        assert stats.kstest(found, stats.chi2(m).cdf).statistic <= np.sqrt(np.log(2 / 1e-6) / (2 * repeats))


@pytest.mark.parametrize("kind", [GaussianProjection, HadamardProjection])
def test_a_smaller_map_is_the_beginning_of_a_larger_one(kind):
    X = normal()
    small, large = kind(70).fit_transform(X) * np.sqrt(70), kind(100).fit_transform(X) * np.sqrt(100)
    np.testing.assert_allclose(small, large[:, :70], rtol=1e-12)


def test_data_from_the_same_seed_are_not_stretched():
    """numpy.random.default_rng(0) is where test data come from; the map must not repeat its numbers."""
    X = np.random.default_rng(0).normal(size=(20, 1000))
    ratios = np.sum(GaussianProjection(200).fit_transform(X) ** 2, axis=1) / np.sum(X**2, axis=1)
    assert abs(ratios - 1).max() < 5 * np.sqrt(2 / 200)


# ---- Hadamard ----


@pytest.mark.parametrize(("d", "m"), [(64, 64), (50, 64), (3, 4), (1, 1), (2, 16)])
def test_all_coordinates_together_keep_every_length(d, m):
    A = HadamardProjection(m).fit(normal(d=d)).matrix()
    np.testing.assert_allclose(A.T @ A, np.eye(d), atol=1e-14)
    np.testing.assert_allclose(np.abs(A), 1 / np.sqrt(m), rtol=1e-14)


def test_sampled_coordinates_are_different():
    fitted = HadamardProjection(600).fit(normal(d=700))
    assert fitted.width_ == 1024
    assert len(set(fitted.rows_.tolist())) == 600
