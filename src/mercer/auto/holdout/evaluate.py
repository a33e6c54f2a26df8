"""Evaluation on held-out rows, in one pass, with confidence intervals."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._runtime.blas import on_one_blas_thread
from mercer.auto.holdout.bootstrap import Estimate, RowGroups, effective_rows, r2_of_sums
from mercer.auto.rows.task import checked_task
from mercer.source import Source
from mercer.stats import Statistic

#: The main metric of each task, and its intervals in words.
MAIN_METRICS = {
    "classification": ("accuracy", "Wilson; for the gain Bonett-Price, paired by row"),
    "regression": ("R2", "bootstrap over the rows, paired for the gain"),
}


@dataclass(frozen=True)
class Comparison:
    """Scores of two models on the same rows, and the gain of the second over the first, paired by row."""

    metric: str
    interval: str
    n: int
    first: Estimate
    second: Estimate
    gain: Estimate

    def report(self) -> dict[str, Any]:
        """The scores as a dict: the model is the second, the linear baseline the first."""
        scores = {"model": self.second, "linear": self.first, "gain": self.gain}
        estimates = {name: asdict(estimate) for name, estimate in scores.items()}
        return {"metric": self.metric, "n": self.n, **estimates, "interval": self.interval}

    @property
    def clear(self) -> bool:
        """True if the interval of the gain excludes zero."""
        return self.gain.low > 0 or self.gain.high < 0


@dataclass(frozen=True)
class Predictions(Statistic):
    """Targets and the predictions of several models, in the order of the rows."""

    models: tuple[Any, ...]
    n: int = 0
    y: Any = None
    predicted: list[np.ndarray] = field(default_factory=list)
    weight: np.ndarray | None = None

    def of(self, block: Block) -> Predictions:
        if len(block) == 0:
            return replace(self, n=0, y=None, predicted=[], weight=None)
        predicted = [model.predict(block.X) for model in self.models]
        return replace(self, n=len(block), y=np.asarray(block.y), predicted=predicted, weight=block.weight)

    def __getstate__(self) -> dict[str, Any]:
        """The statistic as it is sent: workers need the models of the empty one, merging needs none."""
        return vars(self) if self.n == 0 else {**vars(self), "models": ()}

    def _merge(self, other: Predictions) -> Predictions:
        predicted = [np.concatenate(pair) for pair in zip(self.predicted, other.predicted, strict=True)]
        weight = None if self.weight is None else np.concatenate([self.weight, other.weight])
        y = np.concatenate([self.y, other.y])
        return replace(self, n=self.n + other.n, y=y, predicted=predicted, weight=weight)

    def finish(self) -> tuple[np.ndarray, list[np.ndarray], np.ndarray | None]:
        if self.n == 0:
            raise ValueError("The holdout has no rows: hold out more rows, or bring more rows.")
        if self.weight is not None and not np.any(self.weight > 0):
            raise ValueError("All weights of the holdout are zero: hold out more rows, or bring more rows.")
        return self.y, self.predicted, self.weight


@on_one_blas_thread
def evaluate(
    first: Any, second: Any, rows: Source, task: str, confidence: float = 0.95, random_state: int = 0
) -> Comparison:
    """Score two fitted models on held-out rows in one pass.

    `task` is "classification" or "regression".

    Classification: accuracy with Wilson's interval, and the gain with the interval of Bonett and Price (2012) for
    paired proportions. Regression: R^2 and its gain with percentile bootstrap intervals (2,000 resamples, the same for
    both models; widened for few rows as Hesterberg 2015) over rows, from 2,000 rows on over 1,000 groups of them. Where
    rows have weights, scores are weighted, and the intervals are those of (sum of w)^2 / (sum of w^2) rows.

    Use it to ask whether one model is better than another on rows that neither has seen: the gain has an interval of
    its own, much shorter than the difference of two intervals suggests. Prefer cross-validation where rows are too few
    to hold some out. It costs one prediction of each row by each model.

    >>> import numpy as np
    >>> from mercer import ParabolicLift, RidgeRegressor, evaluate, read, split_holdout
    >>> from sklearn.pipeline import make_pipeline
    >>> x = np.linspace(-1, 1, 400)[:, None]
    >>> train, holdout = split_holdout(read(x, x[:, 0] ** 2))
    >>> line, parabola = RidgeRegressor().fit(train), make_pipeline(ParabolicLift(), RidgeRegressor()).fit(train)
    >>> result = evaluate(line, parabola, holdout, "regression")
    >>> print(f"line {abs(result.first.value):.2f}, parabola {result.second.value:.2f}, gain {result.gain.value:.2f}")
    line 0.00, parabola 1.00, gain 1.00
    """
    with warnings.catch_warnings():
        # Blocks of a source are arrays without names; the source has the names that the models were fitted with.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        y, (one, two), weight = rows.fold(Predictions((first, second))).finish()
    return compare(y, one, two, task, weight, confidence, random_state)


def compare(
    y: np.ndarray,
    one: np.ndarray,
    two: np.ndarray,
    task: str,
    weight: np.ndarray | None = None,
    confidence: float = 0.95,
    random_state: int = 0,
) -> Comparison:
    """The scores of two predictions of the same rows, as `evaluate` gives them."""
    if checked_task(task) == "classification":
        right, better = one == y, two == y
        size = effective_rows(len(y), weight)
        hits = (right, better, better & ~right, right & ~better)
        rates = [float(np.average(each, weights=weight)) for each in hits]
        score, other = (wilson(size * rate, size, confidence) for rate in rates[:2])
        gain = _paired(size * rates[2], size * rates[3], size, confidence)
        return Comparison(*MAIN_METRICS["classification"], len(y), score, other, gain)
    score, other, gain = _bootstrap_r2(np.asarray(y, dtype=float), one, two, confidence, random_state, weight)
    return Comparison(*MAIN_METRICS["regression"], len(y), score, other, gain)


def wilson(hits: float, n: float, confidence: float = 0.95) -> Estimate:
    """A proportion with the score interval of Wilson (1927).

    >>> estimate = wilson(95, 100)
    >>> round(estimate.low, 3), round(estimate.high, 3)
    (0.888, 0.978)
    """
    z, p = normal_quantile(confidence), hits / n
    center = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return Estimate(p, float(center - half) if hits else 0.0, float(center + half) if hits < n else 1.0)


def paired_gain(first: np.ndarray, second: np.ndarray, confidence: float = 0.95) -> Estimate:
    """The difference of two accuracies on the same rows, with the adjusted Wald interval of Bonett and Price (2012).

    One row is added to either kind of disagreement, so two models that never differ still get an interval.
    """
    return _paired(int(np.sum(second & ~first)), int(np.sum(first & ~second)), len(first), confidence)


def _paired(won: float, lost: float, n: float, confidence: float) -> Estimate:
    a, b = (won + 1) / (n + 2), (lost + 1) / (n + 2)
    half = normal_quantile(confidence) * np.sqrt((a + b - (a - b) ** 2) / (n + 2))
    return Estimate((won - lost) / n, float(max(a - b - half, -1.0)), float(min(a - b + half, 1.0)))


def _bootstrap_r2(
    y: np.ndarray,
    one: np.ndarray,
    two: np.ndarray,
    confidence: float,
    random_state: int,
    weight: np.ndarray | None = None,
) -> list[Estimate]:
    """R^2 = 1 - sum e^2 / sum (y - mean)^2 of both models and its gain, on the same resampled rows.

    Of several targets the sums are over all of them.
    """
    n, groups = len(y), RowGroups(len(y), weight, random_state)
    y, one, two = (np.reshape(each, (n, -1)) for each in (y, one, two))
    centered = y - np.average(y, axis=0, weights=weight)
    squares = [np.sum(each**2, axis=1) for each in (y - one, y - two, centered)]
    for values in (*squares, np.ones(n), *centered.T):
        groups.add(values)
    drawn = groups.draw()
    shifts = np.sum(drawn[:, 4:] ** 2, axis=1)
    total = drawn[:, 2] - shifts / np.maximum(drawn[:, 3], np.finfo(float).tiny)
    first, second = (r2_of_sums(drawn[:, j], total, float(drawn[0, 2])) for j in (0, 1))
    return [groups.percentiles(values, confidence) for values in (first, second, second - first)]


def normal_quantile(confidence: float) -> float:
    return NormalDist().inv_cdf(0.5 + confidence / 2)
