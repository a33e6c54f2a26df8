"""Many levels as a few numbers: the mean target of a level, learned out of fold, and how frequent it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from mercer import _numeric
from mercer._numeric.block import Block
from mercer.learn import TargetEncoding
from mercer.source import Columns, Source
from mercer.stats import Counts
from mercer.tables.columns import FEW
from mercer.tables.facts import ColumnFacts

N_FOLDS = 5


def folds_of(block: Block, seed: int) -> np.ndarray:
    """The fold of each row, by the hash of the row as read: those of the ridge path."""
    return _numeric.buckets(_numeric.splitmix64(block.ids, seed), N_FOLDS).astype(np.intp)


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

    def encode(self, table: Columns, folds=None, start=0) -> np.ndarray:
        levels = _objects(table, self.columns)
        return self.encoding._apply(levels) if folds is None else self.encoding._held_out(levels, folds)

    @classmethod
    def learned(cls, source: Source, columns: tuple[str, ...], seed: int) -> TargetMeans:
        """Two passes: the classes of the target, and sums per level and fold."""
        encoding = TargetEncoding(n_folds=N_FOLDS, random_state=seed)
        return cls(columns, encoding.fit(_levels_only(source, columns)))


@dataclass(frozen=True)
class Frequency:
    """log(n_c / n) / log(1 / n), n_c of n rows in the level: 0 if in all of them, 1 if new or missing."""

    column: str
    places: dict
    n: float
    kind = "frequency"

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def names(self) -> list[list[str]]:
        return [[f"{self.column}:frequency"]]

    def encode(self, table: Columns, folds=None, start=0) -> np.ndarray:
        column = table.table[self.column]
        if len(column) <= FEW:
            counts = np.array([self.places.get(level, 1.0) for level in column.to_pylist()])
        else:
            coded = column.combine_chunks().dictionary_encode()
            known = [self.places.get(level, 1.0) for level in coded.dictionary.to_pylist()]
            counts = np.array([*known, 1.0])[pc.fill_null(coded.indices, len(known)).to_numpy()]
        return (np.log(counts / self.n) / np.log(1.0 / self.n))[:, None]


def learned_frequencies(source: Source, facts: dict[str, ColumnFacts], columns: tuple[str, ...]) -> list[Frequency]:
    """The frequency of each level; a pass of its own only where there are too many levels to have been counted yet."""
    known = {name: dict(zip(facts[name].levels, facts[name].counts.tolist(), strict=True)) for name in columns}
    many = tuple(name for name in columns if not facts[name].exact)
    if many:
        counted = _levels_only(source, many).fold(Counts()).finish()
        for name, table in zip(many, counted, strict=True):
            known[name] = dict(zip(table.levels.tolist(), table.counts.tolist(), strict=True))
            known[name].pop(None, None)
    return [Frequency(name, known[name], max(float(facts[name].n), 2.0)) for name in columns]


def _levels_only(source: Source, columns: tuple[str, ...]) -> Source:
    return source.map(lambda block: block.with_X(_objects(block.X, columns)))


def _objects(table: Columns, columns: tuple[str, ...]) -> np.ndarray:
    levels = np.empty((len(table), len(columns)), dtype=object)
    for j, name in enumerate(columns):
        levels[:, j] = table.table[name].to_pylist()
    return levels
