"""Random Fourier features: cosines and sines of arguments, or of products with frequencies.

Arguments are reduced in their own precision, then cosine and sine are evaluated in float32: an absolute error
of about 1.2e-7 whatever the dtype, on top of the phase error eps |argument| that the argument itself carries.
Meant for |argument| up to 1e4 in float32, 1e9 in float64; beyond, results stay in [-1, 1] but mean nothing.

Every function works on a block of rows and writes into ``out``, which has the dtype of the input; its rows
are C-ordered and may be a column range of a wider array. A row's result depends neither on its place in the
block nor on the other rows (the NumPy definitions below keep that promise as far as the BLAS does).

Rahimi and Recht, "Random features for large-scale kernel machines", 2007.
"""

import numpy as np

__all__ = ["cos_shifted", "cos_sin", "fourier_cos_shifted", "fourier_cos_sin", "pack_frequencies"]

# 2 pi as a short and a long part: multiples of the first are exact, so subtracting both loses nothing.
_TURN_HIGH = float.fromhex("0x1.921fbp+2")
_TURN_LOW = 2 * np.pi - _TURN_HIGH + 2.4492935982947064e-16


def _reduced(arguments):
    """The arguments within half a turn of zero, in float32."""
    if arguments.dtype == np.float32:
        return arguments  # NumPy's float32 cosine reduces by itself
    turns = np.rint(arguments / (2 * np.pi))
    reduced = (arguments - turns * _TURN_HIGH) - turns * _TURN_LOW
    return np.clip(reduced, -np.pi, np.pi).astype(np.float32)


def cos_sin(arguments, scale, out):
    """Write ``[scale cos(arguments), scale sin(arguments)]`` side by side into ``out``."""
    m = arguments.shape[1]
    reduced = _reduced(arguments)
    np.multiply(np.cos(reduced), scale, out=out[:, :m], dtype=out.dtype)
    np.multiply(np.sin(reduced), scale, out=out[:, m:], dtype=out.dtype)


def cos_shifted(arguments, shift, scale, out):
    """Write ``scale cos(arguments + shift)`` into ``out``; ``shift`` has one entry per column."""
    np.multiply(np.cos(_reduced(arguments + shift)), scale, out=out, dtype=out.dtype)


def pack_frequencies(W):
    """Lay out frequencies ``W`` (m, d) for the fused functions; it depends on the machine: never store it."""
    return W


def fourier_cos_sin(X, packed, n_frequencies, scale, out):
    """Write ``[scale cos(X W'), scale sin(X W')]`` side by side into ``out``; W has ``n_frequencies``."""
    cos_sin(X @ packed[:n_frequencies].T, scale, out)


def fourier_cos_shifted(X, packed, shift, scale, out):
    """Write ``scale cos(X W' + shift)`` into ``out``; ``shift`` has one entry per frequency."""
    cos_shifted(X @ packed.T, shift, scale, out)
