"""Random Fourier features of shift-invariant kernels (Rahimi and Recht 2007).

With frequencies omega_1..omega_m from the spectral law of k, and mass = k(x, x),

    z(x) = sqrt(mass/m) (cos<omega_i, x>, sin<omega_i, x>)_{i=1..m}                    (pairing="cos-sin")
    z(x) = sqrt(2 mass/m) (cos(<omega_i, x> + b_i))_{i=1..m},  b_i ~ U[0, 2 pi)         (pairing="phase")
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _numeric
from mercer.expand.random.maps import FeatureMap
from mercer.expand.random.sampling import draw_frequencies
from mercer.expand.random.seed import Seed
from mercer.expand.random.structured import StructuredFrequencies

#: Numbers of a block of padded rows.
_STRUCTURED_BLOCK = 2**18


def fourier_map(
    kernel: Any, n_components: int, d: int, weight: float, sampling: str, pairing: str, seed: Seed
) -> FeatureMap:
    """Random Fourier features of `weight` times a shift-invariant kernel: `n_components` columns in all."""
    paired = n_components // 2 if pairing == "cos-sin" else 0
    m = n_components - paired
    # The phases have a stream of their own, so that frequencies do not depend on the pairing.
    shift = seed.child(0).rng().uniform(0.0, 2 * np.pi, size=m - paired)
    scale = float(np.sqrt(weight * kernel.mass / m))
    if sampling == "structured":
        return StructuredFourierMap(StructuredFrequencies.draw(kernel, m, d, seed.rng()), shift, scale)
    return FourierMap(draw_frequencies(kernel, m, d, sampling, seed.rng()), shift, scale, sampling)


class FourierMap(FeatureMap):
    """Cosines and sines of the frequencies, then cosines of those that have a phase.

    Memory: the frequencies (m x d, float64) and one copy of them in the precision and layout of the input.
    """

    rows = 256
    _made_again = ("_laid_out",)  # the layout belongs to this machine: no file holds it

    def __init__(self, frequencies: np.ndarray, shift: np.ndarray, scale: float, sampling: str) -> None:
        self.frequencies, self.shift, self.scale = frequencies, shift, scale
        self.how = (sampling,)
        self.n_pairs = len(frequencies) - len(shift)
        self.n_components = len(frequencies) + self.n_pairs
        self._laid_out: dict = {}

    def ready(self, dtype: np.dtype, sparse: bool) -> None:
        if (dtype, sparse) in self._laid_out:
            return
        W = self.frequencies.astype(dtype, copy=False)
        if sparse:  # a CSR matrix is multiplied row by row of the right factor
            self._laid_out[dtype, sparse] = np.ascontiguousarray(W.T)
        else:
            p = self.n_pairs
            parts = (np.ascontiguousarray(part) for part in (W[:p], W[p:]))
            self._laid_out[dtype, sparse] = tuple(_numeric.pack_frequencies(part) for part in parts)

    def apply(self, X: Any, out: np.ndarray) -> None:
        if hasattr(X, "tocsr"):
            write_cos_sin(X @ self._laid_out[X.dtype, True], self.shift, self.scale, out)
            return
        pairs, singles = self._laid_out[X.dtype, False]
        p = self.n_pairs
        if p:
            _numeric.fourier_cos_sin(X, pairs, p, self.scale, out[:, : 2 * p])
        if len(self.shift):
            shift = self.shift.astype(X.dtype)
            _numeric.fourier_cos_shifted(X, singles, shift, np.sqrt(2.0) * self.scale, out[:, 2 * p :])

    def __getstate__(self) -> dict[str, Any]:
        # The layout belongs to this machine: it is made again where the map is loaded.
        return {**self.__dict__, "_laid_out": {}}


class StructuredFourierMap(FeatureMap):
    """Fourier features of frequencies that are applied without being stored (see `StructuredFrequencies`)."""

    how = ("structured",)
    _former = {"waves": "structured"}

    def __init__(self, frequencies: StructuredFrequencies, shift: np.ndarray, scale: float) -> None:
        self.structured, self.shift, self.scale = frequencies, shift, scale
        self.n_components = 2 * len(frequencies) - len(shift)

    def apply(self, X: Any, out: np.ndarray) -> None:
        step = max(1, _STRUCTURED_BLOCK // self.structured.width)
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            write_cos_sin(self.structured.products(X[rows]), self.shift, self.scale, out[rows])


def write_cos_sin(arguments: np.ndarray, shift: np.ndarray, scale: float, out: np.ndarray) -> None:
    """Cosines and sines of the first arguments, shifted cosines of the last `len(shift)`."""
    p = arguments.shape[1] - len(shift)
    if p:
        _numeric.cos_sin(np.ascontiguousarray(arguments[:, :p]), scale, out[:, : 2 * p])
    if len(shift):
        rest = np.ascontiguousarray(arguments[:, p:])
        _numeric.cos_shifted(rest, shift.astype(rest.dtype), np.sqrt(2.0) * scale, out[:, 2 * p :])
