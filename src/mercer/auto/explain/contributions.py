"""Which columns made a prediction: contributions that add up to it, and what each column is worth overall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer.auto.explain.perturb import Moves
from mercer.auto.final.predictor import Predictor

_ORDERS = 8
#: Numbers of rows that are scored at once.
_ENTRIES = 1 << 19


@dataclass(frozen=True)
class Explanation:
    """`prediction` = `baseline` + the sum of `contributions`, one per column of the table.

    For a class all three are log-odds (before the temperature) of `output`, the class explained.
    """

    baseline: float
    prediction: float
    contributions: dict[str, float]
    output: object = None


def contributions(scores: Callable, x: np.ndarray, baseline: np.ndarray, groups: dict[str, np.ndarray], seed=0):
    """Shapley values of the columns by sampling (Strumbelj and Kononenko 2014): (scores at the baseline, one row each).

    Columns change from the baseline to the row one after the other, in several random orders and their reverses; each
    is credited with the change of the scores that it made. In every order the changes add up to the whole, so their
    means do too.
    """
    names, orders = list(groups), _orders(len(groups), seed)
    path = np.empty((len(orders), len(names) + 1, len(x)))
    for steps, order in zip(path, orders, strict=True):
        steps[:] = baseline
        for k, place in enumerate(order):
            columns = groups[names[place]]
            steps[k + 1 :, columns] = x[columns]
    values = scores(path.reshape(-1, len(x))).reshape(len(orders), len(names) + 1, -1)
    total = np.zeros((len(names), values.shape[2]))
    for changes, order in zip(np.diff(values, axis=1), orders, strict=True):
        total[order] += changes
    return values[0, 0], total / len(orders)


def contributions_of_many(predictor: Predictor, x: np.ndarray, baseline: np.ndarray, groups, seed=0):
    """The same for a table of very many columns: each block of features says what a change of one moves."""
    moves = Moves(predictor.dictionary, predictor.coef, baseline[None])
    parts = moves.shares(x, list(groups.values()), _orders(len(groups), seed))
    return predictor.scores(baseline[None])[0], parts


def _orders(n: int, seed) -> list[np.ndarray]:
    """Random orders of n things, and their reverses."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(n) for _ in range(_ORDERS if n > 1 else 1)]
    return orders + [order[::-1] for order in orders]


def importances(scores: Callable, X: np.ndarray, groups: dict[str, np.ndarray], seed=0) -> dict[str, float]:
    """Shares of the mean squared change of the scores when one column is shuffled among the rows."""
    rng, truth, names = np.random.default_rng(seed), scores(X), list(groups)
    moved: dict[str, float] = {}
    at_once = max(1, _ENTRIES // max(X.size, 1))  # scores take many rows in less time
    for first in range(0, len(names), at_once):
        some = names[first : first + at_once]
        others = np.repeat(X[None], len(some), axis=0)
        for other, name in zip(others, some, strict=True):
            other[:, groups[name]] = X[np.ix_(rng.permutation(len(X)), groups[name])]
        changed = scores(others.reshape(-1, X.shape[1])).reshape(len(some), *truth.shape)
        moved |= {name: float(np.mean((each - truth) ** 2)) for name, each in zip(some, changed, strict=True)}
    return _as_shares(moved)


def importances_of_many(predictor: Predictor, X: np.ndarray, groups: dict[str, np.ndarray], seed=0) -> dict[str, float]:
    """The same for a table of very many columns."""
    rng, moves = np.random.default_rng(seed), Moves(predictor.dictionary, predictor.coef, X)
    moved = {}
    for name, columns in groups.items():
        values = X[np.ix_(rng.permutation(len(X)), columns)]
        moved[name] = float(np.mean(moves.moved(columns, values) ** 2))
    return _as_shares(moved)


def _as_shares(moved: dict[str, float]) -> dict[str, float]:
    total = sum(moved.values())
    return {name: value / total if total > 0 else 0.0 for name, value in sorted(moved.items(), key=lambda m: -m[1])}
