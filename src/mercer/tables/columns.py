"""The numbers that columns become. Each encoder is a few learned values and `encode`, rows in, numbers out.

An encoder says from which `columns` it makes what `kind` of features, with which `names`, a list per column. Neighbors
of a kind that has `together` are encoded together, by a function that has looked up once what it needs of them, and
writes to `out` where that is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer._runtime.errors import RowError
from mercer.normalize.ranks import are_repetitions, quantiles, quantiles_of_rows
from mercer.source import Columns
from mercer.tables.facts import ColumnFacts, in_parts
from mercer.tables.values import FEW, ArrowValues, numbers

#: (values, fold of each row or None, number of the first row) -> the numbers of some encoders, rows by columns.
Encode = Callable[..., Any]
#: Rows of numbers that are squashed at a time, and stay in the caches meanwhile.
_STRIP = 1024
_HUGE = 1e150  # its square is still a number
_QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class ColumnBlock:
    """Output columns [start, stop) were made from `column` in its role; `kind` says how."""

    column: str
    role: str
    kind: str
    start: int
    stop: int


@dataclass(frozen=True)
class Squashed:
    """z / sqrt(1 + (z/3)^2) with z = (x - median) / IQR, so |z| < 3 (Holzmüller et al. 2024); missing becomes 0.

    Where the quartiles agree the scale is half the range.
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

    @staticmethod
    def together(parts: list[Squashed]) -> Encode:
        """All columns of numbers at once."""
        names = [part.column for part in parts]
        scale = np.array([part.scale for part in parts])
        middle, half = 0.5 * np.array([part.center for part in parts]), np.where(scale > 0, 0.5 * scale, np.inf)

        def squashed(x, start):
            _refuse_infinity(x, names, start)
            with np.errstate(over="ignore"):
                z = (0.5 * x - middle) / half
            z = np.minimum(np.maximum(z, -_HUGE), _HUGE)
            z /= np.sqrt(1.0 + (z / 3.0) ** 2)
            z[np.isnan(x)] = 0.0
            return z

        def encode(values, folds, start, out=None):
            x = values.numbers(names)
            if out is None and len(x) <= _STRIP:
                return squashed(x, start)
            out = np.empty(x.shape) if out is None else out
            for first in range(0, len(x), _STRIP):
                rows = slice(first, first + _STRIP)
                out[rows] = squashed(x[rows], start + first)
            return out

        return encode

    @classmethod
    def learned(cls, facts: ColumnFacts, sample) -> Squashed:
        """From a sample of rows; the range is that of all rows."""
        return cls(facts.name, *_center_and_scale(facts, numbers(sample.X, facts.name), sample.weight))

    @classmethod
    def all_learned(cls, columns: list[ColumnFacts], sample) -> list[Squashed]:
        """The same of many columns; those of float64 without gaps are sorted together, weights being repetitions."""
        table, n = sample.X.table, len(sample.weight)
        plain = [facts for facts in columns if table[facts.name].type == pa.float64()]
        alike = n > 0 and bool(np.all(sample.weight == sample.weight[0]))
        by_name = {facts.name: facts for facts in plain} if alike or are_repetitions(sample.weight) else {}
        found = {}
        for names in in_parts(list(by_name), n):
            values = np.stack([table[name].to_numpy() for name in names])
            whole = ~np.isnan(values).any(axis=1)
            quartiles = quantiles_of_rows(values, sample.weight, _QUARTILES)
            for name, full, three in zip(names, whole, quartiles, strict=True):
                if full:
                    found[name] = cls(name, *_from_quartiles(by_name[name], *three))
        return [found.get(facts.name) or cls.learned(facts, sample) for facts in columns]


def _refuse_infinity(x, names, start):
    bad = np.isinf(x)
    if bad.any():
        row, j = np.argwhere(bad)[0].tolist()
        remedy = ". Make it missing, or drop the row."
        raise RowError(f"Column {names[j]!r} contains infinity, first at ", start + row, remedy)


