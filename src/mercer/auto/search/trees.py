"""The score of boosted trees on the rows of a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mercer.auto.budget.effort import Effort
from mercer.auto.constants import MIN_LARGER_ROWS
from mercer.auto.rows.training import TrainingRows
from mercer.learn.trees.boosted_score import BoostedScore, boosted_score
from mercer.learn.trees.fold_booster import never
from mercer.learn.trees.losses import LogisticTreeLoss, SquaredTreeLoss, TreeLoss
from mercer.learn.trees.params import TreeParams
from mercer.learn.trees.score_losses import ScoreTreeLoss

#: Bins of a column where scores are logarithms of the mean (benchmarks/losses.py): small means have small variances,
#: so a step too coarse for them costs more than with the squared error.
_LOG_LINK_BINS = 256


def grow_score(
    rows: TrainingRows,
    labels: np.ndarray | None,
    effort: Effort,
    seed: int,
    should_stop: Callable[[], bool] = never,
    stop_comparing: Callable[[], bool] | None = None,
) -> BoostedScore:
    """Boost on encoded rows with the tree parameters of an effort.

    Gains per fold are computed where rows are so few that the targets of a fold make a difference.
    """
    weight = rows.weight
    loss: TreeLoss = SquaredTreeLoss(rows.Y, weight)
    if labels is not None:
        loss = LogisticTreeLoss(labels, int(labels.max()) + 1, weight)
    elif rows.target is not None:
        y = rows.target.response_of(rows.Y)
        loss = ScoreTreeLoss(y, rows.target.response.losses(y, weight), weight)

    def adapted(params: TreeParams) -> TreeParams:
        return replace(_of_loss(params, loss), random_state=seed)

    larger = effort.larger_trees if rows.distinct() >= MIN_LARGER_ROWS else None
    return boosted_score(
        rows.X,
        loss,
        rows.tree_folds(effort.tree_folds),
        [adapted(params) for params in effort.tree_params],
        rows.categories,
        effort.n_seeds,
        should_stop,
        stop_comparing,
        rows.row_folds if rows.few else None,
        rows.signs,
        None if larger is None else adapted(larger),
    )


def _of_loss(params: TreeParams, loss: TreeLoss) -> TreeParams:
    """The parameters for a loss: finer bins and half the learning rate for a logarithmic link.

    A Newton step of exp(score) is y / mean - 1, which is longer than the log(y / mean) of the optimum.
    """
    if not (isinstance(loss, ScoreTreeLoss) and loss.log_link) or params.early_stopping_rounds is None:
        return params
    bins = max(params.max_bins, _LOG_LINK_BINS)
    if params.early_stopping_rounds >= params.n_estimators:  # a refit of known parameters
        return replace(params, max_bins=bins)
    rate, n_rounds, patience = params.learning_rate / 2, 2 * params.n_estimators, 2 * params.early_stopping_rounds
    return replace(params, learning_rate=rate, n_estimators=n_rounds, early_stopping_rounds=patience, max_bins=bins)
