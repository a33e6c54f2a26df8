"""Gram matrices in blocks on all cores, and properties of kernels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from mercer._numeric.block import take_rows
from mercer._runtime.pool import for_each, ordered_map
from mercer.kernels import (
    AllSubsets,
    Anova,
    Constant,
    Custom,
    Kernel,
    Precomputed,
    Restricted,
    Stationary,
    check_mercer,
)
from mercer.kernels.dot import DotProduct

#: Rows of a matrix of similarities computed at a time.
BLOCK = 512
#: Rows on which a user-defined similarity is checked.
CHECKED_ROWS = 200


class NotMercerWarning(UserWarning):
    """The similarity is not a Mercer kernel on the training rows; the message states the consequence."""


def nodes(kernel: Kernel) -> Iterator[Kernel]:
    """The kernel and all kernels it is made of."""
    yield kernel
    for field in fields(kernel):
        part = getattr(kernel, field.name)
        if isinstance(part, Kernel):
            yield from nodes(part)


def is_pairwise(kernel: Any) -> bool:
    """Whether the rows handed in are similarities already."""
    return isinstance(kernel, Kernel) and any(isinstance(node, Precomputed) for node in nodes(kernel))


def is_mercer_by_construction(kernel: Kernel) -> bool:
    """Whether the kernel is Mercer by construction: nothing in it is the user's own."""
    return not any(isinstance(node, (Custom, Precomputed)) for node in nodes(kernel))


def reads_objects(kernel: Kernel) -> bool:
    """Whether some part of the kernel can read rows that are not numbers."""
    numeric = (Stationary, DotProduct, AllSubsets, Anova, Precomputed, Constant)
    return any(not isinstance(node, numeric) for node in nodes(kernel) if not _has_parts(node))


def names_columns(kernel: Kernel) -> bool:
    """Whether some part of the kernel selects columns of a data frame by name."""
    chosen = (node.columns for node in nodes(kernel) if isinstance(node, Restricted))
    return any(isinstance(name, str) for columns in chosen for name in np.atleast_1d(np.asarray(columns, dtype=object)))


def gram(kernel: Kernel, X: Any) -> np.ndarray:
    """k(x, z) for all pairs of rows of X; each pair once where the kernel is known to be symmetric."""
    n = X.shape[0]
    if n <= BLOCK or not is_mercer_by_construction(kernel):
        return kernel(X)
    first = kernel(take_rows(X, slice(0, BLOCK)))
    out = np.empty((n, n), dtype=first.dtype)
    out[:BLOCK, :BLOCK] = first

    def fill(start: int) -> None:
        stop = min(start + BLOCK, n)
        rows = take_rows(X, slice(start, stop))
        if start:
            out[start:stop, start:stop] = kernel(rows)
        for left in range(stop, n, BLOCK):
            right = min(left + BLOCK, n)
            out[start:stop, left:right] = kernel(rows, take_rows(X, slice(left, right)))
            out[left:right, start:stop] = out[start:stop, left:right].T

    for_each(fill, range(0, n, BLOCK))
    return out


def cross(kernel: Kernel, X: Any, Y: Any) -> np.ndarray:
    """k(x, z) for few rows X and possibly many rows Y."""
    m = Y.shape[0]
    if m <= 2 * BLOCK or is_pairwise(kernel) or not is_mercer_by_construction(kernel):
        return kernel(X, Y)
    spans = [slice(start, min(start + 2 * BLOCK, m)) for start in range(0, m, 2 * BLOCK)]
    return np.hstack(list(ordered_map(lambda rows: kernel(X, take_rows(Y, rows)), spans)))


def products(kernel: Kernel, X: Any, Y: Any, A: np.ndarray) -> np.ndarray:
    """K(X, Y) A in blocks of rows, without ever holding all of K."""
    n = X.shape[0]
    kind = getattr(X, "dtype", None)
    dtype = np.result_type(A.dtype, kind) if kind in (np.float32, np.float64) else A.dtype
    out = np.empty((n, A.shape[1]), dtype=dtype)

    def fill(start: int) -> None:
        rows = slice(start, min(start + BLOCK, n))
        out[rows] = kernel(take_rows(X, rows), Y) @ A

    starts = range(0, n, BLOCK)
    if is_mercer_by_construction(kernel):
        for_each(fill, starts)
    else:  # the user's function may not expect to be called from several threads
        for start in starts:
            fill(start)
    return out


def symmetric_part(K: np.ndarray) -> np.ndarray:
    """(K + K') / 2 in the memory of K."""
    for start in range(0, len(K), BLOCK):
        rows, rest = slice(start, start + BLOCK), slice(start, None)
        mean = (K[rows, rest] + K[rest, rows].T) / 2
        K[rows, rest] = mean
        K[rest, rows] = mean.T
    return K


def warn_unless_mercer(kernel: Kernel, K: np.ndarray, consequence: str) -> bool:
    """Warn if a sample of the square matrix K is not that of a Mercer kernel; returns whether it is."""
    if is_mercer_by_construction(kernel):
        return True
    if len(K) > CHECKED_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(len(K), CHECKED_ROWS, replace=False))
        K = K[np.ix_(rows, rows)]
    # Eigenvalues this close to zero do not change predictions and may come from rounded values.
    tolerance = np.finfo(K.dtype).eps ** 0.5 * float(np.abs(K).sum(axis=1).max())
    report = check_mercer(K, tolerance=tolerance)
    if not report.valid:
        warnings.warn(f"{report}\n{consequence}", NotMercerWarning, stacklevel=4)
    return report.valid


def _has_parts(kernel: Kernel) -> bool:
    return any(isinstance(getattr(kernel, field.name), Kernel) for field in fields(kernel))
