"""Base of shift-invariant kernels: distances, the bandwidth, frequencies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mercer._numeric.linalg.distances import distances, paired_distances, squared_distances
from mercer.kernels.base import Kernel
from mercer.kernels.parameters import Bandwidth
from mercer.kernels.rows import KernelInput, matching_numbers

PAIRS = 1000


class Stationary(Kernel):
    """A kernel of x - z with k(x, x) = 1 (Bochner: the characteristic function of its spectral law).

    A leaf states its formula as ``_profile`` of the scaled distance r = ||x - z|| / bandwidth, or of
    r^2 if ``_of_square``, and its spectral law as ``_spectral_scales`` when it is isotropic, as
    ``_frequencies`` when it is not.
    """

    bandwidth: Bandwidth
    _of_square = False

    @property
    def isotropic(self) -> bool:
        return self._order == 2

    @property
    def mass(self) -> float:
        return 1.0

    @property
    def _order(self) -> float:
        """The p of the norm ||x - z||_p."""
        return 2

    def _profile(self, r: np.ndarray) -> np.ndarray:
        """The kernel as a function of r, or of r^2 if ``_of_square``; the argument may be overwritten."""
        raise NotImplementedError

    def of_squares(self, squares: np.ndarray) -> np.ndarray:
        """The kernel at squared Euclidean distances, which are overwritten; for isotropic kernels.

        >>> import numpy as np
        >>> from mercer.kernels import Laplace
        >>> Laplace(bandwidth=5.0).of_squares(np.array([0.0, 25.0])).round(4)
        array([1.    , 0.3679])
        """
        self.require_resolved()
        if self._of_square:
            squares *= 1.0 / self.bandwidth**2
            return self._profile(squares)
        np.sqrt(squares, out=squares)
        squares *= 1.0 / self.bandwidth
        return self._profile(squares)

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        A, B = matching_numbers(X, Y)
        B = None if Y is X else B
        if self._of_square:
            return self._profile(squared_distances(A, B, self.bandwidth))
        return self._profile(distances(A, B, self._order, self.bandwidth))

    def _diag(self, X: KernelInput) -> np.ndarray:
        return np.ones(len(X), dtype=X.numbers.dtype)

    def _resolve(self, X: KernelInput) -> Kernel:
        if self.bandwidth != "median":
            return self
        return replace(self, bandwidth=median_distance(X.numbers, self._order))

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return self._spectral_scales(n, rng)[:, None] * rng.standard_normal((n, d))

    def require_resolved(self) -> None:
        if self.bandwidth == "median":
            raise ValueError(f"{self}: the bandwidth depends on data; call resolve(X) first")


def median_distance(A: Any, p: float = 2) -> float:
    """The median of ||x - z||_p over at most 1,000 random pairs of distinct rows, from a fixed seed.

    All pairs are used when there are no more than that. When half of the pairs coincide, the mean of
    the positive distances is used; when all rows coincide, 1.
    """
    n = A.shape[0]
    if n < 2:
        return 1.0
    if n * (n - 1) // 2 <= PAIRS:
        i, j = np.triu_indices(n, 1)
    else:
        rng = np.random.default_rng(0)
        i = rng.integers(n, size=PAIRS)
        j = (i + rng.integers(1, n, size=PAIRS)) % n
    found = paired_distances(A[i], A[j], p)
    with np.errstate(over="ignore"):
        middle = _middle(found)
    return middle if np.isfinite(middle) else 2.0**64 * _middle(found / 2.0**64)  # sums of such distances overflow


def _middle(distances: np.ndarray) -> float:
    middle = float(np.median(distances))
    if middle > 0:
        return middle
    return float(distances[distances > 0].mean()) if distances.any() else 1.0
