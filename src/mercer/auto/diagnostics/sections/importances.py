"""Permutation importance on held-out rows, with error bars."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import ColumnImportance, Importances
from mercer.auto.diagnostics.sections.outputs import (
    effective_rows,
    estimate,
    is_sparse,
    n_features,
    row_losses,
    row_weights,
    sampled,
    t_quantile,
)
from mercer.auto.explain.contributions import importances, importances_of_many
from mercer.auto.explain.perturb import Perturbations

_N_SHUFFLES = 3
#: Columns that are measured; of more columns those whose shuffling changes scores most.
MAX_COLUMNS = 30
#: Rows of that first choice: at most, at least, and times columns.
_MAX_SCREENED, _MIN_SCREENED, _SCREENED_ENTRIES = 200, 20, 40_000
#: Numbers that are computed in all, about; and rows.
_ENTRIES, _MIN_ROWS, _MAX_ROWS = 25_000_000, 200, 1000
#: Encoded columns from which on each block computes only what a column affects.
_MANY_COLUMNS = 1000

#: (encoded columns of one column of the table, a permutation of the rows) -> scores with the column shuffled.
Shuffled = Callable[[np.ndarray, np.ndarray], np.ndarray]


def section(rows: HeldOutRows) -> Importances | None:
    """Increase of RMSE or log-loss when a column is shuffled, strongest first; None where nothing can change.

    Each increase is the mean over 3 shuffles, with the interval of a mean of paired differences of the rows' losses.
    """
    one_class = rows.classes is not None and len(rows.classes) < 2
    if one_class or not rows.groups or len(rows.y) < 2 or not np.any(rows.predictor.coef):
        return None
    names = screened(rows)
    size = _ENTRIES // (len(names) * _N_SHUFFLES * n_features(rows.predictor.features, rows.X))
    index = sampled(len(rows.y), min(_MAX_ROWS, max(_MIN_ROWS, size)))
    shuffled, rng = _scoring(rows, index), np.random.default_rng([rows.seed, 1])
    before, weight = row_losses(rows, rows.scores[index], index), row_weights(rows, index)
    found: list[ColumnImportance] = []
    for name in names:
        orders = [rng.permutation(len(index)) for _ in range(_N_SHUFFLES)]
        after = [row_losses(rows, shuffled(rows.groups[name], order), index) for order in orders]
        value, half = _increase(before, np.array(after), np.array(orders), weight, rows.classes is None)
        found.append({"column": name, "increase": estimate(value, half), "fraction": max(value, 0.0)})
    total = sum(each["fraction"] for each in found)
    for each in found:
        each["fraction"] = each["fraction"] / total if total > 0 else 0.0
    found.sort(key=lambda each: -each["increase"]["value"])
    return {"metric": "rmse" if rows.classes is None else "log_loss", "columns": found}


def screened(rows: HeldOutRows) -> list[str]:
    """The columns to measure: all, or of many those whose shuffling changes the scores of some rows most."""
    groups = rows.groups
    if len(groups) <= MAX_COLUMNS:
        return list(groups)
    size = max(_MIN_SCREENED, min(_MAX_SCREENED, _SCREENED_ENTRIES // len(groups)))
    index = sampled(len(rows.y), size)
    if is_sparse(rows):
        parts = {name: rows.X[:, columns] @ rows.predictor.coef[columns] for name, columns in groups.items()}
        ranked = sorted(parts, key=lambda name: -float(np.sum(np.var(parts[name], axis=0))))
    elif rows.X.shape[1] > _MANY_COLUMNS:
        ranked = list(importances_of_many(rows.predictor, rows.X[index], groups, rows.seed))
    else:
        ranked = list(importances(rows.predictor.scores, rows.X[index], groups, rows.seed))
    return ranked[:MAX_COLUMNS]


def _scoring(rows: HeldOutRows, index: np.ndarray) -> Shuffled:
    """The scores of rows with a column shuffled, over the temperature."""
    X, predictor, before = rows.X[index], rows.predictor, rows.scores[index]
    unit = 1.0 if rows.classes is None else predictor.temperature
    changes = None
    if not is_sparse(rows) and X.shape[1] > _MANY_COLUMNS:
        changes = Perturbations(predictor.features, predictor.coef, X)

    def shuffled(columns: np.ndarray, order: np.ndarray) -> np.ndarray:
        if is_sparse(rows):
            part = np.asarray(X[:, columns] @ predictor.coef[columns])
            return before + (part[order] - part) / unit
        if changes is not None:
            return before + changes.changed(columns, X[np.ix_(order, columns)]) / unit
        other = X.copy()
        other[:, columns] = X[np.ix_(order, columns)]
        return predictor.scores(other) / unit

    return shuffled


def _increase(
    before: np.ndarray, after: np.ndarray, orders: np.ndarray, weight: np.ndarray, root: bool
) -> tuple[float, float | None]:
    """The increase of the mean loss, or of its root, and half the width of its 95 % interval.

    before : the losses of the rows; after : those of each shuffle; orders : the row that each row takes its value from

    The difference d(i, j) of row i with the value of row j is a two-sample statistic: row i enters its mean by its mean
    difference a_i, and once more by the mean b_i of the differences of the rows that take its value. With R shuffles
    the variance of the mean of d is (var(a + b) - var(d) / R) / n: the second term is what both means count twice.
    It is taken to be at least var(a) / n. The root of a mean loss is linearized.
    """
    w, n = weight / weight.mean(), len(before)
    means = [float(np.average(each, weights=weight)) for each in (before, after.mean(axis=0))]
    value, inner, outer = means[1] - means[0], 1.0, 1.0
    if root:
        roots = np.sqrt(means)
        value = float(roots[1] - roots[0])
        inner, outer = (0.5 / each if each > 0 else 0.0 for each in roots.tolist())
    size = effective_rows(weight)
    if size <= 1.0 + 1e-9:
        return value, None
    change = w * outer * (after - before - (means[1] - means[0]))
    own = change.mean(axis=0) + w * (outer - inner) * (before - means[0])
    taken = np.zeros(n)
    np.add.at(taken, orders, change / len(orders))
    variance = max(np.mean((own + taken) ** 2) - np.mean(change**2) / len(orders), np.mean(own**2))
    return value, t_quantile(size) * float(np.sqrt(variance / (n - 1)))
