"""Few rows: the columns that forward selection finds, once more, with a penalty of their own.

Where rows are few, one penalty for all columns must be strong, and the few that matter are shrunk with the others. The
columns that explain most of the target together need less shrinkage. The selection is supervised, so each fold is
evaluated with the columns that are selected without it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer.auto.constants import (
    MIN_ROWS,
    ROWS_PER_SELECTED,
    SELECTED_ERRORS,
    SELECTED_SIZES,
    TIME_FOR_SELECTED,
)
from mercer.auto.features.cross_fitted import CrossFitted
from mercer.auto.features.linear import SelectedBlock
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.evaluation import Evaluator, relative_loss
from mercer.auto.search.state import Candidate, SearchState
from mercer.select.greedy.candidates import ColumnCandidates
from mercer.select.greedy.forward import forward_selection
from mercer.select.greedy.inner_products import RowInnerProducts


def add_selected_columns(search: Evaluator, state: SearchState) -> SearchState:
    """Try two columns, three and so on until two numbers in a row do no better than one before them.

    The number of smallest loss is kept if the folds gain.
    """
    rows, d, features = search.rows, search.rows.X.shape[1], state.features
    most = min(search.n // ROWS_PER_SELECTED, d // 2, search.effort.max_features - features.width)
    sizes = [size for size in SELECTED_SIZES if size <= most]
    if (
        not rows.few
        or not sizes
        or rows.signs is not None
        or search.n < MIN_ROWS
        or not search.clock.allows(TIME_FOR_SELECTED)
    ):
        return state
    with search.steps("selected"):
        whole = best_columns(rows, sizes[-1])
        folds = rows.row_folds
        per_fold = [best_columns(rows.at(folds.outside(fold)), sizes[-1]) for fold in range(rows.n_folds)]
        available = min(len(whole), *map(len, per_fold))
        tried: list[Candidate] = []
        best, before = None, None
        for size in sizes:
            if size > available or not search.clock.allows(TIME_FOR_SELECTED + 0.1):
                break
            block = CrossFitted(SelectedBlock(whole[:size], d), [SelectedBlock(each[:size], d) for each in per_fold])
            trial = search.trial(state, "selected", f"{size} columns once more", features.plus(block), like=before)
            tried.append(trial.candidate)
            # Equations hold a matrix of all rows for each fold: of all trials, only the best one keeps its own.
            best, before = trial if best is None or trial.loss < best.loss else best, trial.penalties
            del trial
            if _risen([candidate.loss for candidate in tried]):
                break
        if best is not None:
            others = [replace(each, why=relative_loss(each.loss, best.loss)) for each in tried]
            others = [other for other, each in zip(others, tried, strict=True) if each is not best.candidate]
            state = search.keep_if_better(state.noted(*others), best, SELECTED_ERRORS)
    return state


def _risen(losses: list[float]) -> bool:
    """Whether neither of the last two losses is the smallest.

    >>> _risen([3.0, 1.0, 2.0]), _risen([3.0, 1.0, 2.0, 1.5]), _risen([3.0, 1.0, 2.0, 0.5])
    (False, True, False)
    """
    return min(losses) < min(losses[-2:])


def best_columns(rows: TrainingRows, max_columns: int) -> np.ndarray:
    """The columns that explain most of the targets together, in the order in which forward selection takes them."""
    candidates = ColumnCandidates(np.asarray(rows.X, dtype=np.float64))
    path = forward_selection(RowInnerProducts(candidates, rows.Y, rows.weight, True), max_columns)
    return np.array(path.selected, dtype=np.int64)
