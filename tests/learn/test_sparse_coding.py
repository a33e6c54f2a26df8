"""Codes beside scikit-learn's, planted dictionaries, dead atoms, streams."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import SparseCoder

from mercer._numeric.block import Block
from mercer.learn import SparseCoding
from mercer.learn.dictionary.dictionary import CodeSums, _without_dead, updated
from mercer.source import MemorySource, StreamSource


def unit(A):
    return A / np.linalg.norm(A, axis=1, keepdims=True)


def planted(n=3000, n_atoms=24, d=16, nonzeros=3, noise=0.0, seed=0):
    """Rows that are combinations of a few atoms with coefficients away from 0."""
    rng = np.random.default_rng(seed)
    D = unit(rng.normal(size=(n_atoms, d)))
    V = np.zeros((n, n_atoms))
    for row in V:
        row[rng.permutation(n_atoms)[:nonzeros]] = rng.uniform(1, 2, nonzeros) * rng.choice([-1, 1], nonzeros)
    return V @ D + noise * rng.normal(size=(n, d)), D, V


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matching_pursuit_is_that_of_scikit_learn(dtype):
    rng = np.random.default_rng(0)
    D, X = unit(rng.normal(size=(100, 30))).astype(dtype), rng.normal(size=(200, 30)).astype(dtype)
    ours = SparseCoding(dictionary=D, nonzeros=5, pursuit="omp").fit_transform(X)
    theirs = SparseCoder(D, transform_algorithm="omp", transform_n_nonzero_coefs=5).transform(X)
    assert ours.dtype == dtype
    assert np.diff(ours.indptr).max() == 5
    same = np.all((ours.toarray() != 0) == (theirs != 0), axis=1)
    assert same.mean() > (0.98 if dtype == np.float32 else 0.999)  # ties within rounding may go either way
    np.testing.assert_allclose(ours.toarray()[same], theirs[same], atol=1e-4 if dtype == np.float32 else 1e-11)


def test_orthogonal_least_squares_has_the_lower_error_of_the_two():
    rng = np.random.default_rng(1)
    D, X = unit(rng.normal(size=(60, 20))), rng.normal(size=(500, 20))
    errors = {}
    for pursuit in ("ols", "omp"):
        coding = SparseCoding(dictionary=D, nonzeros=6, pursuit=pursuit).fit(X)
        errors[pursuit] = np.mean((X - coding.inverse_transform(coding.transform(X))) ** 2)
    assert errors["ols"] < errors["omp"]


def test_sparse_rows_have_the_codes_of_dense_ones():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 12)) * (rng.uniform(size=(80, 12)) < 0.4)
    coding = SparseCoding(20, 3, n_epochs=1).fit(sparse.csr_matrix(X))
    dense = clone(coding).fit(X)
    np.testing.assert_allclose(coding.dictionary_, dense.dictionary_, atol=1e-10)
    a, b = coding.transform(sparse.csr_matrix(X)), dense.transform(X)
    np.testing.assert_allclose(a.toarray(), b.toarray(), atol=1e-9)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_planted_dictionary_is_recovered(noise):
    X, D, _ = planted(4000, 32, 20, 2, noise=noise)
    coding = SparseCoding(32, 2, n_epochs=20).fit(X)
    cosines = np.abs(coding.dictionary_ @ D.T)
    assert np.sum(cosines.max(axis=0) > 0.98) >= 29  # the problem is not convex: a few atoms may be missed
    assert coding.errors_[-1] < 0.2 * coding.errors_[0]
    codes = coding.transform(X)
    assert np.diff(codes.indptr).max() <= 2


def test_no_code_exceeds_its_number_of_entries_and_exact_rows_need_fewer():
    X, D, _ = planted(200, n_atoms=12, d=40)
    codes = SparseCoding(dictionary=D, nonzeros=8).fit_transform(X)
    np.testing.assert_allclose(codes @ D, X, atol=1e-10)
    assert set(np.diff(codes.indptr)) <= {3, 4, 5}


def test_atoms_of_a_given_dictionary_are_scaled_to_length_one():
    X, D, _ = planted(50)
    ours = SparseCoding(dictionary=3 * D, nonzeros=3).fit(X)
    np.testing.assert_allclose(ours.dictionary_, D, atol=1e-15)
    with pytest.raises(ValueError, match=r"Atom 1 .* length 0"):
        SparseCoding(dictionary=D * (np.arange(24) != 1)[:, None]).fit(X)
    with pytest.raises(ValueError, match="16 columns"):
        SparseCoding(dictionary=D[:, :5]).fit(X)


def test_full_passes_lower_the_error():
    X, _, _ = planted(2000, noise=0.1)
    errors = SparseCoding(24, 3, n_epochs=1, n_refits=6).fit(X).errors_[1:]
    assert np.all(np.diff(errors) < 1e-3 * errors[:-1])


def test_sweeps_never_raise_the_error_of_held_codes():
    X, D, V = planted(500, noise=0.2)
    A, B = V.T @ V, V.T @ X
    start = unit(np.random.default_rng(3).normal(size=D.shape))
    errors = [np.linalg.norm(X - V @ updated(start, A, B, sweeps)) for sweeps in range(6)]
    assert np.all(np.diff(errors) <= 1e-12 * errors[0])


def test_dead_and_repeated_atoms_become_the_worst_rows():
    D = np.eye(4)[[0, 1, 1, 3]]
    worst = np.array([[0.0, 0.0, 5.0, 0.0], [0.0, 2.0, 2.0, 0.0]])
    sums = CodeSums(n=9, used=np.array([3, 3, 3, 0]), worst=worst, worst_errors=np.array([25.0, 8.0]))
    new = _without_dead(D, sums, None)
    np.testing.assert_allclose(new, [*D[:2], [0, 0, 1, 0], [0, 0.5**0.5, 0.5**0.5, 0]])


def test_the_dictionary_does_not_depend_on_the_blocks_of_a_stream():
    X, _, _ = planted(9000, d=8, noise=0.1)
    coding = SparseCoding(12, 2, n_epochs=1, n_refits=1)
    whole = clone(coding).fit(X)
    stream = clone(coding).fit(StreamSource(lambda: (Block(X[i : i + 777]) for i in range(0, 9000, 777))))
    fortran = clone(coding).fit(np.asfortranarray(X))
    assert whole.dictionary_.tobytes() == stream.dictionary_.tobytes() == fortran.dictionary_.tobytes()


def test_weights_and_overflow_are_refused_with_a_remedy():
    X, _, _ = planted(50)
    with pytest.raises(ValueError, match="Repeat rows"):
        SparseCoding(8, 2).fit(MemorySource(X, weight=np.ones(50)))
    with pytest.raises(ValueError, match="overflow"), np.errstate(over="ignore", invalid="ignore"):
        SparseCoding(8, 2).fit(X * 1e200)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_codes_scale_with_the_rows(scale):
    X, D, _ = planted(20)
    coding = SparseCoding(dictionary=D, nonzeros=3).fit(X)
    a, b = coding.transform(X).toarray(), coding.transform(X * scale).toarray()
    np.testing.assert_allclose(b / scale, a, rtol=1e-12, atol=1e-12)


def test_learning_with_given_dictionary_merges_and_without_does_not():
    X, D, _ = planted(50)
    given = SparseCoding(dictionary=D).fit(X)
    assert given.merge(clone(given).fit(X)) is given
    assert not hasattr(SparseCoding(), "merge")
