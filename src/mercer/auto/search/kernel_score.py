"""The score of kernel ridge regression, out of fold, beside the other features.

Random features and landmarks approximate a kernel; where a target is rough, what they leave out decides, and the fit
on all rows says more. It is tried on some rows first, in a few metrics and with a few penalties.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import product

import numpy as np

from mercer.auto.constants import (
    KERNEL_MULTIPLE,
    KERNEL_PENALTIES,
    KERNEL_PROBE_ROWS,
    MAX_KERNEL_COST,
    MAX_KERNEL_MULTIPLE,
    MAX_KERNEL_OUTPUTS,
    MAX_KERNEL_RATIO,
    MEDIAN_ROWS,
    MIN_COLUMN_WEIGHT,
    MIN_KERNEL_GAIN,
    MIN_KERNEL_LOSS,
    MIN_KERNEL_ROWS,
    OUTPUT_COST,
    PAIR_COST,
    SELECTED_ERRORS,
    TIME_FOR_KERNEL_SCORE,
)
from mercer.auto.features.kernel_score import KernelScoreBlock, fitted_score
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.evaluation import Evaluator
from mercer.auto.search.state import SearchState, Trial
from mercer.kernels import Laplace
from mercer.kernels.stationary import Stationary, median_distance


def add_kernel_score(search: Evaluator, state: SearchState) -> SearchState:
    """Try the score on some rows, and if they gain on as many as rows and time allow."""
    rows, n_rows = search.rows, _affordable_rows(search)
    if n_rows < MIN_KERNEL_ROWS or len(rows) > MAX_KERNEL_MULTIPLE * n_rows or state.loss < MIN_KERNEL_LOSS:
        return state
    # Landmarks are kept where their kernel is smooth: all rows then say no more than they do.
    if state.features.has("landmarks") or not search.clock.allows(TIME_FOR_KERNEL_SCORE):
        return state
    with search.steps("kernel score"):
        return _KernelScores(search, state, n_rows).tried()


def _affordable_rows(search: Evaluator) -> int:
    """Rows of the kernel matrix that effort, memory and the cost of each pair allow; 0 where it is not tried."""
    rows = search.rows
    plan_orders = rows.plan is not None and not rows.plan.is_partition
    if rows.few or rows.signs is not None or rows.target is not None or plan_orders:
        return 0
    if search.n < MIN_KERNEL_ROWS or rows.Y.shape[1] > MAX_KERNEL_OUTPUTS:
        return 0
    cost = rows.X.shape[1] + PAIR_COST + OUTPUT_COST * rows.Y.shape[1]
    return min(len(rows), search.effort.max_kernel_rows, int(np.sqrt(MAX_KERNEL_COST / cost)))


class _KernelScores:
    """Trials of the score beside the features of a state."""

    def __init__(self, search: Evaluator, state: SearchState, n_rows: int):
        self.search, self.state, self.n_rows = search, state, n_rows

    def tried(self) -> SearchState:
        """The state with the score, if it gains on some rows, on twice as many, and in the end on all."""
        size, state = min(KERNEL_PROBE_ROWS, self.n_rows), self.state
        error, title, root, alpha, seconds = self._best(size)
        if error > MAX_KERNEL_RATIO * state.loss * self.search.variance:
            return state
        while size < self.n_rows:
            state, worth = self._probed(state, title, root, alpha, size)
            seconds *= (min(2 * size, self.n_rows) / size) ** 2
            if not worth or seconds > self.search.clock.left():
                return state
            size = 2 * size if size == KERNEL_PROBE_ROWS else self.n_rows
        start = time.perf_counter()
        block = self._fitted(self.search.rows, root, alpha)
        trial = self._trial(title, block, time.perf_counter() - start)
        if trial.loss > state.loss * (1 - MIN_KERNEL_GAIN):
            return state.tried(trial, False, f"less than {MIN_KERNEL_GAIN:.0%} less loss")
        after = self.search.keep_if_better(state, trial, SELECTED_ERRORS)
        if after.kept is state.kept:
            return after
        return replace(after, trees=replace(state.trees, scores=self._scores(block.out_of_fold)))

    def _best(self, size: int) -> tuple[float, str, np.ndarray, float, float]:
        """The least out-of-fold error of the score alone, its title, metric and penalty, and the seconds of a fit."""
        some, start = self.search.rows.at(self._index(size)), time.perf_counter()
        fits: list[tuple[float, str, np.ndarray, float]] = []
        for (title, root), alpha in product(self._metrics(), KERNEL_PENALTIES):
            if fits and not self.search.clock.allows(TIME_FOR_KERNEL_SCORE):
                break
            fits.append((_error(self._fitted(some, root, alpha), some), title, root, alpha))
        seconds = (time.perf_counter() - start) / len(fits)
        error, title, root, alpha = min(fits, key=lambda fit: fit[0])
        return error, f"{title}, penalty {alpha:g}", root, alpha, seconds

    def _probed(
        self, state: SearchState, title: str, root: np.ndarray, alpha: float, size: int
    ) -> tuple[SearchState, bool]:
        """Whether the score of the first rows gains at all, and of twice as many more than one standard error."""
        index, start = self._index(size), time.perf_counter()
        block = self._fitted(self.search.rows.at(index), root, alpha)
        seconds, same = time.perf_counter() - start, self.state
        without = self.search.trial(same, "kernel score", "no kernel score", same.features, index, 3).candidate
        tried = self._trial(f"{title}, on {size:,} rows", block, seconds, index).candidate
        gains = without.per_fold - tried.per_fold
        error = 0.0 if size == KERNEL_PROBE_ROWS else float(np.std(gains, ddof=1) / np.sqrt(len(gains)))
        fraction = 1 - tried.loss / without.loss if without.loss > 0 else 0.0
        small = fraction < MIN_KERNEL_GAIN / (2 if size > KERNEL_PROBE_ROWS else 10)
        worth = bool(np.mean(gains) > error) and not small
        why = f"{fraction:.2%} less loss on {size:,} rows" if worth else f"no clear gain on {size:,} rows"
        return state.noted(replace(without, kept=not worth, why=why), replace(tried, kept=worth, why=why)), worth

    def _index(self, size: int) -> np.ndarray:
        return self.search.rows.smallest(size)

    def _metrics(self) -> list[tuple[str, np.ndarray]]:
        """Columns weighted by trees, and the metric of the random features or landmarks."""
        gains, kernel, d = self.state.trees.gains, self.state.kernel, self.search.rows.X.shape[1]
        found = []
        if gains is not None and gains.sum() > 0:
            root = np.sqrt(np.maximum(gains / gains.sum() * d, MIN_COLUMN_WEIGHT))
            found.append(("columns weighted by trees", root))
        if kernel is not None and isinstance(kernel.kernel, Stationary) and kernel.root.ndim == 2:
            found.append(("learned metric", kernel.root))
        return found or [("unweighted columns", np.ones(d))]

    def _fitted(self, rows: TrainingRows, root: np.ndarray, alpha: float) -> KernelScoreBlock:
        return fitted_score(rows, _kernel(rows, root), root, alpha, self.n_rows)

    def _trial(self, name: str, block: KernelScoreBlock, seconds: float, index: np.ndarray | None = None) -> Trial:
        """The score beside the features of the state, on all rows or on those that it was fitted to."""
        scores = block.out_of_fold
        if index is not None:
            scores = np.zeros(self.search.rows.Y.shape)
            scores[index] = block.out_of_fold
        state = replace(self.state, trees=replace(self.state.trees, scores=self._scores(scores)))
        larger = self.state.features.plus(block)
        return self.search.trial(state, "kernel score", name, larger, index, max_steps=3, seconds=seconds)

    def _scores(self, scores: np.ndarray) -> np.ndarray:
        """Out-of-fold scores of the blocks of the features: those of trees first, if there are any."""
        trees = self.state.trees.scores
        return scores if trees is None or not self.state.features.has("trees") else np.hstack([trees, scores])


def _error(block: KernelScoreBlock, rows: TrainingRows) -> float:
    """The mean squared error of the score alone."""
    return float(np.average(np.sum((block.out_of_fold - rows.Y) ** 2, axis=1), weights=rows.weight))


def _kernel(rows: TrainingRows, root: np.ndarray) -> Laplace:
    sample = rows.X[rows.smallest(MEDIAN_ROWS)]
    median = median_distance(sample * root if root.ndim == 1 else sample @ root) or 1.0
    return Laplace(bandwidth=KERNEL_MULTIPLE * median)