def _center_and_scale(facts: ColumnFacts, values, weight) -> tuple[float, float]:
    present = ~np.isnan(values)
    values, weight = values[present], weight[present]
    if len(values) == 0:  # so rarely present that the sample has none
        values, weight = np.array(facts.levels, dtype=np.float64), np.asarray(facts.counts, dtype=np.float64)
    return _from_quartiles(facts, *quantiles(values, weight, _QUARTILES))


def _from_quartiles(facts: ColumnFacts, low, middle, high) -> tuple[float, float]:
    half = 0.5 * high - 0.5 * low
    if half == 0:
        return float(middle), 0.5 * float(facts.high) - 0.5 * float(facts.low)
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
    def together(parts: list[MissingFlag]) -> Encode:
        """The flags of all columns at once."""
        names = [part.column for part in parts]

        def encode(values, folds, start, out=None):
            flags = values.missing(names)
            if out is None:
                return flags
            out[:] = flags
            return out

        return encode


@dataclass(frozen=True)
class Indicators:
    """One indicator per level; pooled levels share "other", unseen ones are all zeros.

    `others` are the pooled levels that fit has seen; None: whatever was not kept, for there were too many to list.
    """

    column: str
    levels: tuple
    others: tuple | None
    kind = "onehot"

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def names(self) -> list[list[str]]:
        return [[f"{self.column}={level}" for level in (*self.levels, *(["other"] * self._pools))]]

    @property
    def _pools(self) -> bool:
        return self.others is None or len(self.others) > 0

    @staticmethod
    def together(parts: list[Indicators]) -> Encode:
        """The indicators of all categories at once."""
        look_ups = [(part.column, part._places()) for part in parts]
        starts = np.cumsum([0, *(len(part.levels) + part._pools for part in parts)]).tolist()

        def encode(values, folds, start, out=None):
            if out is None:
                out = np.zeros((len(values), starts[-1]))
            else:
                out[:] = 0.0
            for (column, places), first in zip(look_ups, starts, strict=False):
                for row, place in places(values, column):
                    out[row, first + place] = 1.0
            return out

        return encode

    def _places(self) -> Callable[[Any, str], Any]:
        """A function that gives pairs of row and indicator, or one pair of arrays of them; unknown levels have none."""
        known, pool = len(self.levels), len(self.levels) if self.others is None else -1
        levels = (*self.levels, *(self.others or ()))
        at = {level: min(i, known) for i, level in enumerate(levels)}

        def places(values, name):
            if len(values) <= FEW:
                found = [-1 if v is None else at.get(v, pool) for v in values.objects(name)]
                return [(row, place) for row, place in enumerate(found) if place >= 0]
            column = values.column(name)
            place = pc.fill_null(pc.index_in(column, pa.array(levels, column.type)), -1).to_numpy()
            place = np.minimum(place, known)
            if pool >= 0:
                place[(place < 0) & pc.is_valid(column).to_numpy()] = pool
            rows = np.flatnonzero(place >= 0)
            return [(rows, place[rows])]

        return places

    @classmethod
    def learned(cls, facts: ColumnFacts, max_onehot: int, rare: int) -> Indicators:
        """The most frequent levels, in sorted order, and the rest."""
        counts = np.asarray(facts.counts)
        kept = [level for level, count in zip(facts.levels, counts, strict=True) if count >= rare][:max_onehot]
        if len(kept) < 2:  # everything is rare: then nothing is
            kept = facts.levels[:max_onehot]
        chosen = set(kept)
        others = tuple(level for level in facts.levels if level not in chosen) if facts.exact else None
        return cls(facts.name, tuple(sorted(kept)), others)


def encode_parts(encoders, table: Columns, folds=None, start: int = 0) -> list:
    """What the encoders make of the rows of a table, in order."""
    values = ArrowValues(table)
    return [encode(values, folds, start) for _, encode in planned(encoders)]


def planned(encoders) -> list[tuple[list, Encode]]:
    """Encoders in their order, neighbors of one kind together, and the function that encodes them."""
    plan: list[tuple[list, Encode]] = []
    for kind, run in groupby(encoders, type):
        parts = list(run)
        if hasattr(kind, "together"):
            plan.append((parts, kind.together(parts)))
        else:
            plan += [([encoder], encoder.encode) for encoder in parts]
    return plan
