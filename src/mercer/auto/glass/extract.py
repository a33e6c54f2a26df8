"""From a model that is additive over columns and pairs to the tables of its terms."""

from __future__ import annotations

import numpy as np

from mercer.auto.final.predictor import Predictor
from mercer.auto.glass.axes import TableAxes
from mercer.learn.additive.booster import LevelRows
from mercer.learn.additive.tables import AdditiveTables, PairTable


def tables_of(predictor: Predictor, table: TableAxes, data: LevelRows, pairs: np.ndarray) -> tuple:
    """The tables of a predictor of rows at levels, and its intercept: scores = intercept + sum of the points.

    Points are differences of scores from a row at the most frequent levels, pairs their mixed second differences.
    """
    base = np.array([np.bincount(codes).argmax() for codes in data.codes.T])
    first = predictor.scores(table.rows(base[None].astype(np.uint8)))[0]
    mains = [_scores(predictor, table, base, {j: np.arange(a.n_levels)}) - first for j, a in enumerate(table.axes)]
    made = []
    for j, k in pairs.tolist():
        coarse = data.coarse[j], data.coarse[k]
        levels = [np.unique(each, return_index=True)[1] for each in coarse]
        grid = np.indices([len(each) for each in levels]).reshape(2, -1)
        at = {j: levels[0][grid[0]], k: levels[1][grid[1]]}
        values = _scores(predictor, table, base, at) - first - mains[j][at[j]] - mains[k][at[k]]
        made.append(PairTable(j, k, *coarse, values.reshape(len(levels[0]), len(levels[1]), -1)))
    return AdditiveTables(table.axes, mains, made), first


def _scores(predictor: Predictor, table: TableAxes, base: np.ndarray, levels: dict[int, np.ndarray]) -> np.ndarray:
    """The scores of rows at the levels `base` but for some axes."""
    codes = np.tile(base, (len(next(iter(levels.values()))), 1))
    for j, level in levels.items():
        codes[:, j] = level
    return predictor.scores(table.rows(codes.astype(np.uint8)))
