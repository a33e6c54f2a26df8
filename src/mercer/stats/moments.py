"""Mean, spread and range of each column, exactly, in one pass."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mercer import _numeric
from mercer.stats.base import Statistic

_NO_LIMBS = (0, np.zeros((0, 0), dtype=np.int64))


@dataclass(frozen=True)
class ColumnMoments:
    """What `Moments` says: one entry per column. `var` and `std` are those of the population (divide by n)."""

    n: int
    weight: float
    mean: np.ndarray
    std: np.ndarray
    var: np.ndarray
    min: np.ndarray
    max: np.ndarray


@dataclass(frozen=True)
class Moments(Statistic):
    """Sums of x and of x^2 per column as exact integers, and the extremes.

    The sums are superaccumulators (Kulisch; Neal 2015): integers wide enough for every bit. Addition of integers
    is associative, so any split, order or merge gives the same bits, and neither an offset of 1e15 nor a value of
    1e200 costs accuracy: mean = S1/n and var = (n S2 - S1^2)/n^2 are formed before anything is rounded.
    """

    n: int = 0
    weight: tuple = _NO_LIMBS
    first: tuple = _NO_LIMBS
    second: tuple = _NO_LIMBS
    min: np.ndarray = field(default_factory=lambda: np.zeros(0))
    max: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def of(self, block):
        if len(block) == 0:
            return Moments()
        weight = None if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        low1, first, low2, second = _power_sums(block.X, weight)
        kept = block.X if weight is None or np.all(weight > 0) else block.X[weight > 0]
        low, high = _extremes(kept)
        return Moments(len(block), _total_weight(len(block), weight), (low1, first), (low2, second), low, high)

    def _merge(self, other):
        return replace(
            self,
            n=self.n + other.n,
            weight=_numeric.add_limbs(*self.weight, *other.weight),
            first=_numeric.add_limbs(*self.first, *other.first),
            second=_numeric.add_limbs(*self.second, *other.second),
            min=np.minimum(self.min, other.min),
            max=np.maximum(self.max, other.max),
        )

    def finish(self) -> ColumnMoments:
        if self.n == 0:
            raise ValueError("No rows: the moments of nothing are not defined.")
        (total,), exponent = _numeric.limbs_to_integers(*self.weight)
        mean, std, var = _numeric.exact_mean_and_variance(self.weight, self.first, self.second)
        return ColumnMoments(self.n, float(np.ldexp(total, exponent)), mean, std, var, self.min, self.max)


def _power_sums(X, weight):
    if hasattr(X, "tocsr"):
        csr = X.tocsr()
        per_entry = None if weight is None else np.repeat(weight, np.diff(csr.indptr))
        return _numeric.exact_power_sums_csr(csr.data, csr.indices, csr.shape[1], per_entry)
    return _numeric.exact_power_sums(X, weight)


def _total_weight(n, weight):
    ones = np.full((n, 1), 1.0) if weight is None else weight[:, None]
    return _numeric.exact_power_sums(ones, None)[:2]


def _extremes(X):
    if X.shape[0] == 0:
        return np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    if hasattr(X, "tocsr"):
        return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    return X.min(axis=0), X.max(axis=0)
