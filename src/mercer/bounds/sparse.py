"""How many nonzeros a column of a sparse projection needs."""

from __future__ import annotations

from math import ceil, log, sqrt

from mercer.bounds.arguments import check_choice, check_count, check_delta


def sparse_nonzeros(m: int, d: int, delta: float, method: str = "chernoff") -> int:
    """The number s of nonzeros per column after which no two of d columns overlap too much.

    A sparse projection has s blocks of m/s rows and one entry +-1/sqrt(s) per column in each, in a random row. Two
    columns share Bin(s, s/m) rows, s^2/m on average. With probability at least 1 - delta all pairs share at most
    2 s^2/m rows, the condition under which the error of a squared length has a standard deviation of at most
    2/sqrt(m), once s divides m and

    - ``"chernoff"``: s >= sqrt(3 m ln(d^2 / (2 delta))), as P[Bin(s, s/m) > 2 s^2/m] <= exp(-s^2 / (3m));
    - ``"exact"``: (d (d - 1) / 2) P[Bin(s, s/m) > 2 s^2/m] <= delta with the binomial law itself, which needs fewer.

    This is the sufficient condition of the lecture notes. With random hashes far fewer do: s of the order of
    ln(1/delta)/eps for any d (Kane and Nelson, "Sparser Johnson-Lindenstrauss transforms", J. ACM 2014), and s = 8 in
    practice, where ``hashing_risk`` checks given data.

    Use it to see what this sufficient condition costs. In practice use s = 8 and `hashing_risk`.

    Parameters
    ----------
    m : int, number of output dimensions
    d : int, number of input columns
    delta : float in (0, 1)
    method : {"chernoff", "exact"}

    Returns
    -------
    int, the smallest such divisor of m

    Examples
    --------
    >>> from mercer.bounds import sparse_nonzeros
    >>> sparse_nonzeros(1024, 1000, 0.01), sparse_nonzeros(1024, 1000, 0.01, method="exact")
    (256, 256)
    >>> sparse_nonzeros(3600, 1000, 0.01), sparse_nonzeros(3600, 1000, 0.01, method="exact")
    (450, 360)
    """
    m, d, delta = check_count("m", m), check_count("d", d), check_delta(delta)
    check_choice("method", method, ("chernoff", "exact"))
    if d == 1:
        return 1
    if method == "chernoff":
        minimum = sqrt(3 * m * (2 * log(d) - log(2 * delta)))
        found = next((s for s in divisors(m) if s >= minimum), None)
    else:
        minimum = None
        found = next((s for s in divisors(m) if _union(m, d, s) <= delta), None)
    if found is None:
        raise ValueError(
            f"No s up to m = {m} keeps {d} columns from overlapping too much with probability 1 - {delta:g}"
            + (f": s would have to be {ceil(minimum)}. " if minimum else ". ")
            + f"Take m >= {ceil(3 * (2 * log(d) - log(2 * delta)))}, preferably a power of two."
        )
    return found


def divisors(m: int) -> list[int]:
    """The divisors of m, in rising order."""
    small = [s for s in range(1, int(sqrt(m)) + 1) if m % s == 0]
    return small + [m // s for s in reversed(small) if s * s != m]


def _union(m: int, d: int, s: int) -> float:
    """The union bound over pairs of columns that any two share more than 2 s^2/m rows."""
    from scipy.special import bdtrc

    return d * (d - 1) / 2 * float(bdtrc(2 * s * s // m, s, s / m))
