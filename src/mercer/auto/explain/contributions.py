"""Contributions of the columns that add up to a prediction, and the importance of each column overall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer.auto.explain.perturb import Perturbations
from mercer.auto.final.predictor import Predictor

#: Random orders of the columns, besides their reverses.
_N_ORDERS = 8
#: Numbers in the rows that are scored at once.
_BATCH_ENTRIES = 1 << 19


@dataclass(frozen=True)
class Explanation:
    """`prediction` = `baseline` + the sum of `contributions`, one per column of the table.

    For a class all three are log-odds (before the temperature) of `output`, the class explained.
    """

    baseline: float
    prediction: float
    contributions: dict[str, float]
    output: object = None


def contributions(
    scores: Callable, x: np.ndarray, baseline: np.ndarray, groups: dict[str, np.ndarray], seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Shapley values of the columns by sampling (Strumbelj and Kononenko 2014): (scores at the baseline, one row each).

    Columns change from the baseline to the row one after the other, in several random orders and their reverses. Each
    column is credited with the change of the scores at its turn. In every order the changes add up to the whole, so
    their means do too.
    """
    names, orders = list(groups), _orders(len(groups), seed)
    path = np.empty((len(orders), len(names) + 1, len(x)))
    for steps, order in zip(path, orders, strict=True):
        steps[:] = baseline
        for k, index in enumerate(order):
            columns = groups[names[index]]
            steps[k + 1 :, columns] = x[columns]
    values = scores(path.reshape(-1, len(x))).reshape(len(orders), len(names) + 1, -1)
    total = np.zeros((len(names), values.shape[2]))
    for changes, order in zip(np.diff(values, axis=1), orders, strict=True):
        total[order] += changes
    return values[0, 0], total / len(orders)


def contributions_of_many(
    predictor: Predictor, x: np.ndarray, baseline: np.ndarray, groups: dict[str, np.ndarray], seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The same for a table of very many columns: each block of features computes what a change of one affects."""
    changes = Perturbations(predictor.features, predictor.coef, baseline[None])
    parts = changes.mean_path(x, list(groups.values()), _orders(len(groups), seed))
    return predictor.scores(baseline[None])[0], parts


def _orders(n: int, seed: int) -> list[np.ndarray]:
    """Random permutations of 0..n-1, and their reverses."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(n) for _ in range(_N_ORDERS if n > 1 else 1)]
    return orders + [order[::-1] for order in orders]


def importances(scores: Callable, X: np.ndarray, groups: dict[str, np.ndarray], seed: int = 0) -> dict[str, float]:
    """Permutation importance: mean squared changes of the scores when one column is shuffled, as fractions."""
    rng, truth, names = np.random.default_rng(seed), scores(X), list(groups)
    squares: dict[str, float] = {}
    batch = max(1, _BATCH_ENTRIES // max(X.size, 1))  # many rows at a time are faster
    for first in range(0, len(names), batch):
        some = names[first : first + batch]
        others = np.repeat(X[None], len(some), axis=0)
        for other, name in zip(others, some, strict=True):
            other[:, groups[name]] = X[np.ix_(rng.permutation(len(X)), groups[name])]
        changed = scores(others.reshape(-1, X.shape[1])).reshape(len(some), *truth.shape)
        squares |= {name: float(np.mean((each - truth) ** 2)) for name, each in zip(some, changed, strict=True)}
    return _as_fractions(squares)


def importances_of_many(
    predictor: Predictor, X: np.ndarray, groups: dict[str, np.ndarray], seed: int = 0
) -> dict[str, float]:
    """The same for a table of very many columns."""
    rng, changes = np.random.default_rng(seed), Perturbations(predictor.features, predictor.coef, X)
    squares = {}
    for name, columns in groups.items():
        values = X[np.ix_(rng.permutation(len(X)), columns)]
        squares[name] = float(np.mean(changes.changed(columns, values) ** 2))
    return _as_fractions(squares)


def _as_fractions(squares: dict[str, float]) -> dict[str, float]:
    total, ranked = sum(squares.values()), sorted(squares.items(), key=lambda each: -each[1])
    return {name: value / total if total > 0 else 0.0 for name, value in ranked}
