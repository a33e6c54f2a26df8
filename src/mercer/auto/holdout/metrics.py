"""The score of a model on given data, as `score` of scikit-learn's estimators computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from mercer.io import read_table

if TYPE_CHECKING:
    from mercer.auto.model import Model


def default_score(model: Model, data: Any, y: Any = None, sample_weight: Any = None) -> float:
    """Accuracy for classification, R2 for regression; `y` None is the target column of the data."""
    if y is None:
        if model.target is None:
            raise ValueError("score needs the targets: the model was fitted to an array of them. Give y.")
        source = read_table(data, model.target)
        y = np.concatenate([np.asarray(block.y) for block in source.blocks() if len(block)])
    metric = r2_score if model.classes_ is None else accuracy_score
    return float(metric(y, model.predict(data), sample_weight=sample_weight))
