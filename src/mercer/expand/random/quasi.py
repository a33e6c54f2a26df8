"""Quasi-Monte Carlo frequencies (Avron, Sindhwani, Yang and Mahoney, Quasi-Monte Carlo feature maps for shift-invariant
kernels, JMLR 2016).

A sampler of normal, uniform, exponential, ... numbers is a function of the unit cube: each number is the inverse
distribution function of one coordinate. Low-discrepancy points of the cube give low-discrepancy frequencies, for every
kernel whose frequencies are sampled this way, compositions included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from mercer.kernels import Normalized, Product, Restricted, Scaled, Sum
from mercer.kernels.rows import column_positions

_LARGEST_DIMENSION = stats.qmc.Sobol.MAXDIM
_HALF_CELL = 2.0**-31  # points are multiples of 2^-30: the middle of a cell is neither 0 nor 1
_ANYWHERE = 0.4


def quasi_frequencies(kernel: Any, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """The first n of a randomly shifted and scrambled Sobol sequence, as frequencies of the kernel.

    Each frequency has the spectral law of the kernel, so features are unbiased; together they have lower discrepancy
    than independent draws.
    """
    counter = _Coordinates(np.empty((1, 0)))
    _draw(kernel, d, counter)
    return _draw(kernel, d, _Coordinates(_sobol(n, counter.used, kernel, rng)))


def _sobol(n: int, dimension: int, kernel: Any, rng: np.random.Generator) -> np.ndarray:
    if dimension > _LARGEST_DIMENSION:
        raise ValueError(
            f"sampling='quasi' needs {dimension} coordinates per frequency for {kernel!r}, and Sobol points have at "
            f"most {_LARGEST_DIMENSION}. Use sampling='orthogonal' or 'iid'; in this many dimensions they are as good."
        )
    if dimension == 0:
        return np.empty((n, 0))
    # Of a whole power of two the first n are taken: the beginning of the sequence does not depend on n.
    points = stats.qmc.Sobol(dimension, scramble=True, rng=rng).random_base2(int(np.ceil(np.log2(n))))
    return points[:n] + _HALF_CELL


def _draw(kernel: Any, d: int, numbers: _Coordinates) -> np.ndarray:
    """Frequencies of the kernel as a function of the points, one per point."""
    if isinstance(kernel, Sum):
        return _draw_mixture(kernel, d, numbers)
    if isinstance(kernel, Product):
        return _draw(kernel.left, d, numbers) + _draw(kernel.right, d, numbers)
    if isinstance(kernel, Scaled | Normalized):
        return _draw(kernel.kernel, d, numbers)
    if isinstance(kernel, Restricted):
        chosen = np.atleast_1d(column_positions(kernel.columns, d))
        omega = np.zeros((len(numbers), d))
        np.add.at(omega, (slice(None), chosen), _draw(kernel.kernel, len(chosen), numbers))  # type: ignore[arg-type]
        return omega
    return kernel.frequencies(len(numbers), d, numbers)


def _draw_mixture(kernel: Sum, d: int, numbers: _Coordinates) -> np.ndarray:
    fraction = kernel.left.mass / kernel.mass if kernel.mass > 0 else 1.0
    from_left = numbers.random(len(numbers)) < fraction
    # Both are drawn for every point, so that each part has coordinates of its own.
    left, right = _draw(kernel.left, d, numbers), _draw(kernel.right, d, numbers)
    return np.where(from_left[:, None], left, right)


class _Coordinates:
    """The interface of `numpy.random.Generator` for n numbers at a time: transformed coordinates of n points.

    Points without coordinates yield a constant, and `used` counts the coordinates requested.
    """

    def __init__(self, points: np.ndarray) -> None:
        self.points = points
        self.used = 0

    def __len__(self) -> int:
        return len(self.points)

    def random(self, size: Any) -> Any:
        n, *rest = np.atleast_1d(size)
        if n != len(self.points):
            raise ValueError("A quasi-random sampler must draw one number, or one vector, per point.")
        count = int(np.prod(rest, dtype=int))
        first, self.used = self.used, self.used + count
        if self.points.shape[1] == 0:
            return np.full((n, *rest), _ANYWHERE)
        return self.points[:, first : self.used].reshape(n, *rest)

    def uniform(self, low: float, high: float, size: Any) -> np.ndarray:
        return low + (high - low) * self.random(size)

    def choice(self, a: int, size: Any, p: np.ndarray) -> np.ndarray:
        return np.searchsorted(np.cumsum(p)[: a - 1], self.random(size), side="right")

    def standard_normal(self, size: Any) -> Any:
        return special.ndtri(self.random(size))

    def standard_exponential(self, size: Any) -> Any:
        return -np.log(self.random(size))

    def standard_cauchy(self, size: Any) -> Any:
        return np.tan(np.pi * (self.random(size) - 0.5))

    def gamma(self, shape: float, scale: float, size: Any) -> np.ndarray:
        return scale * special.gammaincinv(shape, self.random(size))

    def chisquare(self, df: float, size: Any) -> np.ndarray:
        # Far out on the left the quantile underflows; a scale divided by it would be infinite.
        return np.maximum(2 * special.gammaincinv(df / 2, self.random(size)), np.finfo(float).tiny)
