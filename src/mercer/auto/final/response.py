"""The response of a regression with a loss of its own: how its scores become predictions, and what is minimized.

Scores of the absolute, Huber and quantile losses are in the units of the target; those of the Poisson, gamma and
Tweedie losses are logarithms of the mean. A model of several quantiles has one score for each. Scores may cross, so
they are sorted: that is never further from the true quantiles (Chernozhukov, Fernandez-Val, Galichon 2010).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._numeric.linalg.weighted import weighted_quantile
from mercer.auto.options.losses import POWERS, nearest_median
from mercer.auto.rows.targets import NumericTarget
from mercer.auto.rows.training import TrainingRows
from mercer.linear.regression_losses import MAX_LOG, HuberLoss, PinballLoss, ScoreLoss, TweedieLoss

#: The threshold of the Huber loss, in robust standard deviations: 95 % efficient for normal errors (Huber 1964).
_HUBER = 1.345
#: A robust standard deviation over the median absolute deviation of a normal variable.
_MAD = 1.4826
#: What is added to a target of mean one before its logarithm is taken, where targets may be zero.
_OFFSET = 0.25
#: Largest relative error of a row that the working response takes at its word.
_MAX_RELATIVE = 3.0


@dataclass(frozen=True)
class Response:
    """A loss by name, and the quantiles of a quantile regression."""

    loss: str
    quantiles: tuple[float, ...] = ()

    @property
    def log_link(self) -> bool:
        """Whether scores are logarithms of the mean."""
        return self.loss in POWERS

    @property
    def levels(self) -> tuple[float, ...]:
        """The quantiles that are fitted: the median for the absolute loss."""
        return (0.5,) if self.loss == "absolute" else self.quantiles

    @property
    def n_outputs(self) -> int:
        return max(1, len(self.levels))

    @property
    def predicted(self) -> int:
        """The output that `predict` returns: the quantile next to the median."""
        return nearest_median(self.levels) if self.levels else 0

    def predictions_of(self, scores: np.ndarray) -> np.ndarray:
        """Predictions from scores (rows, outputs): the mean, or the quantile next to the median."""
        if self.log_link:
            return np.exp(np.clip(scores[:, 0], -MAX_LOG, MAX_LOG))
        return self.sorted_scores(scores)[:, self.predicted]

    def sorted_scores(self, scores: np.ndarray) -> np.ndarray:
        """The quantiles in increasing order."""
        return np.sort(scores, axis=1) if scores.shape[1] > 1 else scores

    def losses(self, y: np.ndarray, weight: np.ndarray | None = None) -> tuple[ScoreLoss, ...]:
        """The loss of each output; the Huber threshold follows from the targets or residuals y."""
        if self.log_link:
            return (TweedieLoss(POWERS[self.loss]),)
        if self.loss == "huber":
            return (HuberLoss(_HUBER * robust_scale(y, weight)),)
        return tuple(PinballLoss(level) for level in self.levels)

    def unit_of(self, name: str, output: int) -> str:
        """What a score of an output is, in words."""
        if self.log_link:
            return f"log of {name}"
        return f"quantile {self.levels[output]:g} of {name}" if self.levels else name

    def gradients(self, y: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The derivatives of the losses in the scores (rows, outputs)."""
        losses = self.losses(y - (0.0 if self.log_link else scores[:, 0]))
        return np.column_stack([loss.gradient(y, scores[:, k]) for k, loss in enumerate(losses)])

    def row_losses(self, y: np.ndarray, model: Any, scores: np.ndarray) -> dict[str, np.ndarray]:
        """The loss of each row by a model of these scores: the deviance, the (mean) pinball or the Huber loss."""
        y = np.asarray(y, dtype=np.float64)
        if self.levels:
            predicted, losses = model.quantiles_of(scores), self.losses(y)
            each = [loss.value(y, predicted[:, k]) for k, loss in enumerate(losses)]
            return {} if self.loss == "absolute" else {"pinball": np.mean(each, axis=0)}
        predicted = model.predictions_of(scores)
        loss = self.losses(y)[0]
        if isinstance(loss, TweedieLoss):
            return {"deviance": loss.deviance(y, np.maximum(predicted, np.finfo(float).tiny))}
        return {"huber": loss.value(y, predicted)}

    def target(self, y: np.ndarray, weight: np.ndarray | None) -> NumericTarget:
        """The target as numbers for the search: of a logarithmic link, the logarithm of y over its mean."""
        if not self.log_link:
            return replace(NumericTarget.of(y, False, weight), response=self)
        unit = float(np.average(y, weights=weight)) or 1.0
        offset = 0.0 if self.loss == "gamma" else _OFFSET
        made = NumericTarget.of(np.log(np.asarray(y, dtype=np.float64) / unit + offset), False, weight)
        return replace(made, response=self, unit=unit, offset=offset)

    def working_rows(self, rows: TrainingRows, target: NumericTarget, scores: np.ndarray) -> TrainingRows:
        """The rows with the working response of a logarithmic link at out-of-fold scores s, mean m = exp(s).

        Half the deviance is about m^(2 - p) (s + (y - m) / m - new score)^2 / 2: a weighted squared error.
        """
        s = scores[:, 0]
        mean = np.exp(np.clip(s, -MAX_LOG, MAX_LOG))
        error = np.minimum((target.response_of(rows.Y) - mean) / mean, _MAX_RELATIVE)
        weight = rows.counts * mean ** (2 - POWERS[self.loss])
        weight = weight / min(1.0, float(weight.mean()))
        working = s + error
        return replace(rows, Y=(working - np.average(working, weights=weight))[:, None], weight=weight)


def robust_scale(y: np.ndarray, weight: np.ndarray | None = None) -> float:
    """The median absolute deviation from the median, as a standard deviation; that itself where it is zero."""
    deviation = np.abs(y - weighted_quantile(y, 0.5, weight))
    return _MAD * weighted_quantile(deviation, 0.5, weight) or float(np.std(y)) or 1.0
