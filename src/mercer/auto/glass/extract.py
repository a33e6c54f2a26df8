"""From weights of features that are additive over columns and pairs to the tables of these.

A block is additive if its score is a sum over the axes. Its table of an axis has the differences from a row at the most
frequent levels. Tables of pairs come from the blocks that have pairs: boosted terms and surfaces. How what is additive
is divided between pairs and columns does not matter here, since tables are purified afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.auto.features.union import Features
from mercer.auto.glass.axes import TableAxes
from mercer.auto.glass.blocks import BoostedTermsBlock, PairSurfacesBlock
from mercer.learn.additive.booster import LevelRows
from mercer.learn.additive.tables import AdditiveTables, PairTable


@dataclass(frozen=True)
class AdditiveWeights:
    """Weights and intercept of a linear model of some features, and the tables of its boosted terms if it has any."""

    coef: np.ndarray
    intercept: np.ndarray
    boosted: AdditiveTables | None = None


def tables_of(
    features: Features, models: list[AdditiveWeights], table: TableAxes, data: LevelRows, pairs: np.ndarray
) -> tuple[AdditiveTables, np.ndarray]:
    """The tables of linear models of the same features, as outputs side by side, and their intercepts."""
    mains = _Mains(table, data)
    intercept = np.concatenate([each.intercept for each in models]).astype(np.float64)
    n_outputs = len(intercept)
    points = [np.zeros((axis.n_levels, n_outputs)) for axis in table.axes]
    cells = [np.zeros((*(int(data.coarse[j].max()) + 1 for j in pair), n_outputs)) for pair in pairs.tolist()]
    for block, columns in zip(features.blocks, features.slices(), strict=True):
        if isinstance(block, BoostedTermsBlock):
            _add_boosted(models, columns, points, cells)
            continue
        coef = np.hstack([each.coef[columns] for each in models])
        if isinstance(block, PairSurfacesBlock):
            _add_surfaces(block, coef, data, pairs, cells)
            continue
        changes, origin = mains.of(block.features(mains.rows), coef)
        intercept = intercept + origin
        for main, change in zip(points, changes, strict=True):
            main += change
    made = [PairTable(j, k, data.coarse[j], data.coarse[k], cells[p]) for p, (j, k) in enumerate(pairs.tolist())]
    return AdditiveTables(table.axes, points, made), intercept


class _Mains:
    """Encoded rows at the most frequent level of all axes but one: first none, then each level of each axis."""

    def __init__(self, table: TableAxes, data: LevelRows):
        base = np.array([np.bincount(codes).argmax() for codes in data.codes.T], dtype=np.uint8)
        sizes = [axis.n_levels for axis in table.axes]
        codes = np.tile(base, (1 + sum(sizes), 1))
        self.starts = 1 + np.cumsum([0, *sizes])
        for j, size in enumerate(sizes):
            codes[self.starts[j] : self.starts[j + 1], j] = np.arange(size)
        self.rows = table.rows(codes)

    def of(self, Z: np.ndarray, coef: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        """The tables of the axes from features of the rows, and the score of the first."""
        origin = Z[0].astype(np.float64) @ coef
        scores = Z.astype(np.float64) @ coef - origin
        return [scores[a:b] for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)], origin


def _add_boosted(
    models: list[AdditiveWeights], columns: slice, points: list[np.ndarray], cells: list[np.ndarray]
) -> None:
    """Add the boosted terms of each model, times their weights."""
    start = 0
    for each in models:
        boosted, coef = each.boosted, each.coef[columns]
        assert boosted is not None
        outputs, width = slice(start, start + coef.shape[1]), boosted.n_outputs
        terms = [*boosted.mains, *(pair.values for pair in boosted.pairs)]
        for t, (out, values) in enumerate(zip([*points, *cells], terms, strict=True)):
            out[..., outputs] += values @ coef[t * width : (t + 1) * width]
        start += coef.shape[1]


def _add_surfaces(
    block: PairSurfacesBlock, coef: np.ndarray, data: LevelRows, pairs: np.ndarray, cells: list[np.ndarray]
) -> None:
    """Add the surfaces at the coarse levels of their axes."""
    index, start = {pair: p for p, pair in enumerate(map(tuple, pairs.tolist()))}, 0
    for first, second, one, other in block.parts:
        levels = [np.unique(data.coarse[j], return_index=True)[1] for j in (first, second)]
        stop = start + one.shape[1] * other.shape[1]
        weights = coef[start:stop].reshape(one.shape[1], -1)
        inner = (one[levels[0]] @ weights).reshape(-1, other.shape[1], coef.shape[1])
        cells[index[first, second]] += np.einsum("aqo,bq->abo", inner, other[levels[1]])
        start = stop
