"""Gram matrices of kernels that are computed pair by pair."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer._runtime.pool import for_each

#: Pairs computed at a time.
_PAIRS = 1 << 15

Compare = Callable[[np.ndarray, np.ndarray], np.ndarray]


def pair_gram(compare: Compare, sizes: np.ndarray, n: int, m: int | None) -> np.ndarray:
    """compare(left, right) for items 0 .. n - 1 with items n .. n + m - 1, or with each other if m is None.

    Items of similar size come together, which lets `compare` treat several alike.
    """
    symmetric = m is None
    rows = np.argsort(sizes[:n], kind="stable")
    columns = rows if symmetric else n + np.argsort(sizes[n:], kind="stable")
    out = np.empty((n, n if m is None else m))
    step = max(1, _PAIRS // max(len(columns), 1))

    def fill(start: int) -> None:
        some = rows[start : start + step]
        later = [columns[start + i if symmetric else 0 :] for i in range(len(some))]
        left, right = np.repeat(some, [len(c) for c in later]), np.concatenate(later)
        values = compare(left, right)
        if symmetric:
            out[right, left] = values
            out[left, right] = values
        else:
            out[left, right - n] = values

    if n and len(columns):
        for_each(fill, range(0, n, step))
    return out
