"""Number of random Fourier features that approximates every kernel value to within eps."""

from __future__ import annotations

from math import ceil, log
from numbers import Real
from typing import Any

import numpy as np

from mercer.bounds.arguments import check_accuracy, check_choice, check_count, check_delta
from mercer.kernels import Kernel, Sinc, Stationary


def fourier_dimension(
    eps: float,
    delta: float,
    n: int,
    method: str = "bernstein",
    pairing: str = "cos-sin",
    variance: float | Kernel = 0.5,
) -> int:
    """The number of output columns after which all n x n kernel values are right to within eps.

    With probability at least 1 - delta, |<z(x_i), z(x_j)> - k(x_i, x_j)| <= eps for all pairs of n rows, where z is
    ``RandomFeatures(kernel, n_components=fourier_dimension(...), pairing=pairing)`` with independent frequencies and
    k(x, x) = 1. (For a kernel with k(x, x) = c divide eps by c. Orthogonal frequencies err less in every measurement,
    but this proof is for independent ones.)

    The estimate is a mean of m bounded terms, one for each frequency, and the union bound runs over P = n (n - 1) / 2
    pairs. With ``pairing="cos-sin"`` a term is cos<omega, x - x'> in [-1, 1], the diagonal is exact, and the answer is
    2 m columns, two for each frequency:

    - ``"hoeffding"``: m = ceil((2 / eps^2) ln(2 P / delta)), for any kernel (Hoeffding 1963).
    - ``"bernstein"``: m = ceil(((2 v + (4/3) eps) / eps^2) ln(2 P / delta)), half as many for small eps, with v at
      least the largest variance of a term, 1/2 + k(2r)/2 - k(r)^2 (Bernstein 1924). Never more than Hoeffding's.

    With ``pairing="phase"`` a term is 2 cos(<omega, x> + b) cos(<omega, x'> + b) in [-2, 2] with variance 1/2 larger,
    the diagonal is an estimate too, and every frequency is one column: D = ceil((8 / eps^2) ln(2 (P + n) / delta)), or
    D = ceil(((1 + 2 v + 2 eps) / eps^2) ln(2 (P + n) / delta)).

    Use it to plan, before seeing data. It holds for the worst data, so it asks for several times the features that most
    tables need: measure these by `certify` instead.

    Parameters
    ----------
    eps : float > 0, absolute error of a kernel value
    delta : float in (0, 1), probability that any pair is missed
    n : int >= 2, number of rows
    method : {"bernstein", "hoeffding"}
    pairing : {"cos-sin", "phase"}
    variance : float in (0, 1] or Kernel, default=0.5
        v. One half holds for every kernel with k(2r) <= 2 k(r)^2, such as the Gaussian and both Laplace kernels; 1
        holds for all. A kernel stands for ``fourier_variance(kernel)``.

    Returns
    -------
    int, the ``n_components`` needed

    Examples
    --------
    >>> from mercer.bounds import fourier_dimension
    >>> fourier_dimension(0.1, 0.01, 100_000) // 2  # frequencies
    3132
    >>> fourier_dimension(0.1, 0.01, 100_000, method="hoeffding") // 2
    5527
    >>> fourier_dimension(0.1, 0.01, 100_000, method="hoeffding", pairing="phase")
    22105
    """
    eps, delta, n = check_accuracy(eps), check_delta(delta), check_count("n", n, minimum=2)
    check_choice("method", method, ("bernstein", "hoeffding"))
    check_choice("pairing", pairing, ("cos-sin", "phase"))
    v = _checked_variance(variance)
    paired = pairing == "cos-sin"
    # Twice the pairs that have to be right: n (n - 1), and n (n + 1) when the diagonal is an estimate as well.
    union = log(n) + log(n - 1 if paired else n + 1) - log(delta)
    per_union = 2.0 if paired else 8.0
    if method == "bernstein":
        term_variance, term_range = (v, 2.0) if paired else (v + 0.5, 3.0)
        per_union = min(per_union, 2 * term_variance + 2 / 3 * term_range * eps)
    frequencies = max(1, ceil(per_union / eps**2 * union))
    return 2 * frequencies if paired else frequencies


def fourier_variance(kernel: Kernel) -> float:
    """The largest variance of cos<omega, x - x'> over all pairs of rows: sup_r 1/2 + k(2r)/2 - k(r)^2.

    That is the formula for k(x, x) = 1; other kernels are divided by k(x, x) first. It is 1/2 for every kernel with
    k(2r) <= 2 k(r)^2 and a little more for kernels with heavy tails, up to 9/16 for a power law. The supremum is
    searched on a grid of distances and rounded up in the third digit. A kernel that is not a function of one norm of
    x - x' gets 1, which holds for all.

    Use it through ``fourier_dimension(..., variance=kernel)``. It is not needed for Gaussian and Laplace kernels, where
    it is 1/2.

    Parameters
    ----------
    kernel : Kernel, shift-invariant, with every parameter a number

    Examples
    --------
    >>> from mercer.bounds import fourier_variance
    >>> from mercer.kernels import Cauchy, Gaussian
    >>> fourier_variance(Gaussian(3.0)), fourier_variance(Cauchy())
    (0.5, 0.505)
    """
    mass = kernel.mass
    if not _is_function_of_a_norm(kernel) or mass == 0:
        return 1.0
    kernel.require_resolved()
    # Bandwidths may be anything: 200 powers of ten, spaced by two percent, then finely around the best of them.
    coarse = np.logspace(-100, 100, 20_001)
    best = coarse[np.argmax(_term_variance(kernel, coarse, mass))]
    fine = best * np.linspace(0.97, 1.03, 2_001)
    found = max(0.5, float(_term_variance(kernel, fine, mass).max()))
    return min(1.0, float(np.ceil(found * 1000 - 1e-6) / 1000))


def _term_variance(kernel: Kernel, r: np.ndarray, mass: float) -> np.ndarray:
    origin = np.zeros((1, 1))
    once, twice = (kernel(origin, (c * r)[:, None])[0] / mass for c in (1.0, 2.0))
    return 0.5 + 0.5 * twice - once**2


def _is_function_of_a_norm(kernel: Kernel) -> bool:
    if kernel.isotropic:
        return True
    return isinstance(kernel, Stationary) and not (isinstance(kernel, Sinc) and not kernel.radial)


def _checked_variance(variance: Any) -> float:
    if isinstance(variance, Kernel):
        return fourier_variance(variance)
    if isinstance(variance, bool) or not isinstance(variance, Real) or not 0 < float(variance) <= 1:
        raise ValueError(f"variance must be a number in (0, 1] or a kernel, got {variance!r}.")
    return float(variance)
