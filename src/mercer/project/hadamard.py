"""The subsampled randomized Hadamard transform."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _numeric
from mercer.project.base import Projection

#: Signs and sampled rows come from different hashes.
_SIGNS, _ROWS = 0, 1
_SCRATCH_BYTES = 1 << 18


class HadamardProjection(Projection):
    """A x = sqrt(D/m) R H S x: random signs S, Hadamard transform H, m coordinates R drawn without replacement.

    H is orthogonal with entries +-1/sqrt(D) and distributes every x over all coordinates, so that a sample of them
    estimates its length: E||Ax||^2 = ||x||^2 (Ailon and Chazelle 2009; Tropp, "Improved analysis of the subsampled
    randomized Hadamard transform", 2011). It takes D log2 D additions per row instead of m d multiplications, and
    stores one sign per column and m indices. Rows of CSR input are made dense block by block: for those,
    `SparseProjection` is better.

    D is the first power of two that is at least d and m; missing columns count as zeros. (A cosine transform would
    need no padding, but takes 4 to 7 times as long as a Hadamard transform of the same width.)

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of output columns m. "auto" is the dimension a Gaussian projection needs
        (`mercer.bounds.jl_dimension`); it counts the rows in one pass, a number needs no pass. `certificate` measures
        what was reached.
    eps, delta : float, default=0.1, 0.01
        Accuracy and probability of failure that "auto" aims at.
    random_state : int, RandomState or None, default=0
        The same seed gives the same map on any machine; up to the scale a smaller map is the beginning of a larger
        one with the same D.

    Attributes
    ----------
    n_components_ : int, the m used
    width_ : int, the power of two D
    rows_ : array of m indices below D, the matrix R

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.project import HadamardProjection
    >>> X = np.random.default_rng(0).normal(size=(20, 1000))
    >>> Y = HadamardProjection(n_components=256).fit_transform(X)
    >>> (np.sum(Y**2, axis=1) / np.sum(X**2, axis=1))[:4].round(2).tolist()
    [1.06, 1.02, 0.85, 1.12]
    >>> square = HadamardProjection(n_components=1024).fit(X).matrix()
    >>> abs(square.T @ square)[:3, :3].round(6).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    def __init__(
        self, n_components: int | str = "auto", eps: float = 0.1, delta: float = 0.01, random_state: Any = 0
    ) -> None:
        self.n_components = n_components
        self.eps = eps
        self.delta = delta
        self.random_state = random_state

    def _draw(self) -> None:
        self.width_ = 1 << (max(self.n_features_in_, self.n_components_) - 1).bit_length()
        hashes = _numeric.splitmix64(np.arange(self.width_), self._seed)
        signs = _numeric.signs(_numeric.splitmix64(hashes, _SIGNS))[None]
        self._signs = {np.dtype(dtype): signs.astype(dtype) for dtype in (np.float32, np.float64)}
        self.rows_ = np.argsort(_numeric.splitmix64(hashes, _ROWS), kind="stable")[: self.n_components_]

    def _write(self, X: Any, rows: Any, out: np.ndarray) -> None:
        block = X[rows].toarray() if hasattr(X, "tocsr") else np.ascontiguousarray(X[rows])
        transformed = np.empty((len(out), self.width_), out.dtype)
        _numeric.hadamard_signs(block, self._signs[out.dtype], transformed)
        # "clip" lets take write straight into out; no index is out of range.
        np.take(transformed, self.rows_, axis=1, out=out, mode="clip")
        out *= out.dtype.type(np.sqrt(self.width_ / self.n_components_))

    def _rows_per_block(self, itemsize: int) -> int:
        return max(1, _SCRATCH_BYTES // (itemsize * self.width_))
