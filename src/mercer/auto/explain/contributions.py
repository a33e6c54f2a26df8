"""Contributions of the columns that add up to a prediction, and the importance of each column overall."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer.auto.explain.perturb import Perturbations
from mercer.auto.final.predictor import Predictor

#: Random orders of the columns, besides their reverses.
_N_ORDERS = 8
#: Numbers in the rows that are scored at once.
_BATCH_ENTRIES = 1 << 19
#: Numbers in the rows of the paths of explanations that are scored at once.
_PATH_ENTRIES = 1 << 22


def contributions(
    scores: Callable, x: np.ndarray, baseline: np.ndarray, groups: dict[str, np.ndarray], seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Shapley values of the columns by sampling (Strumbelj and Kononenko 2014): (scores at the baseline, one row each).

    Columns change from the baseline to the row one after the other, in several random orders and their reverses. Each
    column is credited with the change of the scores at its turn. In every order the changes add up to the whole, so
    their means do too.
    """
    base, parts = contributions_of_rows(scores, x[None], baseline, groups, seed)
    return base, parts[0]


def contributions_of_rows(
    scores: Callable, X: np.ndarray, baseline: np.ndarray, groups: dict[str, np.ndarray], seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """`contributions` of several rows: (scores at the baseline, array of rows by columns by outputs).

    The orders are the same for all rows, so those of a row do not depend on the others.
    """
    orders, columns = _orders(len(groups), seed), list(groups.values())
    ends = scores(np.vstack([baseline[None], X]))  # of all paths
    parts = np.zeros((len(X), len(columns), ends.shape[1]))
    batch = max(1, _PATH_ENTRIES // (len(orders) * len(columns) * X.shape[1]))  # many rows at a time are faster
    for start in range(0, len(X), batch):
        rows = slice(start, start + batch)
        values = np.empty((len(orders), len(columns) + 1, len(X[rows]), ends.shape[1]))
        values[:, 0], values[:, -1] = ends[0], ends[1:][rows]
        between = _between(X[rows], baseline, columns, orders)
        if between.size:
            values[:, 1:-1] = scores(between.reshape(-1, X.shape[1])).reshape(values[:, 1:-1].shape)
        for changes, order in zip(np.diff(values, axis=1), orders, strict=True):
            parts[rows, order] += changes.transpose(1, 0, 2)
    return ends[0], parts / len(orders)


def _between(X: np.ndarray, baseline: np.ndarray, columns: list[np.ndarray], orders: list[np.ndarray]) -> np.ndarray:
    """The rows on the way from the baseline to the rows X, without the ends: orders by steps by rows by columns."""
    path = np.empty((len(orders), max(len(columns) - 1, 0), *X.shape))
    path[:] = baseline
    for steps, order in zip(path, orders, strict=True):
        for k, index in enumerate(order[:-1]):
            steps[k:, :, columns[index]] = X[:, columns[index]]
    return path


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
