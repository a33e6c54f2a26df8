"""The search: boosted trees, bins, products, kernels, metric and number of waves, all chosen by the same five folds.

What is compared is always the whole linear model so far: a candidate is a dictionary of blocks, its score the exact
K-fold squared error with the best penalty for each block. A larger dictionary is taken only if it gains more than the
standard error of its gain over the folds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from mercer.auto.blocks import Dictionary, Pieces, Plain
from mercer.auto.effort import Clock, Effort
from mercer.auto.ensemble import Growth
from mercer.auto.growing import grow_score
from mercer.auto.lenses import Lens, lenses
from mercer.auto.penalties import Equations, Scored, best_penalties
from mercer.auto.products import with_products
from mercer.auto.rows import Rows
from mercer.auto.steps import Steps
from mercer.learn import LearnedMetric

#: What a larger dictionary must gain at least, as a share of the loss.
_GAIN = 2e-3
#: Rows for each number of a full metric, and rows enough to judge one that was learned from others.
_PER_NUMBER, _ENOUGH = 3, 1500
#: Where waves or their metric gain this share of the loss, it is learned once more, from twice as many rows and waves.
_MUCH = 0.05
#: Kernels in a metric that are tried at more than one bandwidth.
_PROMISING = 2
#: Kernels that are compared once more where waves matter, and with how many times the waves.
_FINALISTS, _MORE = 3, 4
#: Standard errors that a block chosen on other rows must gain: of noise, one is passed too often.
_SURE = 2


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
    growth: Growth | None = None
    linear_penalty: float = 1.0
    #: The kernel that the waves were drawn from.
    lens: Lens | None = None
    without_trees: Found | None = None

    def rivals(self) -> list[Found]:
        """Itself, and simpler models that another loss may prefer: without trees, and of the columns alone."""
        if len(self.dictionary.blocks) == 1:
            return [self]
        plain = [block for block in self.dictionary.blocks if block.kind == "linear"]
        alone = replace(self, dictionary=Dictionary(plain), penalties=np.array([self.linear_penalty]), scores=None)
        return [self, alone] if self.without_trees is None else [self, alone, self.without_trees]


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
        self.growth: Growth | None = None
        self.lens: Lens | None = None
        self._tried_seconds = 0.0
        self._known: dict[int, float] = {}  # the penalty of each block that was kept, by row
        self.scale = float(np.average(np.sum(rows.Y**2, axis=1), weights=rows.weight)) or 1.0
        self.n = rows.distinct()

    def run(self) -> Found:
        """All stages in turn, each kept or dropped by the folds."""
        found = self._through(self._with_trees, self._with_pieces, partial(with_products, self), self._with_waves)
        if self.rows.Y.shape[1] > 2 and self.labels is not None and self.scores is not None:
            found.without_trees = self._without_trees()
        return found

    def _through(self, *stages) -> Found:
        current = Dictionary([Plain(self.rows.X.shape[1])])
        best = self._try("columns", "encoded columns, linear", current)
        best.kept = True
        alone = float(self._penalties[0])
        for stage in stages:
            current = stage(current)
        penalties, scored, self.equations = self._kept
        known = self.scores, self.candidates, self.n_rounds, self.growth, alone, self.lens
        return Found(current, penalties, scored, *known)

    def _without_trees(self) -> Found | None:
        """What waves reach without trees.

        The probabilities of the trees leave a squared error that no linear term can lower much, however right its
        evidence is. Log-odds add evidence up: whether waves do better by the logistic loss is for the head to say.
        """
        if not self.clock.allows(0.6):
            return None
        other = Search(self.rows, self.labels, self.effort, self.clock, self.seed, self.steps)
        other.gains = self.gains
        found = other._through(other._with_waves)
        for each in other.candidates:
            each.name += " (without trees)"
        self.candidates += other.candidates
        return found if len(found.dictionary.blocks) > 1 else None

    # ---- stages

    def _with_trees(self, current: Dictionary) -> Dictionary:
        n_features = self.rows.X.shape[1]
        if self.n < 40 or n_features == 0 or not self.clock.allows(0.3):
            return current
        start = time.perf_counter()
        with self.steps("boosted trees, out of fold"):
            late, half = (lambda: not self.clock.allows(0.4)), (lambda: not self.clock.allows(0.2))
            grown = grow_score(self.rows, self.labels, self.effort, self.seed, late, half)
        seconds = time.perf_counter() - start
        if not any(grown.n_rounds) and late():  # time ended before the first trees
            return current
        self.scores, self.gains = grown.scores, grown.gains
        self.n_rounds, self.growth = grown.n_rounds, grown.growth
        for growth, loss, cost in grown.tried:
            name = f"at most {growth.max_leaves} leaves of at least {growth.least_rows:g} rows"
            self.candidates.append(Candidate("growth", name, loss, cost, grown.block.width, growth == grown.growth))
            self.candidates[-1].why = f"loss {loss / min(each for _, each, _ in grown.tried):.4g} x the least"
        larger = Dictionary([grown.block, *current.blocks])
        tried = self._try("trees", f"score of {sum(self.n_rounds)} rounds of boosting", larger, extra=seconds)
        return self._choose(tried, larger, current)

    def _with_pieces(self, current: Dictionary) -> Dictionary:
        if self.n < 40 or self.effort.n_bins < 2 or not self.clock.allows(0.6):
            return current
        n_bins = int(np.clip(1200 // max(self.rows.X.shape[1], 1), 2, self.effort.n_bins))
        n_bins = min(n_bins, max(2, self.n // 20))
        while n_bins > 1 and not self._affords(current.width + n_bins * self.rows.X.shape[1], 0.7):
            n_bins //= 2
        if n_bins < 2:
            return current
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
            lens, origin, gain = self._best_kernel(base, sample, place)
        if gain < self.effort.hope and self.effort.n_bins < 2:  # the least effort takes no second look
            return current
        if self.effort.n_rounds and gain >= self.effort.hope and self._affords_metric(1):
            with self.steps("learned metric"):
                n_rows, width = self.effort.metric_rows, self.effort.metric_waves
                found, better = self._best_metric(base, lens, origin, n_rows, width)
                learned, lens = found is not lens, found
                if learned and max(gain, better) > _MUCH and self.effort.sharpen and self._affords_metric(4):
                    # Waves and their metric decide here: a sharper one is worth its price.
                    lens, _ = self._best_metric(base, lens, lens, 2 * n_rows, 2 * width)
        with self.steps("number of waves"):
            return self._grown_waves(current, lens)

    def _best_kernel(self, base, sample, place) -> tuple[Lens, Lens, float]:
        """The kernel that helps most beside the blocks so far, the best one that a metric can be learned for, the gain.

        The gain is that of the first, as a share of the loss without waves. Families of kernels race by halving: all at
        one bandwidth, the promising ones at all, and where waves matter the best of each of the first few at four times
        as many waves, since kernels of few columns are ahead while waves are few.
        """
        without = self._try("kernel", "no waves", base, sample, place, steps=3)
        families = lenses(sample.X[:2048], self.gains, self.effort.kernels, self.effort.multiples, self.effort.masked)

        def look(number, title, lens, more=1) -> tuple:
            larger = Dictionary([*base.blocks, lens.waves(more * self.effort.search_waves, self.seed)])
            stage = "kernel" if more == 1 else "finalist"
            return self._try(stage, title, larger, sample, place, steps=3), number, title, lens

        middle = len(self.effort.multiples) // 2
        first = self._each_while(0.75, look, [(number, *family[middle]) for number, family in enumerate(families)])
        promising = [number for _, number, *_ in sorted(first, key=_loss)[:_PROMISING]]
        others = [(number, *each) for number in promising for k, each in enumerate(families[number]) if k != middle]
        tried = sorted(first + self._each_while(0.75, look, others, at_least=0), key=_loss)
        gain = 1 - tried[0][0].loss / without.loss if without.loss > 0 else 0.0
        if gain > _MUCH and self.effort.sharpen and self._affords_looks(_FINALISTS * _MORE**1.5):
            best = list({each[1]: each[1:] for each in reversed(tried)}.values())[::-1]
            finals = self._each_while(0.6, look, [(*each, _MORE) for each in best[:_FINALISTS]], at_least=0)
            tried = [*sorted(finals, key=_loss), *tried]
        found, loss = tried[0][0], tried[0][0].loss
        for other, *_ in tried:
            other.why = "least loss of the kernels" if other is found else f"loss {other.loss / loss:.4g} x the least"
        found.kept = True
        without.why = f"{100 * gain:.2f} % less loss with the best kernel"
        return tried[0][-1], next(lens for *_, lens in tried if lens.bends), gain

    def _each_while(self, share, look, chances, at_least=1) -> list[tuple]:
        """Looks at one after the other until this share of the time is spent."""
        found: list[tuple] = []
        for chance in chances:
            if len(found) >= at_least and not self.clock.allows(share):
                break
            found.append(look(*chance))
        return found

    def _best_metric(self, base, lens: Lens, origin: Lens, n_rows: int, width: int) -> tuple[Lens, float]:
        """The kernel of `origin` in the metric of its gradients, if it beats `lens`, and by what share of the loss."""
        order, d = self.rows.smallest(len(self.rows)), self.rows.X.shape[1]
        place, others = order[:n_rows], order[n_rows : n_rows + self.effort.search_rows]
        sample = self.rows.at(place)
        learner = LearnedMetric(
            origin.kernel,
            n_rounds=self.effort.n_rounds,
            mode="auto" if _PER_NUMBER * d * d <= len(sample) else "diagonal",
            n_components=width,
            max_rows=len(sample),
            task="regression",
            random_state=self.seed,
        )
        start = time.perf_counter()
        learner.fit(sample.X @ origin.root, sample.Y if sample.Y.shape[1] > 1 else sample.Y[:, 0])
        seconds = time.perf_counter() - start
        seen: Any = learner.kernel_
        bent = (
            Lens(seen.kernel, origin.root @ np.asarray(seen.matrix))
            if hasattr(seen, "matrix")
            else Lens(seen, origin.root)
        )
        if len(others) >= _ENOUGH:  # a metric flatters the rows it was learned from
            place, sample = others, self.rows.at(others)
        results = []
        for name, each, extra in (("metric as it was", lens, 0.0), ("learned metric", bent, seconds)):
            larger = Dictionary([*base.blocks, each.waves(width, self.seed)])
            results.append(self._try("metric", name, larger, sample, place, steps=5, extra=extra))
        plain, learned = results
        gain = 1 - learned.loss / plain.loss if plain.loss > 0 else 0.0
        better = gain > _GAIN
        for judged, kept in ((plain, not better), (learned, better)):
            judged.kept, judged.why = kept, f"{100 * gain:.1f} % less loss with the learned one"
        return (bent, gain) if better else (lens, 0.0)

    def _grown_waves(self, current, lens: Lens) -> Dictionary:
        """Twice as many waves as long as that pays."""
        left = self.effort.most_features - current.width
        most = min(self.effort.most_waves, max(32, self.n // 2), left // 2 * 2)
        width = self._affordable(min(512, most))
        if width < 2:
            return current
        best, loss, self.lens = current, self._last_loss, lens
        while width <= most:
            larger = Dictionary([*current.blocks, lens.waves(width, self.seed)])
            tried = self._try("waves", f"{width} waves", larger)
            before, best = best, self._choose(tried, larger, best)
            if best is before or tried.loss > loss * (1 - 0.01) or not self.clock.allows(0.5):
                break
            loss, width = tried.loss, 2 * width
        return best

    def _affordable(self, width: int) -> int:
        """Half as many waves until trying them, by what trying a kernel took, fits into the time left."""
        seconds = self._kernel_seconds() * len(self.rows) / min(len(self.rows), self.effort.search_rows)
        while width > 1 and seconds * (width / self.effort.search_waves) ** 1.5 > self.clock.left():
            width = width // 2 if width > 64 else 0
        return width

    def _kernel_seconds(self) -> float:
        """What trying a kernel on the rows of the search took."""
        return next((each.seconds for each in reversed(self.candidates) if each.stage == "kernel"), 0.0)

    def _affords(self, width: int, share: float) -> bool:
        """Whether a dictionary of this width can be tried on all rows in a share of the time, by what the last took."""
        last = sum(block.width for block in self._tried_blocks)
        seconds = self._tried_seconds * max(1.0, width / max(last, 1)) ** 1.5
        return seconds <= self.clock.part(share).left()

    def _affords_metric(self, rows_and_waves: int) -> bool:
        """Whether a metric can be learned: a round of it takes about as long as two looks at a kernel."""
        rows = self.effort.metric_rows / self.effort.search_rows
        looks = rows * self.effort.metric_waves / self.effort.search_waves * (2 * self.effort.n_rounds + 2)
        return self.clock.allows(0.75) and self._affords_looks(rows_and_waves * looks)

    def _affords_looks(self, looks: float) -> bool:
        """Whether there is time for so many looks at a kernel."""
        return looks * self._kernel_seconds() <= self.clock.left()

    # ---- scoring

    def _gram(self, dictionary, rows, place):
        scores = self.scores if place is None or self.scores is None else self.scores[place]

        def features(span):
            return dictionary.features(rows.X[span], None if scores is None else scores[span])

        return rows.gram(features)

    def _try(self, stage, name, dictionary, rows=None, place=None, steps=8, extra=0.0) -> Candidate:
        began = time.perf_counter()
        seen = self.rows if rows is None else rows
        gram = self._gram(dictionary, seen, place)
        equations = Equations(gram, dictionary.block_of_column, lambda: not self.clock.allows(1.0))
        start = np.array([self._known.get(id(block), np.nan) for block in dictionary.blocks]) * len(seen)
        steps = steps if dictionary.width <= 600 else 4 if dictionary.width <= 1100 else 2
        penalties, scored = best_penalties(equations, start if np.isfinite(start).any() else None, steps)
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

    def _keep(self, candidate):
        self._last_loss, self._last_folds = candidate.loss, candidate.per_fold
        self._kept = (self._penalties, self._scored, self._equations)
        self._known = {
            id(block): float(penalty) / len(self.rows)
            for block, penalty in zip(self._tried_blocks, self._penalties, strict=True)
        }

    def _choose(self, tried: Candidate, larger: Dictionary, smaller: Dictionary) -> Dictionary:
        """The larger dictionary if it gains more than the standard error of the gain over the folds."""
        tried.kept, tried.why = _verdict(tried, self._last_loss, self._last_folds)
        if not tried.kept:
            return smaller
        self._keep(tried)
        return larger

    def chosen(self, stage: str, name: str, larger: Dictionary, smaller: Dictionary) -> Dictionary:
        """The larger dictionary if it gains enough on all rows."""
        return self._choose(self._try(stage, name, larger), larger, smaller)

    def confirmed(self, stage: str, name: str, larger: Dictionary, smaller: Dictionary, place, seconds: float) -> bool:
        """Whether the larger dictionary, chosen in some seconds, gains enough on rows that did not choose it."""
        rows = self.rows.at(place)
        without = self._try(stage, f"no {stage}", smaller, rows, place, steps=3)
        tried = self._try(stage, name, larger, rows, place, steps=3, extra=seconds)
        tried.kept, why = _verdict(tried, without.loss, without.per_fold, _SURE)
        without.kept = not tried.kept
        tried.why = without.why = f"{why}, with {stage} on rows that did not choose them"
        return tried.kept

    def weights_without(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts of the dictionary so far, fitted without the k-th fold."""
        penalties, _, equations = self._kept
        return equations.weights_without(k, penalties)


def _verdict(tried: Candidate, loss: float, per_fold: np.ndarray, times: int = 1) -> tuple[bool, str]:
    """Whether a candidate gains more over a loss than one or more standard errors of its gain, and that in words."""
    gains = per_fold - tried.per_fold
    error = float(np.std(gains, ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
    gain = float(np.mean(gains))
    enough = bool(gain > times * error and tried.loss < loss * (1 - _GAIN))
    share = 100 * (1 - tried.loss / loss) if loss > 0 else 0.0
    verdict = "more" if enough else "no more"
    errors = "one standard error" if times == 1 else f"{times} standard errors"
    return enough, f"{share:.2f} % less loss, {verdict} than {errors} ({gain:.3g} against {times * error:.3g})"


def _loss(look: tuple) -> float:
    return look[0].loss
