"""Features that were chosen by the residual of the others: the residual, and whether other rows confirm them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer.auto.constants import SELECTED_ERRORS
from mercer.auto.features.union import Features
from mercer.auto.search.evaluation import Evaluator, verdict
from mercer.auto.search.state import SearchState


def selection_rows(search: Evaluator) -> tuple[np.ndarray, np.ndarray]:
    """The indices of rows to select features on, and of others to confirm them."""
    order = search.rows.smallest(len(search.rows))
    size = min(search.effort.search_rows, len(order) // 2)
    return order[:size], order[size : size + 2 * search.effort.search_rows]


def out_of_fold_residual(search: Evaluator, state: SearchState, index: np.ndarray) -> np.ndarray:
    """The targets of the rows at `index` less the predictions of the model so far, fitted without a row's fold."""
    X, residual, folds = search.rows.X[index], search.rows.Y[index], search.rows.folds
    scores = None if state.trees.scores is None else state.trees.scores[index]
    Z = state.features.features(X, scores).astype(np.float64)
    for k, fold in enumerate(np.unique(folds)):
        coef, intercept = state.kept.equations.weights_without(k, state.kept.penalties)
        held_out = folds[index] == fold
        residual[held_out] -= Z[held_out] @ coef + intercept
    return residual


def confirmed(
    search: Evaluator, state: SearchState, stage: str, name: str, larger: Features, index: np.ndarray, seconds: float
) -> tuple[SearchState, bool]:
    """Whether more features, found in some seconds, gain enough on rows that took no part in their selection."""
    without = search.trial(state, stage, f"no {stage}", state.features, index, max_steps=3).candidate
    tried = search.trial(state, stage, name, larger, index, max_steps=3, seconds=seconds).candidate
    kept, why = verdict(tried, without, SELECTED_ERRORS)
    why = f"{why}, on rows that took no part in the selection"
    return state.noted(replace(without, kept=not kept, why=why), replace(tried, kept=kept, why=why)), kept
