"""Sparse coding by orthogonal matching pursuit from correlations and the Gram matrix of the atoms."""

from __future__ import annotations

import numpy as np

from mercer._numeric.linalg import dense

__all__ = ["sparse_encode"]

#: Dictionaries are padded with zero atoms to a multiple of this number, for whole vectors.
WIDTH = 64
#: Squared distance of a unit atom from the span of others up to which it counts as linearly dependent.
_MIN_DISTANCE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-4}


def sparse_encode(
    correlations: np.ndarray,
    gram: np.ndarray,
    orthogonal: bool,
    floor: float,
    indices: np.ndarray,
    values: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Fill indices, values (n, nonzeros) and counts (n,) with the codes of n signals; overwrites correlations.

    Each step selects one atom k by its correlation a_k with the residual, then refits all coefficients. Orthogonal
    matching pursuit (Pati et al. 1993) selects the largest |a_k|. With `orthogonal`, orthogonal least squares (Chen,
    Billings and Luo 1989) selects the largest a_k^2 / e_k, e_k the squared distance of the atom from the span of those
    selected: the atom that lowers the error most.

    correlations : (n, width) <x, d_k>; gram : (width, width) <d_j, d_k>; width a multiple of 64 (zero atoms are never
    selected). A signal ends early when its best correlation is at most `floor` times the first. Indices are sorted;
    entries beyond counts are 0.
    """
    width, nonzeros = correlations.shape[1], indices.shape[1]
    if width == 0 or width % WIDTH or gram.shape != (width, width):
        raise ValueError("correlations and gram must have a multiple of 64 columns, gram as many rows.")
    if not len(indices) == len(values) == len(counts) == len(correlations) or values.shape != indices.shape:
        raise ValueError("indices, values and counts must have one row for each row of correlations.")
    if nonzeros == 0:
        raise ValueError("at least one atom must be allowed.")
    min_distance = _MIN_DISTANCE[correlations.dtype]
    gram = gram.astype(np.float64, copy=False)
    for i, start in enumerate(correlations):
        chosen, x = _encode(start.astype(np.float64), gram, orthogonal, floor, nonzeros, min_distance)
        order = np.argsort(chosen)
        indices[i], values[i], counts[i] = 0, 0, len(chosen)
        indices[i, : len(chosen)] = np.asarray(chosen, dtype=np.int32)[order]
        values[i, : len(chosen)] = x[order]


def _encode(
    a: np.ndarray, gram: np.ndarray, orthogonal: bool, floor: float, nonzeros: int, min_distance: float
) -> tuple[list[int], np.ndarray]:
    """Selected atoms and their coefficients, by the Cholesky factor L of their Gram matrix."""
    e = gram.diagonal().copy()
    chosen: list[int] = []
    F, L, c = np.zeros((nonzeros, len(a))), np.zeros((nonzeros, nonzeros)), np.zeros(nonzeros)
    first = 0.0
    for t in range(nonzeros):
        gain = np.where(e > min_distance, a * a / np.where(e > min_distance, e if orthogonal else 1.0, 1.0), 0.0)
        k = int(np.argmax(gain))
        first = abs(a[k]) if t == 0 else first
        pivot = gram[k, k] - F[:t, k] @ F[:t, k]
        if gain[k] == 0 or not abs(a[k]) > floor * first or not pivot > min_distance:
            break
        L[t, :t], L[t, t] = F[:t, k], np.sqrt(pivot)
        F[t] = (gram[k] - F[:t, k] @ F[:t]) / L[t, t]
        c[t] = a[k] / L[t, t]
        a, e = a - c[t] * F[t], e - F[t] ** 2
        chosen.append(k)
    t = len(chosen)
    return chosen, dense.solve(L[:t, :t].T, c[:t])
