"""Compiled sparse coding selects the atoms of its definition, with least-squares coefficients."""

import numpy as np
import pytest

from mercer import _numeric
from mercer._numeric.solvers import omp


def problem(n_atoms=128, d=20, n=50, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(n_atoms, d))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    X = rng.normal(size=(n, d))
    return D.astype(dtype), X.astype(dtype)


def codes(module, D, X, nonzeros, orthogonal=True, floor=1e-12):
    indices = np.full((len(X), nonzeros), 7, dtype=np.int32)
    values, counts = np.full((len(X), nonzeros), 7, dtype=X.dtype), np.full(len(X), -1)
    module.sparse_encode(X @ D.T, np.ascontiguousarray(D @ D.T), orthogonal, floor, indices, values, counts)
    return indices, values, counts


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("orthogonal", [True, False])
@pytest.mark.parametrize("nonzeros", [1, 2, 7, 13])
def test_compiled_pursuit_is_its_definition(dtype, orthogonal, nonzeros):
    D, X = problem(dtype=dtype, n=30)
    ours = codes(_numeric, D, X, nonzeros, orthogonal)
    theirs = codes(omp, D, X, nonzeros, orthogonal)
    assert np.array_equal(ours[0], theirs[0])
    assert np.array_equal(ours[2], theirs[2])
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-12 if dtype == np.float64 else 2e-4)


def naive(D, x, nonzeros, orthogonal):
    """Try every atom and refit (orthogonal least squares), or take the largest correlation (matching pursuit)."""
    chosen: list[int] = []
    left = x
    for _ in range(nonzeros):
        if orthogonal:
            errors = [np.inf] * len(D)
            for k in set(range(len(D))) - set(chosen):
                A = D[[*chosen, k]].T
                errors[k] = np.linalg.norm(x - A @ np.linalg.lstsq(A, x, rcond=None)[0])
            chosen.append(int(np.argmin(errors)))
        else:
            chosen.append(int(np.argmax(np.abs(D @ left))))
        A = D[chosen].T
        coefficients = np.linalg.lstsq(A, x, rcond=None)[0]
        left = x - A @ coefficients
    order = np.argsort(chosen)
    return np.array(chosen)[order], coefficients[order]


@pytest.mark.parametrize("orthogonal", [True, False])
@pytest.mark.parametrize("module", [_numeric, omp])
def test_pursuit_against_brute_force(module, orthogonal):
    D, X = problem(64, 12, 6)
    indices, values, counts = codes(module, D, X, 4, orthogonal)
    assert np.all(counts == 4)
    for i, x in enumerate(X):
        chosen, coefficients = naive(D, x, 4, orthogonal)
        assert np.array_equal(indices[i], chosen)
        np.testing.assert_allclose(values[i], coefficients, atol=1e-12)


@pytest.mark.parametrize("module", [_numeric, omp])
def test_exact_signals_need_no_more_atoms_than_they_have(module):
    D, _ = problem(64, 12)
    D[40:] = 0  # padding
    X = np.vstack([np.zeros(12), 3 * D[5], -2 * D[7]])
    indices, values, counts = codes(module, D, X, 3, floor=1e-12)
    assert counts.tolist() == [0, 1, 1]
    np.testing.assert_allclose(values, [[0, 0, 0], [3, 0, 0], [-2, 0, 0]], atol=1e-14)
    assert indices.tolist() == [[0, 0, 0], [5, 0, 0], [7, 0, 0]]


@pytest.mark.parametrize("module", [_numeric, omp])
def test_repeated_atoms_are_taken_once(module):
    D, X = problem(64, 12, 20)
    D[32:] = D[:32]
    indices, _, counts = codes(module, D, X, 6)
    assert np.all(counts == 6)
    assert all(len(set(row % 32)) == 6 for row in indices)


@pytest.mark.parametrize("module", [_numeric, omp])
def test_no_more_atoms_than_dimensions(module):
    D, X = problem(64, 5, 10)
    _, _, counts = codes(module, D, X, 9)
    assert np.all(counts <= 5)


@pytest.mark.parametrize("module", [_numeric, omp])
def test_wrong_shapes_are_refused(module):
    D, X = problem(64, 5, 10)
    indices, values, counts = np.zeros((10, 2), np.int32), np.zeros((10, 2)), np.zeros(10, np.int64)
    G = D @ D.T
    with pytest.raises(ValueError, match="multiple of 64"):
        module.sparse_encode(np.zeros((10, 63)), np.zeros((63, 63)), True, 0.0, indices, values, counts)
    with pytest.raises(ValueError, match="one row for each"):
        module.sparse_encode(X @ D.T, G, True, 0.0, indices[:9], values, counts)
    with pytest.raises(ValueError, match="at least one"):
        module.sparse_encode(X @ D.T, G, True, 0.0, indices[:, :0].copy(), values[:, :0].copy(), counts)
