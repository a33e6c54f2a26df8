"""Frequencies drawn from the spectral law of a shift-invariant kernel.

Bochner: k(x - z) = E cos<omega, x - z> with omega drawn from a probability law when k(0) = 1. The draws come in
blocks from one stream of random numbers, so a shorter draw is the beginning of a longer one.
"""

from __future__ import annotations

import numpy as np


def draw_frequencies(kernel, n: int, d: int, sampling: str, rng: np.random.Generator) -> np.ndarray:
    """n frequencies in d dimensions, one per row, by the named way of sampling."""
    if sampling == "iid":
        return kernel.frequencies(n, d, rng)
    return orthogonal_frequencies(kernel, n, d, rng)


def orthogonal_frequencies(kernel, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Orthogonal within blocks of d, each with the marginal law of an i.i.d. draw (Yu et al. 2016).

    A draw of an isotropic law is s g with g normal. Here g is |g| times a row of a random rotation; unbiased, and of
    smaller variance than independent rows.
    """
    blocks = []
    for start in range(0, n, d):
        rows = min(d, n - start)
        lengths = np.sqrt(rng.chisquare(d, size=rows))
        scales = kernel.spectral_scales(rows, rng)
        blocks.append((lengths * scales)[:, None] * random_rotation(rows, d, rng))
    return np.vstack(blocks)


def random_rotation(rows: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """The first rows of a d x d orthogonal matrix with the uniform (Haar) law (Mezzadri 2007)."""
    q, r = np.linalg.qr(rng.standard_normal((rows, d)).T)
    # Without this sign QR prefers some rotations to others.
    return (q * np.sign(np.diag(r))).T
