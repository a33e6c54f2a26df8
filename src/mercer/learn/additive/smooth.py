"""Smooth curves of boosted columns: P-splines (Eilers and Marx 1996) with a knot for each bin.

The points theta of the bins of a number, of weights W, are replaced by those that minimize

    sum of W (s - theta)^2 + penalty * sum of squared second differences of s.

The penalty of each column is that of the smallest loss of held-out rows; there is none where the data want steps.
"""

from __future__ import annotations

import numpy as np

from mercer._numeric.linalg import dense
from mercer.learn.additive.booster import TermBooster
from mercer.learn.additive.tables import AdditiveTables

#: Penalties over the mean weight of a bin.
_PENALTIES = (1.0, 10.0, 100.0, 1_000.0, 10_000.0)
#: Bins below which a column has no curve.
_MIN_LEVELS = 5


def smoothed(per_fold: list[AdditiveTables], boosters: list[TermBooster]) -> list[AdditiveTables]:
    """The tables without each fold, with the curve of each column as smooth as the held-out rows want it."""
    data, mains = boosters[0].data, [list(tables.mains) for tables in per_fold]
    scores = [_scores(booster, tables) for booster, tables in zip(boosters, per_fold, strict=True)]
    lowest = _total(boosters, scores)
    for j, axis in enumerate(data.axes):
        n = axis.n_known
        if axis.is_category or n < _MIN_LEVELS:
            continue
        weight = np.bincount(data.codes[:, j], boosters[0].row_weight, minlength=axis.n_levels)[:n]
        curves = np.concatenate([each[j][:n] for each in mains], axis=1)
        codes = [data.codes[booster.rows, j] for booster in boosters]
        for penalty in _PENALTIES:
            tried = [
                np.concatenate([curve, each[j][n:]])
                for curve, each in zip(np.split(whittaker(curves, weight, penalty), len(mains), 1), mains, strict=True)
            ]
            moved = [
                score + (new - each[j])[code]
                for score, new, each, code in zip(scores, tried, mains, codes, strict=True)
            ]
            loss = _total(boosters, moved)
            if loss > lowest:
                continue
            lowest, scores = loss, moved
            for each, new in zip(mains, tried, strict=True):
                each[j] = new
    return [
        tables.with_values(each, [pair.values for pair in tables.pairs])
        for tables, each in zip(per_fold, mains, strict=True)
    ]


def _scores(booster: TermBooster, tables: AdditiveTables) -> np.ndarray:
    """The scores of the held-out rows by the tables."""
    codes = booster.data.codes[booster.rows]
    points = np.empty((len(codes), tables.n_terms * tables.n_outputs))
    tables.write(codes, points)
    return booster.base + points.reshape(len(codes), tables.n_terms, tables.n_outputs).sum(axis=1)


def _total(boosters: list[TermBooster], scores: list[np.ndarray]) -> float:
    return sum(booster.held_out_loss.loss(score) for booster, score in zip(boosters, scores, strict=True))


def whittaker(curves: np.ndarray, weight: np.ndarray, penalty: float) -> np.ndarray:
    """Columns of points at equidistant knots, smoothed: the penalty is relative to the mean weight of a knot."""
    n = len(curves)
    second = np.diff(np.eye(n), n=2, axis=0)
    relative = weight / max(float(weight.mean()), np.finfo(float).tiny) + 1e-9
    factor = dense.cho_factor(np.diag(relative) + penalty * second.T @ second)
    return dense.cho_solve(factor, relative[:, None] * curves)
