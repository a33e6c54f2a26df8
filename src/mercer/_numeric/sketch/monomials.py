"""Monomials of rows: all products of up to p entries, and for sparse rows their column indices.

Columns are ordered by the number of factors, and lexicographically among equals, as in scikit-learn's
PolynomialFeatures. Two facts are used. The products of k factors whose first is entry e are x[e] times a tail
of the products of k - 1 factors. A product of the columns j_1 <= ... <= j_k is preceded, in its degree, by all but
1 + sum_i after(j_i, k - i + 1) products, with after(j, k) the number of products of k columns after j (the
combinatorial number system); so prepending a factor shifts column indices by a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import comb
from typing import Any

import numpy as np

__all__ = ["csr_monomials", "dense_monomials"]


def n_products(n: int, k: int, repeat: bool) -> int:
    """Number of products of k out of n factors, each used once or (repeat) any number of times."""
    if repeat:
        return comb(n + k - 1, k) if n or k else 1
    return comb(n, k)


def dense_monomials(
    X: np.ndarray,
    low: int,
    high: int,
    repeat: bool,
    degree_factors: np.ndarray,
    run_factors: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the products of `low` to `high` entries of each row of X into the rows of `out`.

    Products of k factors are multiplied by ``degree_factors[k]``, and by ``run_factors[t]`` for each factor that is the
    t-th of its kind.
    """
    width = sum(n_products(X.shape[1], k, repeat) for k in range(low, high + 1))
    if out.shape != (X.shape[0], width):
        raise ValueError(f"out must be of shape ({X.shape[0]}, {width}).")
    steps = list(_steps(X.shape[1], low, high, repeat))
    _write_values(X, steps, low, high, degree_factors, run_factors, out)


def csr_monomials(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    n_columns: int,
    low: int,
    high: int,
    repeat: bool,
    degree_factors: np.ndarray,
    run_factors: np.ndarray,
    ends: np.ndarray,
    out_data: np.ndarray,
    out_indices: np.ndarray,
) -> None:
    """`dense_monomials` for canonical CSR rows, from the stored entries into those of the result.

    ``ends[k]`` is the column after the last product of k factors, and 0 for k < low.
    """
    widths = np.diff(indptr)
    _check_canonical(indices, widths, n_columns)
    sizes = {int(m): sum(n_products(int(m), k, repeat) for k in range(low, high + 1)) for m in np.unique(widths)}
    starts = np.concatenate([[0], np.cumsum([sizes[int(m)] for m in widths])]).astype(np.int64)
    if len(out_data) != starts[-1] or len(out_indices) != starts[-1]:
        raise ValueError(f"out_data and out_indices must have {starts[-1]} entries.")
    for m, size in sizes.items():  # rows of one length at a time
        rows = np.flatnonzero(widths == m)
        entries = np.asarray(indptr)[rows, None] + np.arange(m)
        positions = starts[rows, None] + np.arange(size)
        steps = list(_steps(m, low, high, repeat))
        values = np.empty((len(rows), size), dtype=data.dtype)
        _write_values(data[entries], steps, low, high, degree_factors, run_factors, values)
        out_data[positions] = values
        columns = np.empty((len(rows), size), dtype=np.int64)
        _write_columns(indices[entries], steps, low, high, n_columns, repeat, ends, columns)
        out_indices[positions] = columns


def _steps(m: int, low: int, high: int, repeat: bool) -> Iterator[tuple[int, int, int, list[tuple[int, int]]]]:
    """For each number k of factors and first factor e: (k, e, length, runs).

    The last `length` products of k - 1 factors are multiplied by entry e. They begin with those that have e already:
    `runs` lists (how many times, how many products).
    """
    for k in range(1, high + 1):
        # Without repetition the first low - k entries cannot be followed by k more and still make `low` factors.
        for e in range(0 if repeat else max(0, low - k), m):
            rest = m - e - 1
            if repeat:
                runs = [(t, n_products(rest, k - 1 - t, True)) for t in range(k - 1, -1, -1)]
            else:
                runs = [(0, n_products(rest, k - 1, False))]
            yield k, e, sum(size for _, size in runs), runs


def _write_values(
    X: np.ndarray,
    steps: list[Any],
    low: int,
    high: int,
    degree_factors: np.ndarray,
    run_factors: np.ndarray,
    out: np.ndarray,
) -> None:
    degree_factors, run_factors = np.asarray(degree_factors, X.dtype), np.asarray(run_factors, X.dtype)

    def prepend(before: np.ndarray, k: int, e: int, runs: list[tuple[int, int]], to: np.ndarray) -> None:
        at = 0
        for t, size in runs:
            factor = X[:, e] * run_factors[t + 1]
            if k == high:
                factor = factor * degree_factors[k]
            span = slice(at, at + size)
            np.multiply(before[:, span], factor[:, None], out=to[:, span])
            at += size

    with np.errstate(over="ignore", invalid="ignore"):  # as in compiled code
        parts = _write_parts(np.ones((X.shape[0], 1), dtype=X.dtype), steps, low, high, prepend, out)
        for k in range(low, high + (high == 0)):  # the last part is scaled already
            parts[k] *= degree_factors[k]


def _write_columns(
    indices: np.ndarray,
    steps: list[Any],
    low: int,
    high: int,
    n_columns: int,
    repeat: bool,
    ends: np.ndarray,
    out: np.ndarray,
) -> None:
    last = n_columns - 1 - indices.astype(object)  # Python integers do not overflow

    def prepend(before: np.ndarray, k: int, e: int, runs: list[tuple[int, int]], to: np.ndarray) -> None:
        after = np.array([n_products(n, k, repeat) for n in last[:, e]], dtype=np.int64)
        np.add(before, (int(ends[k]) - int(ends[k - 1]) - after)[:, None], out=to)

    empty_product = np.full((indices.shape[0], 1), int(ends[0]) - 1, dtype=np.int64)
    _write_parts(empty_product, steps, low, high, prepend, out)


def _write_parts(
    empty_product: np.ndarray,
    steps: list[Any],
    low: int,
    high: int,
    prepend: Callable[..., None],
    out: np.ndarray,
) -> list[np.ndarray]:
    """Write the parts of each number of factors, each from the one before; those from `low` on are views of `out`."""
    sizes = [1] + [sum(length for k, _, length, _ in steps if k == degree) for degree in range(1, high + 1)]
    starts = np.cumsum([0] + [size if k >= low else 0 for k, size in enumerate(sizes)])
    parts = [
        out[:, starts[k] : starts[k + 1]] if k >= low else np.empty((len(out), size), dtype=out.dtype)
        for k, size in enumerate(sizes)
    ]
    parts[0][:] = empty_product
    at, degree = 0, 0
    for k, e, length, runs in steps:
        at = at if k == degree else 0
        degree = k
        prepend(parts[k - 1][:, sizes[k - 1] - length :], k, e, runs, parts[k][:, at : at + length])
        at += length
    return parts


def _check_canonical(indices: np.ndarray, widths: np.ndarray, n_columns: int) -> None:
    if len(indices) == 0:
        return
    row = np.repeat(np.arange(len(widths)), widths)
    indices = np.asarray(indices)[: len(row)]
    rising = np.all((np.diff(indices) > 0) | (np.diff(row) > 0))
    if not rising or indices.min() < 0 or indices.max() >= n_columns:
        raise ValueError("a canonical CSR matrix is needed: rising columns in every row.")
