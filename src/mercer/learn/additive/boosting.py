"""Boosted terms with out-of-fold points: columns first, then the pairs that explain most of what they leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from mercer._runtime.pool import ordered_map
from mercer.learn.additive.booster import LevelRows, TermBooster, TermParams
from mercer.learn.additive.pair_gains import cell_levels, pair_gains
from mercer.learn.additive.smooth import smoothed
from mercer.learn.additive.tables import AdditiveTables, mean_tables
from mercer.learn.trees.fold_booster import never
from mercer.learn.trees.losses import TreeLoss
from mercer.stats.folds import RowFolds

#: Entries (pairs times rows times outputs) that ranking pairs may count.
_MAX_COUNTED = 1e9


@dataclass(frozen=True)
class BoostedTerms:
    """Tables learned without each fold, their mean, and the out-of-fold points of the training rows.

    `points` are (rows, terms * outputs) as `AdditiveTables.points` lays them out; `pairs` (pairs, 2) axes; `losses` the
    mean held-out losses before boosting, after the columns and after the pairs.
    """

    tables: AdditiveTables
    per_fold: list[AdditiveTables]
    points: np.ndarray
    pairs: np.ndarray
    n_cycles: int
    n_pair_cycles: int
    losses: tuple[float, float, float]


def boost_terms(
    data: LevelRows,
    loss: TreeLoss,
    folds: np.ndarray | RowFolds,
    params: TermParams,
    max_pairs: int = 0,
    pairs: np.ndarray | None = None,
    should_stop: Callable[[], bool] = never,
) -> BoostedTerms:
    """Boost the columns outside each fold, choose pairs by the out-of-fold gradient, and boost these.

    folds : those of the rows; pairs : given pairs instead of chosen ones; should_stop : asked before each cycle
    """
    folds = RowFolds.of(folds)
    boosters = [TermBooster(loss, data, params, folds, fold) for fold in folds.known]
    if not folds.is_partition:  # the mean of models of earlier rows is of no use for new ones
        boosters.append(TermBooster(loss, data, params, folds, None))
    axes = np.arange(len(data.axes))
    start = sum(booster.held_out_total() for booster in boosters)
    limits = params.max_cycles, params.early_stopping_cycles, should_stop
    n_cycles, after = _boosted(boosters, axes[:, None], params.max_leaf_nodes, *limits)
    scores = _out_of_fold(boosters, len(folds))
    chosen = chosen_pairs(data, loss, folds.labels, scores, max_pairs) if pairs is None else pairs
    n_pair_cycles, last = 0, after
    if len(chosen):
        limits = params.max_pair_cycles, params.early_stopping_cycles, should_stop
        n_pair_cycles, last = _boosted(boosters, chosen + len(axes), params.max_pair_leaf_nodes, *limits)
    if not n_pair_cycles:
        chosen = chosen[:0]
    per_fold = list(ordered_map(lambda booster: booster.tables(n_cycles, n_pair_cycles, chosen), boosters))
    if pairs is None and len(chosen):
        kept = _confirmed_pairs(boosters, per_fold)
        per_fold = [replace(tables, pairs=[tables.pairs[p] for p in kept]) for tables in per_fold]
        chosen = chosen[kept]
    per_fold = smoothed(per_fold, boosters)
    points = _held_out_points(boosters, per_fold, len(folds))
    n_tested = len(folds) if folds.is_partition else max(1, int(folds.tested.sum()))
    losses = (start / n_tested, after / n_tested, last / n_tested)
    tables = mean_tables(per_fold) if folds.is_partition else per_fold[-1]
    return BoostedTerms(tables, per_fold, points, chosen, n_cycles, n_pair_cycles, losses)


def _confirmed_pairs(boosters: list[TermBooster], per_fold: list[AdditiveTables]) -> list[int]:
    """The pairs without which the loss of the held-out rows would be higher."""
    increases = []
    for booster, tables in zip(boosters, per_fold, strict=True):
        codes, scores, loss = booster.data.codes[booster.rows], booster.held_out(), booster.held_out_total()
        if booster.tested:
            increases.append([booster.held_out_loss.loss(scores - pair.at(codes)) - loss for pair in tables.pairs])
    return np.flatnonzero(np.mean(increases, axis=0) > 0).tolist() if increases else []


def _held_out_points(boosters: list[TermBooster], per_fold: list[AdditiveTables], n_rows: int) -> np.ndarray:
    points = np.empty((n_rows, per_fold[0].n_terms * per_fold[0].n_outputs))
    for booster, tables in zip(boosters, per_fold, strict=True):
        held_out = np.empty((len(booster.rows), points.shape[1]))
        tables.write(booster.data.codes[booster.rows], held_out)
        points[booster.rows] = held_out
    return points


def _out_of_fold(boosters: list[TermBooster], n_rows: int) -> np.ndarray:
    scores = np.empty((n_rows, boosters[0].n_outputs))
    for booster in boosters:
        scores[booster.rows] = booster.held_out()
    return scores


def _boosted(
    boosters: list[TermBooster],
    terms: np.ndarray,
    max_leaf_nodes: int,
    max_cycles: int,
    patience: int | None,
    should_stop: Callable[[], bool],
) -> tuple[int, float]:
    """The number of cycles of lowest held-out loss, to which the boosters return, and that loss."""
    best, lowest = 0, sum(booster.held_out_total() for booster in boosters)
    kept = [booster.scores.copy() for booster in boosters]
    first = len(boosters[0].cycles)
    for n_cycles in range(1, max_cycles + 1):
        if should_stop():
            break
        loss = sum(ordered_map(lambda booster: booster.cycle(terms, max_leaf_nodes), boosters))
        if patience is None or loss < lowest:
            best, lowest = n_cycles, loss
            for scores, booster in zip(kept, boosters, strict=True):
                scores[:] = booster.scores
        elif n_cycles - best >= patience:
            break
    for scores, booster in zip(kept, boosters, strict=True):
        booster.scores[:] = scores
        del booster.cycles[first + best :]
    return best, lowest


def chosen_pairs(data: LevelRows, loss: TreeLoss, folds: np.ndarray, scores: np.ndarray, max_pairs: int) -> np.ndarray:
    """The pairs of axes whose cells explain most of the gradient at out-of-fold scores, at most `max_pairs`."""
    varied = [j for j in range(len(data.axes)) if data.axes[j].n_levels > 1]
    gradient, hessian = loss.gradients(scores)
    most = int(np.sqrt(2 * _MAX_COUNTED / gradient.size))
    candidates = np.array(list(combinations(varied[: max(most, 2)], 2)), dtype=np.int64).reshape(-1, 2)
    if max_pairs < 1 or len(candidates) == 0:
        return candidates[:0]
    gains = pair_gains(cell_levels(data.codes, loss.weight), -gradient, hessian, folds, candidates)
    order = np.argsort(-gains, kind="stable")[:max_pairs]
    return candidates[order]
