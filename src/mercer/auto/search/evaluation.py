"""Evaluation of features: the whole linear model on them, by its exact K-fold squared error.

More features are kept only if they gain more than the standard error of the gain over the folds.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import Effort
from mercer.auto.budget.progress import Steps
from mercer.auto.constants import MANY_COLUMNS, MIN_COMPARED_ROWS, MIN_GAIN, NO_WEIGHT
from mercer.auto.features.union import Features
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.equations import KernelCache, row_space_loss
from mercer.auto.search.simplest import per_distinct_row
from mercer.auto.search.state import Candidate, SearchState, SimplerModel, Trial
from mercer.linear.ridge.fold_loss import FoldLoss, FoldScore, GramFoldLoss
from mercer.linear.ridge.penalties import UnsolvableError, best_penalties
from mercer.linear.ridge.row_space import RowSpaceFoldLoss


class Evaluator:
    """Evaluates features on encoded rows by the folds, with the best penalty for each block.

    Parameters
    ----------
    rows : TrainingRows with targets of mean 0 and overall variance 1
    labels : class numbers of the rows, or None for regression
    effort : Effort
    clock : Clock
    seed : int
    steps : Steps, the log of the steps
    """

    def __init__(
        self, rows: TrainingRows, labels: np.ndarray | None, effort: Effort, clock: Clock, seed: int, steps: Steps
    ):
        self.rows, self.labels, self.effort, self.seed = rows, labels, effort, seed
        self.clock, self.steps = clock, steps
        self.variance = float(np.average(np.sum(rows.Y**2, axis=1), weights=rows.weight)) or 1.0
        self.n = rows.distinct()
        self._kernels = KernelCache(rows) if rows.few else None

    def first(self, features: Features) -> SearchState:
        """The state of a search that starts from these features."""
        trial = self.trial(None, "columns", "encoded columns, linear", features)
        state = self._tried(SearchState(trial, trial.seconds, features.width), trial, True, "")
        return replace(state, simpler=() if trial.errors is None else (self._constant(trial),))

    def _constant(self, trial: Trial) -> SimplerModel:
        """The mean of the target: the same features with a penalty that leaves nothing of their weights."""
        penalties, folds = NO_WEIGHT * trial.equations.scale(), self.rows.row_folds
        assert isinstance(trial.equations, RowSpaceFoldLoss)
        losses = trial.equations.row_losses(penalties)  # asks for no time
        per_fold = np.array([losses[folds.inside(fold)].sum() for fold in folds.known])
        score = FoldScore(per_fold, float(losses.sum() / self.rows.counts.sum()), np.zeros(len(penalties)))
        return SimplerModel(trial.features, penalties, score, per_distinct_row(losses, self.rows.ids))

    def _errors(self, equations: FoldLoss, penalties: np.ndarray) -> np.ndarray | None:
        """The out-of-fold squared errors of distinct rows, where rows are few and independent of each other."""
        rows = self.rows
        too_few = self.n < MIN_COMPARED_ROWS  # to tell anything by their spread
        if too_few or not isinstance(equations, RowSpaceFoldLoss) or rows.plan is not None or rows.target is not None:
            return None
        return per_distinct_row(equations.row_losses(penalties), rows.ids)

    def trial(
        self,
        state: SearchState | None,
        stage: str,
        name: str,
        features: Features,
        index: np.ndarray | None = None,
        max_steps: int = 8,
        seconds: float = 0.0,
        like: np.ndarray | None = None,
    ) -> Trial:
        """Evaluate features on all rows, or on those at `index`, starting from the penalties of the state.

        `seconds` is what finding the features took; `like` are the penalties of blocks so similar that the
        search of penalties starts from them, which spares most of its cost.
        """
        began = time.perf_counter()
        rows = self.rows if index is None else self.rows.at(index)
        equations = self._equations(features, rows, index, None if state is None else state.trees.scores)
        start = None
        if like is not None:
            start = like
        elif state is not None:
            known = state.penalties_of(features) / len(self.rows)
            start = known * len(rows) if np.isfinite(known).any() else None
        steps = min(max_steps, self._max_steps(equations.size))
        try:
            penalties, score = best_penalties(equations, start, steps, restart=like is None)
        except UnsolvableError:
            if state is None:
                raise
            penalties, score = equations.scale(), unsolvable(equations)
        equations.clear_cache()
        errors = self._errors(equations, penalties) if index is None else None
        spent = time.perf_counter() - began
        loss = score.loss / self.variance
        candidate = Candidate(
            stage, name, loss, spent + seconds, features.width, on_all_rows=index is None, per_fold=score.per_fold
        )
        return Trial(candidate, features, penalties, score, equations, spent, errors)

    def _equations(
        self, features: Features, rows: TrainingRows, index: np.ndarray | None, scores: np.ndarray | None
    ) -> FoldLoss:
        """The equations of some rows, or of all; of columns, or of rows where these are fewer."""
        some = scores if index is None or scores is None else scores[index]
        if self._kernels is None:
            return GramFoldLoss(rows.gram(features.over(rows.X, some)), features.block_of_column, self._out_of_time)
        kernels = self._kernels.of(features, scores)
        if index is not None:
            kernels = [kernel.rows(index) for kernel in kernels]
        return row_space_loss(rows, features, some, kernels, self._out_of_time)

    def _out_of_time(self) -> bool:
        return not self.clock.allows(1.0)

    def _max_steps(self, width: int) -> int:
        """Steps that refine penalties: factors of many columns cost, and the loss is flat about its minimum."""
        if not self.effort.sharpen and width > MANY_COLUMNS:
            return 3
        return 8 if width <= 600 else 4 if width <= 1100 else 2

    def keep_if_better(self, state: SearchState, trial: Trial, n_errors: int = 1) -> SearchState:
        """The state after a trial on all rows: its features, if they gain more than `n_errors` standard errors."""
        before, after = state.kept.errors, trial.errors
        errors = None if before is None or after is None else (before, after)
        return self._tried(state, trial, *verdict(trial.candidate, state.kept.candidate, n_errors, errors))

    def _tried(self, state: SearchState, trial: Trial, kept: bool, why: str) -> SearchState:
        """The state after a trial on all rows; progress shows the loss of what is kept."""
        if kept:
            self.steps.record_loss(trial.loss, "regression" if self.labels is None else "classification")
        return state.tried(trial, kept, why)

    def offer(self, state: SearchState, stage: str, name: str, features: Features, n_errors: int = 1) -> SearchState:
        """Try features on all rows, and keep them if they gain enough."""
        return self.keep_if_better(state, self.trial(state, stage, name, features), n_errors)

    def affords(self, state: SearchState, width: int, fraction: float) -> bool:
        """Whether `width` features can be tried on all rows in a fraction of the time, as the last trial predicts."""
        seconds = state.last_seconds * max(1.0, width / max(state.last_width, 1)) ** 1.5
        return seconds <= self.clock.part(fraction).left()


def verdict(
    tried: Candidate, before: Candidate, n_errors: int = 1, errors: tuple[np.ndarray, np.ndarray] | None = None
) -> tuple[bool, str]:
    """Whether a candidate gains more over another than `n_errors` standard errors of its gain, and that in words.

    A loss that is not finite is that of equations that cannot be solved: such a candidate is never kept, and never what
    others are compared with.

    errors : those of independent rows before and after, where these are so few that five folds say little; None takes
        the losses of the folds
    """
    earlier, later = (before.per_fold, tried.per_fold) if errors is None else errors
    if not np.all(np.isfinite([tried.loss, *later])):
        return False, "its equations cannot be solved in every fold"
    if not np.all(np.isfinite([before.loss, *earlier])):
        return True, "the first with equations that can be solved in every fold"
    gains = earlier - later
    error = float(np.std(gains, ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
    gain = float(np.mean(gains))
    clear = bool(gain > n_errors * error and tried.loss < before.loss * (1 - MIN_GAIN))
    fraction = 1 - tried.loss / before.loss if before.loss > 0 else 0.0
    so_many = "one standard error" if n_errors == 1 else f"{n_errors} standard errors"
    if clear:
        return True, f"{fraction:.2%} less loss, more than {so_many}"
    if gain > n_errors * error:
        return False, f"no gain worth its cost ({max(fraction, 0.0):.2%} less loss)"
    return False, f"no gain (within {so_many})" if fraction > -MIN_GAIN else f"{-fraction:.2%} more loss"


def unsolvable(equations: FoldLoss) -> FoldScore:
    """The score of equations that cannot be solved with any penalty: an infinite loss."""
    n_folds = len(equations.tested)
    return FoldScore(np.full(n_folds, np.inf), np.inf, np.zeros(equations.n_blocks))


def relative_loss(loss: float, best: float) -> str:
    """How a loss compares with the best one, in words.

    >>> relative_loss(1.0, 1.0), relative_loss(1.0005, 1.0), relative_loss(1.25, 1.0)
    ('best loss', 'within 0.1 % of the best', '25 % above the best loss')
    """
    if best <= 0 or loss <= best:
        return "best loss"
    above = 100 * (loss / best - 1)
    return "within 0.1 % of the best" if above <= 0.1 else f"{above:.2g} % above the best loss"
