"""Is hashing into this many columns safe on these data?

Hash each column of v to one of w = m/s buckets in each of s blocks, with a random sign, and let Q = ||Av||^2 - ||v||^2.
Q is the mean of s independent copies of

    Q_1 = 2 sum_{i<j} [h(i) = h(j)] sigma_i sigma_j v_i v_j.

In its fourth power only the products survive in which every column occurs an even number of times: an edge (i, j) four
times, two different edges twice each, or four edges that form a cycle. Counting them, with a = v^2, e_k(a) the
elementary symmetric polynomials and S = sum_{i<j} a_i^2 a_j^2 = e_2(a^2),

    E Q_1^2 = 4 e_2 / w,       E Q_1^4 = 16 (S/w + 3 (e_2^2 - S)/w^2 + 72 e_4/w^3),
    E Q^2 = E Q_1^2 / s = (2/m)(||v||^4 - ||v||_4^4),       E Q^4 = E Q_1^4 / s^3 + 3 (1 - 1/s) (E Q^2)^2.

The variance does not depend on s, the tails do: for v = (e_1 + e_2)/sqrt(2) the kurtosis E Q^4 / (E Q^2)^2 is
m/s^2 + 3 (1 - 1/s). All of it takes four power sums of each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from math import log, sqrt
from typing import Any

import numpy as np

from mercer._numeric.linalg.distances import is_sparse
from mercer._runtime.blas import on_one_blas_thread
from mercer.bounds.arguments import check_accuracy, check_choice, check_count, check_delta
from mercer.bounds.pairs import CHUNK, draw_pairs, sample_rows
from mercer.bounds.sparse import divisors

MAX_NONZEROS = 64  # more never pay off


@dataclass(frozen=True)
class RowShapes:
    """What the moments of a hashed row depend on, for rows scaled to length 1, a = v^2."""

    pairs: np.ndarray  # nonzero entries, as pairs
    largest: np.ndarray  # max |v|
    e2: np.ndarray
    e4: np.ndarray
    S: np.ndarray

    def variance(self, m: int) -> np.ndarray:
        """E Q^2 for every row."""
        return 4 * self.e2 / m

    def fourth_moment(self, m: int, s: int) -> np.ndarray:
        """E Q^4 for every row."""
        w = m / s
        one_block = 16 * (self.S / w + 3 * (self.e2**2 - self.S) / w**2 + 72 * self.e4 / w**3)
        return one_block / s**3 + 3 * (1 - 1 / s) * self.variance(m) ** 2

    def kurtosis(self, m: int, s: int) -> np.ndarray:
        """E Q^4 / (E Q^2)^2 for every row; 0 where there is no error at all."""
        square = self.variance(m) ** 2
        return np.divide(self.fourth_moment(m, s), square, out=np.zeros_like(square), where=square > 0)

    def collisions(self, m: int, s: int) -> np.ndarray:
        """The expected number of collisions of two entries of a row, over all blocks."""
        return self.pairs * s * s / m

    def failure(self, m: int, s: int, eps: float) -> np.ndarray:
        """A bound on P[|Q| >= eps]: by the second moment, by the fourth, or because nothing collides."""
        by_moments = np.minimum(self.variance(m) / eps**2, self.fourth_moment(m, s) / eps**4)
        return np.minimum(1.0, np.minimum(by_moments, self.collisions(m, s)))


@dataclass(frozen=True)
class HashingRisk:
    """What hashing does to the squared lengths of the vectors examined.

    Attributes
    ----------
    n_components, nonzeros, eps, delta : the question
    n_vectors : number of vectors examined
    failure : the largest bound on the probability that a vector's squared length is off by more than a fraction eps
    fraction_at_risk : fraction of the vectors whose bound exceeds delta
    relative_sd : the largest standard deviation of ||Av||^2 / ||v||^2
    kurtosis : the largest kurtosis of it; 3 is normal, and much more means rare but gross errors
    norm_ratio : the largest ||v||_inf / ||v||_2; 1 for a vector with a single entry
    threshold : norm ratio up to which (eps, delta) can be expected
    colliding_pairs : the expected number of collisions of two entries of a vector, on average over the vectors
    recommended_components, recommended_nonzeros : the smallest that are proven safe, at this size if it can be
    """

    n_components: int
    nonzeros: int
    eps: float
    delta: float
    n_vectors: int
    failure: float
    fraction_at_risk: float
    relative_sd: float
    kurtosis: float
    norm_ratio: float
    threshold: float
    colliding_pairs: float
    recommended_components: int
    recommended_nonzeros: int

    @property
    def safe(self) -> bool:
        """Whether every vector keeps its squared length to within eps with probability 1 - delta, by proof."""
        return self.failure <= self.delta

    def as_dict(self) -> dict:
        """The figures, ready for JSON."""
        return {**asdict(self), "safe": self.safe}

    def __str__(self) -> str:
        from mercer.bounds.rendering import risk_table

        return risk_table(self)


@on_one_blas_thread
def hashing_risk(
    X: Any,
    n_components: int,
    nonzeros: int = 1,
    eps: float = 0.1,
    delta: float = 0.01,
    vectors: str = "rows",
    n_vectors: int = 2000,
    random_state: int = 0,
) -> HashingRisk:
    """Is feature hashing into `n_components` columns with `nonzeros` buckets per feature safe on these data?

    For each vector v the exact second and fourth moments of the error Q = ||Av||^2 / ||v||^2 - 1 are known (see
    ``mercer.bounds.hashing``), with Var Q = (2/m)(1 - ||v||_4^4 / ||v||_2^4) whatever s is. They bound
    P[|Q| >= eps] by the minimum of Var Q / eps^2, E Q^4 / eps^4 and the expected number of collisions. The vectors are
    safe if that is at most delta for all. The bounds are cautious: when they fail by little, compare the norm
    ratio with the threshold. For s = 1 hashing works iff ||v||_inf / ||v||_2 is below about

        sqrt(eps) min( ln(eps m / L) / L, sqrt(ln(eps^2 m / L) / L) ),   L = ln(1/delta),

    and always for m >= 2 / (eps^2 delta) (Freksen, Kamma and Larsen 2018, who measure a constant near 1); for s > 1 it
    grows by sqrt(s) (Jagadeesan 2019).

    Use it on a sample of the rows before hashing names of very different weights. Rows of many equal small entries,
    such as long texts, are always safe. It costs four power sums of each vector.

    Parameters
    ----------
    X : array, CSR matrix or Source of numbers (read once)
    n_components : int, the number m of output columns
    nonzeros : int, a divisor s of m; 1 is plain feature hashing
    eps, delta : float, accuracy of squared lengths and probability of failure for each vector
    vectors : {"rows", "differences"}
        Whether rows should keep their lengths, or random pairs of rows their distances.
    n_vectors : int, how many vectors to examine at most
    random_state : int, seed of the sample

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.bounds import hashing_risk
    >>> X = np.zeros((1, 100))
    >>> X[0, :2] = 1.0  # two heavy features: with s = 1 they are lost together if they collide
    >>> risk = hashing_risk(X, 1024, nonzeros=1)
    >>> round(risk.kurtosis), risk.safe
    (1024, True)
    >>> hashing_risk(X, 64).safe, hashing_risk(X, 64, delta=0.05).safe
    (False, True)
    """
    m, s = check_count("n_components", n_components), check_count("nonzeros", nonzeros)
    eps, delta = check_accuracy(eps), check_delta(delta)
    _check_divides(m, s)
    shapes = shapes_of(_vectors(X, vectors, check_count("n_vectors", n_vectors), random_state))
    failure = shapes.failure(m, s, eps)
    components, recommended = _recommended(shapes, m, eps, delta)
    return HashingRisk(
        n_components=m,
        nonzeros=s,
        eps=eps,
        delta=delta,
        n_vectors=len(failure),
        failure=float(failure.max()),
        fraction_at_risk=float(np.mean(failure > delta)),
        relative_sd=float(np.sqrt(shapes.variance(m).max())),
        kurtosis=float(shapes.kurtosis(m, s).max()),
        norm_ratio=float(shapes.largest.max()),
        threshold=norm_ratio_threshold(m, s, eps, delta),
        colliding_pairs=float(shapes.collisions(m, s).mean()),
        recommended_components=components,
        recommended_nonzeros=recommended,
    )


def row_shapes(V: Any) -> RowShapes:
    """The shapes of the rows of V, dense or CSR; rows of zeros keep their length and are left out."""
    a = _unit_squares(V)
    p2, p3, p4 = (_row_sums(a.power(k) if is_sparse(a) else a**k) for k in (2, 3, 4))
    count = _row_sums(a > 0).astype(np.float64)
    return RowShapes(
        pairs=count * (count - 1) / 2,
        largest=np.sqrt(_row_maxima(a)),
        e2=np.where(count > 1, np.maximum((1 - p2) / 2, 0), 0),
        e4=np.where(count > 3, np.maximum((1 - 6 * p2 + 3 * p2**2 + 8 * p3 - 6 * p4) / 24, 0), 0),
        S=np.where(count > 1, np.maximum((p2**2 - p4) / 2, 0), 0),
    )


def shapes_of(parts: Iterable[Any]) -> RowShapes:
    """The shapes of the rows of several matrices."""
    found = [row_shapes(V) for V in parts]
    shapes = RowShapes(*(np.concatenate([getattr(s, f.name) for s in found]) for f in fields(RowShapes)))
    if len(shapes.pairs) == 0:
        raise ValueError("All vectors are zero: hashing cannot change them.")
    return shapes


def norm_ratio_threshold(m: int, s: int, eps: float, delta: float) -> float:
    """Up to about which ||v||_inf / ||v||_2 hashing keeps lengths to (eps, delta); 1 is no restriction."""
    if m >= 2 / (eps**2 * delta):
        return 1.0
    L = log(1 / delta)
    narrow, wide = log(max(1.0, eps * m / L)) / L, log(max(1.0, eps**2 * m / L)) / L
    return min(1.0, sqrt(s * eps) * min(narrow, sqrt(wide)))


def _unit_squares(V: Any) -> Any:
    """v^2 / ||v||^2 for the rows of V that are not zero, of numbers of any size."""
    V = abs((V if is_sparse(V) else np.asarray(V)).astype(np.float64))
    top = _row_maxima(V)
    V = _scaled(V[top > 0], top[top > 0])
    squares = V.power(2) if is_sparse(V) else V**2
    return _scaled(squares, _row_sums(squares))


def _scaled(V: Any, sizes: np.ndarray) -> Any:
    """Row i of V divided by sizes[i]."""
    if not is_sparse(V):
        return V / sizes[:, None]
    V = V.tocsr(copy=True)
    V.data /= np.repeat(sizes, np.diff(V.indptr))
    return V


def _row_sums(V: Any) -> np.ndarray:
    return np.asarray(V.sum(axis=1)).ravel()


def _row_maxima(V: Any) -> np.ndarray:
    return (V.max(axis=1).toarray() if is_sparse(V) else V.max(axis=1)).ravel()


def _vectors(X: Any, vectors: str, n: int, seed: int) -> Iterator[Any]:
    """The vectors to examine, a few at a time."""
    check_choice("vectors", vectors, ("rows", "differences"))
    if vectors == "differences":
        return (x - z for x, z in draw_pairs(X, n, seed).chunks())
    table = sample_rows(X, n, seed)
    return (table.take(slice(start, start + CHUNK)) for start in range(0, len(table), CHUNK))


def _check_divides(m: int, s: int) -> None:
    if m % s:
        near = [t for t in divisors(m) if t > s][:1] + [t for t in divisors(m) if t < s][-1:]
        raise ValueError(
            f"nonzeros must divide n_components: {m} columns cannot be cut into {s} equal blocks. "
            f"Use {' or '.join(map(str, sorted(near)))}."
        )


def _recommended(shapes: RowShapes, m: int, eps: float, delta: float) -> tuple[int, int]:
    """The fewest nonzeros that are safe at m columns, or after doubling m as often as it takes."""
    while True:
        for s in divisors(m):
            if s <= MAX_NONZEROS and shapes.failure(m, s, eps).max() <= delta:
                return m, s
        m *= 2  # Chebyshev's bound falls with 1/m, so this ends
