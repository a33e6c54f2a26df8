"""The score of boosted trees, out of fold."""

from __future__ import annotations

import time
from dataclasses import replace

from mercer.auto.constants import MAX_TREE_CLASSES, MIN_ROWS, TIME_FOR_TREES
from mercer.auto.features.trees import TreeScoreBlock
from mercer.auto.features.union import Features
from mercer.auto.search.evaluation import Evaluator, relative_loss
from mercer.auto.search.state import Candidate, SearchState, TreeSearch
from mercer.auto.search.trees import grow_score
from mercer.learn.trees.boosted_score import BoostedScore


def add_trees(search: Evaluator, state: SearchState) -> SearchState:
    """Grow trees without each fold, and try their out-of-fold score."""
    if search.n < MIN_ROWS or search.rows.X.shape[1] == 0 or not search.clock.allows(TIME_FOR_TREES):
        return state
    if search.labels is not None and search.rows.Y.shape[1] > MAX_TREE_CLASSES:
        return state
    start, clock = time.perf_counter(), search.clock
    with search.steps("trees"):
        out_of_time, half = (lambda: not clock.allows(0.4)), (lambda: not clock.allows(0.2))
        grown = grow_score(search.rows, search.labels, search.effort, search.seed, out_of_time, half)
    seconds = time.perf_counter() - start
    if not any(grown.n_rounds):
        # Time ended before the first trees, or none was worth growing. A score would be the mean of the other folds,
        # which identifies the row's own fold.
        return state
    found = TreeSearch(grown.scores, grown.gains, tuple(grown.gains_per_fold), tuple(grown.n_rounds), grown.params)
    state = replace(state, trees=found).noted(*_compared(grown))
    larger = Features([TreeScoreBlock(grown.transformer), *state.features.blocks])
    name = f"score of {sum(grown.n_rounds)} rounds of boosting"
    return search.keep_if_better(state, search.trial(state, "trees", name, larger, seconds=seconds))


def _compared(grown: BoostedScore) -> list[Candidate]:
    """The tree parameters that were compared on one fold."""
    best = min((trial.loss for trial in grown.trials), default=0.0)
    return [
        Candidate(
            "tree parameters",
            f"at most {trial.params.max_leaf_nodes} leaves of at least {trial.params.min_samples_leaf:g} rows",
            trial.loss,
            trial.seconds,
            grown.transformer.n_features_out_,
            trial.params == grown.params,
            relative_loss(trial.loss, best),
        )
        for trial in grown.trials
    ]
