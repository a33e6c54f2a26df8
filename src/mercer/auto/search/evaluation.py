"""What is compared: the whole linear model on a dictionary of blocks, by its exact K-fold squared error.

A larger dictionary is taken only if it gains more than the standard error of its gain over the folds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from mercer.auto.budget.effort import Clock, Effort
from mercer.auto.budget.progress import Steps
from mercer.auto.features.blocks import Dictionary
from mercer.auto.rows.training import Rows
from mercer.auto.search.equations import KernelCache, row_space_loss
from mercer.linear.ridge.fold_loss import FoldLoss, GramFoldLoss
from mercer.linear.ridge.penalties import best_penalties

#: What a larger dictionary must gain at least, as a share of the loss.
LEAST_GAIN = 2e-3
#: Columns from which on a quick search refines penalties less.
_SOME = 300
#: Standard errors that a block must gain that was chosen from many: of noise, one is passed too often.
SURE = 2


@dataclass
class Candidate:
    """One thing tried: what it was, its K-fold loss (as a share of the target's variance), what it cost, its fate."""

    stage: str
    name: str
    loss: float
    seconds: float
    width: int
    kept: bool = False
    why: str = ""
    per_fold: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)


class Trials:
    """Dictionaries tried on encoded rows: each is scored by the folds, with the best penalty for each of its blocks.

    Parameters
    ----------
    rows : Rows with targets of mean 0 and overall variance 1
    labels : class numbers of the rows, or None for a quantity
    effort : Effort
    clock : Clock
    seed : int
    steps : Steps, told of each step as it starts
    """

    def __init__(self, rows: Rows, labels, effort: Effort, clock: Clock, seed: int, steps: Steps):
        self.rows, self.labels, self.effort, self.seed = rows, labels, effort, seed
        self.clock, self.steps = clock, steps
        self.candidates: list[Candidate] = []
        self.scores: np.ndarray | None = None
        self._tried_seconds = 0.0
        self._known: dict[int, float] = {}  # the penalty of each block that was kept, by row
        self.scale = float(np.average(np.sum(rows.Y**2, axis=1), weights=rows.weight)) or 1.0
        self.n = rows.distinct()
        self._kernels = KernelCache(rows) if rows.few else None

    def _equations_of(self, dictionary: Dictionary, rows: Rows, place) -> FoldLoss:
        """The equations of some rows, or of all; of columns, or of rows where these are fewer."""
        scores = self.scores if place is None or self.scores is None else self.scores[place]
        if self._kernels is None:
            return GramFoldLoss(rows.gram(dictionary.over(rows.X, scores)), dictionary.block_of_column, self._late)
        kernels = self._kernels.of(dictionary, self.scores)
        if place is not None:
            kernels = [kernel.rows(place) for kernel in kernels]
        return row_space_loss(rows, dictionary, scores, kernels, self._late)

    def _late(self) -> bool:
        return not self.clock.allows(1.0)

    def attempt(self, stage, name, dictionary, rows=None, place=None, steps=8, extra=0.0) -> Candidate:
        began = time.perf_counter()
        seen = self.rows if rows is None else rows
        equations = self._equations_of(dictionary, seen, place)
        start = np.array([self._known.get(id(block), np.nan) for block in dictionary.blocks]) * len(seen)
        steps = min(steps, self._most_steps(equations.size))
        penalties, scored = best_penalties(equations, start if np.isfinite(start).any() else None, steps)
        equations.clear_cache()
        if rows is None:
            self._tried_blocks = dictionary.blocks
            self._penalties, self._scored, self._equations = penalties, scored, equations
            self._tried_seconds = time.perf_counter() - began
        seconds = time.perf_counter() - began + extra
        loss = scored.loss / self.scale
        candidate = Candidate(stage, name, loss, seconds, dictionary.width, per_fold=scored.per_fold)
        self.candidates.append(candidate)
        if stage == "columns":
            self._keep(candidate)
        return candidate

    def _most_steps(self, width: int) -> int:
        """How far penalties are refined: factors of many columns cost, and the loss is flat about its minimum."""
        if not self.effort.sharpen and width > _SOME:
            return 3
        return 8 if width <= 600 else 4 if width <= 1100 else 2

    def _keep(self, candidate):
        self.loss, self._last_folds = candidate.loss, candidate.per_fold
        self._kept = (self._penalties, self._scored, self._equations)
        self._known = {
            id(block): float(penalty) / len(self.rows)
            for block, penalty in zip(self._tried_blocks, self._penalties, strict=True)
        }

    def choose(self, tried: Candidate, larger: Dictionary, smaller: Dictionary, times: int = 1) -> Dictionary:
        """The larger dictionary if it gains more than the standard error of the gain over the folds, once or more."""
        tried.kept, tried.why = _verdict(tried, self.loss, self._last_folds, times)
        if not tried.kept:
            self._equations = self._kept[2]
            return smaller
        self._keep(tried)
        return larger

    def chosen(self, stage: str, name: str, larger: Dictionary, smaller: Dictionary, times: int = 1) -> Dictionary:
        """The larger dictionary if it gains enough on all rows."""
        return self.choose(self.attempt(stage, name, larger), larger, smaller, times)

    def confirmed(self, stage: str, name: str, larger: Dictionary, smaller: Dictionary, place, seconds: float) -> bool:
        """Whether the larger dictionary, chosen in some seconds, gains enough on rows that did not choose it."""
        rows = self.rows.at(place)
        without = self.attempt(stage, f"no {stage}", smaller, rows, place, steps=3)
        tried = self.attempt(stage, name, larger, rows, place, steps=3, extra=seconds)
        tried.kept, why = _verdict(tried, without.loss, without.per_fold, SURE)
        without.kept = not tried.kept
        tried.why = without.why = f"{why}, with {stage} on rows that did not choose them"
        return tried.kept

    def weights_without(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts of the dictionary so far, fitted without the k-th fold."""
        penalties, _, equations = self._kept
        return equations.weights_without(k, penalties)

    def affords(self, width: int, share: float) -> bool:
        """Whether a dictionary of this width can be tried on all rows in a share of the time, by what the last took."""
        last = sum(block.width for block in self._tried_blocks)
        seconds = self._tried_seconds * max(1.0, width / max(last, 1)) ** 1.5
        return seconds <= self.clock.part(share).left()


def _verdict(tried: Candidate, loss: float, per_fold: np.ndarray, times: int = 1) -> tuple[bool, str]:
    """Whether a candidate gains more over a loss than one or more standard errors of its gain, and that in words."""
    gains = per_fold - tried.per_fold
    error = float(np.std(gains, ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
    gain = float(np.mean(gains))
    enough = bool(gain > times * error and tried.loss < loss * (1 - LEAST_GAIN))
    share = 100 * (1 - tried.loss / loss) if loss > 0 else 0.0
    verdict = "more" if enough else "no more"
    errors = "one standard error" if times == 1 else f"{times} standard errors"
    return enough, f"{share:.2f} % less loss, {verdict} than {errors} ({gain:.3g} against {times * error:.3g})"
