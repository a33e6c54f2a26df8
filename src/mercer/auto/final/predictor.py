"""A linear model on explicit features: what a search leaves behind, in plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer import _numeric
from mercer._runtime.loaded import require
from mercer._runtime.pool import ordered_map
from mercer.auto.conformal.calibration import IntervalCalibration, SetCalibration
from mercer.auto.features.union import Features
from mercer.linear.losses import LogLoss

if TYPE_CHECKING:
    from mercer.auto.search.state import Candidate

_BATCH_ROWS = 1024
#: Features that stay in the caches until their products are taken, and the rows from which on splitting pays.
_BATCH_ENTRIES = 1 << 18
_MIN_BATCH_ROWS = 64
_OTHER_CLASSES = "its sets are of other classes"


@dataclass
class Predictor:
    """scores = features(X) @ coef + intercept. For classes, scores over `temperature` are log-odds."""

    features: Features
    coef: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray | None
    penalties: np.ndarray
    #: The penalty of the final model relative to those of the blocks; of another loss one for each output.
    alpha: Any = 1.0
    temperature: float = 1.0
    candidates: list[Candidate] = field(default_factory=list)
    #: What intervals or sets of classes need; None in files of versions before these.
    calibration: Any = None
    #: What scores stand for, where another loss than the squared error was asked for.
    response: Any = None
    #: The result of the search, which a refit needs. It holds scores of the training rows and is not saved.
    result: Any = None
    #: The `DecisionRule` by which probabilities become a class; None takes the most probable one.
    decision: Any = None
    #: Out-of-fold probabilities, by which decisions are chosen. They are not saved.
    out_of_fold: Any = None
    _transient = ("result", "out_of_fold")
    _former = {"dictionary": "features", "found": "result"}

    def _check_loaded(self) -> None:
        calibration = getattr(self, "calibration", None)
        if isinstance(calibration, IntervalCalibration):
            # Several quantiles are outputs for one target.
            n_targets = self.coef.shape[-1] if getattr(self, "response", None) is None else 1
            good = len(calibration.scores) == n_targets and self.classes is None
            require(good, "its intervals are of other targets")
            heights = [len(each.coef) == len(self.coef) for each in calibration.maps]
            require(all(heights), "its intervals are of other features")
        if isinstance(calibration, SetCalibration):
            require(self.classes is not None and len(calibration.per_class) == len(self.classes), _OTHER_CLASSES)

    def scores(self, X: np.ndarray) -> np.ndarray:
        """One column per output for encoded rows. Products are in float64, and independent of the other rows."""
        if len(X) > _BATCH_ROWS:
            spans = [X[i : i + _BATCH_ROWS] for i in range(0, len(X), _BATCH_ROWS)]
            return np.concatenate(list(ordered_map(self.scores, spans)))
        return self._products(X, self.coef) + self.intercept

    def _products(self, X: np.ndarray, coef: np.ndarray) -> np.ndarray:
        features = self.features.spans(X)
        out = np.empty((len(X), coef.shape[1]))
        step = max(_MIN_BATCH_ROWS, _BATCH_ENTRIES // len(coef))
        for start in range(0, len(X), step):
            span = slice(start, start + step)
            _numeric.rowwise_matmul(features(span), coef, out[span])
        return out

    def calibrated_scores(self, X: np.ndarray) -> list[np.ndarray]:
        """The scores, and the values of the linear maps of the calibration."""
        if len(X) > _BATCH_ROWS:
            spans = [X[i : i + _BATCH_ROWS] for i in range(0, len(X), _BATCH_ROWS)]
            parts = list(ordered_map(self.calibrated_scores, spans))
            return [np.concatenate(each) for each in zip(*parts, strict=True)]
        maps = self.calibration.maps if isinstance(self.calibration, IntervalCalibration) else []
        if not maps:
            return [self.scores(X)]
        coefs = [self.coef, *(each.coef for each in maps)]
        ends = np.cumsum([coef.shape[1] for coef in coefs])[:-1]
        values = np.split(self._products(X, np.ascontiguousarray(np.hstack(coefs))), ends, axis=1)
        intercepts = [self.intercept, *(each.intercept for each in maps)]
        return [value + intercept for value, intercept in zip(values, intercepts, strict=True)]

    def intervals(self, X: np.ndarray, level: float) -> np.ndarray:
        """Lower and upper ends (rows, outputs, 2) that contain the target with probability `level`."""
        scores, *values = self.calibrated_scores(X)
        centers = values.pop(0) if self.calibration.centers is not None else None
        predictions = self.predictions_of(scores).reshape(len(scores), -1)
        return self.calibration.intervals(predictions, centers, values[0] if values else None, level)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Values, or classes: the most probable ones unless there is a decision rule."""
        return self.predictions_of(self.scores(X))

    def predictions_of(self, scores: np.ndarray) -> np.ndarray:
        """The predictions that follow from the scores of some rows."""
        if self.response is not None:
            return self.response.predictions_of(scores)
        if self.classes is None:
            return scores[:, 0] if scores.shape[1] == 1 else scores
        if self.decision is not None:
            return self.classes[self.decision.choose(self.probabilities_of(scores))]
        if len(self.classes) == 2:
            return self.classes[(scores[:, 0] > 0).astype(np.intp)]
        return self.classes[scores.argmax(axis=1)]

    def outputs_of(self, scores: np.ndarray) -> np.ndarray:
        """The predictions of a regression, one column per target."""
        return scores if self.response is None else self.response.predictions_of(scores)[:, None]

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """Probabilities of the classes, one column each."""
        return self.probabilities_of(self.scores(X))

    def probabilities_of(self, scores: np.ndarray) -> np.ndarray:
        """The probabilities of the classes that follow from the scores of some rows."""
        one_class = self.classes is not None and len(self.classes) == 1
        return np.ones_like(scores) if one_class else LogLoss().class_probabilities(scores / self.temperature)
