"""Products Z'Z and Z'R of tall blocks, in tiles or strips on all cores, accumulated in float64.

How they are cut depends on the shapes alone, and each piece is one thread's, so the result is the same to the last bit
on any number of threads.
"""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np

from mercer import _numeric
from mercer._numeric.linalg.scatter import FLOAT32_ROWS
from mercer._runtime.pool import for_each

_TILE, _STRIP = 256, 16
#: Pieces that the float32 products of a block are cut into, at least: enough for a few cores to end together.
_PIECES = 8


def add_products(G: np.ndarray, C: np.ndarray, P: np.ndarray, Z, R: np.ndarray, V: np.ndarray, groups) -> None:
    """G[k] += Z_k' Z_k (upper triangle of tiles), C[k] += Z_k' R_k and P[k] += Z_k' Z_k V for the rows of each group k.

    Z : (n, D) float32, float64 or CSR, its rows sorted by group; R : (n, c) and V : (D, p) float64;
    groups : bounds of the groups, group k being the rows groups[k]:groups[k+1]. C and P are formed in float64.
    """
    if hasattr(Z, "tocsr"):
        return _add_sparse_products(G, C, P, Z, R, V, groups)
    single = Z.dtype == np.float32
    pieces = _strips(Z.shape[1], len(groups) - 1) if single else _tiles(Z.shape[1])
    # Group after group, whose rows then stay in the cache; the short tasks come last, so that all cores end together.
    tasks = [
        (k, slice(a, b), piece)
        for k, (a, b) in enumerate(itertools.pairwise(groups))
        if b > a
        for piece in [*pieces, None]
    ]

    def work(task):
        k, rows, piece = task
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused when the statistic is finished
            if piece is None:
                for r in _chunks(rows.start, rows.stop, FLOAT32_ROWS if single else len(Z)):
                    _numeric.add_thin_products(Z[r], R[r], V, C[k], P[k])
            elif single:
                right = slice(piece.start, None)
                _numeric.add_scatter(G[k, piece, right], np.zeros(Z.shape[1] - piece.start), Z[rows, right], None, None)
            else:
                i, j = piece
                G[k, i, j] += Z[rows, i].T @ Z[rows, j]

    return for_each(work, tasks)


def gathered(Z: np.ndarray, order: np.ndarray, origin: np.ndarray, root: np.ndarray | None) -> np.ndarray:
    """root * (Z[order] - origin), row by row, in the precision of Z and in aligned memory, filled on all cores."""
    out = aligned_empty(Z.shape, Z.dtype)
    origin = origin.astype(Z.dtype)
    if Z.strides[1] != Z.itemsize:
        Z = np.ascontiguousarray(Z)

    def fill(rows):
        scale = None if root is None else root[rows].astype(Z.dtype)
        _numeric.gather_rows(Z, order[rows], origin, scale, out[rows])

    for_each(fill, _chunks(0, len(order), FLOAT32_ROWS))
    return out


def mirror(G: np.ndarray) -> np.ndarray:
    """The symmetric matrix whose upper triangle is that of G, copied in tiles that stay in the cache."""
    out = G.copy()
    tiles = [slice(i, min(i + _TILE, len(G))) for i in range(0, len(G), _TILE)]
    for a, i in enumerate(tiles):
        size = i.stop - i.start
        np.copyto(out[i, i], G[i, i].T, where=_below()[:size, :size])
        for j in tiles[a + 1 :]:
            out[j, i] = out[i, j].T
    return out


@cache
def _below() -> np.ndarray:
    """True below the diagonal of a tile."""
    return np.tri(_TILE, k=-1, dtype=bool)


def less_outer_products(G: np.ndarray, h: np.ndarray, m: np.ndarray) -> np.ndarray:
    """G - h m' - m h'."""
    out = np.empty(G.shape)
    _numeric.subtract_outer_products(G, np.ascontiguousarray(h), np.ascontiguousarray(m), out)
    return out


def plus_outer_product(G: np.ndarray, h: np.ndarray, m: np.ndarray, more: np.ndarray | None = None) -> np.ndarray:
    """G + more + h m', a few rows at a time, so that every entry is read and written once."""
    out = np.empty_like(G)
    for i in range(0, len(G), _STRIP):
        rows = slice(i, i + _STRIP)
        np.multiply(h[rows, None], m, out=out[rows])
        out[rows] += G[rows]
        if more is not None:
            out[rows] += more[rows]
    return out


def sums_with_outer_products(A: np.ndarray, B: np.ndarray, h: np.ndarray, a: np.ndarray) -> np.ndarray:
    """A[k] + B[k] + h[k] a' + a h[k]' for each k, the upper triangle only, in strips on all cores."""
    out = np.zeros(A.shape)  # pages of the lower triangle are never touched

    def fill(task):
        k, start = task
        for i in range(start, min(start + _TILE, len(a)), _STRIP):
            rows, right = slice(i, i + _STRIP), slice(i, None)
            strip = np.add(A[k, rows, right], B[k, rows, right], out=out[k, rows, right])
            strip += h[k, rows, None] * a[right]
            strip += a[rows, None] * h[k, right]

    for_each(fill, itertools.product(range(len(A)), range(0, len(a), _TILE)))
    return out


def aligned_empty(shape, dtype) -> np.ndarray:
    """An array that starts at a multiple of 64 bytes: matrix products of equal rows then have equal bits."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.empty(size + 64, dtype=np.uint8)
    offset = -room.ctypes.data % 64
    return room[offset : offset + size].view(dtype).reshape(shape)


def _add_sparse_products(G, C, P, Z, R, V, groups):
    for k, (a, b) in enumerate(itertools.pairwise(groups)):
        part = Z[a:b].astype(np.float64)
        G[k] += (part.T @ part).toarray()
        C[k] += part.T @ R[a:b]
        P[k] += part.T @ (part @ V)


def _tiles(width: int) -> list[tuple[slice, slice]]:
    """Pairs of slices that cover the upper triangle, those on the diagonal last."""
    sides = _chunks(0, width, 128 if width <= 512 else 256 if width <= 1024 else 512)
    return [*itertools.combinations(sides, 2), *zip(sides, sides, strict=True)]


def _strips(width: int, n_groups: int) -> list[slice]:
    """Rows of the upper triangle in parts of about equal area: few, as each packs its columns anew."""
    n = max(1, min(-(-_PIECES // n_groups), width // 64))
    cuts = [round(width * (1 - (1 - k / n) ** 0.5)) for k in range(n + 1)]
    return [slice(a, b) for a, b in itertools.pairwise(cuts)]


def _chunks(start: int, stop: int, most: int) -> list[slice]:
    """Slices of at most `most`, as equal as can be."""
    pieces = max(1, -(-(stop - start) // most))
    cuts = [start + (stop - start) * i // pieces for i in range(pieces + 1)]
    return [slice(a, b) for a, b in itertools.pairwise(cuts)]
