"""Landmarks: similarities to rows in the metric of the random features, in their place where they do better.

Random features approximate a kernel everywhere, landmarks where the rows are: of a smooth function of a few columns,
as many landmarks leave less than half of the loss. They are tried where random features matter, and first as many as
the smallest number of those, which is cheap; the folds compare the two.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer.auto.constants import (
    FAR_BEHIND,
    LARGE_GAIN,
    MIN_DOUBLING_GAIN,
    MIN_GAIN,
    MIN_LANDMARK_ROWS,
    NARROWER,
    TIME_FOR_LANDMARKS,
)
from mercer.auto.features.landmarks import LandmarksBlock
from mercer.auto.search.evaluation import Evaluator, verdict
from mercer.auto.search.kernels import KernelCandidate
from mercer.auto.search.state import Candidate, SearchState, Trial
from mercer.kernels.stationary import Stationary


def add_landmarks(search: Evaluator, state: SearchState) -> SearchState:
    """Try landmarks of the kernel of the random features instead of these, twice as many as long as that pays."""
    few = search.rows.few or search.n < MIN_LANDMARK_ROWS
    if few or not search.effort.max_landmarks or not search.clock.allows(TIME_FOR_LANDMARKS):
        return state
    first, kernel = _smallest_fourier(state), state.kernel
    if first is None or kernel is None or not (isinstance(kernel.kernel, Stationary) and kernel.kernel.isotropic):
        return state
    with search.steps("landmarks"):
        return _Landmarks(search, state).tried(state, kernel, first)


def _smallest_fourier(state: SearchState) -> Candidate | None:
    """The smallest number of random features that was tried on all rows, if these lower the loss by much."""
    if not state.features.has("fourier"):
        return None
    on_all = [each for each in state.candidates if each.on_all_rows]
    drawn = [each for each in on_all if each.stage == "fourier"]
    before = [each.loss for each in on_all if each.kept and each.stage != "fourier"]
    return drawn[0] if drawn and before and state.loss < before[-1] * (1 - LARGE_GAIN) else None


class _Landmarks:
    """Trials of landmarks beside the other features of a state: rows of the smallest hashes, each distinct row once."""

    def __init__(self, search: Evaluator, state: SearchState):
        self.search, self.base = search, state.features.without("fourier")
        rows, effort = search.rows, search.effort
        order = rows.smallest(len(rows))
        ids = rows.ids[order]
        self.order = order[np.concatenate([[True], ids[1:] != ids[:-1]])]
        left = min(effort.max_features, effort.max_width) - self.base.width
        self.most = min(effort.max_landmarks, len(self.order) // 2, left)

    def tried(self, state: SearchState, kernel: KernelCandidate, first: Candidate) -> SearchState:
        """The state with the number and bandwidth of landmarks that the folds confirm."""
        width = first.width - self.base.width
        if width > self.most or not self.search.affords(state, self.base.width + width, 1.0):
            return state
        best = self._trial(state, kernel, width)
        if best.loss <= FAR_BEHIND * first.loss:
            state, best, kernel = self._narrower(state, best, kernel, width)
        better, why = verdict(best.candidate, first)
        found = state.features.width - self.base.width
        if better and found <= width:
            state = self._kept(state, best, kernel)
        else:
            state = state.noted(replace(best.candidate, why=f"beside as many random features: {why}"))
        return self._doubled(state, kernel, max(found, 2 * width), best.loss) if better else state

    def _doubled(self, state: SearchState, kernel: KernelCandidate, width: int, loss: float) -> SearchState:
        while width <= self.most and self.search.affords(state, self.base.width + width, 1.0):
            trial = self._trial(state, kernel, width)
            before, state = state, self._kept(state, trial, kernel)
            less = trial.loss < loss * (1 - MIN_DOUBLING_GAIN)
            if state.kept is before.kept or not less or not self.search.clock.allows(TIME_FOR_LANDMARKS):
                break
            loss, width = trial.loss, 2 * width
        return state

    def _narrower(
        self, state: SearchState, best: Trial, kernel: KernelCandidate, width: int
    ) -> tuple[SearchState, Trial, KernelCandidate]:
        """The bandwidth reduced as long as that helps: landmarks bear narrower kernels than random features do."""
        while self.search.affords(state, 2 * (self.base.width + width), 1.0):
            shape: Stationary = kernel.kernel  # type: ignore[assignment]
            narrow = KernelCandidate(replace(shape, bandwidth=NARROWER * shape.bandwidth), kernel.root)
            trial = self._trial(state, narrow, width)
            if trial.loss > best.loss * (1 - MIN_GAIN):
                return state.noted(replace(trial.candidate, why="no gain by a narrower kernel")), best, kernel
            state = state.noted(replace(best.candidate, why="narrower kernels do better"))
            best, kernel = trial, narrow
        return state, best, kernel

    def _trial(self, state: SearchState, kernel: KernelCandidate, width: int) -> Trial:
        centers = self.search.rows.X[self.order[:width]]
        block = LandmarksBlock.fitted(kernel.kernel, kernel.root, centers)
        name = f"{width} landmarks, bandwidth {kernel.kernel.bandwidth:.3g}"  # type: ignore[attr-defined]
        return self.search.trial(state, "landmarks", name, self.base.plus(block))

    def _kept(self, state: SearchState, trial: Trial, kernel: KernelCandidate) -> SearchState:
        """The state after a trial: with landmarks of this kernel if they gain enough."""
        after = self.search.keep_if_better(state, trial)
        return after if after.kept is state.kept else replace(after, kernel=kernel)
