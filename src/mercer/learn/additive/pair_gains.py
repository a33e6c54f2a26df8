"""Pairs of columns by what their cells explain of the residual, out of fold.

FAST (Lou, Caruana, Gehrke and Hooker, "Accurate intelligible models with pairwise interactions", 2013) ranks pairs by
the best cut of the residual into four quadrants. Here the residual has a mean in every cell of two coarse axes, fitted
without each fold and evaluated on it, so that a pair of noise gains nothing on average.
"""

from __future__ import annotations

import numpy as np

from mercer._runtime.pool import ordered_map

#: Levels of an axis in the cells of a pair.
MAX_CELL_LEVELS = 8
#: Penalties of cell means, in rows of mean weight: the best one counts.
_PENALTIES = (5.0, 20.0, 80.0)


def pair_gains(
    levels: np.ndarray, gradient: np.ndarray, hessian: np.ndarray, folds: np.ndarray, pairs: np.ndarray
) -> np.ndarray:
    """The decrease of the loss of held-out rows by cell means, in second order, for each pair.

    levels : (rows, axes), below MAX_CELL_LEVELS; gradient, hessian : (outputs, rows) at out-of-fold scores; folds :
    0..K-1 of the rows; pairs : (pairs, 2) axes
    """
    n_folds, n_cells = int(folds.max()) + 1, MAX_CELL_LEVELS**2
    units = hessian.mean(axis=1)

    def gain(pair: np.ndarray) -> float:
        cell = (folds * MAX_CELL_LEVELS + levels[:, pair[0]]) * MAX_CELL_LEVELS + levels[:, pair[1]]
        total = 0.0
        for g, h, unit in zip(gradient, hessian, units, strict=True):
            sums, mass = (
                np.bincount(cell, each, minlength=n_folds * n_cells).reshape(n_folds, n_cells) for each in (g, h)
            )
            others, rest = sums.sum(axis=0) - sums, mass.sum(axis=0) - mass
            total += max(_gain(sums, mass, others / (rest + penalty * unit)) for penalty in _PENALTIES)
        return total

    return np.array(list(ordered_map(gain, list(pairs))))


def _gain(sums: np.ndarray, mass: np.ndarray, means: np.ndarray) -> float:
    """sum of 2 m g - m^2 h over the cells: the gain of subtracting m from the scores of a cell."""
    return float(np.sum(2 * means * sums - means**2 * mass))


def cell_levels(codes: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Each column of codes in at most MAX_CELL_LEVELS runs of about equal weight."""
    out = np.empty(codes.shape, dtype=np.int64)
    for j, code in enumerate(codes.T):
        count = np.bincount(code, weight)
        middle = (np.cumsum(count) - count / 2) / count.sum()
        group = np.minimum((middle * MAX_CELL_LEVELS).astype(np.int64), MAX_CELL_LEVELS - 1)
        out[:, j] = group[code]
    return out
