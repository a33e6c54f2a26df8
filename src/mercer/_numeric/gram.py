"""Products Z'Z and Z'R of tall blocks, in tiles on all cores, accumulated in float64.

The grid of tiles and the cut into row chunks depend on the shapes alone, and BLAS runs one thread per tile, so the
result is the same to the last bit on any number of threads.
"""

from __future__ import annotations

import itertools

import numpy as np

from mercer._numeric.pool import for_each

#: More rows than this are not summed in float32 (1,024 rows cost about 3e-7 of the scale).
FLOAT32_ROWS = 1024


def add_products(G: np.ndarray, C: np.ndarray, Z, R: np.ndarray, groups: np.ndarray) -> None:
    """G[k] += Z_k' Z_k (upper triangle of tiles) and C[k] += Z_k' R_k for the rows of each group k.

    Z : (n, D) float32, float64 or CSR, its rows sorted by group; R : (n, c) float64;
    groups : bounds of the groups, group k being the rows groups[k]:groups[k+1].
    """
    if hasattr(Z, "tocsr"):
        return _add_sparse_products(G, C, Z, R, groups)
    tiles = _tiles(Z.shape[1])
    chunks = [(k, _chunks(a, b)) for k, (a, b) in enumerate(itertools.pairwise(groups)) if b > a]
    square = [(k, rows, i, j) for k, rows in chunks for a, i in enumerate(tiles) for j in tiles[a:]]
    thin = [(k, rows, i, None) for k, rows in chunks for i in tiles]

    def work(task):
        k, rows, i, j = task
        for r in rows:
            if j is None:
                C[k, i] += Z[r, i].T.astype(np.float64) @ R[r]
            else:
                G[k, i, j] += Z[r, i].T @ Z[r, j]

    return for_each(work, square + thin)


def exact_product(Z, V: np.ndarray) -> np.ndarray:
    """Z V in float64, whatever the precision of Z, a few rows at a time."""
    if hasattr(Z, "tocsr"):
        return Z.astype(np.float64) @ V
    return np.vstack([Z[rows].astype(np.float64) @ V for rows in _chunks(0, len(Z))])


def mirror(G: np.ndarray) -> np.ndarray:
    """The symmetric matrix whose upper triangle is that of G."""
    upper = np.triu(G)
    return upper + np.triu(upper, 1).T


def aligned(array: np.ndarray) -> np.ndarray:
    """A C-ordered copy that starts at a multiple of 64 bytes: matrix products of equal rows then have equal bits."""
    room = np.empty(array.nbytes + 64, dtype=np.uint8)
    offset = -room.ctypes.data % 64
    copy = room[offset : offset + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _add_sparse_products(G, C, Z, R, groups):
    for k, (a, b) in enumerate(itertools.pairwise(groups)):
        part = Z[a:b].astype(np.float64)
        G[k] += (part.T @ part).toarray()
        C[k] += part.T @ R[a:b]


def _tiles(width: int) -> list[slice]:
    tile = 128 if width <= 512 else 256 if width <= 1024 else 512
    return [slice(i, min(i + tile, width)) for i in range(0, width, tile)]


def _chunks(start: int, stop: int) -> list[slice]:
    pieces = max(1, -(-(stop - start) // FLOAT32_ROWS))
    cuts = [start + (stop - start) * i // pieces for i in range(pieces + 1)]
    return [slice(a, b) for a, b in itertools.pairwise(cuts)]
