"""The decision rule of a model, from costs and weights of classes, or chosen for a metric on out-of-fold rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mercer.auto.conformal.calibration import SetCalibration
from mercer.auto.decisions.class_weights import ClassWeights
from mercer.auto.decisions.rule import DecisionRule, OutOfFold
from mercer.auto.decisions.scorers import KnownClassifier, scored, scorer_name
from mercer.auto.final.predictor import Predictor
from mercer.auto.learned import Learned
from mercer.auto.options import Objective
from mercer.auto.rows.encoding import EncodedRows
from mercer.auto.splits.keys import TableView
from mercer.source import Source

#: Metrics that do not depend on decisions, or that the most probable class maximizes.
_OF_PROBABILITIES = (None, "accuracy", "auc", "log_loss", "brier")
#: Thresholds that are compared: quantiles of the probabilities; and the width of their moving average.
_N_THRESHOLDS, _SMOOTHING = 99, 5
#: Factors on the weight of a class that coordinate ascent tries, and its rounds.
_FACTORS, _ROUNDS = (0.25, 0.5, 0.7, 1.4, 2.0, 4.0), 3
#: Resamples for the standard error of a gain.
_N_RESAMPLES = 50


@dataclass
class ClassDecisions:
    """What `metric`, `class_weight` and `costs` ask of a model of classes; the rule is chosen once for a fit."""

    objective: Objective
    n_classes: int
    seed: int = 0
    weights: ClassWeights | None = None
    rule: DecisionRule | None = None
    why: str = ""
    chosen: bool = field(default=False)

    @classmethod
    def of(cls, objective: Objective, source: Source, n_classes: int, seed: int) -> ClassDecisions | None:
        """The decisions of a fit; None where the most probable class is asked for."""
        if objective.metric in _OF_PROBABILITIES and objective.class_weight is None and objective.costs is None:
            return None
        objective.cost_matrix(n_classes)  # refuses other shapes
        weights = None if objective.class_weight is None else ClassWeights.of(objective.class_weight, source)
        return cls(objective, n_classes, seed, weights)

    def weighted(self, source: Source) -> Source:
        """Training rows with the weights of their classes."""
        return source if self.weights is None else TableView(source, self.weights)

    def unweighted(self, rows: EncodedRows) -> EncodedRows:
        """Encoded training rows without the weights of their classes."""
        return rows if self.weights is None else self.weights.unweighted(rows)

    def applied(self, predictor: Predictor) -> Predictor:
        """The model with the probabilities of the data, and with the rule; the first model that is given chooses it."""
        if predictor.classes is None or len(predictor.classes) < 2:
            return predictor
        classes, known = predictor.classes, self._out_of_fold(predictor.out_of_fold, predictor.classes)
        if not self.chosen:
            self.rule, self.why = self._choose(classes, known)
            self.chosen = True
        if self.weights is not None:
            calibration = predictor.calibration
            if known is not None and isinstance(calibration, SetCalibration):
                calibration = SetCalibration.of(known.probabilities, known.codes, known.weight)
            predictor = replace(self.weights.corrected(predictor), calibration=calibration)
        rule = self.rule if self.rule is not None and len(self.rule.utility) == len(classes) else None
        return replace(predictor, decision=rule)

    def decided(self, learned: Learned, sections: dict[str, Any]) -> Learned:
        """The model after `applied`; a rule is added to the sections of the report as `decision`."""
        predictor = self.applied(learned.predictor)
        if predictor.decision is not None:
            sections["decision"] = predictor.decision.plain(self.why, predictor.classes)
        return replace(learned, predictor=predictor)

    def _out_of_fold(self, known: OutOfFold | None, classes: np.ndarray) -> OutOfFold | None:
        """Out-of-fold rows with the probabilities and weights of the data."""
        if known is None or self.weights is None:
            return known
        p = self.weights.corrected_probabilities(known.probabilities, classes)
        factors = self.weights.of_labels(classes)[known.codes]
        return OutOfFold(p, known.codes, None if known.weight is None else known.weight / factors)

    def _choose(self, classes: np.ndarray, known: OutOfFold | None) -> tuple[DecisionRule | None, str]:
        objective = self.objective
        costs = objective.cost_matrix(self.n_classes)
        if costs is not None and len(costs) == len(classes):
            return DecisionRule(-costs), "the smallest expected cost"
        if objective.metric in _OF_PROBABILITIES:
            if self.weights is None or objective.metric is not None:
                return None, ""
            return DecisionRule.of_weights(self.weights.of_labels(classes)), "the weights of the classes"
        if known is None or len(np.unique(known.codes)) < len(classes):
            return None, ""
        name = scorer_name(objective.metric)
        why = f"chosen for {name.replace('_', ' ')} on {len(known.codes):,} out-of-fold rows"
        if objective.metric == "balanced_accuracy":
            prior = np.bincount(known.codes, known.weight, len(classes))
            return DecisionRule.of_weights(prior.sum() / prior), why
        rule = _best_rule(_value(objective.metric, known, classes), known, len(classes), self.seed)
        return rule, why if rule is not None else ""


#: A metric of predicted class numbers of some out-of-fold rows.
Value = Callable[[np.ndarray, np.ndarray], float]


def _value(metric: Any, known: OutOfFold, classes: np.ndarray) -> Value:
    weight = np.ones(len(known.codes)) if known.weight is None else known.weight
    if metric == "f1":
        return lambda predicted, index: f1_of(known.codes[index], predicted[index], weight[index], len(classes))
    y = classes[known.codes]

    def value(predicted: np.ndarray, index: np.ndarray) -> float:
        model = KnownClassifier(classes[predicted], known.probabilities, classes)
        return scored(metric, model, y, index, known.weight)

    return value


def f1_of(codes: np.ndarray, predicted: np.ndarray, weight: np.ndarray, n_classes: int) -> float:
    """F1 of the second of two classes, else the mean over classes."""
    right = np.bincount(codes, weight * (codes == predicted), n_classes)
    total = np.bincount(codes, weight, n_classes) + np.bincount(predicted, weight, n_classes)
    each = 2 * right / np.maximum(total, np.finfo(float).tiny)
    return float(each[1] if n_classes == 2 else each[total > 0].mean())


def _best_rule(value: Value, known: OutOfFold, n_classes: int, seed: int) -> DecisionRule | None:
    """The rule of largest value, if its gain over the most probable class exceeds a standard error."""
    every, p = np.arange(len(known.codes)), known.probabilities
    usual = p.argmax(axis=1)
    if value(usual, every) == value((usual + 1) % n_classes, every):  # a metric of probabilities
        return None
    rule = _best_threshold(value, p[:, 1], every) if n_classes == 2 else _best_weights(value, p, every)
    predicted, rng = rule.choose(p), np.random.default_rng(seed)
    gain = value(predicted, every) - value(usual, every)
    draws = [rng.integers(len(every), size=len(every)) for _ in range(_N_RESAMPLES)]
    error = float(np.std([value(predicted, index) - value(usual, index) for index in draws]))
    return rule if gain > error else None


def _best_threshold(value: Value, p: np.ndarray, every: np.ndarray) -> DecisionRule:
    """The threshold of the largest value, smoothed over neighboring ones."""
    thresholds = np.unique(np.quantile(p, np.arange(1, _N_THRESHOLDS + 1) / (_N_THRESHOLDS + 1)))
    values = np.array([value((p >= t).astype(np.intp), every) for t in thresholds])
    window = np.ones(_SMOOTHING)
    smooth = np.convolve(values, window, "same") / np.convolve(np.ones_like(values), window, "same")
    return DecisionRule.of_threshold(float(thresholds[int(np.argmax(smooth))]))


def _best_weights(value: Value, p: np.ndarray, every: np.ndarray) -> DecisionRule:
    """Weights of the classes by coordinate ascent, from equal ones."""
    weights = np.ones(p.shape[1])
    best = value((p * weights).argmax(axis=1), every)
    for _ in range(_ROUNDS):
        before = best
        for c in range(len(weights)):
            for factor in _FACTORS:
                tried = weights.copy()
                tried[c] *= factor
                found = value((p * tried).argmax(axis=1), every)
                if found > best:
                    best, weights = found, tried
        if best <= before:
            break
    return DecisionRule.of_weights(weights / weights.max())
