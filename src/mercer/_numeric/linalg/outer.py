"""A matrix less two outer products."""

import numpy as np

__all__ = ["subtract_outer_products"]

_STRIP = 16


def subtract_outer_products(G, h, m, out):
    """out = G - h m' - m h', a few rows at a time, so that every entry is read and written once.

    G and out : (n, n) float64, their rows flat in memory; h, m : (n,).
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
