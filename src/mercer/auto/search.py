"""The search: boosted trees, bins, kernels, metric and number of waves, every choice made by the same five folds.

What is compared is always the whole linear model so far: a candidate is a dictionary of blocks, its score the exact
K-fold squared error with the best penalty for each block. A larger dictionary is taken only if it gains more than the
standard error of its gain over the folds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer import kernels
from mercer.auto.blocks import Dictionary, Pieces, Plain, Score, TreeColumns, Waves
from mercer.auto.boosting import Growth, LogLoss, Squares, boost
from mercer.auto.effort import Clock, Effort
from mercer.auto.penalties import Equations, Scored, best_penalties
from mercer.auto.rows import Rows
from mercer.auto.steps import Steps
from mercer.expand.sampling import applicable, draw_frequencies
from mercer.kernels.stationary import median_distance
from mercer.learn import LearnedMetric

#: What a larger dictionary must gain at least, as a share of the loss.
_GAIN = 2e-3
#: Rows for each number of a full metric, and rows enough to judge one that was learned from others.
_PER_NUMBER, _ENOUGH = 3, 1500
#: A metric that gains this share of the loss is learned once more, from twice as many rows and waves.
_MUCH = 0.05


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


@dataclass
class Found:
    """What the search settled on: the dictionary, penalties of its blocks, out-of-fold scores of the training rows."""

    dictionary: Dictionary
    penalties: np.ndarray
    scored: Scored
    scores: np.ndarray | None
    candidates: list[Candidate] = field(default_factory=list)
    n_rounds: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Lens:
    """A kernel on rows times a matrix: frequencies omega of it become root omega."""

    kernel: kernels.Kernel
    root: np.ndarray


class Search:
    """One search on encoded rows.

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
        self.gains: np.ndarray | None = None
        self.n_rounds: list[int] = []
        self.scale = float(np.average(np.sum(rows.Y**2, axis=1), weights=rows.weight)) or 1.0
        self.n = rows.distinct()

    def run(self) -> Found:
        """All stages in turn, each kept or dropped by the folds."""
        current = Dictionary([Plain(self.rows.X.shape[1])])
        best = self._try("columns", "encoded columns, linear", current)
        best.kept = True
        for stage in (self._with_trees, self._with_pieces, self._with_waves):
            current = stage(current)
        penalties, scored = self._settle(current)
        return Found(current, penalties, scored, self.scores, self.candidates, self.n_rounds)

    # ---- stages

    def _with_trees(self, current: Dictionary) -> Dictionary:
        n_features = self.rows.X.shape[1]
        if self.n < 40 or n_features == 0 or not self.clock.allows(0.3):
            return current
        start = time.perf_counter()
        with self.steps("boosted trees, out of fold"):
            block, scores, self.gains = grow_score(
                self.rows, self.labels, self.effort, self.seed, self.n_rounds, lambda: not self.clock.allows(0.4)
            )
        seconds = time.perf_counter() - start
        self.scores = scores
        larger = Dictionary([block, *current.blocks])
        tried = self._try("trees", f"score of {sum(self.n_rounds)} rounds of boosting", larger, extra=seconds)
        return self._choose(tried, larger, current)

    def _with_pieces(self, current: Dictionary) -> Dictionary:
        if self.n < 40 or not self.clock.allows(0.6):
            return current
        n_bins = int(np.clip(1200 // max(self.rows.X.shape[1], 1), 2, self.effort.n_bins))
        n_bins = min(n_bins, max(2, self.n // 20))
        pieces = Pieces.learned(self.rows.X, n_bins, self.rows.weight)
        if pieces is None or pieces.width + current.width > min(3000, self.effort.most_features):
            return current
        larger = Dictionary([*current.blocks, pieces])
        return self._choose(self._try("pieces", f"{n_bins} piecewise-linear bins", larger), larger, current)

    def _with_waves(self, current: Dictionary) -> Dictionary:
        if self.n < 20 or not self.clock.allows(0.7):
            return current
        base = Dictionary([block for block in current.blocks if block.kind != "pieces"])
        place = self.rows.smallest(self.effort.search_rows)
        sample = self.rows.at(place)
        with self.steps("kernels and bandwidths"):
            kernel = self._best_kernel(base, sample, place)
        if self.effort.n_rounds and self.clock.allows(0.75):
            with self.steps("learned metric"):
                n_rows, width = self.effort.metric_rows, self.effort.metric_waves
                kernel, gain = self._best_metric(base, kernel, n_rows, width)
                if gain > _MUCH and self.clock.allows(0.6):  # the metric decides here: a sharper one is worth its price
                    kernel, _ = self._best_metric(base, kernel, 2 * n_rows, 2 * width)
        with self.steps("number of waves"):
            return self._grown_waves(current, kernel)

    def _best_kernel(self, base, sample, place) -> Lens:
        tried: list[tuple] = []
        for metric, root in self._roots().items():
            median = median_distance(sample.X[:2048] * root) or 1.0
            for name in self.effort.kernels:
                for multiple in self.effort.multiples:
                    if tried and not self.clock.allows(0.75):
                        break
                    lens = Lens(getattr(kernels, name)(bandwidth=multiple * median), np.diag(root))
                    larger = Dictionary([*base.blocks, self._waves(lens, self.effort.search_waves)])
                    title = f"{name}, {multiple:g} x median, {metric}"
                    found = self._try("kernel", title, larger, sample, place, steps=5)
                    tried.append((found.loss, len(tried), lens, found))
        loss, _, lens, found = min(tried)
        for _, _, _, other in tried:
            other.why = "least loss of the kernels" if other is found else f"loss {other.loss / loss:.4g} x the least"
        found.kept = True
        return lens

    def _roots(self) -> dict[str, np.ndarray]:
        """Weights of the columns to begin with: even, and by the root of what the trees' splits on them gained."""
        d = self.rows.X.shape[1]
        roots = {"even columns": np.ones(d)}
        if self.gains is not None and self.gains.sum() > 0 and d > 1:
            share = self.gains / self.gains.sum() * d
            roots["columns weighted by the trees"] = np.sqrt(np.maximum(share, 1e-3))
        return roots

    def _best_metric(self, base, lens: Lens, n_rows: int, width: int) -> tuple[Lens, float]:
        """The kernel in the metric of its own gradients, if that helps the model beside the trees, and by how much."""
        order, d = self.rows.smallest(len(self.rows)), self.rows.X.shape[1]
        place, others = order[:n_rows], order[n_rows : n_rows + self.effort.search_rows]
        sample = self.rows.at(place)
        learner = LearnedMetric(
            lens.kernel,
            n_rounds=self.effort.n_rounds,
            mode="auto" if _PER_NUMBER * d * d <= len(sample) else "diagonal",
            n_components=width,
            max_rows=len(sample),
            task="regression",
            random_state=self.seed,
        )
        start = time.perf_counter()
        learner.fit(sample.X @ lens.root, sample.Y if sample.Y.shape[1] > 1 else sample.Y[:, 0])
        seconds = time.perf_counter() - start
        seen: Any = learner.kernel_
        bent = (
            Lens(seen.kernel, lens.root @ np.asarray(seen.matrix)) if hasattr(seen, "matrix") else Lens(seen, lens.root)
        )
        if len(others) >= _ENOUGH:  # a metric flatters the rows it was learned from
            place, sample = others, self.rows.at(others)
        results = []
        for name, each, extra in (("metric as it was", lens, 0.0), ("learned metric", bent, seconds)):
            larger = Dictionary([*base.blocks, self._waves(each, width)])
            results.append(self._try("metric", name, larger, sample, place, steps=5, extra=extra))
        plain, learned = results
        gain = 1 - learned.loss / plain.loss if plain.loss > 0 else 0.0
        better = gain > _GAIN
        for judged, kept in ((plain, not better), (learned, better)):
            judged.kept, judged.why = kept, f"{100 * gain:.1f} % less loss with the learned one"
        return (bent, gain) if better else (lens, 0.0)

    def _grown_waves(self, current, kernel) -> Dictionary:
        """Twice as many waves as long as that pays."""
        left = self.effort.most_features - current.width
        most = min(self.effort.most_waves, max(32, self.n // 2), left // 2 * 2)
        if most < 2:
            return current
        width = self._affordable(min(512, most))
        start = None
        best, loss = current, self._last_loss
        while width <= most:
            larger = Dictionary([*current.blocks, self._waves(kernel, width)])
            tried = self._try("waves", f"{width} waves", larger, start=start)
            before, best = best, self._choose(tried, larger, best)
            if best is before or tried.loss > loss * (1 - 0.01) or not self.clock.allows(0.5):
                break
            loss, start, width = tried.loss, self._penalties, 2 * width
        return best

    def _affordable(self, width: int) -> int:
        """Half as many waves until trying them, by what trying a kernel took, fits into the time left."""
        seconds = next((each.seconds for each in reversed(self.candidates) if each.stage == "kernel"), 0.0)
        seconds *= len(self.rows) / min(len(self.rows), self.effort.search_rows)
        while width > 64 and seconds * (width / self.effort.search_waves) ** 1.5 > self.clock.left():
            width //= 2
        return width

    # ---- scoring

    def _waves(self, lens: Lens, width: int) -> Waves:
        m = max(1, width // 2)
        rng = np.random.default_rng([self.seed, 0x574156])
        drawn = draw_frequencies(lens.kernel, m, lens.root.shape[1], applicable(lens.kernel, "orthogonal"), rng)
        return Waves(drawn @ lens.root.T, repr(lens.kernel))

    def _gram(self, dictionary, rows, place):
        scores = self.scores if place is None or self.scores is None else self.scores[place]

        def features(span):
            return dictionary.features(rows.X[span], None if scores is None else scores[span])

        return rows.gram(features)

    def _try(self, stage, name, dictionary, rows=None, place=None, start=None, steps=10, extra=0.0) -> Candidate:
        began = time.perf_counter()
        equations = Equations(
            self._gram(dictionary, self.rows if rows is None else rows, place), dictionary.block_of_column
        )
        steps = steps if dictionary.width <= 1100 else 2
        penalties, scored = best_penalties(equations, start, steps)
        if rows is None:
            self._penalties, self._scored, self._equations = penalties, scored, equations
        seconds = time.perf_counter() - began + extra
        loss = scored.loss / self.scale
        candidate = Candidate(stage, name, loss, seconds, dictionary.width, per_fold=scored.per_fold)
        self.candidates.append(candidate)
        if stage == "columns":
            self._keep(candidate)
        return candidate

    def _keep(self, candidate):
        self._last_loss, self._last_folds = candidate.loss, candidate.per_fold
        self._kept = (self._penalties, self._scored, self._equations)

    def _choose(self, tried: Candidate, larger: Dictionary, smaller: Dictionary) -> Dictionary:
        """The larger dictionary if it gains more than the standard error of the gain over the folds."""
        gains = self._last_folds - tried.per_fold
        error = float(np.std(gains, ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
        gain = float(np.mean(gains))
        enough = gain > error and tried.loss < self._last_loss * (1 - _GAIN)
        share = 100 * (1 - tried.loss / self._last_loss) if self._last_loss > 0 else 0.0
        tried.kept = bool(enough)
        verdict = "more" if enough else "no more"
        tried.why = f"{share:.2f} % less loss, {verdict} than one standard error ({gain:.3g} against {error:.3g})"
        if not enough:
            return smaller
        self._keep(tried)
        return larger

    def _settle(self, dictionary) -> tuple[np.ndarray, Scored]:
        penalties, scored, self.equations = self._kept
        return penalties, scored


def grow_score(rows: Rows, labels, effort: Effort, seed: int, n_rounds: list[int], enough=lambda: False):
    """The score block of ensembles of one or more seeds, its out-of-fold values, and the gains of the columns."""
    forests: list = []
    total: Any = 0.0
    gains: Any = 0.0
    columns = TreeColumns.of(rows.X.shape[1], list(rows.categories))
    seen = columns(rows.X)
    for k in range(effort.n_seeds):
        growth = Growth(**{**vars(effort.growth), "seed": seed + k})
        weight = rows.weight
        loss = Squares(rows.Y, weight) if labels is None else LogLoss(labels, int(labels.max()) + 1, weight)
        grown = boost(seen, loss, rows.folds, growth, columns.codes, enough)
        forests.append(grown.forest)
        n_rounds.append(grown.n_rounds)
        total, gains = total + grown.scores, gains + grown.gains
    scores = total / effort.n_seeds
    spread = np.average((scores - np.average(scores, axis=0, weights=weight)) ** 2, axis=0, weights=weight)
    scale = np.maximum(np.sqrt(spread), 1e-6)
    return Score(forests, scale, columns, labels is not None), scores, columns.spread(gains, rows.X.shape[1])
