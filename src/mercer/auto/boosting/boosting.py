"""Boosted trees scored out of fold while they grow.

The ensembles outside each fold grow side by side; the number of trees is the one with the least loss on the held-out
rows of all folds. The same ensembles, on the mean, serve new data: that is a bag of as many members as folds, steadier
than one ensemble of all rows, and nothing has to be grown again.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from mercer._runtime.pool import ordered_map
from mercer.auto.boosting.ensemble import STRIDE, Ensemble, Ground, Growth
from mercer.auto.boosting.forest import Forest


@dataclass
class Boosted:
    """What boosting learned: scores of the training rows out of fold, the ensemble outside each fold, and how it went.

    `losses` are those of held-out rows every few rounds, `gains` what splits on each column gained in all.
    """

    scores: np.ndarray
    forests: list[Forest]
    losses: np.ndarray
    n_rounds: int
    gains: np.ndarray


@dataclass
class Compared:
    """Growths with the loss of the first fold under the ensemble of the others and seconds; the best's ensemble."""

    tried: list[tuple[Growth, float, float]]
    best: Ensemble


def boost(X, loss, folds: np.ndarray, growth: Growth, codes=(), enough=lambda: False, known=None) -> Boosted:
    """Grow ensembles outside each fold until the held-out rows of all folds gain no more.

    X : (n, p) float64, or a `Ground` of it; loss : `Squares` or `LogLoss`; folds : the fold of each row, 0..K-1;
    codes : the columns that hold codes 0, 1, ... of categories, which each ensemble puts in the order of its own
    training rows' targets; enough : asked between rounds, says whether to stop there; known : the ensemble outside the
    first fold, if it has been grown before, as `compared` does
    """
    ground = Ground.of(X)
    runs = [
        known if i == 0 and known is not None else Ensemble(loss, ground, codes, growth, folds, k, i + 1)
        for i, k in enumerate(np.unique(folds).tolist())
    ]
    curve = _raced(runs, growth, enough)
    best = int(np.argmin(curve))
    scores = np.empty((len(folds), len(runs[0].base)))
    for run in runs:
        scores[run.watch] = run.told[best]
    forests = [run.forest(best * STRIDE) for run in runs]
    gains = np.sum([run.gains((len(curve) - 1) * STRIDE) for run in runs], axis=0)
    return Boosted(scores, forests, np.array(curve) / len(folds), best * STRIDE, gains)


def gains_apart(X, loss, folds: np.ndarray, growth: Growth, codes=(), enough=lambda: False) -> list[np.ndarray]:
    """What splits on each column gain for as many trees as `growth` says, grown without each fold 0..max.

    None at all if there was not enough time.
    """
    ground = Ground.of(X)
    ground.binned(growth.max_bins)  # before threads ask for it
    strides = -(-growth.n_trees // STRIDE)

    def gains(fold: int) -> np.ndarray | None:
        run = Ensemble(loss, ground, codes, growth, folds, fold, fold + 1)
        return run.gains(strides * STRIDE) if np.isfinite(run.loss_after(strides, enough)) else None

    found = list(ordered_map(gains, range(int(folds.max()) + 1)))
    return [] if any(each is None for each in found) else found


def compared(X, loss, folds: np.ndarray, growths, codes=(), enough=lambda: False) -> Compared:
    """Which growth serves the first fold best; growths that no time is left for are not tried, but for the first."""
    ground = Ground.of(X)
    for growth in growths:
        ground.binned(growth.max_bins)  # before threads ask for it

    def run(growth):
        start = time.perf_counter()
        one = Ensemble(loss, ground, codes, growth, folds, int(folds.min()), 1)
        least = min(_raced([one], growth, enough)) / len(one.watch)
        return one, least, time.perf_counter() - start

    worth = (growth for k, growth in enumerate(growths) if k == 0 or not enough())
    found = list(ordered_map(run, worth))
    tried = [(one.growth, least, seconds) for one, least, seconds in found]
    return Compared(tried, min(found, key=lambda each: each[1])[0])


def _raced(runs: list[Ensemble], growth: Growth, enough) -> list[float]:
    """The loss of all held-out rows every few rounds until it falls no more.

    No ensemble waits for the others: the first may be some rounds ahead, which are not used if the last ones end it.
    """
    curve, best = [sum(run.loss_after(0) for run in runs)], 0
    strides = range(1, 1 + -(-growth.n_trees // STRIDE))
    losses = ordered_map(lambda turn: turn[1].loss_after(turn[0], enough), product(strides, runs))
    with closing(losses):
        while (len(curve) - 1) * STRIDE < growth.n_trees and (len(curve) - 1 - best) * STRIDE < growth.patience:
            if enough():
                break
            loss = sum(islice(losses, len(runs)))
            if not np.isfinite(loss):
                break  # cut short: what was grown of this stride is not used
            curve.append(loss)
            if curve[-1] < curve[best]:
                best = len(curve) - 1
    return curve
