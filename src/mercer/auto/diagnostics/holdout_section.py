"""The scores of the model, of the linear model and of the naive guess on the held-out rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from mercer.auto.holdout.evaluate import MAIN_METRICS
from mercer.auto.holdout.outputs import RowOutputs, ScoringModel
from mercer.auto.holdout.scores import ModelPredictions, Scores, class_scores, regression_scores

#: The main metric of each task, as metrics are keyed.
MAIN = {"classification": "accuracy", "regression": "r2"}


def holdout_section(
    outputs: RowOutputs,
    models: tuple[ScoringModel, ScoringModel, ScoringModel],
    names: tuple[str, str, str],
    classes: np.ndarray | None,
    seed: int = 0,
    response: Any = None,
) -> dict[str, Any]:
    """The section `holdout` of the report: the model, the linear model and the naive guess, in this order."""
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
    found = scores_of(outputs, predictions, classes, seed)
    metrics = found.plain()
    sections = {
        key: {"name": name, **metrics[k][MAIN[task]], "metrics": metrics[k]}
        for k, (key, name) in enumerate(zip(("model", "linear", "naive"), names, strict=True))
    }
    gains = [{name: asdict(gain) for name, gain in each.items()} for each in found.gains]
    metric, interval = MAIN_METRICS[task]
    return {
        "metric": metric,
        "n": len(outputs.y),
        **sections,
        "gain": gains[0][MAIN[task]],
        "gains": {"linear": gains[0], "naive": gains[1]},
        "interval": interval,
        "baseline": names[1],
        "metrics": metrics[0],
    }


def scores_of(
    outputs: RowOutputs, predictions: list[ModelPredictions], classes: np.ndarray | None, seed: int
) -> Scores:
    """All metrics of several models."""
    if classes is None:
        return regression_scores(outputs.y, predictions, outputs.weight, seed)
    return class_scores(outputs.y, classes, predictions, outputs.weight, seed)
