"""One number for a model on given data: the metric it was fitted with, greater is better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from mercer._runtime.errors import MercerError, Setting
from mercer.auto.decisions.scorers import known_model, scored
from mercer.auto.diagnostics.holdout_section import MAIN
from mercer.auto.holdout.scores import LOWER_IS_BETTER, ModelPredictions, class_scores, regression_scores
from mercer.auto.options import Objective
from mercer.io import read_table

if TYPE_CHECKING:
    from mercer.auto.model import Model


def model_score(model: Model, data: Any, y: Any = None, sample_weight: Any = None) -> float:
    """The metric of the fit; `y` None is the target column of the data."""
    if y is None:
        if model.target is None:
            raise ValueError("score needs the targets: the model was fitted to an array of them. Give y.")
        source = read_table(data, model.target)
        y = np.concatenate([np.asarray(block.y) for block in source.blocks() if len(block)])
    predicted = model.predict(data)
    objective = Objective.of_report(model.report())
    if objective.headline(model.task) == MAIN[model.task]:
        metric = r2_score if model.classes_ is None else accuracy_score
        return float(metric(y, predicted, sample_weight=sample_weight))
    probabilities = None if model.classes_ is None else model.predict_proba(data)
    made = ModelPredictions("model", predicted, probabilities)
    return score_of(objective, np.asarray(y), made, model.classes_, sample_weight)


def score_of(
    objective: Objective, y: np.ndarray, made: ModelPredictions, classes: np.ndarray | None, sample_weight: Any = None
) -> float:
    """The metric of an objective for known predictions; errors are negated, so that greater is better."""
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if objective.is_scorer:
        return scored(objective.metric, known_model(made, classes), y, np.arange(len(y)), weight)
    if classes is None:
        found = regression_scores(y, [made], weight, quantile=objective.pinball_level)
    else:
        found = class_scores(y, classes, [made], weight, costs=objective.cost_matrix(len(classes)))
    main = objective.headline("regression" if classes is None else "classification")
    if main not in found.metrics[0]:
        raise MercerError(Setting("metric", main), " cannot be computed for a target of one class.")
    value = found.metrics[0][main].value
    return -value if main in LOWER_IS_BETTER else value
