"""The Cholesky factorization by tiles: its factor, its solutions, and what it leaves alone."""

import numpy as np
import pytest

from mercer._numeric.linalg.cholesky import TILE, solve_upper, upper_cholesky


def positive_definite(n, dtype=np.float64, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, n + 5))
    return np.ascontiguousarray((X @ X.T / n + np.eye(n)).astype(dtype))


@pytest.mark.parametrize("n", [1, 2, 30, TILE - 1, TILE, TILE + 1, 2 * TILE + 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_factor_is_that_of_lapack(n, dtype):
    A = positive_definite(n, dtype)
    factored = A.copy()
    assert upper_cholesky(factored)
    expected = np.linalg.cholesky(A.astype(np.float64)).T
    # Backward stability: |U - U'| is of order n eps for a condition number below 10.
    np.testing.assert_allclose(np.triu(factored), expected, atol=8 * n * np.finfo(dtype).eps)
    np.testing.assert_array_equal(np.tril(factored, -1), np.tril(A, -1))
    B = np.random.default_rng(1).normal(size=(n, 2)).astype(dtype)
    found = solve_upper(factored, B)
    np.testing.assert_allclose(A @ found, B, atol=100 * n * np.finfo(dtype).eps)


@pytest.mark.parametrize("n", [1, 40, TILE + 30])
@pytest.mark.parametrize("where", ["first", "last"])
def test_a_matrix_that_is_not_positive_definite_is_noticed(n, where):
    A = positive_definite(n)
    A[(0, 0) if where == "first" else (-1, -1)] = -1.0
    assert not upper_cholesky(A)
