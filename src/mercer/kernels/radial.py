"""Kernels of the Euclidean distance that are kernels in every dimension: mixtures of Gaussians."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._numeric.linalg.matern import matern
from mercer.kernels.parameters import BANDWIDTH, POSITIVE, Bandwidth, Need
from mercer.kernels.stationary import Stationary

FAR = 1e4  # exp(-t) is 0 in any float format long before this, and t^2 is still finite


@dataclass
class Gaussian(Stationary):
    """k(x, z) = exp(-||x - z||^2 / (2 bandwidth^2)).

    Frequencies: g / bandwidth, g ~ N(0, I). Texts that write exp(-||x - z||^2 / s^2) mean
    bandwidth = s / sqrt(2), and scikit-learn's gamma is 1 / (2 bandwidth^2).

    Use it first, for standardized numbers and smooth targets. Its functions have all derivatives; rough targets need
    fewer features of `Matern` or `Laplace`, and irrelevant columns blur its distance: leave them out with ``on`` or
    learn the metric (`LearnedMetric`). A Gram matrix takes one matrix product and an exponential per entry. Rasmussen
    and Williams, Gaussian Processes for Machine Learning, 2006, section 4.2.

    Parameters
    ----------
    bandwidth : float > 0 or "median"
        "median" is the median distance of pairs of rows (see :meth:`Kernel.resolve`).

    >>> from mercer.kernels import Gaussian
    >>> Gaussian(bandwidth=2.0)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    bandwidth: Bandwidth = 1.0

    _needs = {"bandwidth": BANDWIDTH}
    _of_square = True

    def _profile(self, s: np.ndarray) -> np.ndarray:
        s *= -0.5
        return np.exp(s, out=s)

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.full(n, 1.0 / self.bandwidth)


@dataclass
class Cauchy(Stationary):
    """k(x, z) = 1 / (1 + ||x - z||^2 / bandwidth^2).

    Frequencies: g sqrt(2E) / bandwidth, E ~ Exp(1). It is ``RationalQuadratic(alpha=1)`` at sqrt(2)
    times the bandwidth.

    Use it where far rows should still count: it falls like a power of the distance, not exponentially. It costs as much
    as `Gaussian`, and a wide `Gaussian` is the better choice for smooth targets.

    Parameters
    ----------
    bandwidth : float > 0 or "median"

    >>> from mercer.kernels import Cauchy
    >>> Cauchy()([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3333]])
    """

    bandwidth: Bandwidth = 1.0

    _needs = {"bandwidth": BANDWIDTH}
    _of_square = True

    def _profile(self, s: np.ndarray) -> np.ndarray:
        s += 1
        return np.reciprocal(s, out=s)

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.sqrt(2 * rng.standard_exponential(n)) / self.bandwidth


@dataclass
class RationalQuadratic(Stationary):
    """k(x, z) = (1 + ||x - z||^2 / (2 alpha bandwidth^2))^(-alpha).

    A Gamma mixture of Gaussians; the Gaussian kernel in the limit of large alpha. Frequencies:
    g sqrt(tau) / bandwidth, tau ~ Gamma(alpha, rate alpha). Rasmussen and Williams, Gaussian
    Processes for Machine Learning, 2006, equation 4.19.

    Use it where the target varies on several scales at once; a small alpha means many scales. Prefer `Gaussian` where
    one scale is enough: it has one parameter less and the same cost.

    Parameters
    ----------
    bandwidth : float > 0 or "median"
    alpha : float > 0

    >>> from mercer.kernels import RationalQuadratic
    >>> RationalQuadratic(alpha=0.5)([[0.0]], [[3.0]]).round(4)
    array([[0.3162]])
    """

    bandwidth: Bandwidth = 1.0
    alpha: float = 1.0

    _needs = {"bandwidth": BANDWIDTH, "alpha": POSITIVE}
    _of_square = True

    def _profile(self, s: np.ndarray) -> np.ndarray:
        s /= 2 * self.alpha
        np.log1p(s, out=s)
        s *= -self.alpha
        return np.exp(s, out=s)

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.sqrt(rng.gamma(self.alpha, 1 / self.alpha, n)) / self.bandwidth


@dataclass
class Matern(Stationary):
    """k(x, z) = 2^(1-nu) / Gamma(nu) t^nu K_nu(t), t = sqrt(2 nu) ||x - z|| / bandwidth.

    nu = 1/2 is exp(-t), 3/2 is (1 + t) exp(-t), 5/2 is (1 + t + t^2/3) exp(-t), infinity is the
    Gaussian kernel; functions in its space have about nu derivatives. Frequencies:
    g sqrt(2 nu / chi2_(2 nu)) / bandwidth, a multivariate t law. Rasmussen and Williams, Gaussian
    Processes for Machine Learning, 2006, equation 4.14.

    Use it where the smoothness of the target is known, or selected as a parameter. The four closed forms cost as much
    as `Gaussian`; other nu evaluate a Bessel function per entry, which takes many times as long.

    Parameters
    ----------
    bandwidth : float > 0 or "median"
    nu : float > 0, infinity included

    >>> from mercer.kernels import Matern
    >>> Matern(nu=0.5)([[0.0]], [[1.0]]).round(4)
    array([[0.3679]])
    """

    bandwidth: Bandwidth = 1.0
    nu: float = 1.5

    _needs = {"bandwidth": BANDWIDTH, "nu": Need(infinite=True)}

    def _profile(self, r: np.ndarray) -> np.ndarray:
        if self.nu == np.inf:
            return np.exp(-0.5 * r * r)
        t = np.minimum(r * r.dtype.type(np.sqrt(2 * self.nu)), FAR)
        if self.nu == 0.5:
            return np.exp(-t)
        if self.nu == 1.5:
            return (1 + t) * np.exp(-t)
        if self.nu == 2.5:
            return (1 + t + t * t / 3) * np.exp(-t)
        return matern(t, float(self.nu)).astype(r.dtype, copy=False)

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        if self.nu == np.inf:
            return np.full(n, 1.0 / self.bandwidth)
        return np.sqrt(2 * self.nu / rng.chisquare(2 * self.nu, n)) / self.bandwidth
