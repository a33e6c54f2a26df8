"""All metrics of a task for several models on the same rows, with confidence intervals and paired gains.

Regression: R2, root mean squared, mean absolute and median absolute error. Classes: accuracy, balanced accuracy, AUC,
log-loss, Brier score and F1. Intervals are 95 %: percentile bootstrap over the rows (the same resamples for all
models), Wilson's for accuracy, DeLong's on the logit scale for AUC, order statistics for the median.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from mercer.auto.holdout.auc import auc_estimate
from mercer.auto.holdout.bootstrap import Estimate, RowGroups, effective_rows, r2_of_sums
from mercer.auto.holdout.evaluate import compare, normal_quantile, wilson

#: Metrics of which less is better.
LOWER_IS_BETTER = ("rmse", "mae", "median_absolute_error", "log_loss", "brier", "pinball", "huber", "deviance", "cost")
#: The smallest probability that the log-loss distinguishes from zero.
_MIN_PROBABILITY = 1e-15

#: A metric as a function of the sums of rows, one line per resample.
Metric = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class ModelPredictions:
    """A named model's predictions of the rows and, for classes, its probabilities."""

    name: str
    predictions: np.ndarray
    probabilities: np.ndarray | None = None
    #: The loss of each row that the model was asked to minimize, by name: for example {"deviance": losses}.
    losses: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Scores:
    """Metrics of each model, {metric: Estimate} in the order of the models, and gains of the first over the others.

    A gain is positive where the first model is better, whatever the metric.
    """

    metrics: list[dict[str, Estimate]]
    gains: list[dict[str, Estimate]]

    def plain(self) -> list[dict[str, dict[str, float]]]:
        """The metrics as dicts."""
        return [{name: asdict(each) for name, each in one.items()} for one in self.metrics]


def regression_scores(
    y: np.ndarray,
    models: list[ModelPredictions],
    weight: np.ndarray | None = None,
    random_state: int = 0,
    groups: np.ndarray | None = None,
    quantile: float | None = None,
) -> Scores:
    """The metrics of a regression; of several targets the errors are averaged.

    groups : keys of groups, which are resampled as a whole
    quantile : level of the pinball loss, mean of max(level e, (level - 1) e) over the errors e; None leaves it out
    """
    n = len(y)
    y = np.asarray(y, dtype=np.float64).reshape(n, -1)
    errors = [y - np.reshape(model.predictions, (n, -1)) for model in models]
    rows = RowGroups(n, weight, random_state, groups)
    centered = y - np.average(y, axis=0, weights=weight)
    size, square = rows.add(np.ones(n)).start, rows.add(np.sum(centered**2, axis=1)).start
    shifts = [rows.add(values).start for values in centered.T]
    sums = [
        (rows.add(np.mean(e**2, axis=1)).start, rows.add(np.mean(np.abs(e), axis=1)).start, y.shape[1]) for e in errors
    ]
    asked = [{name: rows.add(each).start for name, each in model.losses.items()} for model in models]
    pinballs = [rows.add(_pinball(e, quantile)).start for e in errors] if quantile is not None else []
    drawn = rows.draw()
    count = np.maximum(drawn[:, size], np.finfo(float).tiny)
    total = drawn[:, square] - np.sum(drawn[:, shifts] ** 2, axis=1) / count
    values = [
        {
            "r2": r2_of_sums(drawn[:, squares] * k, total, float(drawn[0, square])),
            "rmse": np.sqrt(drawn[:, squares] / count),
            "mae": drawn[:, absolute] / count,
            **{name: drawn[:, column] / count for name, column in own.items()},
        }
        for (squares, absolute, k), own in zip(sums, asked, strict=True)
    ]
    for one, column in zip(values, pinballs, strict=False):
        one["pinball"] = drawn[:, column] / count
    metrics = [{name: rows.percentiles(each) for name, each in one.items()} for one in values]
    size_of_sample = rows.n_effective if groups is not None else None
    for one, e in zip(metrics, errors, strict=True):
        one["median_absolute_error"] = _median(np.mean(np.abs(e), axis=1), weight, size_of_sample)
    return Scores(metrics, _gains(rows, values))


def _pinball(errors: np.ndarray, level: float) -> np.ndarray:
    return np.mean(np.maximum(level * errors, (level - 1) * errors), axis=1)


def _gains(groups: RowGroups, values: list[dict[str, np.ndarray]]) -> list[dict[str, Estimate]]:
    """The gain of the first model over each of the others, on the same resamples."""
    first, *others = values
    signs = {name: -1.0 if name in LOWER_IS_BETTER else 1.0 for name in first}
    return [{name: groups.percentiles(signs[name] * (first[name] - other[name])) for name in first} for other in others]


def _median(values: np.ndarray, weight: np.ndarray | None, n: float | None = None) -> Estimate:
    """The median with the order statistics at n/2 -+ z sqrt(n)/2 of n effective rows."""
    order = np.argsort(values, kind="stable")
    ranks = np.cumsum(np.ones(len(values)) if weight is None else weight[order])
    half = normal_quantile(0.95) / (2 * np.sqrt(effective_rows(len(values), weight) if n is None else n))
    points = np.clip([0.5, 0.5 - half, 0.5 + half], 0.0, 1.0) * ranks[-1]
    index = np.minimum(np.searchsorted(ranks, points * (1 - 1e-12)), len(values) - 1)
    median, low, high = (float(each) for each in values[order][index])
    if weight is None:
        median = float(np.median(values))
    return Estimate(median, min(low, median), max(high, median))


