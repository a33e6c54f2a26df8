"""Whitening: similarities to landmarks as features whose inner product is the kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._numeric.linalg import dense
from mercer._numeric.solvers.rpcholesky import NEGATIVE_TOLERANCE

PANEL = 256


@dataclass(frozen=True)
class Whitening:
    """z = k_S W with W W' = K_SS^-1, W upper triangular.

    kept : positions of the landmarks that were not, up to rounding, combinations of others
    matrix : W, float64
    smallest : the smallest pivot relative to its k(x, x): what was left of a landmark after the ones before it
    """

    kept: np.ndarray
    matrix: np.ndarray
    smallest: float


def whitening(gram: np.ndarray, rounding: float, in_order: bool = False) -> Whitening:
    """W = D^-1/2 L^-T, where LL' = D^-1/2 K_SS D^-1/2 with D the diagonal of K_SS.

    By Cholesky with the largest pivot first, which is stable and ends where only rounding is left. Dropping what comes
    after changes nothing that could be computed, and unlike a ridge on the diagonal it keeps the features exact.
    Landmarks that come from pivots already stay `in_order`, unless one of those turns out to be rounding.
    """
    size = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    some = np.flatnonzero(size > 0)
    if len(some) == 0:  # the kernel is 0 on all landmarks
        return Whitening(np.zeros(1, dtype=np.intp), np.zeros((1, 1)), 1.0)
    size = size[some]
    scaled = gram[np.ix_(some, some)] / size / size[:, None]
    found = _ordered(scaled, rounding) if in_order else None
    factor, order = found or _pivoted(scaled, rounding)
    inverse, _ = dense.lapack("dtrtri", factor, lower=True)
    smallest = float(np.diagonal(factor).min() ** 2)
    return Whitening(some[order], np.ascontiguousarray(np.tril(inverse).T) / size[order][:, None], smallest)


def _ordered(scaled: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray] | None:
    factor, failed = dense.lapack("dpotrf", scaled, lower=True, clean=True)
    if failed or np.diagonal(factor).min() ** 2 <= rounding:
        return None
    return factor, np.arange(len(factor))


def _pivoted(scaled: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    factor, order, rank, _ = dense.lapack("dpstrf", scaled, tol=rounding, lower=True)
    order = order - 1
    lower = np.tril(factor)[:rank, :rank]
    dropped = dense.solve_triangular(lower, scaled[np.ix_(order[:rank], order[rank:])], lower=True)
    left = np.diagonal(scaled)[order[rank:]] - np.einsum("ij,ij->j", dropped, dropped)
    if len(left) and left.min() < -NEGATIVE_TOLERANCE:
        raise ValueError(
            "The similarities of the landmarks are not those of a Mercer kernel: their matrix is not positive "
            "semidefinite (see mercer.kernels.check_mercer). Use whiten=False, or repair the matrix."
        )
    return lower, order[:rank]


def triangular_product(similarities: np.ndarray, upper: np.ndarray, out: np.ndarray) -> None:
    """out = similarities @ upper in panels of columns, which skips nearly half of the multiplications."""
    m = upper.shape[0]
    for start in range(0, m, PANEL):
        stop = min(start + PANEL, m)
        np.matmul(similarities[:, :stop], upper[:stop, start:stop], out=out[:, start:stop])
