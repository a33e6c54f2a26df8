"""The Walsh-Hadamard transform of rows: H x with H_ij = (-1)^popcount(i & j) / sqrt(D), D a power of two.

H is symmetric and orthogonal, so it is its own inverse. It takes D log2(D) additions per row: sums and differences of
entries at distances 1, 2, 4, ..., in this order, and one multiplication by 1 / sqrt(D) at the end. The compiled
function does the same operations on each entry in the same order: the bits agree.

Fino and Algazi, "Unified matrix treatment of the fast Walsh-Hadamard transform", 1976.
"""

import numpy as np

__all__ = ["hadamard", "hadamard_signs"]


def hadamard(X: np.ndarray, out: np.ndarray) -> None:
    """Write H x for each row x of ``X`` into ``out``, both C-ordered; ``out`` may be ``X`` itself.

    The width D of ``out`` is a power of two; ``X`` may have fewer columns and is padded with zeros.

    >>> x = np.eye(1, 4)
    >>> hadamard(x, x)
    >>> x
    array([[0.5, 0.5, 0.5, 0.5]])
    """
    hadamard_signs(X, np.ones((1, out.shape[1]), out.dtype), out)


def hadamard_signs(X: np.ndarray, signs: np.ndarray, out: np.ndarray) -> None:
    """Write H S_k ... H S_1 x into ``out``, where S_i is the diagonal matrix of row i of ``signs`` (k, D), +-1."""
    n, width = out.shape
    if width < 1 or width & (width - 1):
        raise ValueError(f"out must have a power of two of columns, not {width}")
    if X.shape[0] != n or X.shape[1] > width:
        raise ValueError(f"X of shape {X.shape} does not fit into out of shape {out.shape}")
    if signs.shape[0] < 1 or signs.shape[1] != width:
        raise ValueError(f"signs must have at least one row and the {width} columns of out, not shape {signs.shape}")
    rows = np.zeros((n, width), out.dtype)
    rows[:, : X.shape[1]] = X
    scale = out.dtype.type(1 / np.sqrt(float(width)))
    for diagonal in signs:
        rows = _unnormalized(rows * diagonal) * scale
    out[...] = rows


def _unnormalized(rows: np.ndarray) -> np.ndarray:
    n, width = rows.shape
    distance = 1
    while distance < width:
        pairs = rows.reshape(n, width // (2 * distance), 2, distance)
        rows = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2).reshape(n, width)
        distance *= 2
    return rows
