"""Optimal shrinkage of singular values under noise (Gavish and Donoho 2014, 2017).

A matrix of n x d entries of noise with standard deviation sigma has singular values up to sigma (sqrt(n) + sqrt(d)),
and a signal's singular value comes out larger than it was. With m = min(n, d), M = max(n, d), beta = m / M and
y = s / (sigma sqrt(M)), the shrinkage with the smallest expected squared error is

    eta(y) = sqrt((y^2 - beta - 1)^2 - 4 beta) / y   for y > 1 + sqrt(beta),   0 below.
"""

from __future__ import annotations

import numpy as np


def shrinkage(singular_values: np.ndarray, n: float, d: int, noise_variance: float) -> np.ndarray:
    """The factor eta(y) / y of each component."""
    s = np.asarray(singular_values, dtype=np.float64)
    if noise_variance <= 0:
        return (s > 0).astype(np.float64)
    beta, larger = min(n, d) / max(n, d), max(n, d)
    y2 = s**2 / (noise_variance * larger)
    kept = y2 > (1 + np.sqrt(beta)) ** 2
    inside = np.where(kept, (y2 - beta - 1) ** 2 - 4 * beta, 0.0)
    return np.where(kept, np.sqrt(inside) / np.where(kept, y2, 1.0), 0.0)


def noise_from_median(singular_values: np.ndarray, n: float, d: int) -> float:
    """The variance of the noise from the median of all min(n, d) singular values, most of which are noise."""
    beta, larger = min(n, d) / max(n, d), max(n, d)
    middle = np.median(np.asarray(singular_values, dtype=np.float64))
    return float(middle**2 / (larger * marchenko_pastur_median(beta)))


def noise_from_rest(singular_values: np.ndarray, k: int, n: float, d: int) -> float:
    """The variance of the noise: the residual sum of squares of k components over its degrees of freedom."""
    rest = np.asarray(singular_values, dtype=np.float64)[k:]
    freedom = max(n - k, 1.0) * (d - k)
    return float(np.sum(rest**2) / freedom) if freedom > 0 else 0.0


def rank_above_noise(singular_values: np.ndarray, n: float, d: int) -> int:
    """The number of singular values above a noise level that is estimated: those that shrinkage keeps."""
    values = np.asarray(singular_values)[: int(min(n, d))]
    return int(np.count_nonzero(shrinkage(values, n, d, noise_from_median(values, n, d))))


def marchenko_pastur_median(beta: float) -> float:
    """The median of the eigenvalues of Z Z' / M, Z of m x M entries of unit variance, beta = m / M in (0, 1].

    >>> round(marchenko_pastur_median(1.0), 3)
    0.653
    """
    low, high = (1 - np.sqrt(beta)) ** 2, (1 + np.sqrt(beta)) ** 2
    angle = np.linspace(0.0, np.pi, 4001)
    x = (low + high) / 2 - (high - low) / 2 * np.cos(angle)
    density = np.sin(angle) ** 2 / np.maximum(x, 1e-300)
    density[0] = density[1] if low < 1e-12 else 0.0
    cumulative = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return float(np.interp(cumulative[-1] / 2, cumulative, x))
