"""Exact power sums: any partition, order and merge of the rows gives the same bits.

The sums of w_i x_i and of w_i x_i^2 are represented exactly, as integers times a power of two, in limbs of
radix 2^32 (Kulisch's long accumulator; Neal, "Fast exact summation using small and large superaccumulators",
2015). A pair ``(low, S)`` of an int and an int64 array of shape (columns, L) stands for

    value_j = sum over t of S[j, t] * 2^(32 (low + t))

in canonical form: two's complement in base 2^32, that is limbs in [0, 2^32) but for the last, in
[-2^31, 2^31), with the fewest limbs that hold every column; all zero is (0, L = 0). Equal values have equal
bits. Offsets of 1e15, values of 1e200 and subnormals cost no accuracy; rounding happens once, in
`exact_mean_and_variance`.
"""

from __future__ import annotations

import fractions
import math
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "ExactMoments",
    "add_limbs",
    "exact_mean_and_variance",
    "exact_power_sums",
    "exact_power_sums_csr",
    "limbs_to_integers",
]

_DIGIT = 0xFFFFFFFF
_HALF = 1 << 31
_BLOCK = 1 << 16  # entries at a time: bounds memory and keeps limbs from overflowing between carries

Limbs = tuple[int, np.ndarray]


class ExactMoments(NamedTuple):
    """Mean, population variance and standard deviation per column, each rounded once."""

    mean: np.ndarray
    variance: np.ndarray
    std: np.ndarray


def exact_power_sums(X: np.ndarray, weight: np.ndarray | None = None) -> tuple[int, np.ndarray, int, np.ndarray]:
    """Exact limbs ``(low1, S1, low2, S2)`` of sum_i w_i x_ij and sum_i w_i x_ij^2; w_i = 1 without weights.

    >>> low1, S1, low2, S2 = exact_power_sums(np.array([[1e200], [1.0], [-1e200]]))
    >>> low1, S1.tolist()
    (0, [[1]])
    """
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, got shape {X.shape}.")
    n, d = X.shape
    weight = _checked_weight(weight, n, "rows")
    bad = np.argwhere(~np.isfinite(X))
    if len(bad):
        raise ValueError(f"X[{bad[0][0]}, {bad[0][1]}] is not finite: exact sums need finite values.")
    columns = np.tile(np.arange(d), n)
    return _power_sums(X.ravel(), columns, d, None if weight is None else np.repeat(weight, d))


def exact_power_sums_csr(
    data: np.ndarray, indices: np.ndarray, n_columns: int, weight: np.ndarray | None = None
) -> tuple[int, np.ndarray, int, np.ndarray]:
    """`exact_power_sums` of the entries of a CSR matrix; `weight` has one number per stored entry."""
    data, indices = np.asarray(data), np.asarray(indices)
    if data.ndim != 1 or data.shape != indices.shape:
        raise ValueError(f"data and indices must be of one length, got {data.size} and {indices.size}.")
    weight = _checked_weight(weight, len(data), "entries")
    outside = np.flatnonzero((indices < 0) | (indices >= n_columns))
    if len(outside):
        raise ValueError(f"indices[{outside[0]}] is outside of 0 .. {n_columns - 1}.")
    bad = np.flatnonzero(~np.isfinite(data))
    if len(bad):
        raise ValueError(f"data[{bad[0]}], in column {indices[bad[0]]}, is not finite: exact sums need finite values.")
    return _power_sums(data, indices.astype(np.int64), n_columns, weight)


def add_limbs(low_a: int, A: np.ndarray, low_b: int, B: np.ndarray) -> Limbs:
    """Canonical ``(low, C)`` of the sum: exactly associative and commutative.

    Arrays without limbs or without columns are the identity. Limbs need not be canonical, only below 2^62.

    >>> add_limbs(0, np.array([[3], [-1]]), 1, np.array([[1], [1]]))
    (0, array([[ 3, 1], [4294967295, 0]]))
    """
    if len(A) == 0 or len(B) == 0:
        return _canonical(low_b, B) if len(A) == 0 else _canonical(low_a, A)
    if len(A) != len(B):
        raise ValueError(f"sums over {len(A)} and over {len(B)} columns cannot be added.")
    low = min(low_a, low_b)
    total = np.zeros((len(A), max(low_a + A.shape[1], low_b + B.shape[1]) - low), np.int64)
    total[:, low_a - low : low_a - low + A.shape[1]] += A
    total[:, low_b - low : low_b - low + B.shape[1]] += B
    return _canonical(low, total)


