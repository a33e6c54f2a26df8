"""Encoders of numbers, missing values and categories: a few learned values and `encode`, rows in, numbers out.

An encoder states its input `columns`, the `kind` of its features, and their `names`, a list per column. Adjacent
encoders of a class that has `batched` are encoded together by the function that it returns; that function writes to
`out` if given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer._runtime.errors import RowError
from mercer.normalize.ranks import are_repetitions, quantiles, quantiles_of_rows
from mercer.source import Columns
from mercer.tables.profile import ColumnProfile, in_batches
from mercer.tables.values import MAX_PLAIN_ROWS, ArrowValues, numbers

#: (values, fold of each row or None, index of the first row) -> features of some encoders, rows by columns.
Encode = Callable[..., Any]
#: Rows that are transformed at a time, few enough to stay in the cache.
_CHUNK_ROWS = 1024
_MAX_Z = 1e150  # its square does not overflow
_QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class ColumnBlock:
    """Output columns [start, stop) that encode `column` in its role; `kind` is the kind of encoding."""

    column: str
    role: str
    kind: str
    start: int
    stop: int


def columns_by_name(blocks: Iterable[ColumnBlock]) -> dict[str, np.ndarray]:
    """The indices of the output columns that encode each column of the table."""
    found: dict[str, list[int]] = {}
    for block in blocks:
        found.setdefault(block.column, []).extend(range(block.start, block.stop))
    return {name: np.array(columns) for name, columns in found.items()}


@dataclass(frozen=True)
class SmoothClipped:
    """Robust scaling and smooth clipping (Holzmüller et al. 2024): z / sqrt(1 + (z/3)^2), z = (x - median) / IQR.

    The result lies within (-3, 3); missing becomes 0. If the quartiles are equal, the scale is half the range.
    """

    column: str
    center: float
    scale: float
    kind = "number"

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def names(self) -> list[list[str]]:
        return [[self.column]]

    def decoded(self, z: np.ndarray) -> np.ndarray:
        """The numbers that are encoded as z."""
        z = np.clip(z / 3.0, -1 + 1e-16, 1 - 1e-16)
        with np.errstate(over="ignore"):
            x = self.center + self.scale * (3.0 * z / np.sqrt((1 - z) * (1 + z)))
        largest = np.finfo(np.float64).max
        return np.clip(x, -largest, largest)

    @staticmethod
    def squash(z: np.ndarray) -> np.ndarray:
        """z / sqrt(1 + (z/3)^2), in place."""
        z /= np.sqrt(1.0 + (z / 3.0) ** 2)
        return z

    @classmethod
    def batched(cls, parts: list[SmoothClipped]) -> Encode:
        """A function that encodes several columns of numbers at once."""
        names = [part.column for part in parts]
        scale = np.array([part.scale for part in parts])
        middle, half = 0.5 * np.array([part.center for part in parts]), np.where(scale > 0, 0.5 * scale, np.inf)

        def clipped(x: np.ndarray, start: int) -> np.ndarray:
            refuse_infinity(x, names, start)
            with np.errstate(over="ignore"):
                z = (0.5 * x - middle) / half
            z = np.minimum(np.maximum(z, -_MAX_Z), _MAX_Z)
            z = cls.squash(z)
            z[np.isnan(x)] = 0.0
            return z

        def encode(values: Any, folds: np.ndarray | None, start: int, out: np.ndarray | None = None) -> np.ndarray:
            x = values.numbers(names)
            if out is None and len(x) <= _CHUNK_ROWS:
                return clipped(x, start)
            out = np.empty(x.shape) if out is None else out
            for first in range(0, len(x), _CHUNK_ROWS):
                rows = slice(first, first + _CHUNK_ROWS)
                out[rows] = clipped(x[rows], start + first)
            return out

        return encode

    @classmethod
    def learned(cls, profile: ColumnProfile, sample: Any) -> SmoothClipped:
        """From a sample of rows; the range is that of all rows."""
        return cls(profile.name, *_center_and_scale(profile, numbers(sample.X, profile.name), sample.weight))

    @classmethod
    def all_learned(cls, columns: list[ColumnProfile], sample: Any) -> list[SmoothClipped]:
        """The same for many columns; complete float64 columns are sorted together, weights being repetitions."""
        table, n = sample.X.table, len(sample.weight)
        plain = [profile for profile in columns if table[profile.name].type == pa.float64()]
        equal = n > 0 and bool(np.all(sample.weight == sample.weight[0]))
        by_name = {profile.name: profile for profile in plain} if equal or are_repetitions(sample.weight) else {}
        found = {}
        for names in in_batches(list(by_name), n):
            values = np.stack([table[name].to_numpy() for name in names])
            complete = ~np.isnan(values).any(axis=1)
            quartiles = quantiles_of_rows(values, sample.weight, _QUARTILES)
            for name, usable, three in zip(names, complete, quartiles, strict=True):
                if usable:
                    found[name] = cls(name, *_from_quartiles(by_name[name], *three))
        return [found.get(profile.name) or cls.learned(profile, sample) for profile in columns]


def refuse_infinity(x: np.ndarray, names: list[str], start: int) -> None:
    bad = np.isinf(x)
    if bad.any():
        row, j = np.argwhere(bad)[0].tolist()
        remedy = "Make it missing, or drop the row."
        problem = f"Column {names[j]!r} contains infinity, first at "
        raise RowError(problem, start + row, ".", remedy=remedy, column=names[j], value=float(x[row, j]))


def _center_and_scale(profile: ColumnProfile, values: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    present = ~np.isnan(values)
    values, weight = values[present], weight[present]
    if len(values) == 0:  # so rarely present that the sample has none
        values, weight = np.asarray(profile.array, dtype=np.float64), np.asarray(profile.counts, dtype=np.float64)
    return _from_quartiles(profile, *quantiles(values, weight, _QUARTILES))


def _from_quartiles(profile: ColumnProfile, low: float, middle: float, high: float) -> tuple[float, float]:
    half = 0.5 * high - 0.5 * low
    if half == 0:
        return float(middle), 0.5 * float(profile.high) - 0.5 * float(profile.low)
    return float(middle), float(2.0 * half if half < 0.25 * np.finfo(float).max else half)


@dataclass(frozen=True)
class MissingFlag:
    """1 where the value is missing, else 0."""

    column: str
    kind = "missing"

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def names(self) -> list[list[str]]:
        return [[f"{self.column}=missing"]]

    @staticmethod
    def batched(parts: list[MissingFlag]) -> Encode:
        """A function that flags several columns at once."""
        names = [part.column for part in parts]

        def encode(values: Any, folds: np.ndarray | None, start: int, out: np.ndarray | None = None) -> np.ndarray:
            flags = values.missing(names)
            if out is None:
                return flags
            out[:] = flags
            return out

        return encode


@dataclass(frozen=True)
class Indicators:
    """One indicator per category; rare categories are pooled as "other", unseen ones are all zeros.

    `pooled` are the categories of the pool; None pools everything not in `categories`, for there were too many to list.
    """

    column: str
    categories: tuple
    pooled: tuple | None
    kind = "onehot"
    _former = {"levels": "categories", "others": "pooled"}

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def names(self) -> list[list[str]]:
        return [[f"{self.column}={category}" for category in (*self.categories, *(["other"] * self._has_pool))]]

    @property
    def _has_pool(self) -> bool:
        return self.pooled is None or len(self.pooled) > 0

    @staticmethod
    def batched(parts: list[Indicators]) -> Encode:
        """A function that encodes several columns of categories at once."""
        lookups = [(part.column, part._lookup()) for part in parts]
        starts = np.cumsum([0, *(len(part.categories) + part._has_pool for part in parts)]).tolist()

        def encode(values: Any, folds: np.ndarray | None, start: int, out: np.ndarray | None = None) -> np.ndarray:
            if out is None:
                out = np.zeros((len(values), starts[-1]))
            else:
                out[:] = 0.0
            for (column, indices), first in zip(lookups, starts, strict=False):
                for row, index in indices(values, column):
                    out[row, first + index] = 1.0
            return out

        return encode

    def _lookup(self) -> Callable[[Any, str], Any]:
        """A function that gives pairs (row, indicator), or one pair of arrays of them; unknown categories have none."""
        n_kept, pool = len(self.categories), len(self.categories) if self.pooled is None else -1
        known = (*self.categories, *(self.pooled or ()))
        index_of = {category: min(i, n_kept) for i, category in enumerate(known)}

        def indices(values: Any, name: str) -> list:
            if len(values) <= MAX_PLAIN_ROWS:
                found = [-1 if v is None else index_of.get(v, pool) for v in values.objects(name)]
                return [(row, index) for row, index in enumerate(found) if index >= 0]
            column = values.column(name)
            index = pc.fill_null(pc.index_in(column, pa.array(known, column.type)), -1).to_numpy()
            index = np.minimum(index, n_kept)
            if pool >= 0:
                index[(index < 0) & pc.is_valid(column).to_numpy()] = pool
            rows = np.flatnonzero(index >= 0)
            return [(rows, index[rows])]

        return indices

    @classmethod
    def learned(cls, profile: ColumnProfile, max_onehot: int, min_rows: int) -> Indicators:
        """The most frequent categories of at least `min_rows` rows, in sorted order, and the pool of the others."""
        counts = np.asarray(profile.counts)
        kept = [value for value, count in zip(profile.values, counts, strict=True) if count >= min_rows][:max_onehot]
        if len(kept) < 2:  # all are rare: keep them
            kept = profile.values[:max_onehot]
        chosen = set(kept)
        pooled = tuple(value for value in profile.values if value not in chosen) if profile.exact else None
        return cls(profile.name, tuple(sorted(kept)), pooled)


def encode_table(encoders: list, table: Columns, folds: np.ndarray | None = None, start: int = 0) -> list:
    """The features that the encoders compute from the rows of a table, in order."""
    values = ArrowValues(table)
    return [encode(values, folds, start) for _, encode in grouped_encoders(encoders)]


def grouped_encoders(encoders: list) -> list[tuple[list, Encode]]:
    """Encoders in their order, adjacent ones of one class together, and the function that encodes them."""
    groups: list[tuple[list, Encode]] = []
    for kind, run in groupby(encoders, type):
        parts = list(run)
        if hasattr(kind, "batched"):
            groups.append((parts, kind.batched(parts)))
        else:
            groups += [([encoder], encoder.encode) for encoder in parts]
    return groups
