"""The scores of a saved model on other rows that have their target."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._runtime.errors import DataError, RowError
from mercer.auto.diagnostics.holdout_section import MAIN, scores_of
from mercer.auto.holdout.outputs import ModelOutputs
from mercer.auto.holdout.scores import ModelPredictions
from mercer.auto.rows.target_counts import refuse_unusable
from mercer.io import read_table
from mercer.source import Source
from mercer.tables.schema import refuse_missing

if TYPE_CHECKING:
    from mercer.auto.model import Model

#: No rows are kept: scores are all that is reported.
_NO_ROWS = 1e-9


class _RowModel:
    """A model of raw rows by its scores."""

    def __init__(self, model: Model):
        self.model = model

    def scores(self, X: Any) -> np.ndarray:
        return self.model.map_encoded(X, self.model.predictor.scores)

    def predictions_of(self, scores: np.ndarray) -> np.ndarray:
        return self.model.predictor.predictions_of(scores)

    def probabilities_of(self, scores: np.ndarray) -> np.ndarray:
        return self.model.predictor.probabilities_of(scores)


def evaluate_on(model: Model, data: Any, **reading: Any) -> dict[str, Any]:
    """The section `other_data` of the report; `reading` are options of `mercer.io.read_table`.

    The scores are optimistic for rows that the model was fitted to.
    """
    if model.target is None:
        raise ValueError("The model was fitted to an array of targets: it does not know which column holds them.")
    source = data if isinstance(data, Source) else read_table(data, model.target, like=model.encoder.schema_, **reading)
    name = str(data) if isinstance(data, (str, os.PathLike)) else "data"
    refuse_missing(source.schema or {}, model.encoder.schema_, name)
    scoring = _RowModel(model)
    outputs = source.fold(ModelOutputs((scoring,), _NO_ROWS, model.seed)).finish()
    _refuse_other_type(outputs.y, model, name)
    try:
        refuse_unusable(outputs.y, f"The target {model.target!r}")
    except RowError as error:
        raise error.located(source.locate) from error
    scores = outputs.scores[0]
    probabilities = None if model.classes_ is None else scoring.probabilities_of(scores)
    predictions = [ModelPredictions("this model", scoring.predictions_of(scores), probabilities)]
    metrics = scores_of(outputs, predictions, model.classes_, model.seed).plain()[0]
    main = MAIN[model.task]
    before = model.report().get("holdout")
    return {
        "file": name,
        "n": len(outputs.y),
        "metric": "accuracy" if main == "accuracy" else "R2",
        "model": {"name": "this model", **metrics[main], "metrics": metrics},
        "metrics": metrics,
        "sentence": _sentence(name, len(outputs.y), metrics[main], before),
        "unseen": [each.describe(column) for column, each in model.unseen_categories(source).items()],
    }


def _refuse_other_type(y: np.ndarray, model: Model, name: str) -> None:
    numbers = y.dtype.kind in "fiub"
    if (model.classes_ is None) and not numbers:
        raise DataError(f"{name}: the target {model.target!r} holds {y[0]!r}, but the model predicts numbers.")
    if model.classes_ is not None and numbers != (model.classes_.dtype.kind in "fiub"):
        raise DataError(
            f"{name}: the target {model.target!r} holds {y[0]!r}, which is of another type than the classes of the "
            f"model, such as {model.classes_[0]!r}."
        )


def _sentence(name: str, n: int, score: dict[str, float], before: dict[str, Any] | None) -> str:
    rows = "1 row" if n == 1 else f"{n:,} rows"
    found = f"On {rows} of {name} the model scores {score['value']:.3f} ({score['low']:.3f} to {score['high']:.3f})"
    if before is None:
        return f"{found}."
    model = before["model"]
    return (
        f"{found}; on the holdout of the fit it was {model['value']:.3f} ({model['low']:.3f} to {model['high']:.3f}). "
        "Rows that the model was fitted to make the score optimistic."
    )
