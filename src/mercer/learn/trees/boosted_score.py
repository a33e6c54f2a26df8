"""The score of boosted trees with the parameters compared and several seeds averaged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mercer.learn.trees.boosting import ParamsTrial, boost, compare_params, gains_per_fold
from mercer.learn.trees.categories import TreeColumns
from mercer.learn.trees.ensemble import TreeEnsemble
from mercer.learn.trees.fold_booster import never
from mercer.learn.trees.losses import LogisticTreeLoss, TreeLoss
from mercer.learn.trees.params import TreeParams
from mercer.learn.trees.score import EnsembleScore, score_scale
from mercer.learn.trees.training_data import TrainingData
from mercer.learn.trees.tree_features import TreeFeatures
from mercer.stats.folds import RowFolds


@dataclass(frozen=True)
class BoostedScore:
    """A fitted ``TreeFeatures("score")``, the out-of-fold scores of its training rows, and how it was grown.

    `gains` are the total gains of splits on each column, `gains_per_fold` those without each fold, where asked for;
    `n_rounds` the rounds of each seed; `trials` the parameters that were compared, none if there was one candidate.
    """

    transformer: TreeFeatures
    scores: np.ndarray
    gains: np.ndarray
    params: TreeParams
    n_rounds: list[int]
    trials: list[ParamsTrial]
    gains_per_fold: list[np.ndarray] = field(default_factory=list)


def boosted_score(
    X: np.ndarray,
    loss: TreeLoss,
    folds: np.ndarray | RowFolds,
    candidates: Sequence[TreeParams],
    categories: Iterable[slice] = (),
    n_seeds: int = 1,
    should_stop: Callable[[], bool] = never,
    stop_comparing: Callable[[], bool] | None = None,
    gain_folds: np.ndarray | RowFolds | None = None,
    signs: np.ndarray | None = None,
    larger: TreeParams | None = None,
) -> BoostedScore:
    """Choose parameters on the first fold, boost outside each fold with several seeds, and average the scores.

    folds : the fold of each row; categories : slices of indicators; n_seeds : how many seeds, from that of the
    parameters on; should_stop, stop_comparing : asked whether to stop boosting, or comparing; gain_folds : the folds
    for which `gains_per_fold` are computed; signs : of the columns, +1 or -1 where scores must rise or fall along one;
    larger : parameters of larger trees that `compare_params` may try
    """
    columns = TreeColumns.of(X.shape[1], categories)
    data = TrainingData(columns(X), columns.codes, columns.signs(signs))
    stop = stop_comparing or should_stop
    compared = compare_params(data, loss, folds, candidates, stop, larger) if candidates[1:] else None
    params = compared.best.params if compared else candidates[0]
    ensembles: list[TreeEnsemble] = []
    n_rounds: list[int] = []
    total, gains = np.zeros(1), np.zeros(1)
    for k in range(n_seeds):
        first = compared.best if compared and k == 0 else None
        result = boost(data, loss, folds, replace(params, random_state=params.random_state + k), should_stop, first)
        ensembles.extend(result.ensembles)
        n_rounds.append(result.n_rounds)
        total, gains = total + result.scores, gains + result.gains
    scores = total / n_seeds
    classes = np.arange(loss.n_classes) if isinstance(loss, LogisticTreeLoss) else None
    # The logistic function of a score may fall by its rounding error where the score rises.
    probabilities = classes is not None and signs is None
    score = EnsembleScore(ensembles, columns, score_scale(scores, loss.weight), probabilities)
    cross_fitted: list[np.ndarray] = []
    if gain_folds is not None and any(n_rounds):
        rounds = replace(params, n_estimators=max(n_rounds))
        found = gains_per_fold(data, loss, gain_folds, rounds, should_stop)
        cross_fitted = [columns.gains_per_input(each) for each in found]
    transformer = _transformer(score, classes, params, len(RowFolds.of(folds).known))
    trials = compared.trials if compared else []
    return BoostedScore(transformer, scores, columns.gains_per_input(gains), params, n_rounds, trials, cross_fitted)


def _transformer(score: EnsembleScore, classes: np.ndarray | None, params: TreeParams, n_folds: int) -> TreeFeatures:
    return TreeFeatures.from_score(
        score,
        classes,
        n_estimators=params.n_estimators,
        max_leaf_nodes=params.max_leaf_nodes,
        learning_rate=params.learning_rate,
        min_samples_leaf=params.min_samples_leaf,
        early_stopping_rounds=params.early_stopping_rounds,
        n_folds=n_folds,
        max_rows=10**9,
        task="regression" if classes is None else "classification",
        dtype="float32",
        random_state=params.random_state,
    )
