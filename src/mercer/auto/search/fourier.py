"""The stage of waves: which kernel, in which metric, and how many random features of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.auto.features.blocks import Dictionary
from mercer.auto.search.evaluation import LEAST_GAIN
from mercer.auto.search.kernels import Lens, lenses
from mercer.learn import LearnedMetric

if TYPE_CHECKING:
    from mercer.auto.search.search import Search

#: Rows for each number of a full metric, and rows enough to judge one that was learned from others.
_PER_NUMBER, _ENOUGH = 3, 1500
#: Where waves or their metric gain this share of the loss, it is learned once more, from twice as many rows and waves.
_MUCH = 0.05
#: Kernels in a metric that are tried at more than one bandwidth.
_PROMISING = 2
#: Kernels that are compared once more where waves matter, and with how many times the waves.
_FINALISTS, _MORE = 2, 4


class WaveStage:
    """The stage of a search that adds waves to a dictionary, if they gain enough."""

    def __init__(self, search: Search):
        self.search, self.rows, self.effort, self.clock = search, search.rows, search.effort, search.clock

    def __call__(self, current: Dictionary) -> Dictionary:
        if self.search.n < 20 or not self.clock.allows(0.7):
            return current
        base = Dictionary([block for block in current.blocks if block.kind != "pieces"])
        place = self.rows.smallest(self.effort.search_rows)
        sample = self.rows.at(place)
        with self.search.steps("kernels and bandwidths"):
            lens, origin, gain = self._best_kernel(base, sample, place)
        if gain < self.effort.hope and self.effort.n_bins < 2:  # the least effort takes no second look
            return current
        if self.effort.n_rounds and gain >= self.effort.hope and self._affords_metric(1):
            with self.search.steps("learned metric"):
                n_rows, width = self.effort.metric_rows, self.effort.metric_waves
                found, better = self._best_metric(base, lens, origin, n_rows, width)
                learned, lens = found is not lens, found
                if learned and max(gain, better) > _MUCH and self.effort.sharpen and self._affords_metric(4):
                    # Waves and their metric decide here: a sharper one is worth its price.
                    lens, _ = self._best_metric(base, lens, lens, 2 * n_rows, 2 * width)
        with self.search.steps("number of waves"):
            return self._grown_waves(current, lens)

    def _best_kernel(self, base, sample, place) -> tuple[Lens, Lens, float]:
        """The kernel that helps most beside the blocks so far, the best one that a metric can be learned for, the gain.

        The gain is that of the first, as a share of the loss without waves. Families of kernels race by halving: all at
        one bandwidth, the promising ones at all, and where waves matter the best of each of the first few at four times
        as many waves, since kernels of few columns are ahead while waves are few.
        """
        without = self.search.attempt("kernel", "no waves", base, sample, place, steps=3)
        kinds = self.effort.kernels, self.effort.multiples, self.effort.masked
        families = lenses(sample.X[:2048], self.search.gains, *kinds, self.search.gains_per_fold)
        if not self.effort.sharpen:
            families = families[-1:]  # the metric that trees suggest, where they do

        def look(number, title, lens, more=1) -> tuple:
            larger = Dictionary([*base.blocks, lens.waves(more * self.effort.search_waves, self.search.seed)])
            stage = "kernel" if more == 1 else "finalist"
            return self.search.attempt(stage, title, larger, sample, place, steps=3), number, title, lens

        middle = len(self.effort.multiples) // 2
        first = self._each_while(0.75, look, [(number, *family[middle]) for number, family in enumerate(families)])
        promising = [number for _, number, *_ in sorted(first, key=_loss)[:_PROMISING]]
        others = [(number, *each) for number in promising for k, each in enumerate(families[number]) if k != middle]
        tried = sorted(first + self._each_while(0.75, look, others, at_least=0), key=_loss)
        gain = 1 - tried[0][0].loss / without.loss if without.loss > 0 else 0.0
        if gain > _MUCH and self.effort.sharpen and self._affords_looks(_FINALISTS * _MORE**1.5):
            best: dict[int, tuple] = {}
            for _, number, title, lens in tried:
                best.setdefault(number, (number, title, lens, _MORE))
            finals = self._each_while(0.6, look, list(best.values())[:_FINALISTS], at_least=0)
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
            random_state=self.search.seed,
        )
        start = time.perf_counter()
        learner.fit(origin.rows(sample.X), sample.Y if sample.Y.shape[1] > 1 else sample.Y[:, 0])
        seconds = time.perf_counter() - start
        seen: Any = learner.kernel_
        moved = hasattr(seen, "matrix")
        bent = origin.bent(seen.kernel, np.asarray(seen.matrix)) if moved else Lens(seen, origin.root)
        if len(others) >= _ENOUGH:  # a metric flatters the rows it was learned from
            place, sample = others, self.rows.at(others)
        results = []
        for name, each, extra in (("metric as it was", lens, 0.0), ("learned metric", bent, seconds)):
            larger = Dictionary([*base.blocks, each.waves(width, self.search.seed)])
            results.append(self.search.attempt("metric", name, larger, sample, place, steps=5, extra=extra))
        plain, learned = results
        gain = 1 - learned.loss / plain.loss if plain.loss > 0 else 0.0
        better = gain > LEAST_GAIN
        for judged, kept in ((plain, not better), (learned, better)):
            judged.kept, judged.why = kept, f"{100 * gain:.1f} % less loss with the learned one"
        return (bent, gain) if better else (lens, 0.0)

    def _grown_waves(self, current, lens: Lens) -> Dictionary:
        """Twice as many waves as long as that pays."""
        left = min(self.effort.most_features, self.effort.widest) - current.width
        most = min(self.effort.most_waves, max(32, self.search.n // 2), left // 2 * 2)
        width = self._affordable(min(512, most))
        if width < 2:
            return current
        best, loss, self.search.lens = current, self.search.loss, lens
        while width <= most:
            larger = Dictionary([*current.blocks, lens.waves(width, self.search.seed)])
            tried = self.search.attempt("waves", f"{width} waves", larger)
            before, best = best, self.search.choose(tried, larger, best)
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
        return next((each.seconds for each in reversed(self.search.candidates) if each.stage == "kernel"), 0.0)

    def _affords_metric(self, rows_and_waves: int) -> bool:
        """Whether a metric can be learned: a round of it takes about as long as two looks at a kernel."""
        rows = self.effort.metric_rows / self.effort.search_rows
        looks = rows * self.effort.metric_waves / self.effort.search_waves * (2 * self.effort.n_rounds + 2)
        return self.clock.allows(0.75) and self._affords_looks(rows_and_waves * looks)

    def _affords_looks(self, looks: float) -> bool:
        """Whether there is time for so many looks at a kernel."""
        return looks * self._kernel_seconds() <= self.clock.left()


def _loss(look: tuple) -> float:
    return look[0].loss
