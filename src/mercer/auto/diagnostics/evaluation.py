"""Evaluation on the holdout: scores of three models in one pass, and the rows that diagnostics look at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.holdout_section import holdout_section
from mercer.auto.final.baselines import ConstantPredictor, EncodedPredictor, SharedEncoder
from mercer.auto.final.predictor import Predictor
from mercer.auto.holdout.outputs import ModelOutputs, RowOutputs
from mercer.auto.options import Objective
from mercer.auto.rows.encoding import EncodedRows
from mercer.source import Source

#: Held-out rows that diagnostics look at, and their encoded entries: at most.
_MAX_ROWS, _MAX_ENTRIES, _MIN_ROWS = 5000, 2e7, 200


@dataclass(frozen=True)
class HoldoutEvaluation:
    """The section `holdout`, the scores of all held-out rows, and the model that was evaluated."""

    section: dict[str, Any]
    outputs: RowOutputs
    model: EncodedPredictor

    def predictions(self) -> np.ndarray:
        """The predictions of the model for the sampled rows."""
        return self.model.predictions_of(self.outputs.scores[0][self.outputs.sampled])

    def rows(self, baseline: np.ndarray, seed: int) -> HeldOutRows:
        """The sampled rows with the model."""
        outputs, sampled = self.outputs, self.outputs.sampled
        return HeldOutRows(
            outputs.table,
            self.model.encode(outputs.table),
            outputs.y[sampled],
            outputs.positions,
            self.model.encoder.encoder,
            self.model.predictor,
            baseline,
            None if outputs.weight is None else outputs.weight[sampled],
            seed,
        )


def shared(encoder: Any, predictor: Predictor, plain: Any) -> tuple[EncodedPredictor, Any]:
    """The model of raw rows and its baseline, which encode a block of rows once for both."""
    model = EncodedPredictor(SharedEncoder(encoder), predictor)
    return model, replace(plain, encoder=model.encoder) if isinstance(plain, EncodedPredictor) else plain


def evaluate_holdout(
    model: EncodedPredictor,
    plain: Any,
    name: str,
    rows: EncodedRows,
    held_out: Source,
    n_rows: float,
    seed: int,
    objective: Objective | None = None,
) -> HoldoutEvaluation:
    """Evaluate a model, its baseline of that name and the naive guess on about `n_rows` held-out rows, in one pass."""
    classes = model.predictor.classes
    response = model.predictor.response
    naive = ConstantPredictor.of(rows, classes is not None)
    if model.predictor.decision is not None and objective is not None and objective.costs is not None:
        naive = naive.decided(model.predictor.decision, classes)
    wanted = max(_MIN_ROWS, min(_MAX_ROWS, _MAX_ENTRIES / max(rows.X.shape[1], 1)))
    fraction = min(1.0, wanted / max(n_rows, 1.0))
    models = (model, plain, naive)
    outputs = held_out.fold(ModelOutputs(models, fraction, seed)).finish()
    names = ("this model", name, _naive_name(naive))
    section = holdout_section(outputs, models, names, classes, seed, objective, response)
    return HoldoutEvaluation(section, outputs, model)


def _naive_name(naive: ConstantPredictor) -> str:
    if naive.frequencies is None:
        return f"always guessing the {naive.name}"
    return f"always guessing {naive.value.item() if isinstance(naive.value, np.generic) else naive.value!r}"
