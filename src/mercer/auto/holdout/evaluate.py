"""The last word: scores on rows that nothing was learned from, read once, with intervals."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from mercer.source import Source
from mercer.stats import Statistic

_RESAMPLES = 2000
#: More rows than twice this are drawn in so many groups, put together at random.
_GROUPS = 1000


@dataclass(frozen=True)
class Estimate:
    """A number and the interval that covers the truth at the stated confidence."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Judgment:
    """Scores of two models on the same rows, and how much the second gains over the first, row by row."""

    metric: str
    interval: str
    n: int
    first: Estimate
    second: Estimate
    gain: Estimate

    def told(self) -> dict:
        """For a report: the model is the second, the linear one the first."""
        scores = {"model": self.second, "linear": self.first, "gain": self.gain}
        told = {name: asdict(estimate) for name, estimate in scores.items()}
        return {"metric": self.metric, "n": self.n, **told, "interval": self.interval}

    @property
    def clear(self) -> bool:
        """True if the interval of the gain leaves no doubt about its sign."""
        return self.gain.low > 0 or self.gain.high < 0


@dataclass(frozen=True)
class Predictions(Statistic):
    """Targets, and what each of several models predicts for them, in the order of the rows."""

    models: tuple[Any, ...]
    n: int = 0
    y: np.ndarray | None = None
    predicted: list[np.ndarray] = field(default_factory=list)
    weight: np.ndarray | None = None

    def of(self, block):
        if len(block) == 0:
            return replace(self, n=0, y=None, predicted=[], weight=None)
        predicted = [model.predict(block.X) for model in self.models]
        return replace(self, n=len(block), y=np.asarray(block.y), predicted=predicted, weight=block.weight)

    def _merge(self, other):
        predicted = [np.concatenate(pair) for pair in zip(self.predicted, other.predicted, strict=True)]
        weight = None if self.weight is None else np.concatenate([self.weight, other.weight])
        y = np.concatenate([self.y, other.y])
        return replace(self, n=self.n + other.n, y=y, predicted=predicted, weight=weight)

    def finish(self):
        if self.n == 0:
            raise ValueError("The holdout has no rows: keep more rows aside, or bring more rows.")
        if self.weight is not None and not np.any(self.weight > 0):
            raise ValueError("The rows of the holdout weigh nothing: keep more rows aside, or bring more rows.")
        return self.y, self.predicted, self.weight


def judge(first, second, rows: Source, task: str, confidence=0.95, random_state=0) -> Judgment:
    """Score two fitted models on held-out rows in one pass.

    Classification: accuracy with Wilson's interval, and the gain with the interval of Bonett and Price (2012) for
    paired proportions. Regression: R^2 and its gain with percentile bootstrap intervals (2,000 resamples, the same for
    both models; widened for few rows as Hesterberg 2015) over rows, from 2,000 rows on over 1,000 groups of them. Where
    rows have weights, scores are weighted, and the intervals are those of (sum of w)^2 / (sum of w^2) rows.
    """
    with warnings.catch_warnings():
        # Blocks of a source are arrays: their names are those of the source, which the models were fitted with.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        y, (one, two), weight = rows.fold(Predictions((first, second))).finish()
    if task == "classify":
        right, better = one == y, two == y
        size = _worth(len(y), weight)
        share = [float(np.average(hits, weights=weight)) for hits in (right, better, better & ~right, right & ~better)]
        score, other = (wilson(size * each, size, confidence) for each in share[:2])
        gain = _paired(size * share[2], size * share[3], size, confidence)
        return Judgment("accuracy", "Wilson; for the gain Bonett-Price, paired by row", len(y), score, other, gain)
    score, other, gain = _bootstrap_r2(np.asarray(y, dtype=float), one, two, confidence, random_state, weight)
    return Judgment("R2", "bootstrap over the rows, paired for the gain", len(y), score, other, gain)


def wilson(hits: float, n: float, confidence=0.95) -> Estimate:
    """A proportion with the score interval of Wilson (1927).

    >>> estimate = wilson(95, 100)
    >>> round(estimate.low, 3), round(estimate.high, 3)
    (0.888, 0.978)
    """
    z, p = _quantile(confidence), hits / n
    center = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return Estimate(p, float(center - half) if hits else 0.0, float(center + half) if hits < n else 1.0)


