"""How many steps of a selection to keep: by an information criterion, or by folds in which the selection is repeated.

The score of a fold is honest: the candidates are chosen anew on the other folds, then judged on it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer._runtime.errors import DataError, Message, Setting
from mercer.select.greedy.candidates import Columns
from mercer.select.greedy.forward import Trail
from mercer.select.greedy.geometry import FromGram, FromRows
from mercer.select.greedy.stagewise import Task, climb
from mercer.stats.gram import GramPerFold


def information(trail: Trail, kind: str, loss: str, weight: float, free: int, outputs: int = 1) -> np.ndarray:
    """AIC or BIC after each step: -2 log likelihood + p log(W) (or 2 p), p weights and `free` other parameters.

    Normal errors of unknown variance: -2 log likelihood = W log(risk) up to a constant; logistic: 2 W risk. Several
    outputs have as many weights for each column, and errors of one variance.
    """
    risks, parameters = np.array(trail.risks), outputs * (np.array(trail.lengths[1:]) + free)
    fit = outputs * weight * np.log(np.maximum(risks, 1e-300)) if loss == "squared" else 2.0 * weight * risks
    return fit + parameters * (np.log(weight) if kind == "bic" else 2.0)


def held_out_from_gram(gram: GramPerFold, grow: Callable[[FromGram], Trail], geometry) -> np.ndarray:
    """Mean squared error on left-out folds after each step, from their Gram matrices alone.

    `geometry` makes the geometry of normal equations, the means of which the error is measured from.
    """
    _refuse_one_fold(len(gram.folds), gram.n)
    scores = []
    for fold in gram.folds:
        train = geometry(gram.total - fold)
        trail = grow(train)
        judged = train.only(trail.chosen, fold)
        G, B, Y = judged.about(train.mean[trail.chosen], train.y_mean)
        errors = []
        for t in range(1, len(trail.lengths)):
            first, w = slice(trail.lengths[t]), trail.weights(t)
            errors.append(np.trace(Y) - 2.0 * np.sum(w * B[first]) + np.sum(w * (G[first, first] @ w)))
        scores.append((np.maximum(errors, 0.0) / fold.weight, fold.weight))
    return _mean_of_folds(scores)


def held_out_squares(
    candidates: Columns, y, weight, folds, grow: Callable[[FromRows], Trail], centered: bool
) -> np.ndarray:
    """Mean squared error on left-out folds after each step, from rows."""
    w, targets = np.ones(len(y)) if weight is None else weight, y.reshape(len(y), -1)
    scores = []
    for fold in np.unique(folds):
        out = folds == fold
        train = FromRows(candidates.rows(~out), y[~out], w[~out], centered)
        trail, judged = grow(train), candidates.rows(out)
        columns = _columns(judged, trail.chosen) - train.mean[trail.chosen]
        errors = []
        for t in range(1, len(trail.lengths)):
            left = targets[out] - train.y_mean - columns[:, : trail.lengths[t]] @ trail.weights(t)
            errors.append(np.sum(w[out] @ left**2) / w[out].sum())
        scores.append((np.array(errors), w[out].sum()))
    return _mean_of_folds(scores)


def held_out_risks(tasks: list[Task], folds: np.ndarray, k: int) -> np.ndarray:
    """The risk on left-out folds after each step, summed over the tasks (one for each class)."""
    scores = []
    for fold in np.unique(folds):
        out = folds == fold
        train, judged = [task.rows(~out) for task in tasks], [task.rows(out) for task in tasks]
        if any(len(np.unique(task.y)) < 2 for task in train):
            raise ValueError("Without one of the folds a class has no or all of the rows: use fewer folds (n_folds).")
        trail = climb(train, k)
        columns = _columns(judged[0].candidates, trail.chosen)
        risks = []
        for t in range(1, len(trail.lengths)):
            F = columns[:, : trail.lengths[t]] @ trail.weights(t) + trail.intercept(t)
            risks.append(sum(task.risk.value(task.y, f, task.w) for task, f in zip(judged, F.T, strict=True)))
        scores.append((np.array(risks), judged[0].w.sum()))
    return _mean_of_folds(scores)


def fold_of_each(block: Block, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each row, by its hash: that of the Gram statistic."""
    folds = _numeric.buckets(_numeric.splitmix64(block.ids, seed), n_folds)
    _refuse_one_fold(len(np.unique(folds)), len(block))
    return folds


def _columns(candidates, numbers):
    return np.column_stack([np.empty((candidates.n, 0)), *(candidates.column(j) for j in numbers)])


def _mean_of_folds(scores):
    """Fold by fold the last score stands for steps that were not taken."""
    longest = max(len(values) for values, _ in scores)
    if longest == 0:
        return np.zeros(0)
    total = sum(weight for values, weight in scores if len(values))
    filled = [np.append(v, np.full(longest - len(v), v[-1])) * weight / total for v, weight in scores if len(v)]
    return np.sum(filled, axis=0)


def _refuse_one_fold(folds: int, rows: int) -> None:
    if folds < 2:
        raise DataError(
            f"n_samples={rows}, but stop='folds' needs at least two distinct rows in different folds (equal rows share "
            "a fold).",
            remedy=Message("Use ", Setting("stop", None, "bic"), "."),
            parameter="stop",
        )
