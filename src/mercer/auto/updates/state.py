"""What a model keeps of its rows so that rows can be added and taken away."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._runtime.errors import ParameterError
from mercer.auto.final.generalized import column_signs
from mercer.auto.learned import Learned
from mercer.auto.search.learning import prepared
from mercer.auto.text.scored_encoder import ScoredEncoder
from mercer.auto.text.sparse_model import SparsePredictor
from mercer.auto.updates.classes import ClassState
from mercer.auto.updates.features import tree_folds
from mercer.auto.updates.keys import UpdateKeys, row_keys
from mercer.auto.updates.packed import packed_bytes
from mercer.auto.updates.squared import SquaredState

if TYPE_CHECKING:
    from mercer.auto.run import FitRun

#: Bytes of the statistics that a model keeps unless asked for more.
MAX_BYTES = 8 << 20


@dataclass
class UpdateState:
    """Statistics of the rows, their keys, and what happened since the fit.

    statistics : `SquaredState` or `ClassState`; None if `why` says why there are none
    keys : of all rows; None if they were not kept, or if rows cannot be encoded again as they were
    unit : what weights are divided by
    added, forgotten : numbers of rows
    """

    statistics: Any = None
    keys: UpdateKeys | None = None
    why: str = ""
    why_not_forget: str = ""
    unit: float = 1.0
    added: int = 0
    forgotten: int = 0
    seed: int = 0
    weighted: bool = False

    def section(self, n_rows: int) -> dict[str, Any] | None:
        """The section `updates` of the report; None if there were no updates."""
        if not (self.added or self.forgotten):
            return None
        parts = [f"{self.added:,} rows were added"] if self.added else []
        parts += [f"{self.forgotten:,} rows were taken away"] if self.forgotten else []
        sentence = (
            f"Since the fit {' and '.join(parts)}. Only the linear weights were updated: encodings, trees, bins, "
            "metrics, scores on the holdout and intervals are those of the fit; fit again to renew them."
        )
        return {
            "rows": n_rows + self.added - self.forgotten, "added": self.added, "forgotten": self.forgotten,
            "unseen_by_features": self.added, "sentence": sentence,
        }  # fmt: skip


def update_state(run: FitRun, learned: Learned, updatable: bool | None, keep_hashes: bool) -> UpdateState:
    """The state of a fitted model; statistics beyond 8 MB are kept only if `updatable` is True."""
    why = _why_none(run, learned, updatable)
    if why:
        return UpdateState(why=why, seed=run.seed)
    predictor = learned.predictor
    kind = SquaredState if predictor.classes is None else ClassState
    size = packed_bytes(predictor.features.width + 1, kind.n_matrices(predictor))
    if size > MAX_BYTES and updatable is None:
        return UpdateState(
            why=f"its statistics would take {size / 2**20:,.0f} MB. Fit it with updatable=True to keep them",
            seed=run.seed,
        )
    target, rows, labels = prepared(learned.rows, predictor.classes is not None, run.seed)
    if labels is not None:
        rows = replace(rows, Y=labels[:, None])
    folds = tree_folds(predictor.features, rows.X, predictor.result.scores)
    signs = column_signs(predictor.result, rows)
    statistics = kind.of(predictor, rows, folds, target, signs)
    keys, why_not = None, _why_not_forget(learned, keep_hashes)
    if not why_not:
        given = labels if labels is not None else np.asarray(learned.rows.y, dtype=np.float64)
        weight = learned.rows.weight
        keys = UpdateKeys.of(row_keys(rows.ids, given, None if weight is None else weight * learned.rows.unit), folds)
    weighted = learned.rows.weight is not None
    return UpdateState(statistics, keys, "", why_not, learned.rows.unit, seed=run.seed, weighted=weighted)


def check_updatable(updatable: Any) -> None:
    """Check the option `updatable` of a fit."""
    if updatable not in (None, True, False):
        raise ParameterError("updatable", updatable, "must be True, False, or None for statistics of up to 8 MB")


def _why_none(run: FitRun, learned: Learned, updatable: bool | None) -> str:
    """Why a model cannot be updated; empty if it can."""
    predictor = learned.predictor
    if updatable is False:
        return "it was fitted with updatable=False"
    if isinstance(predictor, SparsePredictor):
        return "models of sparse terms keep no statistics of their rows"
    if run.shape.explainable:
        return "the points of an explainable model are not refitted by rows"
    if predictor.response is not None:
        return f"the {predictor.response.loss} loss has no statistics that rows can be added to"
    if not run.splitting.plain:
        return "its folds are not those of the hashes of rows"
    if run.streamed or run.from_all:
        return "its weights come from more rows than were in memory"
    if predictor.result is None or (predictor.classes is not None and len(predictor.classes) < 2):
        return "it is constant"
    if sum(block.kind == "fourier" for block in predictor.features.blocks) > 1:
        return "it is the mean of several models"
    return ""


def _why_not_forget(learned: Learned, keep_hashes: bool) -> str:
    if not keep_hashes:
        return "it was fitted with keep_hashes=False"
    if isinstance(learned.encoder, ScoredEncoder):
        return "the scores of its text columns are out of fold, and cannot be computed again"
    supervised = [block.column for block in learned.encoder.blocks_ if block.role == "high-cardinality"]
    if supervised:
        return f"the encoding of {supervised[0]!r} is out of fold, and cannot be computed again"
    if learned.predictor.features.has("kernel score"):
        return "its scores of kernel ridge regression are out of fold, and cannot be computed again"
    return ""