def paired_gain(first: np.ndarray, second: np.ndarray, confidence=0.95) -> Estimate:
    """How much more often the second is right on the same rows: the adjusted Wald interval of Bonett and Price (2012).

    One imaginary row is added to either kind of disagreement, so two models that never differ still get an interval.
    """
    return _paired(int(np.sum(second & ~first)), int(np.sum(first & ~second)), len(first), confidence)


def _paired(won: float, lost: float, n: float, confidence: float) -> Estimate:
    a, b = (won + 1) / (n + 2), (lost + 1) / (n + 2)
    half = _quantile(confidence) * np.sqrt((a + b - (a - b) ** 2) / (n + 2))
    return Estimate((won - lost) / n, float(max(a - b - half, -1.0)), float(min(a - b + half, 1.0)))


def _bootstrap_r2(y, one, two, confidence, random_state, weight=None) -> list[Estimate]:
    """R^2 = 1 - sum e^2 / sum (y - mean)^2 of both models and its gain, on the same resampled rows.

    Of several targets the sums are over all of them.
    """
    rng, n = np.random.default_rng(random_state), len(y)
    y, one, two = (np.reshape(each, (n, -1)) for each in (y, one, two))
    centered = y - np.average(y, axis=0, weights=weight)
    squares = [np.sum(each**2, axis=1) for each in (y - one, y - two, centered)]
    sums = np.column_stack([*squares, np.ones(n), centered])
    sums = sums if weight is None else sums * np.asarray(weight, dtype=float)[:, None]
    if n > 2 * _GROUPS:  # the sums of random groups vary as those of rows do, and are as quickly drawn as few rows
        group = rng.permutation(n) % _GROUPS
        sums, n = np.column_stack([np.bincount(group, each) for each in sums.T]), _GROUPS
    at_once = 250  # resamples, so that memory does not grow with them
    counts = (rng.multinomial(n, np.full(n, 1 / n), size=at_once) for _ in range(_RESAMPLES // at_once))
    drawn = np.vstack([sums.sum(axis=0), *(times @ sums for times in counts)])
    shifts = np.sum(drawn[:, 4:] ** 2, axis=1)
    spread = drawn[:, 2] - shifts / np.maximum(drawn[:, 3], np.finfo(float).tiny)
    first, second = (_r2(drawn[:, j], spread, float(drawn[0, 2])) for j in (0, 1))
    tail = _widened((1 - confidence) / 2, _worth(len(y), weight))
    return [
        Estimate(float(values[0]), *(float(q) for q in np.quantile(values[1:], [tail, 1 - tail])))
        for values in (first, second, second - first)
    ]


def _worth(n: int, weight) -> float:
    """How many rows of equal weight tell as much as n weighted ones."""
    return n if weight is None else float(np.sum(weight) ** 2 / np.sum(np.square(weight)))


def _widened(tail: float, n: float) -> float:
    """The share to leave out at each end of n resampled rows: Phi(-sqrt(n / (n - 1)) t) with t of n - 1 degrees.

    Resampled rows vary by (n - 1) / n of what new rows do, and their spread is itself a guess: Hesterberg (2015).

    >>> round(_widened(0.025, 20), 4), round(_widened(0.025, 1e6), 4)
    (0.0159, 0.025)
    """
    from scipy.special import ndtr, stdtrit

    return float(ndtr(np.sqrt(n / (n - 1)) * stdtrit(n - 1, tail))) if n > 1 else tail


def _r2(error, spread, scale: float) -> np.ndarray:
    """1 - error / spread; where targets do not differ, 1 for no error and 0 for any, as scikit-learn has it."""
    flat = spread <= 1e-12 * scale
    right = error <= np.finfo(float).tiny
    return np.where(flat, np.where(right, 1.0, 0.0), 1 - error / np.where(flat, 1.0, spread))


def _quantile(confidence: float) -> float:
    return NormalDist().inv_cdf(0.5 + confidence / 2)