def limbs_to_integers(low: int, S: np.ndarray) -> tuple[list[int], int]:
    """Integers and one exponent e with value_j = integers[j] * 2^e.

    >>> limbs_to_integers(-1, np.array([[5, 1], [0, -1]]))
    ([4294967301, -4294967296], -32)
    """
    low, S = _canonical(low, S)
    rows = (S & _DIGIT).astype("<u4")  # canonical limbs are the words of a two's complement
    return [int.from_bytes(row.tobytes(), "little", signed=True) for row in rows], 32 * low


def exact_mean_and_variance(total: Any, low1: int, S1: np.ndarray, low2: int, S2: np.ndarray) -> ExactMoments:
    """Mean, population variance and standard deviation from exact sums, each a correctly rounded float64.

    mean = s1 / w and variance = (w s2 - s1^2) / w^2 are formed in integers, without cancellation. The standard
    deviation is the root of that fraction, finite even where the variance overflows float64 to inf.

    Parameters
    ----------
    total : the sum w of the weights: a number (the count of rows), an array with one number per column, or
        limbs ``(low, S)`` with one row, or one row per column, such as `exact_power_sums` of the weights.
    low1, S1, low2, S2 : what `exact_power_sums` returns.
    """
    d = len(S1)
    first, e1 = limbs_to_integers(low1, S1)
    second, e2 = limbs_to_integers(low2, S2)
    moments = np.empty((3, d))
    for j, (s1, s2, w) in enumerate(zip(first, second, _totals(total, d), strict=True)):
        moments[:, j] = _finish_column(s1, e1, s2, e2, *w)
    return ExactMoments(*moments)


def _checked_weight(weight: np.ndarray | None, n: int, what: str) -> np.ndarray | None:
    if weight is None:
        return None
    weight = np.asarray(weight, np.float64)
    if weight.shape != (n,):
        raise ValueError(f"weight must have one number for each of {n} {what}, got shape {weight.shape}.")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise ValueError(f"weight[{bad[0]}] must be finite and not negative.")
    return weight


# --- sums


def _power_sums(
    values: np.ndarray, columns: np.ndarray, n_columns: int, weight: np.ndarray | None
) -> tuple[int, np.ndarray, int, np.ndarray]:
    """Sum the entries block by block; the blocks do not affect the result."""
    totals: list[Limbs] = [(0, np.zeros((n_columns, 0), np.int64))] * 2
    for start in range(0, len(values), _BLOCK):
        block = slice(start, start + _BLOCK)
        terms = _power_terms(values[block], columns[block], None if weight is None else weight[block])
        for power, (indices, negative, digits, exponent) in enumerate(terms):
            block_sum = _sum_terms(indices, negative, digits, exponent, n_columns)
            totals[power] = add_limbs(*totals[power], *block_sum)
    return (*totals[0], *totals[1])


def _power_terms(values: np.ndarray, columns: np.ndarray, weight: np.ndarray | None) -> tuple[Any, Any]:
    """Terms w x and w x^2 of one block as (columns, negative, digits, exponents)."""
    kept = values != 0 if weight is None else (values != 0) & (weight != 0)
    values, columns = values[kept], columns[kept]
    x, e = _digits(values)
    w, f = ([np.ones(1, np.uint64)], 0) if weight is None else _digits(weight[kept])
    wx = _multiply(x, w)
    negative = values < 0
    return (columns, negative, wx, e + f), (columns, np.zeros_like(negative), _multiply(wx, x), 2 * e + f)


