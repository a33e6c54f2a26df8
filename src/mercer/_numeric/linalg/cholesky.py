"""Cholesky factors in place, in tiles on all cores.

The threads of BLAS wait for each other by spinning, which on a busy machine makes a factorization several times slower
than on one thread. Here the pool factors tiles with one BLAS thread each; the bits do not depend on their number.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mercer._numeric.linalg import dense
from mercer._runtime.blas import single_threaded_blas
from mercer._runtime.pool import for_each

TILE = 512


def upper_cholesky(A: np.ndarray) -> bool:
    """Overwrite the upper triangle of A by U with U'U = A; the part below the diagonal is neither read nor written.

    Returns False if A is not positive definite; A is then overwritten.
    """
    with single_threaded_blas():
        return _factor_tiles(A)


def _factor_tiles(A: np.ndarray) -> bool:
    n = len(A)
    tiles = [slice(i, min(i + TILE, n)) for i in range(0, n, TILE)]
    for k, own in enumerate(tiles):
        factor = _factor(A[own, own])
        if factor is None:
            return False
        # The lower triangle belongs to the caller.
        np.copyto(A[own, own], factor, where=np.triu(np.ones(factor.shape, dtype=bool)))
        rest = tiles[k + 1 :]
        for_each(partial(_solve_tile, A, own, factor), rest)
        pairs = [(i, j) for a, i in enumerate(rest) for j in rest[a:]]
        for_each(partial(_subtract_tile, A, own), pairs)
    return True


def solve_upper(U: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Solve U'U X = B for the factor in the upper triangle of U."""
    # LAPACK is column-major: it sees the lower factor U' without a copy.
    name = f"{dense.prefix(U.dtype)}potrs"
    return dense.lapack(name, U.T, np.asfortranarray(B, dtype=U.dtype), lower=1)[0]


def _factor(A: np.ndarray) -> np.ndarray | None:
    factor, failed = dense.lapack(f"{dense.prefix(A.dtype)}potrf", A, lower=0, clean=1)
    return None if failed or not np.isfinite(factor.diagonal()).all() else factor


def _solve_tile(A: np.ndarray, own: slice, factor: np.ndarray, j: slice) -> None:
    A[own, j] = dense.blas(f"{dense.prefix(factor.dtype)}trsm", 1.0, factor, A[own, j], lower=0, trans_a=1)


def _subtract_tile(A: np.ndarray, own: slice, pair: tuple[slice, slice]) -> None:
    i, j = pair
    product = A[own, i].T @ A[own, j]
    if i is j:
        np.subtract(A[i, j], product, out=A[i, j], where=np.triu(np.ones(product.shape, dtype=bool)))
    else:
        A[i, j] -= product
