"""The scores of the model, of the linear model and of the naive guess on the held-out rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from mercer._runtime.errors import MercerError, Setting
from mercer.auto.decisions.scorers import scorer_estimates
from mercer.auto.holdout.evaluate import MAIN_METRICS
from mercer.auto.holdout.outputs import RowOutputs, ScoringModel
from mercer.auto.holdout.scores import ModelPredictions, Scores, class_scores, regression_scores
from mercer.auto.options import Objective

#: The main metric of each task, as metrics are keyed.
MAIN = {"classification": "accuracy", "regression": "r2"}


def holdout_section(
    outputs: RowOutputs,
    models: tuple[ScoringModel, ScoringModel, ScoringModel],
    names: tuple[str, str, str],
    classes: np.ndarray | None,
    seed: int = 0,
    objective: Objective | None = None,
    response: Any = None,
) -> dict[str, Any]:
    """The section `holdout` of the report: the model, the linear model and the naive guess, in this order."""
    objective = objective or Objective()
    task = "regression" if classes is None else "classification"
    predictions = [
        ModelPredictions(
            name,
            model.predictions_of(scores),
            None if classes is None else model.probabilities_of(scores),
            {} if response is None else response.row_losses(outputs.y, model, scores),
        )
        for name, model, scores in zip(names, models, outputs.scores, strict=True)
    ]
    found = scores_of(outputs, predictions, classes, seed, objective)
    main = objective.headline(task)
    if objective.is_scorer:
        found = with_scorer(found, main, objective.metric, outputs, predictions, classes, seed)
    metrics = found.plain()
    if main not in metrics[0]:
        raise MercerError(Setting("metric", main), " cannot be computed for a target of one class.")
    sections = {
        key: {"name": name, **metrics[k][main], "metrics": metrics[k]}
        for k, (key, name) in enumerate(zip(("model", "linear", "naive"), names, strict=True))
    }
    gains = [{name: asdict(gain) for name, gain in each.items()} for each in found.gains]
    metric, interval = metric_name(main, task), MAIN_METRICS[task][1]
    if main != MAIN[task]:
        interval = "bootstrap over the rows, paired for the gain"
    if outputs.clusters is not None:
        what = "groups" if outputs.clusters is outputs.groups else "periods"
        interval = f"bootstrap over {what}, paired for the gain"
    gains = [_with_difference(each, metrics[0], metrics[k + 1], main) for k, each in enumerate(gains)]
    return {
        "metric": metric,
        "n": len(outputs.y),
        **sections,
        "gain": gains[0][main],
        "gains": {"linear": gains[0], "naive": gains[1]},
        "interval": interval,
        "baseline": names[1],
        "metrics": metrics[0],
    }


def metric_name(main: str, task: str) -> str:
    """The name of the main metric in a report: "R2" for the key "r2"."""
    return MAIN_METRICS[task][0] if main == MAIN[task] else main


def with_scorer(
    found: Scores,
    name: str,
    metric: Any,
    outputs: RowOutputs,
    predictions: list[ModelPredictions],
    classes: np.ndarray | None,
    seed: int,
) -> Scores:
    """The metrics, with those of a scorer of scikit-learn in front."""
    known = (outputs.weight, outputs.clusters, seed)
    values, gains = scorer_estimates(metric, outputs.y, predictions, classes, *known)
    return Scores(
        [{name: value, **one} for value, one in zip(values, found.metrics, strict=True)],
        [{name: gain, **one} for gain, one in zip(gains, found.gains, strict=True)],
    )


def _with_difference(gains: dict[str, Any], model: dict[str, Any], other: dict[str, Any], main: str) -> dict[str, Any]:
    """The gains, with that of the main metric; of AUC, ends are those of independent errors."""
    if main in gains:
        return gains
    value = model[main]["value"] - other[main]["value"]
    half = [float(np.hypot(each[0], each[1])) for each in _distances(model[main], other[main])]
    return {**gains, main: {"value": value, "low": value - half[0], "high": value + half[1]}}


def _distances(one: dict[str, float], other: dict[str, float]) -> list[tuple[float, float]]:
    return [
        (one["value"] - one["low"], other["high"] - other["value"]),
        (one["high"] - one["value"], other["value"] - other["low"]),
    ]


def scores_of(
    outputs: RowOutputs,
    predictions: list[ModelPredictions],
    classes: np.ndarray | None,
    seed: int,
    objective: Objective | None = None,
) -> Scores:
    """All metrics of several models."""
    objective = objective or Objective()
    if classes is None:
        level = objective.pinball_level
        return regression_scores(outputs.y, predictions, outputs.weight, seed, outputs.clusters, level)
    costs = objective.cost_matrix(len(classes)) if objective.costs is not None else None
    return class_scores(outputs.y, classes, predictions, outputs.weight, seed, outputs.clusters, costs)
