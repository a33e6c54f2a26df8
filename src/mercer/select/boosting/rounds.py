"""What a round of AdaBoost asks of the rows: the edges of weak classifiers, and the risk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer.select.base import row_weights
from mercer.select.boosting.stumps import N_BINS, SignColumns, Stumps, refuse_other_signs, thresholds_of
from mercer.select.greedy.risks import ExponentialRisk
from mercer.source import Source
from mercer.stats import Sample
from mercer.stats.base import Statistic


class BoostedRows(Protocol):
    """Rows with the scores f of the rounds so far."""

    def edges(self) -> tuple[np.ndarray, float]:
        """sum_i p_i y_i h(x_i) for each weak classifier h and for the constant 1, p being the weights of the rows."""

    def add(self, index: int | None, step: float) -> None:
        """Add step times a weak classifier, or the constant (None), to the scores."""

    def risk(self) -> float:
        """log mean exp(-y f)."""


class MemoryRows:
    """Rows in memory; the scores of all of them are kept."""

    def __init__(self, weak: Stumps | SignColumns, y: np.ndarray, w: np.ndarray):
        self.weak, self.y, self.w, self.f = weak, y, w, np.zeros(len(y))

    def edges(self) -> tuple[np.ndarray, float]:
        v = self.y * ExponentialRisk().distribution(self.y, self.f, self.w)
        return self.weak.edges(v), v.sum()

    def add(self, index: int | None, step: float) -> None:
        self.f = self.f + step * (1.0 if index is None else self.weak.values(index))

    def risk(self) -> float:
        return ExponentialRisk().value(self.y, self.f, self.w)  # type: ignore[return-value]


@dataclass(frozen=True)
class StumpSums:
    """The result of `StumpHistograms`: (sum of widths, 2) sums of e and y e, e = w exp(-y f - shift), and their totals.

    `top` is the largest -y f.
    """

    cells: np.ndarray
    total: np.ndarray
    weight: float
    top: float


@dataclass(frozen=True)
class StumpHistograms(Statistic):
    """Histograms of w exp(-y f) over the bins of all columns; f is a constant plus a table for each column.

    cuts : the thresholds of each column; tables : (columns, N_BINS), the score of each bin; shift : at least the
    largest -y f, so that nothing overflows; signs : whether columns must hold -1 and +1
    """

    cuts: tuple[np.ndarray, ...]
    tables: np.ndarray
    constant: float
    shift: float
    signs: bool
    positive: Any
    n: int = 0
    sums: Any = None

    def of(self, block: Block) -> Self:
        if len(block) == 0:
            return replace(self, n=0)
        X = block.X.toarray() if hasattr(block.X, "tocsr") else block.X
        if self.signs:
            refuse_other_signs(X, block.start)
        widths = np.array([len(cuts) + 1 for cuts in self.cuts])
        bins = _numeric.column_bins(X.astype(np.float64), np.concatenate(self.cuts), np.cumsum(widths - 1))
        score = np.full(len(block), self.constant)
        for j in np.flatnonzero(self.tables.any(axis=1)):
            score += self.tables[j][bins[:, j]]
        sign = np.where(np.asarray(block.y) == self.positive, 1.0, -1.0)
        w = row_weights(block)
        e = w * np.exp(-sign * score - self.shift)
        terms, cells = np.column_stack([e, sign * e]), np.zeros((1, int(widths.sum()), 2))
        columns = np.arange(len(self.cuts))
        _numeric.add_histograms(bins, terms, np.zeros(len(block), dtype=np.int32), columns, widths, cells)
        sums = StumpSums(cells[0], terms.sum(axis=0), float(w.sum()), float(np.max(-sign * score)))
        return replace(self, n=len(block), sums=sums)

    def _merge(self, other: Self) -> Self:
        a, b = self.sums, other.sums
        sums = StumpSums(a.cells + b.cells, a.total + b.total, a.weight + b.weight, max(a.top, b.top))
        return replace(self, n=self.n + other.n, sums=sums)

    def finish(self) -> StumpSums:
        if self.n == 0:
            raise ValueError("No rows: there is nothing to boost.")
        return self.sums


class SourceRows:
    """Rows of a source, read once per round; thresholds come from a sample of them, sums from all."""

    def __init__(self, source: Source, positive: Any, signs: bool):
        self.source, self.positive, self.signs = source, positive, signs
        sample = source.fold(Sample()).finish().X
        sample = sample.toarray() if hasattr(sample, "tocsr") else sample
        self.thresholds = [np.zeros(1) if signs else thresholds_of(x).astype(np.float64) for x in sample.T]
        self.tables, self.constant, self.shift = np.zeros((len(self.thresholds), N_BINS)), 0.0, 0.0
        self._known: StumpSums | None = None

    def _sums(self) -> StumpSums:
        if self._known is None:
            task = (self.tables.copy(), self.constant, self.shift, self.signs, self.positive)
            self._known = self.source.fold(StumpHistograms(tuple(self.thresholds), *task)).finish()
        return self._known

    def edges(self) -> tuple[np.ndarray, float]:
        sums = self._sums()
        found = np.zeros((len(self.thresholds), 1 if self.signs else N_BINS - 1))
        start = 0
        for j, cuts in enumerate(self.thresholds):
            below = np.cumsum(sums.cells[start : start + len(cuts), 1])
            found[j, : len(cuts)] = sums.total[1] - 2.0 * below
            start += len(cuts) + 1
        return found.ravel() / sums.total[0], float(sums.total[1] / sums.total[0])

    def add(self, index: int | None, step: float) -> None:
        self.shift = self._sums().top + abs(step)
        if index is None:
            self.constant += step
        else:
            j, b = divmod(index, 1 if self.signs else N_BINS - 1)
            self.tables[j] += np.where(np.arange(N_BINS) > b, step, -step)
        self._known = None

    def risk(self) -> float:
        sums = self._sums()
        return float(self.shift + np.log(sums.total[0] / sums.weight))

    def describe(self, index: int) -> tuple[int, float]:
        """Return the column and threshold of a stump."""
        j, b = divmod(index, N_BINS - 1)
        return j, float(self.thresholds[j][b])
