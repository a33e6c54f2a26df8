"""The score of boosted trees, out of fold."""

from __future__ import annotations

import time
from dataclasses import replace

from mercer.auto.features.union import Features
from mercer.auto.search.constants import MIN_ROWS, TIME_FOR_TREES
from mercer.auto.search.evaluation import Evaluator, relative_loss
from mercer.auto.search.state import Candidate, SearchState, TreeSearch
from mercer.auto.search.trees import Grown, grow_score


def add_trees(search: Evaluator, state: SearchState) -> SearchState:
    """Grow trees without each fold, and try their out-of-fold score."""
    if search.n < MIN_ROWS or search.rows.X.shape[1] == 0 or not search.clock.allows(TIME_FOR_TREES):
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
    found = TreeSearch(grown.scores, grown.gains, tuple(grown.apart), tuple(grown.n_rounds), grown.growth)
    state = replace(state, trees=found).noted(*_compared(grown))
    larger, name = Features([grown.block, *state.features.blocks]), f"score of {sum(grown.n_rounds)} rounds of boosting"
    return search.keep_if_better(state, search.trial(state, "trees", name, larger, seconds=seconds))


def _compared(grown: Grown) -> list[Candidate]:
    """The tree parameters that were compared on one fold."""
    best = min((loss for _, loss, _ in grown.tried), default=0.0)
    return [
        Candidate(
            "tree parameters",
            f"at most {params.max_leaves} leaves of at least {params.least_rows:g} rows",
            loss,
            seconds,
            grown.block.width,
            params == grown.growth,
            relative_loss(loss, best),
        )
        for params, loss, seconds in grown.tried
    ]
