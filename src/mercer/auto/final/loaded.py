"""The check of a model that comes from a file: its parts fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._runtime.loaded import require
from mercer.source import Columns
from mercer.tables.schema import row_of_missing

if TYPE_CHECKING:
    from mercer.auto.model import Model


def check_applies(model: Model) -> None:
    """Apply a loaded model to a row of missing values, which parts that do not fit together cannot be."""
    predictor, row = model.predictor, row_of_missing(model.encoder.schema_)
    require(len(model.baseline) == model.encoder.blocks_[-1].stop, "its encoder and its baseline are of other columns")
    _check_widths(model, row)
    model.predict(row)
    if model.classes_ is not None:
        n_classes = np.shape(model.predict_proba(row))[1]
        known = predictor.classes
        good = known is not None and len(model.classes_) == len(known) == n_classes
        require(good, "its scores are of other classes")
    if getattr(predictor, "calibration", None) is not None:
        model.predict_interval(row) if model.classes_ is None else model.predict_set(row)


def check_searched(estimator: Any) -> None:
    """Apply the model of a loaded estimator, if it was fitted."""
    if hasattr(estimator, "model_"):
        check_applies(estimator.model_)


def _check_widths(model: Model, row: Columns) -> None:
    """Refuse blocks that do not write all of their features: the others would be whatever was in memory."""
    X = model.encoder.transform(row)
    if hasattr(X, "tocsr"):
        return
    for block in model.predictor.features.blocks:
        out = np.full((1, block.width), np.nan, dtype=np.float32)
        block.write(np.asarray(X, dtype=np.float64), out)
        require(not np.isnan(out).any(), f"its {block.kind} are not {block.width} features")