def _digits(values: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """|value| = (sum over k of digits[k] 2^(32 k)) * 2^exponent, subnormal numbers included."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    mantissa = np.ldexp(np.abs(fraction), 53).astype(np.uint64)
    return [mantissa & np.uint64(_DIGIT), mantissa >> np.uint64(32)], exponent.astype(np.int64) - 53


def _multiply(a: list[np.ndarray], b: list[np.ndarray]) -> list[Any]:
    """Digits of the product of two numbers given as digits."""
    product: list[Any] = [np.uint64(0)] * (len(a) + len(b) + 1)
    for i, digit in enumerate(a):
        for j, other in enumerate(b):
            both = digit * other
            product[i + j] = product[i + j] + (both & np.uint64(_DIGIT))
            product[i + j + 1] = product[i + j + 1] + (both >> np.uint64(32))
    for k in range(len(product) - 1):
        product[k + 1] = product[k + 1] + (product[k] >> np.uint64(32))
        product[k] = product[k] & np.uint64(_DIGIT)
    return product[:-1]


def _sum_terms(
    columns: np.ndarray, negative: np.ndarray, digits: list[np.ndarray], exponent: np.ndarray, n_columns: int
) -> Limbs:
    """Canonical limbs of the sum per column of terms +-(digits) * 2^exponent."""
    if len(columns) == 0:
        return 0, np.zeros((n_columns, 0), np.int64)
    position, shift = exponent >> 5, (exponent & 31).astype(np.uint64)
    low = int(position.min())
    width = int(position.max()) - low + len(digits) + 1
    limbs = np.zeros(n_columns * width, np.int64)
    at = columns * width + (position - low)
    sign = np.where(negative, -1, 1)
    for k, digit in enumerate(digits):
        shifted = digit << shift
        np.add.at(limbs, at + k, sign * (shifted & np.uint64(_DIGIT)).astype(np.int64))
        np.add.at(limbs, at + k + 1, sign * (shifted >> np.uint64(32)).astype(np.int64))
    return _canonical(low, limbs.reshape(n_columns, width))


def _canonical(low: int, S: np.ndarray) -> Limbs:
    """Carry, then drop limbs that no column needs."""
    S = np.concatenate([S, np.zeros((len(S), 2), np.int64)], axis=1)  # two limbs hold the carry out of any int64
    for t in range(S.shape[1] - 1):
        S[:, t + 1] += S[:, t] >> 32
        S[:, t] &= _DIGIT
    top = S.shape[1]
    while top:
        extension = -(S[:, top - 2] >= _HALF).astype(np.int64) if top > 1 else np.int64(0)
        if np.any(S[:, top - 1] != extension):
            break
        top -= 1
        S[:, top - 1] += extension << 32 if top else 0
    used = np.flatnonzero(S[:, :top].any(axis=0))
    return (low + int(used[0]), S[:, used[0] : top].copy()) if len(used) else (0, S[:, :0].copy())


# --- finish


def _totals(total: Any, d: int) -> list[tuple[int, int]]:
    """Total weight of each column as a fraction of two integers."""
    if isinstance(total, tuple):
        integers, exponent = limbs_to_integers(*total)
        fractions_ = [_scaled(integer, exponent, 1) for integer in integers]
    else:
        numbers = total.ravel().tolist() if isinstance(total, np.ndarray | np.generic) else [total]
        fractions_ = [fractions.Fraction(number).as_integer_ratio() for number in numbers]
    if len(fractions_) not in (1, d):
        raise ValueError(f"total must be one number or one for each of {d} columns, got {len(fractions_)}.")
    if any(numerator <= 0 for numerator, _ in fractions_):
        raise ValueError("total must be positive: moments need at least one row of positive weight.")
    return fractions_ * d if len(fractions_) == 1 else fractions_


def _finish_column(s1: int, e1: int, s2: int, e2: int, p: int, q: int) -> tuple[float, float, float]:
    """Moments of one column from s1 2^e1, s2 2^e2 and the total weight p / q."""
    mean = _divide(*_scaled(s1 * q, e1, p))
    e = min(e2, 2 * e1)
    numerator = (s2 * q * p << (e2 - e)) - ((s1 * q) ** 2 << (2 * e1 - e))
    if numerator < 0:
        raise ValueError("the variance would be negative: the sums must be of the same rows and weights.")
    variance = _scaled(numerator, e, p * p)
    return mean, _divide(*variance), _divide(*_root(*variance))


def _scaled(numerator: int, exponent: int, denominator: int) -> tuple[int, int]:
    """Fraction numerator * 2^exponent / denominator."""
    return (numerator << exponent, denominator) if exponent >= 0 else (numerator, denominator << -exponent)


def _divide(numerator: int, denominator: int) -> float:
    """Correctly rounded quotient of two integers; inf beyond float64."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def _root(numerator: int, denominator: int) -> tuple[int, int]:
    """Square root of a fraction, as a fraction that rounds to the same float64.

    It has the 55 leading bits of the root, rounded to odd, so that the conversion to float64 is the only rounding
    (Boldo & Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
    """
    if numerator == 0:
        return 0, 1
    shift = (numerator.bit_length() - denominator.bit_length() - 109) // 2
    numerator, denominator = _scaled(numerator, -2 * shift, denominator)
    root = math.isqrt(numerator // denominator)
    root |= root * root * denominator != numerator
    return _scaled(root, shift, 1)
