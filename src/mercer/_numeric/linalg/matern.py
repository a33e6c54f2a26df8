"""The Matérn correlation 2^(1-nu) / Gamma(nu) t^nu K_nu(t) of any order nu > 0."""

from functools import cache
from typing import Any

import numpy as np

LARGE_ORDER = 25.0


def matern(t: Any, nu: float) -> np.ndarray:
    """2^(1-nu) / Gamma(nu) t^nu K_nu(t), with its limit 1 at t = 0."""
    return _matern_debye(t, nu) if nu > LARGE_ORDER else _matern_bessel(t, nu)


def _matern_bessel(t: Any, nu: float) -> np.ndarray:
    from scipy.special import gammaln, kve

    t = np.asarray(t, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log = nu * np.log(t) + np.log(kve(nu, t)) - t
        value = np.exp(log + (1 - nu) * np.log(2) - gammaln(nu))
    # K_nu overflows only where t is so small that the value rounds to 1
    return np.where(np.isfinite(value), np.minimum(value, 1.0), 1.0)


def _matern_debye(t: Any, nu: float) -> np.ndarray:
    """Debye's uniform expansion of K_nu (DLMF 10.41.4), divided by its value at t = 0 (Stirling's series)."""
    z = np.asarray(t, dtype=float) / nu
    w = np.sqrt(1 + z * z)
    rise = z * z / (1 + w)  # w - 1 without cancellation
    correction = _debye_series(1 / w, nu) / _debye_series(1.0, nu)
    return np.exp(nu * (np.log1p(rise / 2) - rise)) / np.sqrt(w) * correction


def _debye_series(p: Any, nu: float) -> Any:
    return sum((-1 / nu) ** k * u(p) for k, u in enumerate(_debye_polynomials(10)))


@cache
def _debye_polynomials(n: int) -> tuple[Any, ...]:
    """U_0, ..., U_{n-1} of DLMF 10.41.9."""
    from numpy.polynomial import Polynomial

    square, us = Polynomial([0, 0, 1]), [Polynomial([1.0])]
    while len(us) < n:
        u = us[-1]
        us.append(0.5 * square * (1 - square) * u.deriv() + 0.125 * ((1 - 5 * square) * u).integ())
    return tuple(us)
