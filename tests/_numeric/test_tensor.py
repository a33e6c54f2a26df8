"""Row-wise Kronecker products, dense and sparse, beside their definition."""

import numpy as np
import pytest
from scipy import sparse

from mercer._numeric.linalg import tensor


def table(n, d, seed, density=0.6):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * (rng.uniform(size=(n, d)) < density)


@pytest.mark.parametrize(("n", "a", "b"), [(7, 3, 4), (1, 1, 5), (40, 6, 1), (0, 2, 3)])
@pytest.mark.parametrize("left", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("right", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_rows_are_kronecker_products_of_rows(n, a, b, left, right):
    A, B = table(n, a, 0), table(n, b, 1)
    expected = np.array([np.kron(x, y) for x, y in zip(A, B, strict=True)]).reshape(n, a * b)
    found = tensor.khatri_rao(left(A), right(B))
    assert found.shape == (n, a * b)
    assert sparse.issparse(found) == (left is not np.asarray or right is not np.asarray)
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, expected)


@pytest.mark.parametrize("step", [1, 3, 10**6])
def test_the_result_does_not_depend_on_the_size_of_blocks(monkeypatch, step):
    A, B = sparse.csr_matrix(table(50, 5, 2)), sparse.csr_matrix(table(50, 7, 3))
    whole = tensor.khatri_rao(A, B)
    monkeypatch.setattr(tensor, "_ENTRIES", step)
    parts = tensor.khatri_rao(A, B)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    np.testing.assert_array_equal(tensor.khatri_rao(A.toarray(), B.toarray()), whole.toarray())


def test_the_precision_is_the_larger_one():
    A, B = table(4, 2, 0).astype(np.float32), table(4, 3, 1)
    assert tensor.khatri_rao(A, A).dtype == np.float32
    assert tensor.khatri_rao(A, B).dtype == np.float64
    assert tensor.khatri_rao(sparse.csr_matrix(A), A).dtype == np.float32
