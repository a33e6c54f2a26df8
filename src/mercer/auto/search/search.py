"""The search: boosted trees, bins, products, kernels, metric and number of waves, every choice by the same folds."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from mercer.auto.boosting.ensemble import Growth
from mercer.auto.budget.effort import Clock, Effort
from mercer.auto.budget.progress import Steps
from mercer.auto.features.blocks import Dictionary, Pieces, Plain
from mercer.auto.rows.training import Rows
from mercer.auto.search.columns import with_chosen
from mercer.auto.search.evaluation import Candidate, Trials
from mercer.auto.search.fourier import WaveStage
from mercer.auto.search.kernels import Lens
from mercer.auto.search.products import with_products
from mercer.auto.search.trees import grow_score
from mercer.linear.ridge.fold_loss import FoldScore

#: Up to this loss, classes are told apart so well that the squared error says little about more features.
_LITTLE = 0.15
#: The most features of a dictionary with bins.
_PIECES = 3000


@dataclass
class Found:
    """What the search settled on: the dictionary, penalties of its blocks, out-of-fold scores of the training rows."""

    dictionary: Dictionary
    penalties: np.ndarray
    scored: FoldScore
    scores: np.ndarray | None
    candidates: list[Candidate] = field(default_factory=list)
    n_rounds: list[int] = field(default_factory=list)
    growth: Growth | None = None
    linear_penalty: float = 1.0
    #: The kernel that the waves were drawn from.
    lens: Lens | None = None
    without_trees: Found | None = None
    #: Whether several penalties of another loss are worth trying.
    thorough: bool = True

    def rivals(self) -> list[Found]:
        """Itself, and simpler models that another loss may prefer: without trees, and of the columns alone."""
        if len(self.dictionary.blocks) == 1:
            return [self]
        plain = [block for block in self.dictionary.blocks if block.kind == "linear"]
        alone = replace(self, dictionary=Dictionary(plain), penalties=np.array([self.linear_penalty]), scores=None)
        return [self, alone] if self.without_trees is None else [self, alone, self.without_trees]


class Search(Trials):
    """One search on encoded rows: the stages in turn, each kept or dropped by the folds. Parameters as `Trials`."""

    def __init__(self, rows: Rows, labels, effort: Effort, clock: Clock, seed: int, steps: Steps):
        super().__init__(rows, labels, effort, clock, seed, steps)
        self.gains: np.ndarray | None = None
        self.gains_apart: list[np.ndarray] = []
        self.n_rounds: list[int] = []
        self.growth: Growth | None = None
        self.lens: Lens | None = None

    def run(self) -> Found:
        """All stages in turn, each kept or dropped by the folds."""
        chosen, products = (partial(stage, self) for stage in (with_chosen, with_products))
        found = self._through(self._with_trees, chosen, self._with_pieces, products, WaveStage(self))
        several = self.labels is not None and self.rows.Y.shape[1] > 2
        if several and self.scores is not None and self.effort.sharpen and self.loss < _LITTLE:
            found.without_trees = self._without_trees()
        return found

    def _through(self, *stages) -> Found:
        current = Dictionary([Plain(self.rows.X.shape[1])])
        best = self.attempt("columns", "encoded columns, linear", current)
        best.kept = True
        alone = float(self._penalties[0])
        for stage in stages:
            current = stage(current)
        penalties, scored, self.equations = self._kept
        known = self.scores, self.candidates, self.n_rounds, self.growth, alone, self.lens
        return Found(current, penalties, scored, *known, thorough=self.effort.sharpen)

    def _without_trees(self) -> Found | None:
        """What waves reach without trees.

        Where the probabilities of the trees leave little squared error, no linear term can lower it much, however right
        its evidence is. Log-odds add evidence up: whether waves do better by the logistic loss is for the head to say.
        """
        if not self.clock.allows(0.6):
            return None
        other = Search(self.rows, self.labels, self.effort, self.clock, self.seed, self.steps)
        other.gains, other.gains_apart = self.gains, self.gains_apart
        found = other._through(WaveStage(other))
        for each in other.candidates:
            each.name += " (without trees)"
        self.candidates += other.candidates
        return found if len(found.dictionary.blocks) > 1 else None

    def _with_trees(self, current: Dictionary) -> Dictionary:
        n_features = self.rows.X.shape[1]
        if self.n < 40 or n_features == 0 or not self.clock.allows(0.3):
            return current
        start = time.perf_counter()
        with self.steps("boosted trees, out of fold"):
            late, half = (lambda: not self.clock.allows(0.4)), (lambda: not self.clock.allows(0.2))
            grown = grow_score(self.rows, self.labels, self.effort, self.seed, late, half)
        seconds = time.perf_counter() - start
        if not any(grown.n_rounds):
            # Time ended before the first trees, or none was worth growing: what is left of a row's score is the mean
            # of the other folds, which tells its own apart.
            return current
        self.scores, self.gains, self.gains_apart = grown.scores, grown.gains, grown.apart
        self.n_rounds, self.growth = grown.n_rounds, grown.growth
        for growth, loss, cost in grown.tried:
            name = f"at most {growth.max_leaves} leaves of at least {growth.least_rows:g} rows"
            self.candidates.append(Candidate("growth", name, loss, cost, grown.block.width, growth == grown.growth))
            self.candidates[-1].why = f"loss {loss / min(each for _, each, _ in grown.tried):.4g} x the least"
        larger = Dictionary([grown.block, *current.blocks])
        tried = self.attempt("trees", f"score of {sum(self.n_rounds)} rounds of boosting", larger, extra=seconds)
        return self.choose(tried, larger, current)

    def _with_pieces(self, current: Dictionary) -> Dictionary:
        most = min(_PIECES, self.effort.most_features, self.effort.widest // 2 + self.rows.X.shape[1])
        if self.n < 40 or self.effort.n_bins < 2 or current.width >= most or not self.clock.allows(0.6):
            return current
        n_bins = int(np.clip(1200 // max(self.rows.X.shape[1], 1), 2, self.effort.n_bins))
        n_bins = min(n_bins, max(2, self.n // 20))
        while n_bins > 1 and not self.affords(current.width + n_bins * self.rows.X.shape[1], 0.7):
            n_bins //= 2
        if n_bins < 2:
            return current
        pieces = Pieces.learned(self.rows.X, n_bins, self.rows.weight)
        short = self.effort.widest < _PIECES  # of memory: then fewer bins are better than none
        while short and pieces is not None and n_bins > 3 and pieces.width + current.width > most:
            n_bins //= 2
            pieces = Pieces.learned(self.rows.X, n_bins, self.rows.weight)
        if pieces is None or pieces.width + current.width > most:
            return current
        larger = Dictionary([*current.blocks, pieces])
        return self.choose(self.attempt("pieces", f"{n_bins} piecewise-linear bins", larger), larger, current)
