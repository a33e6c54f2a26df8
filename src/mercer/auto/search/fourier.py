"""Random Fourier features: which kernel, in which metric, and how many features of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.auto.constants import (
    FINALIST_MULTIPLE,
    LARGE_GAIN,
    MEDIAN_ROWS,
    MIN_DOUBLING_GAIN,
    MIN_FOURIER_ROWS,
    MIN_GAIN,
    MIN_OTHER_ROWS,
    N_FINALISTS,
    N_PROMISING,
    ROWS_PER_METRIC_ENTRY,
    TIME_FOR_FOURIER,
)
from mercer.auto.features.union import Features
from mercer.auto.search.evaluation import Evaluator, relative_loss
from mercer.auto.search.kernels import KernelCandidate, kernel_candidates
from mercer.auto.search.state import Candidate, SearchState, Trial
from mercer.learn import LearnedMetric


def add_fourier(search: Evaluator, state: SearchState) -> SearchState:
    """Try random features of the best kernel, in a learned metric if that is better."""
    if search.n < MIN_FOURIER_ROWS or not search.clock.allows(TIME_FOR_FOURIER):
        return state
    if search.rows.signs is not None and np.all(search.rows.signs != 0):
        return state
    effort, base = search.effort, state.features.without("piecewise")
    with search.steps("kernels"):
        state, choice = _best_kernel(search, state, base)
    if choice.gain < effort.min_fourier_gain and effort.n_bins < 2:  # a fast search tries no more
        return state
    best, metric = choice.best, _MetricSearch(search, base, choice.seconds)
    if effort.n_rounds and choice.gain >= effort.min_fourier_gain and metric.affordable(1):
        with search.steps("metric"):
            rows, width = effort.metric_rows, effort.metric_features
            state, found, gain = metric.best(state, best, choice.origin, rows, width)
            learned, best = found is not best, found
            if learned and max(choice.gain, gain) > LARGE_GAIN and effort.sharpen and metric.affordable(4):
                # Random features and their metric decide here: a more precise one is worth its price.
                state, best, _ = metric.best(state, best, best, 2 * rows, 2 * width)
    with search.steps("fourier"):
        return _doubled(search, state, best, choice.seconds)


@dataclass(frozen=True)
class _KernelChoice:
    """The best kernel, the best one that a metric can be learned for, its relative gain, and seconds of a trial."""

    best: KernelCandidate
    origin: KernelCandidate
    gain: float
    seconds: float


@dataclass(frozen=True)
class _KernelTrial:
    """A trial of a kernel of a family."""

    trial: Trial
    family: int
    title: str
    kernel: KernelCandidate

    @property
    def loss(self) -> float:
        return self.trial.loss


def _best_kernel(search: Evaluator, state: SearchState, base: Features) -> tuple[SearchState, _KernelChoice]:
    """The kernel that helps most beside the blocks so far, by successive halving on a sample of the rows.

    All families are tried at one bandwidth, the promising ones at all, and where random features matter the best of
    each of the first few at four times the number of features: kernels on few columns are ahead while features are few.
    """
    effort, index = search.effort, search.rows.smallest(search.effort.search_rows)
    without = search.trial(state, "kernel", "no random features", base, index, max_steps=3).candidate
    families = kernel_candidates(
        search.rows.at(index).X[:MEDIAN_ROWS],
        state.trees.gains,
        effort.kernels,
        effort.multiples,
        effort.subsets,
        state.trees.gains_per_fold,
    )
    if search.rows.signs is not None:  # no random feature of a monotone column
        free = (search.rows.signs == 0).astype(np.float64)
        families = [[(title, kernel.restricted(free)) for title, kernel in family] for family in families]
    if not effort.sharpen:
        families = families[-1:]  # the metric that trees suggest, where they do

    def tried(family: int, title: str, kernel: KernelCandidate, multiple: int = 1) -> _KernelTrial:
        larger = base.plus(kernel.features(multiple * effort.search_features, search.seed))
        stage = "kernel" if multiple == 1 else "finalist"
        return _KernelTrial(search.trial(state, stage, title, larger, index, max_steps=3), family, title, kernel)

    middle = len(effort.multiples) // 2
    first = _while_time(search, 0.75, tried, [(number, *family[middle]) for number, family in enumerate(families)])
    promising = [each.family for each in sorted(first, key=_loss)[:N_PROMISING]]
    others = [(number, *each) for number in promising for k, each in enumerate(families[number]) if k != middle]
    found = first + _while_time(search, 0.75, tried, others, at_least=0)
    ranked = sorted(found, key=_loss)
    gain = 1 - ranked[0].loss / without.loss if without.loss > 0 else 0.0
    seconds = found[-1].trial.candidate.seconds
    if gain > LARGE_GAIN and effort.sharpen and N_FINALISTS * FINALIST_MULTIPLE**1.5 * seconds <= search.clock.left():
        best: dict[int, tuple] = {}
        for each in ranked:
            best.setdefault(each.family, (each.family, each.title, each.kernel, FINALIST_MULTIPLE))
        finals = _while_time(search, 0.6, tried, list(best.values())[:N_FINALISTS], at_least=0)
        found, ranked = found + finals, [*sorted(finals, key=_loss), *ranked]
    why = f"{gain:.2%} less loss with the best kernel" if gain > 0 else "no gain by the best kernel"
    without = replace(without, why=why)
    state = state.noted(without, *_outcomes(found, ranked[0]))
    origin = next(each.kernel for each in ranked if each.kernel.supports_metric)
    return state, _KernelChoice(ranked[0].kernel, origin, gain, seconds)


def _outcomes(found: list[_KernelTrial], best: _KernelTrial) -> list[Candidate]:
    """The candidates in the order in which they were tried."""
    return [replace(each.trial.candidate, kept=each is best, why=relative_loss(each.loss, best.loss)) for each in found]


def _while_time(search: Evaluator, fraction: float, tried: Any, arguments: list[tuple], at_least: int = 1) -> list:
    """Trials of one after the other until this fraction of the time is spent."""
    found: list = []
    for each in arguments:
        if len(found) >= at_least and not search.clock.allows(fraction):
            break
        found.append(tried(*each))
    return found


def _loss(each: _KernelTrial) -> float:
    return each.loss


class _MetricSearch:
    """Metrics learned for a kernel, evaluated beside the features `base`; `seconds` is what a kernel trial took."""

    def __init__(self, search: Evaluator, base: Features, seconds: float):
        self.search, self.base, self.seconds = search, base, seconds

    def affordable(self, multiple: int) -> bool:
        """Whether there is time to learn a metric: a round of it takes about as long as two trials of a kernel."""
        effort = self.search.effort
        rows = effort.metric_rows / effort.search_rows
        trials = rows * effort.metric_features / effort.search_features * (2 * effort.n_rounds + 2)
        return self.search.clock.allows(0.75) and multiple * trials * self.seconds <= self.search.clock.left()

    def best(
        self, state: SearchState, current: KernelCandidate, origin: KernelCandidate, n_rows: int, width: int
    ) -> tuple[SearchState, KernelCandidate, float]:
        """The kernel of `origin` in the metric of its gradients if it beats `current`, and its relative gain."""
        order = self.search.rows.smallest(len(self.search.rows))
        index, others = order[:n_rows], order[n_rows : n_rows + self.search.effort.search_rows]
        start = time.perf_counter()
        learned = self._learned(origin, index, width)
        seconds = time.perf_counter() - start
        if len(others) >= MIN_OTHER_ROWS:  # a metric is too good for the rows it was learned from
            index = others
        before = self._trial(state, "metric as it was", current, index, width, 0.0)
        after = self._trial(state, "learned metric", learned, index, width, seconds)
        gain = 1 - after.loss / before.loss if before.loss > 0 else 0.0
        better = gain > MIN_GAIN
        why = f"{gain:.1%} less loss with the learned metric" if gain > 0 else "no gain by the learned metric"
        state = state.noted(replace(before, kept=not better, why=why), replace(after, kept=better, why=why))
        return (state, learned, gain) if better else (state, current, 0.0)

    def _learned(self, origin: KernelCandidate, index: np.ndarray, width: int) -> KernelCandidate:
        sample, d, effort = self.search.rows.at(index), self.search.rows.X.shape[1], self.search.effort
        learner = LearnedMetric(
            origin.kernel,
            n_rounds=effort.n_rounds,
            mode="auto" if ROWS_PER_METRIC_ENTRY * d * d <= len(sample) else "diagonal",
            n_components=width,
            max_rows=len(sample),
            task="regression",
            random_state=self.search.seed,
        )
        learner.fit(origin.rows(sample.X), sample.Y if sample.Y.shape[1] > 1 else sample.Y[:, 0])
        kernel: Any = learner.kernel_
        if hasattr(kernel, "matrix"):
            return origin.transformed(kernel.kernel, np.asarray(kernel.matrix))
        return KernelCandidate(kernel, origin.root)

    def _trial(
        self, state: SearchState, name: str, kernel: KernelCandidate, index: np.ndarray, width: int, seconds: float
    ) -> Candidate:
        larger = self.base.plus(kernel.features(width, self.search.seed))
        return self.search.trial(state, "metric", name, larger, index, max_steps=5, seconds=seconds).candidate


def _doubled(search: Evaluator, state: SearchState, kernel: KernelCandidate, seconds: float) -> SearchState:
    """Twice as many random features as long as that pays."""
    effort, current = search.effort, state.features
    left = min(effort.max_features, effort.max_width) - current.width
    most = min(effort.max_fourier, max(32, search.n // 2), left // 2 * 2)
    width = _affordable_width(search, min(512, most), seconds)
    if width < 2:
        return state
    loss, state = state.loss, replace(state, kernel=kernel)
    while width <= most:
        trial = search.trial(
            state, "fourier", f"{width} random features", current.plus(kernel.features(width, search.seed))
        )
        before, state = state, search.keep_if_better(state, trial)
        if state.kept is before.kept or trial.loss > loss * (1 - MIN_DOUBLING_GAIN) or not search.clock.allows(0.5):
            break
        loss, width = trial.loss, 2 * width
    return state


def _affordable_width(search: Evaluator, width: int, seconds: float) -> int:
    """Half as many features until trying them, by what trying a kernel took, fits into the time left."""
    seconds *= len(search.rows) / min(len(search.rows), search.effort.search_rows)
    while width > 1 and seconds * (width / search.effort.search_features) ** 1.5 > search.clock.left():
        width = width // 2 if width > 64 else 0
    return width
