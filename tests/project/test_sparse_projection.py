"""The block-hash projection: structure, moments, tails and bias as the theory has them."""

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.preprocessing import PolynomialFeatures

from mercer.project import SparseProjection

BATCH, SEEDS = 25_000, 8  # 200,000 independent draws of the hashes of a few columns


def images(v, m, s, signed=True):
    """Images of v under many independent maps, by batches: row r has v at columns of its own."""
    v = np.asarray(v, dtype=float)
    columns = np.arange(BATCH * len(v))
    X = sparse.csr_matrix((np.tile(v, BATCH), columns, np.arange(0, len(columns) + 1, len(v))))
    for seed in range(SEEDS):
        yield SparseProjection(m, s, signed, random_state=seed).fit_transform(X)


def squared_lengths(v, m, s):
    return np.concatenate([np.sum(Y**2, axis=1) for Y in images(v, m, s)])


@pytest.mark.parametrize(("m", "s"), [(64, 1), (64, 8), (48, 16), (12, 12), (30, 5)])
@pytest.mark.parametrize("signed", [True, False])
def test_each_column_has_one_nonzero_per_block(m, s, signed):
    A = SparseProjection(m, s, signed).fit(np.zeros((1, 500))).matrix()
    blocks = A.reshape(s, m // s, 500)
    assert (np.count_nonzero(blocks, axis=1) == 1).all()
    np.testing.assert_allclose(np.abs(A[A != 0]), 1 / np.sqrt(s), rtol=1e-15)
    assert bool((A < 0).any()) == signed


@pytest.mark.parametrize(("m", "s"), [(16, 1), (16, 4), (32, 8)])
def test_mean_and_variance_do_not_depend_on_the_number_of_nonzeros(m, s):
    v = np.array([3.0, -1, 2, 0.5, 1])
    v /= np.linalg.norm(v)
    lengths = squared_lengths(v, m, s)
    variance = (2 / m) * (1 - np.sum(v**4))
    assert abs(lengths.mean() - 1) <= 5 * np.sqrt(variance / len(lengths))
    kurtosis = np.mean((lengths - 1) ** 4) / variance**2
    assert abs(lengths.var() / variance - 1) <= 5 * np.sqrt((kurtosis - 1) / len(lengths))


@pytest.mark.parametrize("s", [1, 2, 4, 8, 16])
def test_more_nonzeros_make_lighter_tails(s):
    lengths = squared_lengths(np.ones(2) / np.sqrt(2), 64, s)
    kurtosis = np.mean((lengths - 1) ** 4) / np.mean((lengths - 1) ** 2) ** 2
    assert kurtosis == pytest.approx(64 / s**2 + 3 * (1 - 1 / s), rel=0.1)


@pytest.mark.parametrize("s", [1, 4])
def test_without_signs_inner_products_are_biased_as_stated(s):
    """E||Ax||^2 = ||x||^2 + (s/m)((sum x)^2 - ||x||^2)."""
    x, m = np.array([1.0, 2, 3, 0.5]), 32
    lengths = np.concatenate([np.sum(Y**2, axis=1) for Y in images(x, m, s, signed=False)])
    expected = np.sum(x**2) + s / m * (np.sum(x) ** 2 - np.sum(x**2))
    assert abs(lengths.mean() - expected) <= 5 * lengths.std() / np.sqrt(len(lengths))


@pytest.mark.parametrize("columns", [np.arange(60_000), 65_536 * np.arange(60_000), 3 + 26**3 * np.arange(60_000)])
def test_regular_columns_fill_buckets_evenly(columns):
    X = sparse.csr_matrix((np.ones(len(columns)), columns, np.arange(len(columns) + 1)))
    Y = SparseProjection(250, nonzeros=1).fit_transform(X)
    for counts, expected in (((Y != 0).sum(axis=0), 240.0), (np.array([(Y > 0).sum(), (Y < 0).sum()]), 30_000.0)):
        p = stats.chi2.sf(np.sum((counts - expected) ** 2 / expected), len(counts) - 1)
        assert 1e-6 <= p <= 1 - 1e-6


def test_nothing_of_the_size_of_the_columns_is_ever_made():
    X = sparse.csr_matrix((np.ones(3), np.array([5, 10**12, 7]), np.array([0, 2, 3])), shape=(2, 2 * 10**12))
    projection = SparseProjection(64).fit(X)
    assert np.count_nonzero(projection.transform(X)[1]) == 8
    with pytest.raises(ValueError, match=r"too many to\s+write out"):
        projection.matrix()


def test_sizes_that_do_not_divide_are_refused_with_those_that_do():
    with pytest.raises(ValueError, match="use n_components=96 or 104, or another number of nonzeros"):
        SparseProjection(100).fit(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="nonzeros must be a whole number"):
        SparseProjection(100, nonzeros=0).fit(np.zeros((2, 3)))


def test_fewer_components_than_nonzeros_are_all_used():
    projection = SparseProjection(3, nonzeros=8).fit(np.zeros((1, 50)))
    np.testing.assert_allclose(np.abs(projection.matrix()), 1 / np.sqrt(3), rtol=1e-15)


def test_parameters_changed_between_fits_count():
    X = np.eye(4)
    projection = SparseProjection(8, nonzeros=8).fit(X)
    assert np.count_nonzero(projection.set_params(nonzeros=2).fit(X).transform(X)) == 8
    assert (projection.set_params(signed=False).fit(X).transform(X) >= 0).all()


def test_sketched_interactions_keep_the_kernel():
    """After a quadratic expansion, inner products estimate those of all products of columns, without bias.

    Var<Ax, Ax'> <= (||x||^2 ||x'||^2 + <x, x'>^2)/m.
    """
    rows = sparse.random(2, 60, 0.3, format="csr", random_state=0)
    lifted = PolynomialFeatures(2).fit_transform(rows).tocsr()
    exact = (lifted @ lifted.T).toarray()
    found = []
    for seed in range(300):
        Y = SparseProjection(64, random_state=seed).fit_transform(lifted)
        found.append(Y[0] @ Y[1])
    bound = (exact[0, 0] * exact[1, 1] + exact[0, 1] ** 2) / 64
    assert abs(np.mean(found) - exact[0, 1]) <= 5 * np.sqrt(bound / 300)
    assert np.var(found) <= 1.5 * bound
