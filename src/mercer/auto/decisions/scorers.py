"""Scorers of scikit-learn on predictions that are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from mercer._runtime.errors import MercerError, Setting
from mercer.auto.holdout.bootstrap import Estimate, widened_tail
from mercer.auto.holdout.scores import ModelPredictions

_N_RESAMPLES = 200


class KnownRegressor(RegressorMixin, BaseEstimator):
    """An estimator whose rows are indices of known predictions."""

    def __init__(self, predictions: Any = None):
        self.predictions = predictions

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.predictions[X[:, 0]]


class KnownClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are indices of known predictions and probabilities."""

    def __init__(self, predictions: Any = None, probabilities: Any = None, classes: Any = None):
        self.predictions, self.probabilities, self.classes = predictions, probabilities, classes

    @property
    def classes_(self) -> np.ndarray:
        return self.classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.predictions[X[:, 0]]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Probabilities of the classes."""
        return self.probabilities[X[:, 0]]


def scorer_of(metric: Any) -> Callable:
    """A scorer, or that of a name."""
    return get_scorer(metric) if isinstance(metric, str) else metric


def scorer_name(metric: Any) -> str:
    """The name under which a report shows a scorer."""
    if isinstance(metric, str):
        return metric
    inner = getattr(metric, "_score_func", metric)
    return str(getattr(inner, "__name__", type(metric).__name__))


def known_model(made: ModelPredictions, classes: np.ndarray | None) -> Any:
    """An estimator of known predictions."""
    if classes is None:
        return KnownRegressor(made.predictions)
    return KnownClassifier(made.predictions, made.probabilities, classes)


def scored(metric: Any, model: Any, y: np.ndarray, index: np.ndarray, weight: np.ndarray | None) -> float:
    """The score of some rows; an error that names the metric if it cannot be computed."""
    kwargs = {} if weight is None else {"sample_weight": weight[index]}
    try:
        return float(scorer_of(metric)(model, index[:, None], y[index], **kwargs))
    except Exception as error:
        problem = (Setting("metric", scorer_name(metric)), f" cannot be computed for this target: {error}")
        raise MercerError(*problem, remedy="Choose another metric.") from error


def scorer_estimates(
    metric: Any,
    y: np.ndarray,
    models: list[ModelPredictions],
    classes: np.ndarray | None,
    weight: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    seed: int = 0,
) -> tuple[list[Estimate], list[Estimate]]:
    """The score of each model, and the gains of the first over the others, by a bootstrap over rows or groups."""
    n, rng = len(y), np.random.default_rng(seed)
    made = [known_model(each, classes) for each in models]
    every = np.arange(n)
    codes = every if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    n_units = int(codes.max()) + 1
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    values = [[scored(metric, model, y, every, weight) for model in made]]
    while len(values) <= _N_RESAMPLES:
        index = np.concatenate([members[k] for k in rng.integers(n_units, size=n_units)])
        try:
            values.append([scored(metric, model, y, index, weight) for model in made])
        except MercerError:  # a class may be missing from a resample
            values.append([np.nan] * len(made))
    table = np.array(values)
    tail = widened_tail(0.025, n_units)
    gains = [_estimate(table[:, 0] - table[:, k], tail) for k in range(1, len(made))]
    return [_estimate(each, tail) for each in table.T], gains


def _estimate(values: np.ndarray, tail: float) -> Estimate:
    known = values[1:][np.isfinite(values[1:])]
    low, high = np.quantile(known, [tail, 1 - tail]) if len(known) else (values[0], values[0])
    return Estimate(float(values[0]), float(low), float(high))
