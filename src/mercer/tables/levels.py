"""Many levels as a few numbers: the mean target of a level, learned out of fold, and how frequent it is.

Levels are told apart by their 64-bit hashes: a million of them collide with probability 3e-8, and numbers are quick to
sort and to look up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer.learn import TargetEncoding
from mercer.source import Columns, Source
from mercer.source.arrow import keys_of
from mercer.stats import Counts
from mercer.tables.facts import ColumnFacts
from mercer.tables.values import hashed

N_FOLDS = 5


def folds_of(block: Block, seed: int) -> np.ndarray:
    """The fold of each row, by the hash of the row as read: those of the ridge path."""
    return fold_of(block.ids, N_FOLDS, seed)


@dataclass(frozen=True)
class TargetMeans:
    """The mean target of each level of some columns, shrunk to the overall mean: see `mercer.learn.TargetEncoding`.

    A level that fit has not seen gets the overall mean.
    """

    columns: tuple[str, ...]
    encoding: TargetEncoding
    kind = "target"

    @property
    def names(self) -> list[list[str]]:
        classes = self.encoding.classes_
        several = classes is not None and len(classes) > 2
        suffixes = [f"target={label}" for label in classes.tolist()] if several else ["target"]
        return [[f"{column}:{suffix}" for suffix in suffixes] for column in self.columns]

    def encode(self, values, folds=None, start=0) -> np.ndarray:
        levels = values.keys(self.columns)
        return self.encoding._apply(levels) if folds is None else self.encoding._held_out(levels, folds)

    @classmethod
    def learned(cls, source: Source, columns: tuple[str, ...], seed: int) -> TargetMeans:
        """Two passes: the classes of the target, and sums per level and fold."""
        encoding = TargetEncoding(n_folds=N_FOLDS, random_state=seed)
        return cls(columns, encoding.fit(_levels_only(source, columns)))


@dataclass(frozen=True)
class Frequency:
    """log(n_c / n) / log(1 / n), n_c of n rows in the level: 0 if in all of them, 1 if new or missing.

    `levels` are the sorted hashes of the levels, `counts` their rows.
    """

    column: str
    levels: np.ndarray
    counts: np.ndarray
    n: float
    kind = "frequency"

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def names(self) -> list[list[str]]:
        return [[f"{self.column}:frequency"]]

    def encode(self, values, folds=None, start=0) -> np.ndarray:
        wanted = values.keys(self.columns)[:, 0]
        place = np.minimum(np.searchsorted(self.levels, wanted), len(self.levels) - 1)
        count = np.where(self.levels[place] == wanted, self.counts[place], 1.0)
        return (np.log(count / self.n) / np.log(1.0 / self.n))[:, None]


def learned_frequencies(source: Source, facts: dict[str, ColumnFacts], columns: tuple[str, ...]) -> list[Frequency]:
    """The frequency of each level; a pass of its own only where there are too many levels to have been counted yet."""
    many = tuple(name for name in columns if not facts[name].exact)
    counted = dict(zip(many, _levels_only(source, many).fold(Counts()).finish(), strict=True)) if many else {}
    found = []
    for name in columns:
        known = facts[name]
        if name in counted:
            levels, counts = counted[name].levels.astype(np.int64), counted[name].counts
            present = levels != _MISSING
            levels, counts = levels[present], counts[present]
        else:
            levels = hashed(Columns(pa.table({name: pa.array(known.levels)})), (name,))[:, 0]
            counts = np.asarray(known.counts)
        order = np.argsort(levels)
        found.append(Frequency(name, levels[order], counts[order].astype(np.float64), max(float(known.n), 2.0)))
    return found


def _levels_only(source: Source, columns: tuple[str, ...]) -> Source:
    return source.map(lambda block: block.with_X(hashed(block.X, columns)))


_MISSING = int(keys_of(pa.chunked_array([pa.nulls(1, pa.string())]), 0).view(np.int64)[0])
