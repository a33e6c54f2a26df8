"""Products Z'Z and Z'R of tall blocks, in tiles or strips on all cores, accumulated in float64.

The tiles depend on the shapes only and each is computed by one thread, so the bits do not depend on the number of
threads.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np

from mercer import _numeric
from mercer._numeric.linalg.scatter import FLOAT32_ROWS
from mercer._runtime.pool import for_each

_TILE, _STRIP = 256, 16
#: Minimum number of strips of the float32 products of a block, enough to balance the load of a few cores.
_MIN_STRIPS = 8


def add_products(
    G: np.ndarray, C: np.ndarray, P: np.ndarray, Z: Any, R: np.ndarray, V: np.ndarray, groups: Any
) -> None:
    """G[k] += Z_k' Z_k (upper triangle of tiles), C[k] += Z_k' R_k and P[k] += Z_k' Z_k V for the rows of each group k.

    Z : (n, D) float32, float64 or CSR, its rows sorted by group; R : (n, c) and V : (D, p) float64;
    groups : bounds of the groups, group k being the rows groups[k]:groups[k+1]. C and P are formed in float64.
    """
    if hasattr(Z, "tocsr"):
        return _add_sparse_products(G, C, P, Z, R, V, groups)
    single = Z.dtype == np.float32
    parts: Any = _strips(Z.shape[1], len(groups) - 1) if single else _tiles(Z.shape[1])
    # Groups in order, so that their rows stay in the cache; short tasks last, which balances the load.
    tasks = [
        (k, slice(a, b), part)
        for k, (a, b) in enumerate(itertools.pairwise(groups))
        if b > a
        for part in [*parts, None]
    ]

    def work(task: tuple[int, slice, Any]) -> None:
        k, rows, part = task
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is detected when the statistic is finished
            if part is None:
                for r in _chunks(rows.start, rows.stop, FLOAT32_ROWS if single else len(Z)):
                    _numeric.add_thin_products(Z[r], R[r], V, C[k], P[k])
            elif single:
                right = slice(part.start, None)
                _numeric.add_scatter(G[k, part, right], np.zeros(Z.shape[1] - part.start), Z[rows, right], None, None)
            else:
                i, j = part
                G[k, i, j] += Z[rows, i].T @ Z[rows, j]

    return for_each(work, tasks)


def gathered(Z: np.ndarray, order: np.ndarray, origin: np.ndarray, root: np.ndarray | None) -> np.ndarray:
    """root * (Z[order] - origin), row by row, in the precision of Z, in aligned memory, computed on all cores."""
    out = aligned_empty(Z.shape, Z.dtype)
    origin = origin.astype(Z.dtype)
    if Z.strides[1] != Z.itemsize:
        Z = np.ascontiguousarray(Z)

    def fill(rows: slice) -> None:
        scale = None if root is None else root[rows].astype(Z.dtype)
        _numeric.gather_rows(Z, order[rows], origin, scale, out[rows])

    for_each(fill, _chunks(0, len(order), FLOAT32_ROWS))
    return out


def mirror(G: np.ndarray) -> np.ndarray:
    """Symmetric matrix with the upper triangle of G, copied in tiles that stay in the cache."""
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
    """G + more + h m', a few rows at a time, so that each entry is read and written once."""
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

    def fill(task: tuple[int, int]) -> None:
        k, start = task
        for i in range(start, min(start + _TILE, len(a)), _STRIP):
            rows, right = slice(i, i + _STRIP), slice(i, None)
            strip = np.add(A[k, rows, right], B[k, rows, right], out=out[k, rows, right])
            strip += h[k, rows, None] * a[right]
            strip += a[rows, None] * h[k, right]

    for_each(fill, itertools.product(range(len(A)), range(0, len(a), _TILE)))
    return out


def aligned_empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Uninitialized array aligned to 64 bytes, on which matrix products of equal rows have equal bits."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.empty(size + 64, dtype=np.uint8)
    offset = -memory.ctypes.data % 64
    return memory[offset : offset + size].view(dtype).reshape(shape)


def _add_sparse_products(
    G: np.ndarray, C: np.ndarray, P: np.ndarray, Z: Any, R: np.ndarray, V: np.ndarray, groups: Any
) -> None:
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
    """Rows of the upper triangle in few strips of about equal area; each strip packs its columns again."""
    n = max(1, min(-(-_MIN_STRIPS // n_groups), width // 64))
    cuts = [round(width * (1 - (1 - k / n) ** 0.5)) for k in range(n + 1)]
    return [slice(a, b) for a, b in itertools.pairwise(cuts)]


def _chunks(start: int, stop: int, max_size: int) -> list[slice]:
    """Slices of at most `max_size`, of nearly equal sizes."""
    n = max(1, -(-(stop - start) // max_size))
    cuts = [start + (stop - start) * i // n for i in range(n + 1)]
    return [slice(a, b) for a, b in itertools.pairwise(cuts)]
