"""Random projections: how many dimensions keep lengths and distances, and how well a given number keeps them.

Let A have m rows of independent N(0, 1/m) entries. Then m ||Av||^2 / ||v||^2 has the chi-square law with m degrees of
freedom, exactly, for every v. Everything here follows from that law, or from the bound of Laurent and Massart on it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp, log, sqrt

from mercer.bounds.arguments import check_accuracy, check_choice, check_count, check_delta

METHODS = ("exact", "theorem")
SMALLEST_LOG = -690.0  # below it the tails of the chi-square law are no floats any more, and the theorem serves


def jl_dimension(eps: float, delta: float, n: int | None = None, method: str = "exact") -> int:
    """The number m of dimensions a Gaussian projection needs.

    With probability at least 1 - delta

        (1 - eps) ||v||^2 <= ||Av||^2 <= (1 + eps) ||v||^2

    for one fixed vector v (``n=None``), or for all differences v = x_i - x_j of n points at once. The union bound over
    P = n (n - 1) / 2 pairs requires delta' = delta / P for each.

    - ``"exact"``: the smallest m with P[chi2_m <= (1 - eps) m] + P[chi2_m >= (1 + eps) m] <= delta'. No Gaussian
      projection gets by with less for one vector.
    - ``"theorem"``: m = ceil(4 t / (sqrt(1 + 2 eps) - 1)^2), t = ln(2 / delta'), the inversion of the bounds
      1 - 2 sqrt(t/m) and 1 + 2 sqrt(t/m) + 2 t/m of Laurent and Massart (Annals of Statistics, 2000, lemma 1).
      It requires 15 to 40 % more.

    Use it to choose the size of a projection for a stated accuracy; ``n_components="auto"`` of the projections calls
    it. For data of low rank far fewer dimensions do: measure by `certify_distances` instead.

    Parameters
    ----------
    eps : float > 0, relative error of squared lengths
    delta : float in (0, 1), probability that any of them is missed
    n : int >= 2 or None, number of points; None for a single vector
    method : {"exact", "theorem"}

    Examples
    --------
    >>> from mercer.bounds import jl_dimension
    >>> jl_dimension(0.3, 0.01, n=1000), jl_dimension(0.3, 0.01, n=1000, method="theorem")
    (797, 1050)
    """
    eps, delta = check_accuracy(eps), check_delta(delta)
    check_choice("method", method, METHODS)
    log_failure = log(delta) - log_pairs(n)
    if method == "theorem" or log_failure < SMALLEST_LOG:
        return max(1, ceil(4 * (log(2) - log_failure) / (sqrt(1 + 2 * eps) - 1) ** 2))
    allowed = exp(log_failure)
    return _smallest(lambda m: chi2_failure(m, eps) <= allowed)


def jl_interval(m: int, delta: float, method: str = "theorem") -> tuple[float, float]:
    """Between which factors a Gaussian projection to m dimensions keeps a squared length.

    With probability at least 1 - delta, low <= ||Av||^2 / ||v||^2 <= high for a fixed v.

    - ``"theorem"``: low = 1 - 2 sqrt(t/m), high = 1 + 2 sqrt(t/m) + 2 t/m, t = ln(2 / delta) (Laurent and Massart
      2000). low is 0, an empty statement, up to m = 4 t. The true failure probability is smaller by a factor of 10 to
      50.
    - ``"exact"``: the delta/2 and 1 - delta/2 quantiles of chi2_m / m; the failure probability is delta itself.

    Use it for the accuracy of a size that is given. `jl_dimension` is its inverse; for projections of given data use
    `certify_distances`.

    Parameters
    ----------
    m : int >= 1, number of dimensions
    delta : float in (0, 1)
    method : {"theorem", "exact"}

    Examples
    --------
    >>> from mercer.bounds import jl_interval
    >>> [round(factor, 3) for factor in jl_interval(1000, 0.01)]
    [0.854, 1.156]
    >>> [round(factor, 3) for factor in jl_interval(1000, 0.01, method="exact")]
    [0.889, 1.119]
    """
    m, delta = check_count("m", m), check_delta(delta)
    check_choice("method", method, METHODS)
    if method == "theorem":
        t = log(2 / delta)
        return max(0.0, 1 - 2 * sqrt(t / m)), 1 + 2 * sqrt(t / m) + 2 * t / m
    from scipy.special import gammainccinv, gammaincinv  # chi2_m is twice a Gamma(m/2) variable

    return float(2 * gammaincinv(m / 2, delta / 2) / m), float(2 * gammainccinv(m / 2, delta / 2) / m)


def log_pairs(n: int | None) -> float:
    """ln of the number of pairs of n points, 0 for a single vector."""
    if n is None:
        return 0.0
    n = check_count("n", n, minimum=2)
    return log(n) + log(n - 1) - log(2)


def chi2_failure(m: int, eps: float) -> float:
    """P[ |chi2_m / m - 1| >= eps ]."""
    from scipy.special import gammainc, gammaincc

    below = gammainc(m / 2, (1 - eps) * m / 2) if eps < 1 else 0.0
    return float(below + gammaincc(m / 2, (1 + eps) * m / 2))


def _smallest(suffices: Callable[[int], bool]) -> int:
    """The smallest m >= 1 with suffices(m), for a condition that stays true once it is: doubling, then bisection."""
    high = 1
    while not suffices(high):
        high *= 2
    low = high // 2  # too small, or 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high
