"""Seeded 64-bit hashes of keys, strings and rows: the same bits on every machine, in NumPy and in C++.

Everything rests on the finalizer of splitmix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014), a bijection of 64-bit words; all arithmetic wraps modulo 2^64:

    mix(z):  z ^= z >> 30;  z *= 0xBF58476D1CE4E5B9;  z ^= z >> 27;  z *= 0x94D049BB133111EB;  z ^= z >> 31
    splitmix64(key, seed) = mix((key ^ mix(seed)) + gamma),  gamma = 0x9E3779B97F4A7C15

As mix(0) = 0, the published stream of seed 0 is splitmix64(0), splitmix64(gamma), splitmix64(2 gamma), ...

A row is hashed by its values. Let key(x) be 0 for +-0, one word for every NaN, else the bits of float64(x):

    entry(x, j) = splitmix64(key(x) ^ splitmix64(j)) if key(x) != 0, else 0
    hash(row, seed) = splitmix64(sum over columns j of entry(x_j, j), seed)

so neither the storage (dense or sparse, float32 or float64) nor the order of stored entries matters.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import hashlib
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = [
    "buckets",
    "hash_csr_rows",
    "hash_dense_rows",
    "hash_keyed_rows",
    "hash_object_rows",
    "hash_order",
    "hash_strings",
    "signs",
    "splitmix64",
]

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIERS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_MASK = 0xFFFFFFFFFFFFFFFF
_NAN_KEY = 0x7FF8000000000000
_DATE_SEED = 0x44415445


def splitmix64(keys: Any, seed: int = 0) -> np.ndarray:
    """Hash integer keys of any shape to uint64: mix((key ^ mix(seed)) + gamma), see the module docstring.

    Signed keys and the seed are taken modulo 2^64.

    >>> [hex(h) for h in splitmix64([0, 1]).tolist()]
    ['0xe220a8397b1dcdaf', '0x910a2dec89025cc1']
    """
    words = _words(keys)
    mixed_seed = _mix(np.array([int(seed) & _MASK], np.uint64))
    return _mix((words.reshape(-1) ^ mixed_seed) + _GAMMA).reshape(words.shape)


def buckets(hashes: Any, n_buckets: int) -> np.ndarray:
    """Bucket 0 .. n_buckets - 1 (int64) of each hash: (upper 32 bits * n_buckets) >> 32, no modulo."""
    if not 1 <= n_buckets <= 1 << 32:
        raise ValueError(f"n_buckets must be between 1 and 2**32, got {n_buckets}.")
    upper = _words(hashes) >> np.uint64(32)
    return ((upper * np.uint64(n_buckets)) >> np.uint64(32)).astype(np.int64)


def signs(hashes: Any) -> np.ndarray:
    """Sign +1 or -1 (int8) of each hash from its bit 0, which `buckets` does not read: 1 - 2 * (hash & 1)."""
    return np.int8(1) - np.int8(2) * (_words(hashes) & np.uint64(1)).astype(np.int8)


def hash_dense_rows(X: np.ndarray, seed: int = 0) -> np.ndarray:
    """Hash each row of a two-dimensional float32 or float64 array by its values, see the module docstring."""
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, got shape {X.shape}.")
    entries = _entry_hashes(_number_keys(X), np.arange(X.shape[1]))
    return splitmix64(entries.sum(axis=1, dtype=np.uint64), seed)


def hash_csr_rows(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, seed: int = 0) -> np.ndarray:
    """Hash each row of a CSR matrix (no entry stored twice) as `hash_dense_rows` would."""
    data, indices, indptr = np.asarray(data), np.asarray(indices), np.asarray(indptr)
    _check_csr(data, indices, indptr)
    running = np.zeros(len(data) + 1, np.uint64)
    np.cumsum(_entry_hashes(_number_keys(data), indices), out=running[1:])  # wraps, so differences are exact
    return splitmix64(running[indptr[1:]] - running[indptr[:-1]], seed)


def hash_strings(strings: Any, seed: int = 0) -> np.ndarray:
    """Hash strings of any shape to uint64: BLAKE2b with an 8-byte digest of their UTF-8 bytes, keyed by seed.

    >>> hash_strings(["a", "b", "a"]).tolist() == hash_strings(["a", "b", "a"], seed=0).tolist()
    True
    """
    strings = np.asarray(strings)
    if strings.size and strings.dtype.kind not in "UO":
        raise TypeError(f"strings must hold str, got an array of {strings.dtype}.")
    known: dict = {}
    flat = strings.ravel().tolist()
    for string in flat:
        if string not in known:
            known[string] = digest(utf8(string), b"", seed)
    return np.fromiter(map(known.__getitem__, flat), np.uint64, len(flat)).reshape(strings.shape)


def hash_object_rows(columns: Sequence[Any], seed: int = 0) -> np.ndarray:
    """Hash the rows of a mixed table given as a list of columns of equal length.

    Numbers are hashed by value regardless of type (True, 1 and 1.0 agree), so a table of numbers hashes as by
    `hash_dense_rows`; numbers that no float64 equals are hashed by their decimal digits. Text never equals a number
    ("1" is not 1); None, NaN and NaT are the same missing value; dates are hashed by the moment they denote.

    >>> table = [np.array([1.0, 2.0, 1.0]), np.array(["x", None, "x"], dtype=object)]
    >>> first, second, third = hash_object_rows(table).tolist()
    >>> first == third, first == second
    (True, False)
    """
    columns = [np.asarray(column) for column in columns]
    if any(column.ndim != 1 or len(column) != len(columns[0]) for column in columns):
        raise ValueError(f"columns must be of one length, got shapes {[column.shape for column in columns]}.")
    return hash_keyed_rows([_column_keys(column, j) for j, column in enumerate(columns)], seed)


def hash_keyed_rows(keys: Sequence[np.ndarray], seed: int = 0) -> np.ndarray:
    """Hash the rows of a table given as 64-bit keys of its values, one array per column."""
    if any(len(column) != len(keys[0]) for column in keys):
        raise ValueError("keys must hold as many words for each column.")
    total = np.zeros(len(keys[0]) if keys else 0, np.uint64)
    for j, column in enumerate(keys):
        total += _entry_hashes(column, j)
    return splitmix64(total, seed)


def hash_order(hashes: np.ndarray) -> np.ndarray:
    """Stable argsort (int64) of uint64 hashes; fast for uniformly distributed words."""
    return np.argsort(hashes, kind="stable")


def column_keys(column: Any, j: int) -> np.ndarray:
    """64-bit keys of the values of column j of a mixed table, as in `hash_object_rows`."""
    return _column_keys(np.asarray(column), j)


def _mix(z: np.ndarray) -> np.ndarray:
    """Finalizer of splitmix64 (on arrays: NumPy scalars would warn about overflow)."""
    z = (z ^ (z >> np.uint64(30))) * _MULTIPLIERS[0]
    z = (z ^ (z >> np.uint64(27))) * _MULTIPLIERS[1]
    return z ^ (z >> np.uint64(31))


def _words(values: Any) -> np.ndarray:
    """Integers of any type as 64-bit words, negative ones modulo 2^64."""
    values = np.asarray(values)
    if values.dtype.kind not in "iu":
        raise TypeError(f"keys and hashes must be integers, got an array of {values.dtype}.")
    return values.astype(np.uint64, copy=False)


def _number_keys(values: np.ndarray) -> np.ndarray:
    """key(x): the bits of float64(x), with -0.0 replaced by 0.0 and every NaN by the same one."""
    with np.errstate(invalid="ignore"):  # signaling NaN
        values = values.astype(np.float64) + 0.0
        return np.where(np.isnan(values), np.uint64(_NAN_KEY), values.view(np.uint64))


def _entry_hashes(keys: np.ndarray, columns: Any) -> np.ndarray:
    """Term of each entry in the sum of its row; `columns` broadcasts against `keys`."""
    return np.where(keys == 0, np.uint64(0), splitmix64(keys ^ splitmix64(columns)))


def _check_csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> None:
    if len(data) != len(indices):
        raise ValueError(f"data and indices must be of one length, got {len(data)} and {len(indices)}.")
    if len(indptr) == 0 or indptr[0] < 0 or indptr[-1] > len(data) or np.any(indptr[1:] < indptr[:-1]):
        raise ValueError(f"indptr must have an entry per row and one more, rising within 0 .. {len(data)}.")


def _column_keys(column: np.ndarray, j: int) -> np.ndarray:
    """64-bit keys of the values of column j of a mixed table; 0 stands for the number zero."""
    kind = column.dtype.kind
    if kind in "bf" and column.dtype.itemsize <= 8:
        return _number_keys(column)
    if kind in "iu":
        return _integer_keys(column)
    if kind == "U":
        return hash_strings(column)
    if kind == "M":
        return _date_keys(column)
    return _object_keys(column.astype(object), j)


def _integer_keys(column: np.ndarray) -> np.ndarray:
    """Keys of integers; those that no float64 equals, often identifiers, are hashed by their digits."""
    keys = _number_keys(column)
    for row in np.flatnonzero((column > 1 << 53) | (column < -(1 << 53) if column.dtype.kind == "i" else False)):
        keys[row] = _object_key(column[row].item())
    return keys


def _object_keys(column: np.ndarray, j: int) -> np.ndarray:
    known: dict = {}
    values = column.tolist()
    for row, value in enumerate(values):
        try:
            if value not in known:
                known[value] = _object_key(value)
        except TypeError as error:
            raise TypeError(
                f"column {j}, row {row} holds a {type(value).__name__}, which has no row hash: "
                "turn it into text or numbers first."
            ) from error
    return np.fromiter(map(known.__getitem__, values), np.uint64, len(values))


def _object_key(value: Any) -> int:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return _NAN_KEY
    if isinstance(value, str):
        return digest(utf8(value), b"", 0)
    if isinstance(value, bytes):
        return digest(value, b"bytes", 0)
    if isinstance(value, datetime.date | np.datetime64):
        return _date_key(value)
    if isinstance(value, numbers.Real | decimal.Decimal | np.bool_):
        return _exact_number_key(value.item() if isinstance(value, np.generic) else value)
    raise TypeError(f"no row hash for a {type(value).__name__}")


def _exact_number_key(value: Any) -> int:
    try:
        nearest = float(value)
    except OverflowError:  # an integer beyond the largest float64
        nearest = None
    if nearest == value or nearest != nearest:
        return int(_number_keys(np.array([nearest]))[0])
    return digest(str(fractions.Fraction(value)).encode(), b"number", 0)


def _date_key(moment: Any) -> int:
    """Key of a date or time; with a time zone, that of the same moment in UTC."""
    if getattr(moment, "tzinfo", None) is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    to_datetime64 = getattr(moment, "to_datetime64", None)  # of pandas: keeps the nanoseconds
    return _date_keys(np.array([to_datetime64() if to_datetime64 else np.datetime64(moment)]))[0].item()


def _date_keys(moments: np.ndarray) -> np.ndarray:
    """Hash of day and nanosecond of the day: independent of the unit (days, seconds, nanoseconds)."""
    missing = np.isnat(moments)
    moments = np.where(missing, np.datetime64(0, "D"), moments)
    days = moments.astype("M8[D]")
    rest = (moments - days).astype("m8[ns]")
    keys = splitmix64(days.view(np.int64) ^ splitmix64(rest.view(np.int64), _DATE_SEED).view(np.int64))
    return np.where(missing, np.uint64(_NAN_KEY), keys)


def utf8(string: str) -> bytes:
    """Encode a string, lone surrogates included."""
    if not isinstance(string, str):
        raise TypeError(f"strings must hold str, got {string!r}.")
    return string.encode("utf-8", "surrogatepass")


def digest(message: bytes, kind: bytes, seed: int) -> int:
    """64-bit keyed BLAKE2b digest of a message of some kind."""
    key = (int(seed) & _MASK).to_bytes(8, "little")
    return int.from_bytes(hashlib.blake2b(message, digest_size=8, key=key, person=kind).digest(), "little")
