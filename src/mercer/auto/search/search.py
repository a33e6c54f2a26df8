"""The search: stages in turn, each kept or dropped by the same folds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import Effort
from mercer.auto.budget.progress import Steps
from mercer.auto.constants import SEPARATED_LOSS
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.derived import add_derived
from mercer.auto.search.evaluation import Evaluator
from mercer.auto.search.fourier import add_fourier
from mercer.auto.search.kernel_score import add_kernel_score
from mercer.auto.search.landmarks import add_landmarks
from mercer.auto.search.piecewise import add_piecewise
from mercer.auto.search.products import add_products
from mercer.auto.search.selected import add_selected_columns
from mercer.auto.search.simplest import SIMPLEST, simplest_model
from mercer.auto.search.state import Candidate, SearchResult, SearchState, SimplerModel, TreeSearch
from mercer.auto.search.tree_score import add_trees
from mercer.auto.search.working_response import after_trees
from mercer.linear.ridge.fold_loss import FoldLoss

#: A stage takes the evaluator and the state so far, and returns the state with its features, if the folds gain by them.
Stage = Callable[[Evaluator, SearchState], SearchState]
#: The stages, in their order. A new kind of block is one file and one row here.
STAGES: tuple[Stage, ...] = (
    add_trees,
    add_selected_columns,
    add_piecewise,
    add_products,
    add_derived,
    add_fourier,
    add_landmarks,
    add_kernel_score,
)


def search(
    rows: TrainingRows, labels: np.ndarray | None, effort: Effort, clock: Clock, seed: int, steps: Steps
) -> tuple[SearchResult, FoldLoss | None]:
    """The result of all stages, and the equations of its features on all rows if known; parameters as `Evaluator`."""
    evaluator = Evaluator(rows, labels, effort, clock, seed, steps)
    if rows.target is not None and rows.target.log_link:
        evaluator, first, state = after_trees(evaluator)
        for stage in STAGES[1:]:
            state = stage(evaluator, state)
    else:
        first, state = _run(evaluator, STAGES)
    found = _result(first, state, effort)
    several = labels is not None and rows.Y.shape[1] > 2
    if several and state.trees.scores is not None and effort.sharpen and state.loss < SEPARATED_LOSS:
        found = _without_trees(evaluator, found)
    if labels is None and state.simpler:
        return _simplest(state, found)
    return found, state.kept.equations


def _simplest(state: SearchState, found: SearchResult) -> tuple[SearchResult, FoldLoss | None]:
    """The simplest model that errors of the rows cannot tell from the best, and its equations, if known."""
    known = [*(each.errors for each in state.simpler), state.kept.errors]
    k = simplest_model([each for each in known if each is not None])  # none is: rows are few
    if k == len(state.simpler):
        return replace(found, simpler=()), state.kept.equations
    chosen = found.simpler[k]
    name = " + ".join(block.kind for block in chosen.features.blocks) if k else "the mean of the target"
    loss = chosen.score.loss / state.kept.score.loss * state.loss
    candidate = Candidate("final", name, loss, 0.0, chosen.features.width, True, SIMPLEST, True)
    return replace(chosen, candidates=(*found.candidates, candidate)), None


def _run(
    evaluator: Evaluator, stages: tuple[Stage, ...], trees: TreeSearch | None = None
) -> tuple[SearchState, SearchState]:
    """The state of the encoded columns alone, and that after all stages."""
    first = state = evaluator.first(Features([LinearBlock(evaluator.rows.X.shape[1])]))
    if trees is not None:
        state = replace(state, trees=trees)
    for stage in stages:
        state = stage(evaluator, state)
    return first, state


def _result(first: SearchState, state: SearchState, effort: Effort) -> SearchResult:
    kept = state.kept
    alone = float(first.kept.penalties[0])
    found = SearchResult(
        kept.features, kept.penalties, kept.score, state.trees, state.candidates, alone, state.kernel,
        thorough=effort.sharpen,
    )  # fmt: skip
    return replace(found, simpler=tuple(_simpler(found, each) for each in state.simpler))


def _simpler(found: SearchResult, model: SimplerModel) -> SearchResult:
    """The result with the features that the search has kept for a while."""
    trees = found.trees if model.features.has("trees") else replace(found.trees, scores=None)
    return replace(found, features=model.features, penalties=model.penalties, score=model.score, trees=trees)


def _without_trees(evaluator: Evaluator, found: SearchResult) -> SearchResult:
    """The result beside what random features or landmarks reach without trees.

    Where the probabilities of the trees leave little squared error, no linear term can lower it much, whatever its
    evidence. Log-odds add evidence up: whether random features do better by the logistic loss is left to the final
    model.
    """
    if not evaluator.clock.allows(0.6):
        return found
    first, state = _run(
        evaluator, (add_fourier, add_landmarks), replace(found.trees, scores=None, n_rounds=(), params=None)
    )
    other = _result(first, state, evaluator.effort)
    marked = tuple(replace(each, name=f"{each.name} (without trees)") for each in other.candidates)
    alone = replace(other, candidates=()) if len(other.features.blocks) > 1 else None
    return replace(found, candidates=found.candidates + marked, without_trees=alone)
