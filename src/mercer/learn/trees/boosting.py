"""Boosted trees with out-of-fold scores.

The ensembles outside each fold grow side by side; early stopping goes by the loss of the held-out rows of all folds.
The mean of the same ensembles scores new rows: a bag of as many members as folds, with a lower variance than one
ensemble of all rows, and nothing is grown twice.

Friedman, "Greedy function approximation", 2001; Ke et al., "LightGBM", 2017; Wolpert, "Stacked generalization", 1992.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from mercer._runtime.pool import ordered_map
from mercer.learn.trees.ensemble import TreeEnsemble
from mercer.learn.trees.fold_booster import FoldBooster, never
from mercer.learn.trees.losses import TreeLoss
from mercer.learn.trees.params import TreeParams
from mercer.learn.trees.training_data import TrainingData
from mercer.stats.folds import RowFolds

#: Relative gain in loss by larger trees from which on still larger ones are tried: of a fold, less may be chance.
SIZE_GAIN = 0.03


@dataclass(frozen=True)
class BoostingResult:
    """Out-of-fold scores of the training rows, the ensemble outside each fold, and how boosting went.

    `losses` are the mean losses of held-out rows at each evaluation, `gains` the total gains of splits on each column.
    """

    scores: np.ndarray
    ensembles: list[TreeEnsemble]
    losses: np.ndarray
    n_rounds: int
    gains: np.ndarray


@dataclass(frozen=True)
class ParamsTrial:
    """The loss of the first fold under parameters, and the seconds that took."""

    params: TreeParams
    loss: float
    seconds: float


@dataclass(frozen=True)
class ParamsComparison:
    """Parameters that were compared on the first fold, and the booster of the best."""

    trials: list[ParamsTrial]
    best: FoldBooster


def boost(
    X: np.ndarray | TrainingData,
    loss: TreeLoss,
    folds: np.ndarray | RowFolds,
    params: TreeParams,
    should_stop: Callable[[], bool] = never,
    first: FoldBooster | None = None,
) -> BoostingResult:
    """Grow an ensemble outside each fold until the held-out loss of all folds no longer falls.

    X : (n, p) rows; folds : the fold of each row, 0..K-1; should_stop : asked between rounds whether to stop there;
    first : the booster of the fold that `compare_params` compares with, if it has grown one

    Where folds are not predicted from all others, as in an order in time, the mean of the ensembles is of no use for
    new rows: one ensemble of all rows, of as many rounds, takes their place.
    """
    data, folds = TrainingData.of(X), RowFolds.of(folds)
    compared = first_fold(folds)
    boosters = [
        first if k == compared and first is not None else FoldBooster(loss, data, params, folds, k, i + 1)
        for i, k in enumerate(folds.known)
    ]
    losses = _held_out_losses(boosters, params, should_stop)
    last = len(losses) - 1
    best = last if params.early_stopping_rounds is None else int(np.argmin(losses))
    n_rounds = params.rounds_at(best)
    scores = np.empty((len(folds), len(boosters[0].base)))
    for booster in boosters:
        scores[booster.rows] = booster.held_out[best]
    gains = np.sum([booster.gains(params.rounds_at(last)) for booster in boosters], axis=0)
    if not folds.is_partition:
        whole = FoldBooster(loss, data, params, folds, None, 1 + len(boosters))
        whole.loss_at(best)
        boosters = [whole]
    ensembles = [booster.ensemble(n_rounds) for booster in boosters]
    n_tested = len(folds) if folds.is_partition else max(1, int(folds.tested.sum()))
    return BoostingResult(scores, ensembles, np.array(losses) / n_tested, n_rounds, gains)


def first_fold(folds: RowFolds) -> int:
    """The fold by which parameters are compared: the first, or the last tested one where folds follow an order."""
    tested = [fold for fold in folds.known if folds.is_tested(fold)]
    return folds.known[0] if folds.is_partition or not tested else tested[-1]


def gains_per_fold(
    X: np.ndarray | TrainingData,
    loss: TreeLoss,
    folds: np.ndarray | RowFolds,
    params: TreeParams,
    should_stop: Callable[[], bool] = never,
) -> list[np.ndarray]:
    """The gains of splits on each column in all rounds, cross-fitted: without each fold 0..max.

    The list is empty if boosting was stopped.
    """
    data, folds = TrainingData.of(X), RowFolds.of(folds)
    data.binned(params.max_bins)  # before threads ask for it

    def gains(fold: int) -> np.ndarray | None:
        booster = FoldBooster(loss, data, params, folds, fold, fold + 1)
        finished = np.isfinite(booster.loss_at(params.n_evaluations, should_stop))
        return booster.gains(params.n_estimators) if finished else None

    found = list(ordered_map(gains, range(int(folds.labels.max()) + 1)))
    return [] if any(each is None for each in found) else found


def compare_params(
    X: np.ndarray | TrainingData,
    loss: TreeLoss,
    folds: np.ndarray | RowFolds,
    candidates: Sequence[TreeParams],
    should_stop: Callable[[], bool] = never,
    larger: TreeParams | None = None,
) -> ParamsComparison:
    """Compare parameters by the loss of the first fold. The first candidate is always tried, others if time allows.

    larger : parameters of still larger trees than those of the last candidate, which are tried as well where the last
    candidate does better than the first by more than `SIZE_GAIN`
    """
    data, folds = TrainingData.of(X), RowFolds.of(folds)
    fold = first_fold(folds)
    stream = 1 + folds.known.index(fold)
    for params in candidates:
        data.binned(params.max_bins)  # before threads ask for it

    def run(params: TreeParams) -> tuple[FoldBooster, ParamsTrial]:
        start = time.perf_counter()
        booster = FoldBooster(loss, data, params, folds, fold, stream)
        lowest = min(_held_out_losses([booster], params, should_stop)) / len(booster.rows)
        return booster, ParamsTrial(params, lowest, time.perf_counter() - start)

    affordable = (params for k, params in enumerate(candidates) if k == 0 or not should_stop())
    found = list(ordered_map(run, affordable))
    sizes_matter = len(found) > 1 and found[-1][1].loss < (1 - SIZE_GAIN) * found[0][1].loss
    if larger is not None and sizes_matter and not should_stop():
        found.append(run(larger))
    return ParamsComparison([trial for _, trial in found], min(found, key=lambda each: each[1].loss)[0])


def _held_out_losses(boosters: list[FoldBooster], params: TreeParams, should_stop: Callable[[], bool]) -> list[float]:
    """The loss of all held-out rows at each evaluation, until early stopping.

    No booster waits for the others: the first may be some rounds ahead, which are not used if the last ones stop.
    """
    losses, best = [sum(booster.loss_at(0) for booster in boosters if booster.tested)], 0
    turns = product(range(1, 1 + params.n_evaluations), boosters)
    found = ordered_map(lambda turn: turn[1].loss_at(turn[0], should_stop), turns)
    patience = np.inf if params.early_stopping_rounds is None else params.early_stopping_rounds
    with closing(found):
        while len(losses) <= params.n_evaluations:
            waited = params.rounds_at(len(losses) - 1) - params.rounds_at(best)
            if waited >= patience or should_stop():
                break
            each = list(islice(found, len(boosters)))
            if not np.all(np.isfinite(each)):
                break  # stopped: the rounds of an unfinished interval are not used
            losses.append(sum(loss for loss, booster in zip(each, boosters, strict=True) if booster.tested))
            if losses[-1] < losses[best]:
                best = len(losses) - 1
    return losses
