"""Allocation of columns to the terms of a sum."""

from __future__ import annotations

import numpy as np


def allocate_columns(n: int, weights: list[float], exact_sizes: list[int | None], in_pairs: list[bool]) -> list[int]:
    """Split n columns in proportion to the weights, at least one each.

    A term that is exact with `exact_sizes` columns gets no more than that. Terms whose columns come in pairs get even
    numbers where possible. The result sums to n unless every term is exact.

    >>> allocate_columns(100, [3.0, 1.0], [None, None], [True, True])
    [76, 24]
    >>> allocate_columns(100, [3.0, 1.0, 1.0], [None, 4, 1], [True, False, False])
    [95, 4, 1]
    """
    counts: dict[int, int] = {}
    while True:
        open_terms = [i for i in range(len(weights)) if i not in counts]
        if not open_terms:
            break
        sizes = _proportional(n - sum(counts.values()), np.array([weights[i] for i in open_terms]))
        full = {}
        for i, size in zip(open_terms, sizes, strict=True):
            needed = exact_sizes[i]
            if needed is not None and size >= needed:
                full[i] = needed
        if not full:
            counts.update(zip(open_terms, sizes, strict=True))
            break
        counts.update(full)
    return _even([counts[i] for i in range(len(weights))], in_pairs)


def _proportional(n: int, weights: np.ndarray) -> list[int]:
    """One each, and the rest by largest remainders."""
    sizes = weights / weights.sum() * (n - len(weights))
    whole = np.floor(sizes).astype(int)
    left = n - len(weights) - whole.sum()
    whole[np.argsort(whole - sizes, kind="stable")[:left]] += 1
    return [int(count) + 1 for count in whole]


def _even(counts: list[int], in_pairs: list[bool]) -> list[int]:
    """Move single columns between terms of odd size, so that pairs stay whole."""
    counts = list(counts)
    odd = [i for i, paired in enumerate(in_pairs) if paired and counts[i] % 2]
    for giver, taker in zip(odd[1::2], odd[::2], strict=False):
        if counts[giver] == 1:
            giver, taker = taker, giver
        if counts[giver] > 1:
            counts[giver] -= 1
            counts[taker] += 1
    return counts
