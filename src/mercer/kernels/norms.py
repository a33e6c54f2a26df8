"""Shift-invariant kernels whose norm is a choice: Laplace, exponential power, sinc."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._numeric.linalg import dense
from mercer._numeric.linalg.column_kernels import sinc, sinc_product
from mercer._numeric.linalg.stable import log_positive_stable, signed_log_stable
from mercer.kernels.parameters import BANDWIDTH, FLAG, Bandwidth, Need, OneOf
from mercer.kernels.rows import KernelInput, matching_numbers
from mercer.kernels.stationary import Stationary

LARGEST_LOG = 300.0  # frequencies are cut at e^300: their cosines are noise long before


@dataclass
class Laplace(Stationary):
    """k(x, z) = exp(-||x - z|| / bandwidth) with the Euclidean norm or with the sum of absolute values.

    The two differ from two columns on. Frequencies: g / (bandwidth |g_0|), a multivariate Cauchy law,
    for "l2"; independent Cauchy / bandwidth for "l1". Rahimi and Recht, Random features for
    large-scale kernel machines, 2007.

    Use it where the target has kinks or jumps, as its functions need no derivatives; smooth targets are learned faster
    with `Gaussian`. "l2" takes one matrix product, "l1" a difference for every column of every pair.

    Parameters
    ----------
    bandwidth : float > 0 or "median"
    norm : "l2" or "l1"

    >>> from mercer.kernels import Laplace
    >>> Laplace(bandwidth=5.0)([[0.0, 0.0]], [[3.0, 4.0]]).round(4)
    array([[0.3679]])
    >>> Laplace(bandwidth=7.0, norm="l1")([[0.0, 0.0]], [[3.0, 4.0]]).round(4)
    array([[0.3679]])
    """

    bandwidth: Bandwidth = 1.0
    norm: str = "l2"

    _needs = {"bandwidth": BANDWIDTH, "norm": OneOf(("l2", "l1"))}

    @property
    def _order(self) -> float:
        return 1 if self.norm == "l1" else 2

    def _profile(self, r: np.ndarray) -> np.ndarray:
        return np.exp(np.negative(r, out=r), out=r)

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        if self.norm == "l1":
            return rng.standard_cauchy((n, d)) / self.bandwidth
        return super()._frequencies(n, d, rng)

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        if self.norm == "l1":
            return super()._spectral_scales(n, rng)
        return 1.0 / (self.bandwidth * np.abs(rng.standard_normal(n)))


@dataclass
class ExponentialPower(Stationary):
    """k(x, z) = exp(-(||x - z||_p / bandwidth)^q), 0 < q <= p <= 2.

    (2, 2) is the Gaussian kernel at sqrt(2) times its bandwidth, (2, 1) and (1, 1) are the Laplace
    kernels. Outside this range of p and q it is not positive semidefinite in every dimension
    (Schoenberg 1938). Frequencies: S^(1/p) T_j / bandwidth with independent symmetric p-stable T_j
    and one positive (q/p)-stable S.

    Use it to select the tail and the smoothness by q. With p other than 2 every column of every pair takes a power
    instead of a share of one matrix product, so prefer `Gaussian` or `Laplace` where they do.

    Parameters
    ----------
    bandwidth : float > 0 or "median"
    p : float in (0, 2]
        The norm, or for p < 1 the same formula.
    q : float in (0, p]

    >>> from mercer.kernels import ExponentialPower
    >>> ExponentialPower(p=1.0, q=0.5)([[0.0, 0.0]], [[1.0, 3.0]]).round(4)
    array([[0.1353]])
    """

    bandwidth: Bandwidth = 1.0
    p: float = 2.0
    q: float = 1.0

    _needs = {"bandwidth": BANDWIDTH, "p": Need(high=2.0), "q": Need(high=2.0)}

    def _validate(self) -> None:
        super()._validate()
        if self.q > self.p:
            raise ValueError(f"{self}: q must not exceed p, or the kernel is not positive semidefinite")

    @property
    def _order(self) -> float:
        return self.p

    def _profile(self, r: np.ndarray) -> np.ndarray:
        np.power(r, r.dtype.type(self.q), out=r)
        return np.exp(np.negative(r, out=r), out=r)

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        common = log_positive_stable(n, self.q / self.p, rng)[:, None] / self.p
        signs, logs = signed_log_stable((n, d), self.p, rng)
        return signs * np.exp(np.minimum(common + logs, LARGEST_LOG)) / self.bandwidth

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        if self.p != 2:
            return super()._spectral_scales(n, rng)
        logs = 0.5 * (np.log(2) + log_positive_stable(n, self.q / 2, rng))
        return np.exp(np.minimum(logs, LARGEST_LOG)) / self.bandwidth


@dataclass
class Sinc(Stationary):
    """k(x, z) = prod_j sin(t_j) / t_j, t = (x - z) / bandwidth; with radial=True sin(||t||) / ||t||.

    The radial form is a kernel in up to three dimensions only. It is the characteristic function of
    the uniform law on the sphere in R^3; from four dimensions on no law on R^d projects to it, and
    Gram matrices have eigenvalues well below 0. Frequencies: uniform on [-1, 1]^d / bandwidth; radial:
    the first d coordinates of a uniform point on the sphere in R^3, over the bandwidth.

    Use it for band-limited functions, such as sampled signals: its functions have no frequency above 1 / bandwidth. It
    changes sign and decays slowly, so prefer `Gaussian` for other data.

    Parameters
    ----------
    bandwidth : float > 0 or "median"
        "median" uses Euclidean distances.
    radial : bool

    >>> from mercer.kernels import Sinc
    >>> Sinc()([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.7081]])
    >>> Sinc(radial=True)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.6985]])
    """

    bandwidth: Bandwidth = 1.0
    radial: bool = False

    _needs = {"bandwidth": BANDWIDTH, "radial": FLAG}

    @property
    def isotropic(self) -> bool:
        return False  # not even the radial form is a kernel in every dimension

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        if self.radial:
            self._need_dimension(X.numbers.shape[1])
            return super()._gram(X, Y)
        return sinc_product(*matching_numbers(X, Y), self.bandwidth)

    def _diag(self, X: KernelInput) -> np.ndarray:
        if self.radial:
            self._need_dimension(X.numbers.shape[1])
        return super()._diag(X)

    def _profile(self, r: np.ndarray) -> np.ndarray:
        return sinc(r)

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        if not self.radial:
            return rng.uniform(-1.0, 1.0, (n, d)) / self.bandwidth
        self._need_dimension(d)
        points = rng.standard_normal((n, 3))
        points /= dense.norm(points, axis=1, keepdims=True)
        return points[:, :d] / self.bandwidth

    def _need_dimension(self, d: int) -> None:
        if d >= 4:
            raise ValueError(
                f"{self}: sin(r)/r is positive semidefinite in at most 3 dimensions, got {d} columns; "
                "use Sinc(radial=False), the product over columns, or restrict it with .on(columns)"
            )
