"""Columns of high cardinality as few numbers: the out-of-fold mean target and the frequency of each category.

Categories are identified by their 64-bit hashes: a million of them collide with probability 3e-8, and integers are
fast to sort and to look up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer.learn import TargetEncoding
from mercer.source import Columns, Source
from mercer.source.arrow import keys_of
from mercer.stats import Counts
from mercer.stats.folds import FoldPlan
from mercer.tables.profile import ColumnProfile
from mercer.tables.values import hashed

N_FOLDS = 5


def folds_of(block: Block, seed: int, plan: FoldPlan | None = None) -> np.ndarray:
    """The fold of each row: those of the ridge path."""
    return fold_of(block.ids, N_FOLDS, seed) if plan is None else plan.rows(block.ids, seed).labels


@dataclass(frozen=True)
class TargetMeans:
    """The mean target of each category of some columns, shrunk to the overall mean: see `mercer.learn.TargetEncoding`.

    A category not seen in fit gets the overall mean.
    """

    columns: tuple[str, ...]
    encoding: TargetEncoding
    kind = "target"

    @property
    def names(self) -> list[list[str]]:
        n_outputs, classes = len(self.encoding.target_mean_), self.encoding.classes_
        labels = range(n_outputs) if classes is None else classes.tolist()
        suffixes = [f"target={label}" for label in labels] if n_outputs > 1 else ["target"]
        return [[f"{column}:{suffix}" for suffix in suffixes] for column in self.columns]

    def encode(self, values: Any, folds: np.ndarray | None = None, start: int = 0) -> np.ndarray:
        keys = values.keys(self.columns)
        return self.encoding._apply(keys) if folds is None else self.encoding._held_out(keys, folds)

    @classmethod
    def learned(cls, source: Source, columns: tuple[str, ...], seed: int) -> TargetMeans:
        """Two passes: the classes of the target, and sums per category and fold."""
        encoding = TargetEncoding(n_folds=N_FOLDS, random_state=seed)
        return cls(columns, encoding.fit(_keys_only(source, columns)))


@dataclass(frozen=True)
class Frequency:
    """log(n_c / n) / log(1 / n) where n_c of n rows hold the category: 0 if all do, 1 if it is new or missing.

    `keys` are the sorted hashes of the categories, `counts` their numbers of rows.
    """

    column: str
    keys: np.ndarray
    counts: np.ndarray
    n: float
    kind = "frequency"
    _former = {"levels": "keys"}

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def names(self) -> list[list[str]]:
        return [[f"{self.column}:frequency"]]

    def encode(self, values: Any, folds: np.ndarray | None = None, start: int = 0) -> np.ndarray:
        wanted = values.keys(self.columns)[:, 0]
        index = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        count = np.where(self.keys[index] == wanted, self.counts[index], 1.0)
        return (np.log(count / self.n) / np.log(1.0 / self.n))[:, None]


def learned_frequencies(
    source: Source, profiles: dict[str, ColumnProfile], columns: tuple[str, ...]
) -> list[Frequency]:
    """The frequency of each category, with a pass for those columns that have too many to be in their profile."""
    many = tuple(name for name in columns if not profiles[name].exact)
    counted = dict(zip(many, _keys_only(source, many).fold(Counts()).finish(), strict=True)) if many else {}
    found = []
    for name in columns:
        profile = profiles[name]
        if name in counted:
            keys, counts = counted[name].levels.astype(np.int64), counted[name].counts
            present = keys != _MISSING
            keys, counts = keys[present], counts[present]
        else:
            keys = hashed(Columns(pa.table({name: pa.array(profile.values)})), (name,))[:, 0]
            counts = np.asarray(profile.counts)
        order = np.argsort(keys)
        found.append(Frequency(name, keys[order], counts[order].astype(np.float64), max(float(profile.n), 2.0)))
    return found


def _keys_only(source: Source, columns: tuple[str, ...]) -> Source:
    return source.map(lambda block: block.with_X(hashed(block.X, columns)))


_MISSING = int(keys_of(pa.chunked_array([pa.nulls(1, pa.string())]), 0).view(np.int64)[0])
