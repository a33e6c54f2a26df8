"""Similarities to landmarks, turned into features whose inner product is the kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._numeric.rpcholesky import NEGATIVE

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


def whitening(gram: np.ndarray, rounding: float) -> Whitening:
    """W = D^-1/2 L^-T, where LL' = D^-1/2 K_SS D^-1/2 with D the diagonal of K_SS.

    Landmarks in the order given if no pivot is below `rounding`; else in the order of Cholesky with the largest pivot
    first, which ends where only rounding is left. Dropping those landmarks changes nothing that could be computed, and
    unlike a ridge on the diagonal it keeps the features exact.
    """
    from scipy.linalg import lapack

    size = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    some = np.flatnonzero(size > 0)
    if len(some) == 0:  # the kernel is 0 on all landmarks
        return Whitening(np.zeros(1, dtype=np.intp), np.zeros((1, 1)), 1.0)
    size = size[some]
    scaled = gram[np.ix_(some, some)] / size / size[:, None]
    factor, info = lapack.dpotrf(scaled, lower=True, clean=True)
    order = np.arange(len(some))
    if info or np.diagonal(factor).min() ** 2 <= rounding:
        factor, order = _pivoted(scaled, rounding)
    inverse, _ = lapack.dtrtri(factor, lower=True)
    smallest = float(np.diagonal(factor).min() ** 2)
    return Whitening(some[order], np.ascontiguousarray(np.tril(inverse).T) / size[order][:, None], smallest)


def _pivoted(scaled, rounding):
    from scipy.linalg import lapack, solve_triangular

    factor, order, rank, _ = lapack.dpstrf(scaled, tol=rounding, lower=True)
    order = order - 1
    lower = np.tril(factor)[:rank, :rank]
    dropped = solve_triangular(lower, scaled[np.ix_(order[:rank], order[rank:])], lower=True)
    left = np.diagonal(scaled)[order[rank:]] - np.einsum("ij,ij->j", dropped, dropped)
    if len(left) and left.min() < -NEGATIVE:
        raise ValueError(
            "The similarities of the landmarks are not those of a Mercer kernel: their matrix is not positive "
            "semidefinite (see mercer.kernels.check_mercer). Use whiten=False, or repair the matrix."
        )
    return lower, order[:rank]


def triangular_product(similarities: np.ndarray, upper: np.ndarray, out: np.ndarray) -> None:
    """out = similarities @ upper in panels of columns, which leaves out nearly half of the multiplications."""
    m = upper.shape[0]
    for start in range(0, m, PANEL):
        stop = min(start + PANEL, m)
        np.matmul(similarities[:, :stop], upper[:stop, start:stop], out=out[:, start:stop])
