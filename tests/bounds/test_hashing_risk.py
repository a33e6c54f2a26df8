"""The moments of hashed vectors are exact, the verdict follows from them, and sparse codes limit overlaps."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer._numeric.block import Block
from mercer.bounds import hashing_risk, sparse_nonzeros
from mercer.bounds.hashing import norm_ratio_threshold, row_shapes
from mercer.source import StreamSource


def errors_of_one_block(v, n_buckets):
    """||Av||^2 - ||v||^2 for every hash function and every choice of signs, all equally likely."""
    d, found = len(v), []
    for hashes in product(range(n_buckets), repeat=d):
        A = np.zeros((n_buckets, d))
        A[list(hashes), range(d)] = 1
        found.append(np.sum((np.array(list(product((-1, 1), repeat=d))) * v @ A.T) ** 2, axis=1) - v @ v)
    return np.concatenate(found)


@pytest.mark.parametrize("n_buckets", [1, 2, 3])
@pytest.mark.parametrize(
    "v", [[3.0, 4.0], [1.0, 2.0, -2.0], [1.0, -1.0, 0.5, 2.0], [2.0, 1.0, 1.0, -1.0, 0.3]], ids=str
)
def test_moments_of_one_block_are_those_of_the_enumeration(v, n_buckets):
    v = np.array(v) / np.linalg.norm(v)
    Q, shape = errors_of_one_block(v, n_buckets), row_shapes(v[None])
    np.testing.assert_allclose(shape.variance(n_buckets), np.mean(Q**2), rtol=1e-12)
    np.testing.assert_allclose(shape.fourth_moment(n_buckets, 1), np.mean(Q**4), rtol=1e-12)


@pytest.mark.parametrize("s", [2, 3])
def test_moments_of_several_blocks_are_those_of_means(s):
    v = np.array([1.0, 2.0, -1.5, 0.5])
    v /= np.linalg.norm(v)
    values, counts = np.unique(errors_of_one_block(v, 2).round(12), return_counts=True)
    mean = sum(np.meshgrid(*[values] * s)) / s
    weights = np.prod(np.meshgrid(*[counts.astype(float)] * s), axis=0)
    shape, m = row_shapes(v[None]), 2 * s
    np.testing.assert_allclose(shape.variance(m), np.average(mean**2, weights=weights), rtol=1e-9)
    np.testing.assert_allclose(shape.fourth_moment(m, s), np.average(mean**4, weights=weights), rtol=1e-9)


@pytest.mark.parametrize(("s", "kurtosis"), [(1, 64), (2, 17.5), (4, 6.25), (8, 3.63), (16, 3.06)])
def test_the_kurtosis_of_two_equal_entries(s, kurtosis):
    found = hashing_risk(np.array([[1.0, 0.0, -1.0]]), 64, s).kurtosis
    assert found == pytest.approx(64 / s**2 + 3 * (1 - 1 / s), rel=1e-12)
    assert found == pytest.approx(kurtosis, abs=0.005)


@pytest.mark.parametrize("s", [1, 4])
def test_the_bound_on_failure_holds_in_simulation(s):
    rng = np.random.default_rng(0)
    v = rng.standard_t(3, size=30)
    v /= np.linalg.norm(v)
    m, eps, seeds = 256, 0.3, 20_000
    y = np.zeros((seeds, m))
    for block in range(s):
        bucket = block * (m // s) + rng.integers(m // s, size=(seeds, 30))
        np.add.at(y, (np.arange(seeds)[:, None], bucket), rng.choice([-1, 1], size=(seeds, 30)) * v / np.sqrt(s))
    Q = np.sum(y * y, axis=1) - 1
    risk = hashing_risk(v[None], m, s, eps=eps)
    kurtosis = risk.kurtosis
    assert abs(np.mean(Q)) <= 5 * risk.relative_sd / np.sqrt(seeds)
    assert np.var(Q) == pytest.approx(risk.relative_sd**2, rel=5 * np.sqrt((kurtosis - 1) / seeds))
    assert np.mean(np.abs(Q) >= eps) <= risk.failure


def kinds(X):
    return {
        "dense": X,
        "float32": X.astype(np.float32),
        "csr matrix": sparse.csr_matrix(X),
        "csr array": sparse.csr_array(X),
        "stream": StreamSource(lambda: (Block(X[i : i + 7]) for i in range(0, len(X), 7))),
    }


@pytest.mark.parametrize("kind", list(kinds(np.zeros((1, 1)))))
@pytest.mark.parametrize("vectors", ["rows", "differences"])
def test_storage_does_not_matter(kind, vectors):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(50, 20)) * (rng.random((50, 20)) < 0.3), 2).astype(np.float32).astype(float)
    X[3] = 0
    expected = hashing_risk(X, 512, 2, vectors=vectors).as_dict()
    found = hashing_risk(kinds(X)[kind], 512, 2, vectors=vectors).as_dict()
    assert found == pytest.approx(expected, rel=1e-5)


def test_heavy_features_need_more_than_one_nonzero_each():
    few_heavy = np.zeros((1, 1000))
    few_heavy[0, :12] = 1.0
    even = np.ones((1, 1000))
    m = 2**13
    assert hashing_risk(even, m, 1).safe
    risk = hashing_risk(few_heavy, m, 1, delta=2e-3)
    assert not risk.safe
    assert risk.recommended_components == m
    assert risk.recommended_nonzeros > 1
    assert hashing_risk(few_heavy, m, risk.recommended_nonzeros, delta=2e-3).safe
    assert "NOT PROVEN SAFE" in str(risk)
    assert f"nonzeros = {risk.recommended_nonzeros}" in str(risk)


def test_too_few_columns_and_too_few_nonzeros_are_distinguished():
    risk = hashing_risk(np.random.default_rng(0).normal(size=(10, 500)), 64)
    assert risk.fraction_at_risk == 1
    assert risk.recommended_components > 64
    assert hashing_risk(np.ones((1, 500)), risk.recommended_components, risk.recommended_nonzeros).safe


def test_awkward_vectors_have_a_defined_answer():
    single = hashing_risk(np.diag([1e200, 1e-200, 1.0]), 16)
    assert single.safe
    assert single.failure == single.kurtosis == single.relative_sd == 0
    assert single.norm_ratio == 1
    huge = hashing_risk(np.array([[1e200, 1e200], [1e-200, 1e-200]]), 1024)
    assert huge.kurtosis == pytest.approx(1024)
    with pytest.raises(ValueError, match="All vectors are zero"):
        hashing_risk(np.zeros((3, 3)), 16)
    with pytest.raises(ValueError, match=r"cut into 3 equal blocks. Use 2 or 4"):
        hashing_risk(np.ones((3, 3)), 16, 3)
    with pytest.raises(ValueError, match="NaN: column 1, first at row 0"):
        hashing_risk(np.array([[1.0, np.nan]]), 16)


def test_frames_and_large_tables_are_read():
    X = np.random.default_rng(0).normal(size=(3000, 6))
    risk = hashing_risk(pd.DataFrame(X), 64)
    assert risk == hashing_risk(X, 64)
    assert risk.n_vectors == 2000
    assert hashing_risk(X, 64, n_vectors=5000).n_vectors == 3000


def test_the_threshold_of_plain_hashing():
    assert norm_ratio_threshold(2**20, 1, 0.1, 0.01) == 1  # m >= 2 / (eps^2 delta)
    assert norm_ratio_threshold(64, 1, 0.1, 0.01) == 0  # not even enough for a dense projection
    middle = norm_ratio_threshold(8192, 1, 0.1, 0.01)
    assert 0 < middle < norm_ratio_threshold(16384, 1, 0.1, 0.01) < 1
    assert norm_ratio_threshold(8192, 4, 0.1, 0.01) == pytest.approx(min(1, 2 * middle))


@pytest.mark.parametrize("method", ["chernoff", "exact"])
@pytest.mark.parametrize(("m", "d"), [(1024, 100), (3600, 1000), (4096, 10**6)])
def test_sparse_codes_limit_overlaps(m, d, method):
    delta = 0.01
    s = sparse_nonzeros(m, d, delta, method)
    assert m % s == 0
    assert sparse_nonzeros(m, d, delta, "exact") <= sparse_nonzeros(m, d, delta)
    if method == "chernoff":
        assert s >= np.sqrt(3 * m * np.log(d**2 / (2 * delta)))
    rng = np.random.default_rng(0)
    codes = rng.integers(m // s, size=(100, s))
    overlaps = (codes[:, None] == codes[None]).sum(axis=2)[np.triu_indices(100, 1)]
    assert overlaps.max() <= 2 * s * s / m
    assert overlaps.mean() == pytest.approx(s * s / m, rel=0.1)


def test_sparse_codes_that_do_not_exist_are_refused():
    assert sparse_nonzeros(7, 1, 0.5) == 1
    with pytest.raises(ValueError, match=r"No s up to m = 16 .* s would have to be 30. Take m >= 5\d"):
        sparse_nonzeros(16, 1000, 0.01)
    with pytest.raises(ValueError, match="d must be a whole number"):
        sparse_nonzeros(16, 0, 0.01)
