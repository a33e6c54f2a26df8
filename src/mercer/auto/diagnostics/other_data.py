"""The scores of a saved model on other rows that have their target."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._runtime.errors import DataError
from mercer.auto.diagnostics.holdout_section import MAIN, metric_name, scores_of, with_scorer
from mercer.auto.holdout.outputs import ModelOutputs, RowOutputs
from mercer.auto.holdout.scores import ModelPredictions
from mercer.auto.options import Objective
from mercer.auto.rows.bad_targets import schema_with_target, with_usable_targets
from mercer.io import read_table
from mercer.source import Source
from mercer.source.remarks import reading_notes
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
    like = schema_with_target(model)
    source = data if isinstance(data, Source) else read_table(data, model.target, like=like, **reading)
    name = str(data) if isinstance(data, (str, os.PathLike)) else "data"
    refuse_missing(source.schema or {}, model.encoder.schema_, name)
    scoring, policy = _RowModel(model), reading.get("on_bad_rows", "error")
    called = f"The target {model.target!r}"
    rows, skipped, notes = with_usable_targets(source, policy, called, numbers=model.classes_ is None)
    outputs = rows.fold(ModelOutputs((scoring,), _NO_ROWS, model.seed)).finish()
    _refuse_other_type(outputs.y, model, name)
    scores = outputs.scores[0]
    probabilities = None if model.classes_ is None else scoring.probabilities_of(scores)
    predictions = [ModelPredictions("this model", scoring.predictions_of(scores), probabilities)]
    metrics, main = _metrics(model, outputs, predictions)
    before = on_holdout(model, main)
    return {
        "file": name,
        "n": len(outputs.y),
        "n_skipped": len(skipped) if data is source else len(source.skipped_rows) + len(skipped),
        "n_repaired": 0 if data is source else len(source.repaired_rows),
        "notes": notes if data is source else [*reading_notes(source), *notes],
        "metric": metric_name(main, model.task),
        "model": {"name": "this model", **metrics[main], "metrics": metrics},
        "metrics": metrics,
        "sentence": _sentence(name, len(outputs.y), metrics[main], before),
        "unseen": [each.describe(column) for column, each in model.unseen_categories(source).items()],
    }


def _metrics(
    model: Model, outputs: RowOutputs, predictions: list[ModelPredictions]
) -> tuple[dict[str, dict[str, float]], str]:
    """All metrics, and the key of that of the fit (of the default where the fit's is not defined for these rows)."""
    objective = Objective.of_report(model.report())
    found = scores_of(outputs, predictions, model.classes_, model.seed, objective)
    main = objective.headline(model.task)
    if objective.is_scorer:
        found = with_scorer(found, main, objective.metric, outputs, predictions, model.classes_, model.seed)
    metrics = found.plain()[0]
    return metrics, main if main in metrics else MAIN[model.task]


def on_holdout(model: Model, main: str) -> dict[str, float] | None:
    """A metric on the holdout of the fit; None if it is not known."""
    before = model.report().get("holdout")
    if before is None:
        return None
    if before["metric"] == metric_name(main, model.task):
        return before["model"]
    return before["model"].get("metrics", {}).get(main)


def _refuse_other_type(y: np.ndarray, model: Model, name: str) -> None:
    numbers = y.dtype.kind in "fiub"
    if (model.classes_ is None) and not numbers:
        raise DataError(f"{name}: the target {model.target!r} holds {y[0]!r}, but the model predicts numbers.")
    if model.classes_ is not None and numbers != (model.classes_.dtype.kind in "fiub"):
        raise DataError(
            f"{name}: the target {model.target!r} holds {y[0]!r}, which is of another type than the classes of the "
            f"model, such as {model.classes_[0]!r}."
        )


def _sentence(name: str, n: int, score: dict[str, float], before: dict[str, float] | None) -> str:
    rows = "1 row" if n == 1 else f"{n:,} rows"
    found = f"On {rows} of {name} the model scores {score['value']:.3f} ({score['low']:.3f} to {score['high']:.3f})"
    if before is None:
        return f"{found}."
    value, low, high = (before[key] for key in ("value", "low", "high"))
    return (
        f"{found}; on the holdout of the fit it was {value:.3f} ({low:.3f} to {high:.3f}). "
        "Rows that the model was fitted to make the score optimistic."
    )
