"""The search for a loss with a logarithmic link: after trees, the squared error of the working response.

Trees are boosted with the loss itself. At their out-of-fold scores the loss is a weighted squared error up to third
order, so the folds evaluate all other features by that. Otherwise blocks would be credited for the curvature of the
link function.
"""

from __future__ import annotations

from dataclasses import replace

from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.search.evaluation import Evaluator
from mercer.auto.search.state import SearchState
from mercer.auto.search.tree_score import add_trees


def after_trees(evaluator: Evaluator) -> tuple[Evaluator, SearchState, SearchState]:
    """An evaluator of the working response, the state of the columns alone, and that with the score of trees.

    Where no trees were kept, the squared error of the logarithm of the target decides.
    """
    columns = Features([LinearBlock(evaluator.rows.X.shape[1])])
    first = evaluator.first(columns)
    state = add_trees(evaluator, first)
    target, scores = evaluator.rows.target, state.trees.scores
    if target is None or scores is None or not state.features.has("trees"):
        return evaluator, first, state
    rows = target.response.working_rows(evaluator.rows, target, scores)
    again = Evaluator(rows, None, evaluator.effort, evaluator.clock, evaluator.seed, evaluator.steps)
    first = again.first(columns)
    at_scores = replace(first, trees=state.trees, candidates=(*state.candidates, *first.candidates))
    name = next(each.name for each in state.candidates if each.stage == "trees")
    return again, first, again.offer(at_scores, "trees", name, Features([state.features.blocks[0], *columns.blocks]))
