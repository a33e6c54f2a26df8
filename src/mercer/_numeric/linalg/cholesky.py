"""Cholesky factors in place, in tiles on all cores.

The threads of BLAS wait for each other by spinning, which on a busy machine makes a factorization several times slower
than one thread would be. Here tiles go to the pool, one thread of BLAS each, and the bits do not depend on how many.
"""

from __future__ import annotations

import numpy as np

from mercer._runtime.pool import for_each, single_threaded_blas

TILE = 512


def upper_cholesky(A: np.ndarray) -> bool:
    """Overwrite the upper triangle of A by U with U'U = A; what is below the diagonal is neither read nor written.

    False if A is not positive definite: A is then lost.
    """
    with single_threaded_blas():
        return _factor_tiles(A)


def _factor_tiles(A):
    n = len(A)
    tiles = [slice(i, min(i + TILE, n)) for i in range(0, n, TILE)]
    for k, own in enumerate(tiles):
        factor = _factor(A[own, own])
        if factor is None:
            return False
        # Not through the whole tile: its lower triangle belongs to the caller.
        np.copyto(A[own, own], factor, where=np.triu(np.ones(factor.shape, dtype=bool)))
        rest = tiles[k + 1 :]
        for_each(lambda j, own=own, factor=factor: _solve_tile(A, own, j, factor), rest)
        pairs = [(i, j) for a, i in enumerate(rest) for j in rest[a:]]
        for_each(lambda pair, own=own: _subtract_tile(A, own, *pair), pairs)
    return True


def solve_upper(U: np.ndarray, B: np.ndarray) -> np.ndarray:
    """(U'U)^{-1} B for the factor in the upper triangle of U."""
    from scipy.linalg import get_lapack_funcs

    # Rows of U are columns to LAPACK: it sees the lower factor U', without a copy.
    (potrs,) = get_lapack_funcs(("potrs",), (U,))
    return potrs(U.T, np.asfortranarray(B, dtype=U.dtype), lower=1)[0]


def _factor(A):
    from scipy.linalg import get_lapack_funcs

    (potrf,) = get_lapack_funcs(("potrf",), (A,))
    factor, failed = potrf(A, lower=0, clean=1)
    return None if failed or not np.isfinite(factor.diagonal()).all() else factor


def _solve_tile(A, own, j, factor):
    from scipy.linalg import get_blas_funcs

    (trsm,) = get_blas_funcs(("trsm",), (factor,))
    A[own, j] = trsm(1.0, factor, A[own, j], lower=0, trans_a=1)


def _subtract_tile(A, own, i, j):
    product = A[own, i].T @ A[own, j]
    if i is j:
        np.subtract(A[i, j], product, out=A[i, j], where=np.triu(np.ones(product.shape, dtype=bool)))
    else:
        A[i, j] -= product
