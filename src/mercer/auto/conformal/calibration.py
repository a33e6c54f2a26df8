"""What a model keeps to state intervals and sets: conformity scores, the fold models, and the scale of errors."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer._runtime.loaded import require, require_finite, require_vectors
from mercer.auto.conformal.scores import CalibrationScores, row_masses, upper_bounds

#: Scales are at least this fraction of the largest, so that a quotient by them is finite.
_MIN_SCALE = 1e-12


@dataclass
class LinearMap:
    """features @ coef + intercept: one column for each fold and output, those of a fold side by side."""

    coef: np.ndarray
    intercept: np.ndarray

    def _check_loaded(self) -> None:
        require_vectors(self.coef.shape[-1], "f", intercept=self.intercept)
        require(self.coef.ndim == 2, "a linear map of the features is no matrix")

    def plus(self, other: LinearMap) -> LinearMap:
        """The sum of two maps."""
        return LinearMap(self.coef + other.coef, self.intercept + other.intercept)

    def scattered(self, columns: np.ndarray, width: int) -> LinearMap:
        """The same map of more features, of which these are at `columns`."""
        coef = np.zeros((width, self.coef.shape[1]))
        coef[columns] = self.coef
        return LinearMap(coef, self.intercept)


@dataclass
class IntervalCalibration:
    """Intervals of numbers: bounds on |y - f_k(x)| / sigma_k(x) over the folds k.

    scores : for each output, the conformity scores of each fold
    method : "CV+" (out-of-fold residuals), or "split" (residuals of held-out rows)
    centers : the models without each fold; None takes the predictions of the model itself
    log_scales : log sigma of each fold, or one for all; None is sigma = 1
    limits : smallest and largest log sigma of each output
    """

    scores: list[list[CalibrationScores]]
    method: str
    centers: LinearMap | None = None
    log_scales: LinearMap | None = None
    limits: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))

    def _check_loaded(self) -> None:
        n_outputs, n_folds = len(self.scores), len(self.scores[0]) if self.scores else 0
        require(n_folds > 0 and all(len(folds) == n_folds for folds in self.scores), "there are no conformity scores")
        widths = ({n_folds * n_outputs}, {n_folds * n_outputs, n_outputs})
        for each, allowed in zip((self.centers, self.log_scales), widths, strict=True):
            require(each is None or len(each.intercept) in allowed, "intervals have maps of another number of folds")
        if self.log_scales is not None:
            require(self.limits.shape == (n_outputs, 2), "intervals have scales without limits")
            require_finite("the limits of a scale", self.limits)

    @classmethod
    def split(
        cls, residuals: np.ndarray, weight: np.ndarray | None = None, groups: np.ndarray | None = None
    ) -> IntervalCalibration:
        """Split conformal intervals of constant width from residuals (rows, outputs) of held-out rows."""
        masses = row_masses(np.ones(len(residuals)) if weight is None else weight, groups)
        return cls([[CalibrationScores.of(np.abs(each), masses)] for each in residuals.T], "split")

    @property
    def maps(self) -> list[LinearMap]:
        """The linear maps of the features that intervals need."""
        return [each for each in (self.centers, self.log_scales) if each is not None]

    def scales(self, values: np.ndarray | None, n: int) -> np.ndarray:
        """sigma (rows, folds or 1, outputs) from the values of `log_scales`."""
        n_outputs = len(self.scores)
        if values is None:
            return np.ones((n, 1, n_outputs))
        logs = values.reshape(n, -1, n_outputs)
        return np.exp(np.clip(logs, self.limits[:, 0], self.limits[:, 1]))

    def intervals(
        self, predictions: np.ndarray, centers: np.ndarray | None, log_scales: np.ndarray | None, level: float
    ) -> np.ndarray:
        """Lower and upper ends (rows, outputs, 2) for predictions (rows, outputs), which they contain."""
        n, n_outputs = predictions.shape
        middle = predictions[:, None] if centers is None else centers.reshape(n, -1, n_outputs)
        scale = self.scales(log_scales, n)
        out = np.empty((n, n_outputs, 2))
        for j, folds in enumerate(self.scores):
            shape = (n, len(folds))
            f, s = np.broadcast_to(middle[:, :, j], shape), np.broadcast_to(scale[:, :, j], shape)
            s = np.maximum(s, _MIN_SCALE * s.max(initial=1e-300))
            out[:, j, 0] = np.minimum(-upper_bounds(folds, -f, s, level), predictions[:, j])
            out[:, j, 1] = np.maximum(upper_bounds(folds, f, s, level), predictions[:, j])
        return out

    def scattered(self, columns: np.ndarray, width: int) -> IntervalCalibration:
        """The same calibration for more features, of which those so far are at `columns`."""
        centers, log_scales = (
            None if each is None else each.scattered(columns, width) for each in (self.centers, self.log_scales)
        )
        return IntervalCalibration(self.scores, self.method, centers, log_scales, self.limits)


@dataclass
class SetCalibration:
    """Sets of classes: the conformity scores 1 - p(true class) of rows that were held out, of all and by class."""

    scores: CalibrationScores
    per_class: list[CalibrationScores]

    def _check_loaded(self) -> None:
        require(len(self.per_class) > 0, "sets of classes have no conformity scores")

    @classmethod
    def of(
        cls,
        probabilities: np.ndarray,
        codes: np.ndarray,
        weight: np.ndarray | None = None,
        groups: np.ndarray | None = None,
    ) -> SetCalibration:
        """From the probabilities (rows, classes) and the class numbers of held-out rows."""
        weight = np.ones(len(codes)) if weight is None else weight
        scores = 1.0 - probabilities[np.arange(len(codes)), codes]

        def some(index: np.ndarray) -> CalibrationScores:
            if len(index) == 0:
                return CalibrationScores(np.zeros(0), np.zeros(0))
            return CalibrationScores.of(
                scores[index], row_masses(weight[index], None if groups is None else groups[index])
            )

        every = np.arange(len(codes))
        return cls(some(every), [some(np.flatnonzero(codes == c)) for c in range(probabilities.shape[1])])

    def sets(self, probabilities: np.ndarray, level: float, per_class: bool = False) -> np.ndarray:
        """{c : 1 - p_c <= q} and the most probable class; q of each class if `per_class` (Mondrian)."""
        chosen = self.per_class if per_class else [self.scores] * probabilities.shape[1]
        bounds = np.array([each.quantile(level) for each in chosen])
        inside = 1.0 - probabilities <= bounds
        inside[np.arange(len(inside)), probabilities.argmax(axis=1)] = True
        return inside