def class_scores(
    y: np.ndarray,
    classes: np.ndarray,
    models: list[ModelPredictions],
    weight: np.ndarray | None = None,
    random_state: int = 0,
    groups: np.ndarray | None = None,
    costs: np.ndarray | None = None,
) -> Scores:
    """The metrics of a classification.

    groups : keys of groups, which are resampled as a whole; intervals of accuracy and its gain are then percentiles
    costs : [true class, predicted class], of which the mean over the rows is reported

    F1 is that of the second of two classes, else the mean over the classes; AUC of several classes is the mean of each
    against the others; the Brier score of two classes is the mean of (p - y)^2, of several the sum over the classes.
    """
    labels, codes, models = _with_unseen(y, classes, models)
    rows = RowGroups(len(y), weight, random_state, groups)
    size = rows.add(np.ones(len(y)))
    actual = rows.add_by_class(codes, len(labels), np.ones(len(y)))
    table = None if costs is None else _costs_of(costs, len(labels))
    made = [_class_metrics(rows, model, labels, codes, size, actual, table) for model in models]
    drawn = rows.draw()
    values = [{name: metric(drawn) for name, metric in metrics.items()} for metrics in made]
    metrics = [{name: rows.percentiles(each) for name, each in one.items()} for one in values]
    gains = _gains(rows, values)
    for k, model in enumerate(models):
        n, p = rows.n_effective, np.asarray(model.probabilities)
        metrics[k] |= {"auc": auc_estimate(codes, p, weight, rows.given)} if len(labels) > 1 else {}
        if groups is not None:
            continue
        metrics[k]["accuracy"] = wilson(n * metrics[k]["accuracy"].value, n)
        if k:
            gains[k - 1]["accuracy"] = compare(
                y, model.predictions, models[0].predictions, "classification", weight
            ).gain
    order = ("accuracy", "balanced_accuracy", "auc", "log_loss", "brier", "f1", "cost")
    return Scores([{name: one[name] for name in order if name in one} for one in metrics], gains)


def _with_unseen(
    y: np.ndarray, classes: np.ndarray, models: list[ModelPredictions]
) -> tuple[np.ndarray, np.ndarray, list[ModelPredictions]]:
    """Labels with those that training rows do not have, codes of the rows, and probabilities 0 of the others."""
    unseen = np.array([label for label in np.unique(y).tolist() if label not in set(classes.tolist())], dtype=object)
    labels = classes if len(unseen) == 0 else np.concatenate([classes.astype(object), unseen])
    code = {label: k for k, label in enumerate(labels.tolist())}
    codes = np.array([code[label] for label in y.tolist()], dtype=np.int64)
    zeros = np.zeros((len(y), len(unseen)))
    padded = [
        ModelPredictions(model.name, model.predictions, np.hstack([model.probabilities, zeros]))  # type: ignore[list-item]
        for model in models
    ]
    return labels, codes, padded


def _costs_of(costs: np.ndarray, n_classes: int) -> np.ndarray:
    """The costs, with the largest one for classes that training rows do not have."""
    table = np.full((n_classes, n_classes), float(costs.max()))
    table[: len(costs), : len(costs)] = costs
    return table


def _class_metrics(
    groups: RowGroups,
    model: ModelPredictions,
    labels: np.ndarray,
    codes: np.ndarray,
    size: slice,
    actual: slice,
    costs: np.ndarray | None = None,
) -> dict[str, Metric]:
    """Add the sums of a model; the metrics are functions of the drawn sums."""
    p: Any = model.probabilities
    n, n_classes = p.shape
    code = {label: k for k, label in enumerate(labels.tolist())}
    predicted = np.array([code[label] for label in model.predictions.tolist()], dtype=np.int64)
    hit = (predicted == codes).astype(np.float64)
    own = p[np.arange(n), codes]
    brier = np.sum(p**2, axis=1) - 2 * own + 1
    sums = {
        "accuracy": groups.add(hit),
        "log_loss": groups.add(-np.log(np.maximum(own, _MIN_PROBABILITY))),
        "brier": groups.add(brier / 2 if n_classes == 2 else brier),
    }
    if costs is not None:
        sums["cost"] = groups.add(costs[codes, predicted])
    right = groups.add_by_class(codes, n_classes, hit)
    chosen = groups.add_by_class(predicted, n_classes, np.ones(n))

    def mean_of(columns: slice) -> Metric:
        return lambda drawn: drawn[:, columns.start] / np.maximum(drawn[:, size.start], np.finfo(float).tiny)

    def balanced(drawn: np.ndarray) -> np.ndarray:
        return _mean_ratio(drawn[:, right], drawn[:, actual])

    def f1(drawn: np.ndarray) -> np.ndarray:
        each = slice(1, None) if n_classes == 2 else slice(None)
        return _mean_ratio(2 * drawn[:, right][:, each], (drawn[:, actual] + drawn[:, chosen])[:, each])

    return {name: mean_of(columns) for name, columns in sums.items()} | {"balanced_accuracy": balanced, "f1": f1}


def _mean_ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The mean of part / whole over the columns where the whole is positive; 0 where there is none."""
    known = whole > 0
    ratio = np.where(known, part / np.where(known, whole, 1.0), 0.0)
    return ratio.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
