"""Random Fourier features: cosines and sines of arguments, or of products with frequencies.

Arguments are reduced in their own precision, then cosine and sine are evaluated in float32: an absolute error
of about 1.2e-7 whatever the dtype, on top of the phase error eps |argument| that the argument itself carries.
Meant for |argument| up to 1e4 in float32, 1e9 in float64; beyond, results stay in [-1, 1] but are not accurate.

Every function works on a block of rows and writes into ``out``, which has the dtype of the input; its rows
are C-ordered and may be a column range of a wider array. The result for a row depends neither on its
position in the block nor on the other rows (in the NumPy definitions below, as far as BLAS allows).

Rahimi and Recht, "Random features for large-scale kernel machines", 2007.
"""

import numpy as np

__all__ = ["cos_shifted", "cos_sin", "fourier_cos_shifted", "fourier_cos_sin", "pack_frequencies"]

# 2 pi in two parts: multiples of the first, short one are exact, so subtracting both loses nothing.
_TURN_HIGH = float.fromhex("0x1.921fbp+2")
_TURN_LOW = 2 * np.pi - _TURN_HIGH + 2.4492935982947064e-16


def _reduced(arguments: np.ndarray) -> np.ndarray:
    """Arguments reduced to [-pi, pi], in float32."""
    if arguments.dtype == np.float32:
        return arguments  # NumPy reduces float32 arguments itself
    turns = np.rint(arguments / (2 * np.pi))
    reduced = (arguments - turns * _TURN_HIGH) - turns * _TURN_LOW
    return np.clip(reduced, -np.pi, np.pi).astype(np.float32)


def cos_sin(arguments: np.ndarray, scale: float, out: np.ndarray) -> None:
    """Write ``[scale cos(arguments), scale sin(arguments)]`` side by side into ``out``."""
    m = arguments.shape[1]
    reduced = _reduced(arguments)
    np.multiply(np.cos(reduced), scale, out=out[:, :m], dtype=out.dtype)
    np.multiply(np.sin(reduced), scale, out=out[:, m:], dtype=out.dtype)


def cos_shifted(arguments: np.ndarray, shift: np.ndarray, scale: float, out: np.ndarray) -> None:
    """Write ``scale cos(arguments + shift)`` into ``out``; ``shift`` has one entry per column."""
    np.multiply(np.cos(_reduced(arguments + shift)), scale, out=out, dtype=out.dtype)


def pack_frequencies(W: np.ndarray) -> np.ndarray:
    """Pack frequencies ``W`` (m, d) for the fused functions. The layout depends on the machine: do not store it."""
    return W


def fourier_cos_sin(X: np.ndarray, packed: np.ndarray, n_frequencies: int, scale: float, out: np.ndarray) -> None:
    """Write ``[scale cos(X W'), scale sin(X W')]`` side by side into ``out``; W has ``n_frequencies``."""
    cos_sin(X @ packed[:n_frequencies].T, scale, out)


def fourier_cos_shifted(X: np.ndarray, packed: np.ndarray, shift: np.ndarray, scale: float, out: np.ndarray) -> None:
    """Write ``scale cos(X W' + shift)`` into ``out``; ``shift`` has one entry per frequency."""
    cos_shifted(X @ packed.T, shift, scale, out)
