"""Frequencies drawn from the spectral law of a shift-invariant kernel.

Bochner: k(x - z) = mass * E cos<omega, x - z> with omega drawn from a probability law. A shorter draw is
the beginning of a longer one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer.expand.random.quasi import quasi_frequencies

SAMPLINGS = ("orthogonal", "iid", "structured", "quasi")
_BATCH = 256
_BATCH_NUMBERS = 2**16


def applicable(kernel: Any, sampling: str) -> str:
    """The sampling method to use: "iid" where orthogonal or structured frequencies would need an isotropic kernel."""
    return "iid" if sampling in ("orthogonal", "structured") and not kernel.isotropic else sampling


def draw_frequencies(kernel: Any, n: int, d: int, sampling: str, rng: np.random.Generator) -> np.ndarray:
    """n frequencies in d dimensions, one per row, by the named sampling method."""
    draw = {"iid": independent_frequencies, "orthogonal": orthogonal_frequencies, "quasi": quasi_frequencies}[sampling]
    return draw(kernel, n, d, rng)


def independent_frequencies(kernel: Any, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Independent draws of the spectral law."""
    rows = min(_BATCH, max(1, _BATCH_NUMBERS // d))
    return _in_batches(lambda: kernel.frequencies(rows, d, rng), n)


def orthogonal_frequencies(kernel: Any, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Orthogonal within blocks of d, each with the marginal law of an i.i.d. draw (Yu et al. 2016).

    A draw of an isotropic law is s g with g normal. Here g is |g| times a row of a random rotation; unbiased, and of
    smaller variance than independent rows.
    """
    of_lengths, of_scales, of_directions = rng.spawn(3)
    lengths = np.sqrt(of_lengths.chisquare(d, size=n))
    lengths *= _in_batches(lambda: kernel.spectral_scales(_BATCH, of_scales), n)
    directions = of_directions.standard_normal((n, d))
    whole = n // d * d
    parts = [directions[:whole].reshape(-1, d, d), directions[None, whole:]]
    for part in parts:
        if part.size:
            part[...] = rotated_rows(part)
    return np.multiply(directions, lengths[:, None], out=directions)


def rotated_rows(normals: np.ndarray) -> np.ndarray:
    """From matrices of normal numbers the first rows of rotations with the uniform (Haar) law (Mezzadri 2007)."""
    q, r = dense.qr(normals.swapaxes(-1, -2))
    # Without this sign the law of QR factors is not uniform.
    signs = np.sign(np.diagonal(r, axis1=-2, axis2=-1))
    return (q * signs[..., None, :]).swapaxes(-1, -2)


def _in_batches(draw: Callable[[], np.ndarray], n: int) -> np.ndarray:
    """The first n of batches of a fixed size, so that the beginning does not depend on n."""
    batches = [draw()]
    batches += [draw() for _ in range(1, -(-n // len(batches[0])))]
    return np.concatenate(batches)[:n]
