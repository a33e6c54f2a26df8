"""The score of boosted trees as a block: which growth, how many rounds, and what each column gained."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mercer.auto.boosting.boosting import boost, compared, gains_apart
from mercer.auto.boosting.ensemble import Ground, Growth
from mercer.auto.boosting.losses import LogLoss, Squares
from mercer.auto.budget.effort import Effort
from mercer.auto.features.trees import TreeColumns, TreeScoreBlock
from mercer.auto.rows.training import TrainingRows


@dataclass
class Grown:
    """The score block, its out-of-fold values, what splits on each encoded column gained, and how trees grew.

    `tried` holds growths that were compared, their loss on one fold and seconds; none if there was nothing to choose.
    `apart` is what columns gain without each fold of the rows, where rows are so few that it makes a difference.
    """

    block: TreeScoreBlock
    scores: np.ndarray
    gains: np.ndarray
    growth: Growth
    n_rounds: list[int]
    tried: list[tuple[Growth, float, float]]
    apart: list[np.ndarray] = field(default_factory=list)


def grow_score(rows: TrainingRows, labels, effort: Effort, seed: int, enough=lambda: False, chosen=None) -> Grown:
    """Ensembles of one or more seeds, each of as many members as tree folds, and the mean of what they say.

    `enough` says when to stop; `chosen`, where given, when to stop comparing growths, so that time is left to grow.
    """
    columns = TreeColumns.of(rows.X.shape[1], list(rows.categories))
    seen, folds = Ground(columns(rows.X)), rows.random_folds(effort.tree_folds)
    weight = rows.weight
    loss = Squares(rows.Y, weight) if labels is None else LogLoss(labels, int(labels.max()) + 1, weight)
    growths = [replace(growth, seed=seed) for growth in effort.growths]
    race = compared(seen, loss, folds, growths, columns.codes, chosen or enough) if len(growths) > 1 else None
    growth = race.best.growth if race else growths[0]
    forests: list = []
    n_rounds: list[int] = []
    total: Any = 0.0
    gains: Any = 0.0
    for k in range(effort.n_seeds):
        known = race.best if race and k == 0 else None
        grown = boost(seen, loss, folds, replace(growth, seed=seed + k), columns.codes, enough, known)
        forests.extend(grown.forests)
        n_rounds.append(grown.n_rounds)
        total, gains = total + grown.scores, gains + grown.gains
    scores = total / effort.n_seeds
    spread = np.average((scores - np.average(scores, axis=0, weights=weight)) ** 2, axis=0, weights=weight)
    scale = np.maximum(np.sqrt(spread), 1e-6)
    block = TreeScoreBlock(forests, scale, columns, labels is not None)
    d, tried, apart = rows.X.shape[1], race.tried if race else [], []
    if rows.few and any(n_rounds):
        small = replace(growth, n_trees=max(n_rounds))
        apart = [columns.spread(each, d) for each in gains_apart(seen, loss, rows.folds, small, columns.codes, enough)]
    return Grown(block, scores, columns.spread(gains, d), growth, n_rounds, tried, apart)
