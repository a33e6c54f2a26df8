"""Number of steps to keep: by an information criterion, or by cross-validation of the whole selection.

Cross-validation repeats the selection without each fold and evaluates it on that fold.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer._runtime.errors import DataError, Message, Setting
from mercer.select.greedy.candidates import ColumnCandidates
from mercer.select.greedy.forward import SelectionPath
from mercer.select.greedy.inner_products import GramInnerProducts, RowInnerProducts
from mercer.select.greedy.stagewise import BinaryProblem, stagewise_selection
from mercer.stats.gram import GramPerFold, Normal


def information_criterion(
    path: SelectionPath, kind: str, loss: str, weight: float, n_other: int, n_outputs: int = 1
) -> np.ndarray:
    """Return AIC or BIC after each step: -2 log likelihood + p log(W) (or 2 p), p weights and `n_other` parameters.

    Normal errors of unknown variance: -2 log likelihood = W log(risk) up to a constant; logistic: 2 W risk. Several
    outputs have separate weights for each column and a common error variance.
    """
    risks, parameters = np.array(path.risks), n_outputs * (np.array(path.sizes[1:]) + n_other)
    fit = n_outputs * weight * np.log(np.maximum(risks, 1e-300)) if loss == "squared" else 2.0 * weight * risks
    return fit + parameters * (np.log(weight) if kind == "bic" else 2.0)


def held_out_from_gram(
    gram: GramPerFold,
    select: Callable[[GramInnerProducts], SelectionPath],
    products: Callable[[Normal], GramInnerProducts],
) -> np.ndarray:
    """Return the mean squared error on held-out folds after each step, from their Gram matrices alone.

    `products` makes the inner products of normal equations, with the means that errors are measured from.
    """
    _refuse_one_fold(len(gram.folds), gram.n)
    scores = []
    for fold in gram.folds:
        train = products(gram.total - fold)
        path = select(train)
        held_out = train.restrict(path.selected, fold)
        G, B, Y = held_out.about(train.mean[path.selected], train.y_mean)
        errors = []
        for t in range(1, len(path.sizes)):
            first, w = slice(path.sizes[t]), path.weights(t)
            errors.append(np.trace(Y) - 2.0 * np.sum(w * B[first]) + np.sum(w * (G[first, first] @ w)))
        scores.append((np.maximum(errors, 0.0) / fold.weight, fold.weight))
    return _mean_of_folds(scores)


def held_out_squares(
    candidates: ColumnCandidates,
    y: np.ndarray,
    weight: np.ndarray | None,
    folds: np.ndarray,
    select: Callable[[RowInnerProducts], SelectionPath],
    centered: bool,
) -> np.ndarray:
    """Return the mean squared error on held-out folds after each step, from rows."""
    w, targets = np.ones(len(y)) if weight is None else weight, y.reshape(len(y), -1)
    scores = []
    for fold in np.unique(folds):
        out = folds == fold
        train = RowInnerProducts(candidates.rows(~out), y[~out], w[~out], centered)
        path, held_out = select(train), candidates.rows(out)
        columns = _columns(held_out, path.selected) - train.mean[path.selected]
        errors = []
        for t in range(1, len(path.sizes)):
            residual = targets[out] - train.y_mean - columns[:, : path.sizes[t]] @ path.weights(t)
            errors.append(np.sum(w[out] @ residual**2) / w[out].sum())
        scores.append((np.array(errors), w[out].sum()))
    return _mean_of_folds(scores)


def held_out_risks(problems: list[BinaryProblem], folds: np.ndarray, k: int) -> np.ndarray:
    """Return the risk on held-out folds after each step, summed over the problems (one per class)."""
    scores = []
    for fold in np.unique(folds):
        out = folds == fold
        train, held_out = [each.rows(~out) for each in problems], [each.rows(out) for each in problems]
        if any(len(np.unique(each.y)) < 2 for each in train):
            raise ValueError("Without one of the folds a class has no or all of the rows: use fewer folds (n_folds).")
        path = stagewise_selection(train, k)
        columns = _columns(held_out[0].candidates, path.selected)
        risks = []
        for t in range(1, len(path.sizes)):
            F = columns[:, : path.sizes[t]] @ path.weights(t) + path.intercept(t)
            risks.append(sum(each.risk.value(each.y, f, each.w) for each, f in zip(held_out, F.T, strict=True)))
        scores.append((np.array(risks), held_out[0].w.sum()))
    return _mean_of_folds(scores)


def folds_of(block: Block, n_folds: int, seed: int) -> np.ndarray:
    """Return the fold of each row, by its hash as in the Gram statistic; refuse a single fold."""
    folds = fold_of(block.ids, n_folds, seed)
    _refuse_one_fold(len(np.unique(folds)), len(block))
    return folds


def _columns(candidates: ColumnCandidates, indices: list[int]) -> np.ndarray:
    return np.column_stack([np.empty((candidates.n, 0)), *(candidates.column(j) for j in indices)])


def _mean_of_folds(scores: list[tuple[np.ndarray, float]]) -> np.ndarray:
    """Average over folds; the last score of a fold stands for steps it did not take."""
    longest = max(len(values) for values, _ in scores)
    if longest == 0:
        return np.zeros(0)
    total = sum(weight for values, weight in scores if len(values))
    filled = [np.append(v, np.full(longest - len(v), v[-1])) * weight / total for v, weight in scores if len(v)]
    return np.sum(filled, axis=0)


def refuse_no_scores(scores: np.ndarray, n_steps: int) -> None:
    """Refuse a path of which no fold can judge a step: without any one of the folds, nothing varies."""
    if n_steps and not len(scores):
        raise _unusable("needs rows that differ in at least two folds, and without any one of them none do.")


def _refuse_one_fold(n_folds: int, n_rows: int) -> None:
    if n_folds < 2:
        reason = "needs at least two distinct rows in different folds (equal rows share a fold)."
        raise _unusable(reason, f"n_samples={n_rows}, but ")


def _unusable(reason: str, found: str = "") -> DataError:
    return DataError(
        f"{found}stop='folds' {reason}",
        remedy=Message("Use ", Setting("stop", None, "bic"), "."),
        parameter="stop",
    )
