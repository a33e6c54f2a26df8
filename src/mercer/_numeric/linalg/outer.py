"""A matrix minus two outer products."""

import numpy as np

__all__ = ["subtract_outer_products"]

_STRIP = 16


def subtract_outer_products(G: np.ndarray, h: np.ndarray, m: np.ndarray, out: np.ndarray) -> None:
    """out = G - h m' - m h', a few rows at a time, so that each entry is read and written once.

    G and out : (n, n) float64 with contiguous rows; h, m : (n,).
    """
    n = len(G)
    if G.shape != (n, n) or h.shape != (n,) or m.shape != (n,):
        raise ValueError("G must be square, h and m as long as it is")
    if out.shape != G.shape:
        raise ValueError("out must have the shape of G")
    for i in range(0, n, _STRIP):
        rows = slice(i, i + _STRIP)
        np.subtract(G[rows], h[rows, None] * m, out=out[rows])
        out[rows] -= m[rows, None] * h
