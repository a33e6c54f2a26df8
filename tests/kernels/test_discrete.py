"""Overlap of sets, and functions of the user's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mercer.kernels import Custom, Gaussian, Linear, Overlap

sets = st.lists(st.frozensets(st.sampled_from("abcdefgh")), max_size=6)


@given(sets, sets)
def test_overlap_counts_common_items(A, B):
    expected = np.array([[len(a & b) for b in B] for a in A], dtype=float).reshape(len(A), len(B))
    np.testing.assert_array_equal(Overlap()(A, B), expected)
    np.testing.assert_array_equal(Overlap().diag(A), [len(a) for a in A])
    symmetric_difference = np.array([[len(a ^ b) for b in B] for a in A], dtype=float).reshape(len(A), len(B))
    np.testing.assert_allclose(Overlap().distance(A, B), np.sqrt(symmetric_difference), atol=1e-12)


def test_the_same_sets_in_every_form():
    tokens = [["x", "y", "y", "x"], ("z",), {"y", "z"}, []]
    present = np.array([[1, 1, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]])
    expected = present @ present.T
    as_objects = np.empty(4, dtype=object)
    as_objects[:] = tokens
    counts = present * [2, 7, 1]
    explicit_zero = sparse.csr_matrix(counts)
    explicit_zero.data[0] = 0
    for rows in (
        tokens,
        as_objects,
        as_objects[:, None],
        present,
        counts,
        sparse.csr_matrix(counts),
        counts > 0,
    ):
        np.testing.assert_array_equal(Overlap()(rows), expected)
        np.testing.assert_array_equal(Overlap().diag(rows), np.diag(expected))
    assert Overlap().diag(explicit_zero)[0] == expected[0, 0] - 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["a rose is a rose"], r"row 0 of X is the string .* \.split\(\)"),
        ([{"a"}, 3], r"row 1 of X is 3 \(int\)"),
        ([[{"a"}]], "not a collection of hashable tokens"),
        (np.array([["a", "b"]], dtype=object), r"\.on\(column\)"),
    ],
)
def test_overlap_refuses(rows, message):
    with pytest.raises(ValueError, match=message):
        Overlap()(rows)


def test_custom_on_rows_objects_and_sparse_rows():
    X = np.random.default_rng(0).normal(size=(5, 3))
    function = Custom(lambda x, z: float(x @ z))
    np.testing.assert_allclose(function(X), Linear()(X))
    np.testing.assert_allclose(function.diag(X), Linear().diag(X))
    on_sparse = Custom(lambda x, z: float(x.multiply(z).sum()))
    np.testing.assert_allclose(on_sparse(sparse.csr_matrix(X), sparse.csr_matrix(X[:2])), Linear()(X, X[:2]))
    words = Custom(lambda a, b: min(len(a), len(b)))
    np.testing.assert_array_equal(words(["ab", "a"], ["abc"]), [[2.0], [1.0]])
    np.testing.assert_allclose((function.on([0, 1]) + 1)(X), Linear()(X[:, :2]) + 1)


def test_custom_vectorized_and_symmetric():
    X = np.random.default_rng(0).normal(size=(5, 3))
    whole = Custom(Linear(), vectorized=True)
    np.testing.assert_allclose(whole(X, X[:2]), Linear()(X, X[:2]))
    np.testing.assert_allclose(whole.diag(X), Linear().diag(X))
    calls = []

    def counted(x, z):
        calls.append(1)
        return float(x @ z)

    np.testing.assert_allclose(Custom(counted, symmetric=True)(X), Linear()(X))
    assert len(calls) == 15
    asymmetric = Custom(lambda x, z: float(x[0] - 2 * z[0]))(X)
    np.testing.assert_allclose(asymmetric, X[:, :1] - 2 * X[:, 0])


def test_custom_refuses():
    X = np.ones((3, 1))
    with pytest.raises(ValueError, match="NaN for rows 0 and 0"):
        Custom(lambda x, z: float("nan"))(X)
    with pytest.raises(ValueError, match="NaN for rows 1 and 2"):
        Custom(lambda A, B: np.where(np.arange(9).reshape(3, 3) == 5, np.nan, 1), vectorized=True)(X)
    with pytest.raises(ValueError, match="shape"):
        Custom(lambda A, B: np.ones(3), vectorized=True)(X)
    with pytest.raises(TypeError, match="returned"):
        Custom(lambda x, z: "similar")(X)
    with pytest.raises(TypeError, match="callable"):
        Custom(3.0)(X)
    with pytest.raises(TypeError, match="must be a kernel"):
        (Gaussian() + 1).set_params(left=2.0)(X)
