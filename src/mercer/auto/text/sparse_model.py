"""Models of tables with sparse text columns: their encoder, and the linear model of texts alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from mercer._numeric.block import stack_rows
from mercer.auto.budget.clock import Clock
from mercer.auto.conformal.calibration import IntervalCalibration, SetCalibration
from mercer.auto.decisions.rule import OutOfFold
from mercer.auto.explain.explanation import Explanations
from mercer.auto.explain.rows import explain_terms
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.final.predictor import Predictor
from mercer.auto.model import Model
from mercer.auto.rows.encoding import (
    EncodedRows,
    encoded,
    encoded_rows,
    numbers_of,
    one_row,
    opened,
    refuse_wide,
    split_of,
    weights_of,
)
from mercer.auto.rows.training import folds_of_rows
from mercer.auto.text.scored_encoder import ScoredEncoder, all_sparse, has_sparse_text
from mercer.auto.text.sparse_linear import SparseLinear, fit_sparse, refit_sparse
from mercer.linear.losses import LogLoss
from mercer.source import Source
from mercer.tables import TableEncoder


class SparseFeatures(Features):
    """The encoded columns as they are, kept sparse."""

    def features(self, X: Any, scores: np.ndarray | None = None) -> Any:
        return sparse.csr_matrix(X, dtype=np.float64)


class SparsePredictor(Predictor):
    """A linear model on sparse columns."""

    def scores(self, X: Any) -> np.ndarray:
        return np.asarray(self.features.features(X) @ self.coef) + self.intercept

    def calibrated_scores(self, X: Any) -> list[np.ndarray]:
        return [self.scores(X)]


class SparseModel(Model):
    """A linear model on the terms of texts, sparse throughout; `transform` gives CSR."""

    def __init__(
        self, task: str, encoder: TableEncoder, predictor: Predictor, X: Any, report: dict[str, Any], seed: int = 0
    ):
        self.task, self.encoder, self.predictor, self.seed = task, encoder, predictor, seed
        self.classes_ = predictor.classes
        self.baseline = np.asarray(X.mean(axis=0)).ravel()
        self._report = report
        self._importance = self._fractions(X)

    def _fractions(self, X: Any) -> dict[str, float]:
        """The variance of the contribution of each column to the scores, as a fraction of all columns'."""
        columns = self.groups
        parts = {name: X[:, c] @ self.predictor.coef[c] for name, c in columns.items()}
        variance = {name: float(np.sum(np.var(np.asarray(part), axis=0))) for name, part in parts.items()}
        total = sum(variance.values())
        ranked = sorted(variance.items(), key=lambda each: -each[1])
        return {name: value / total if total > 0 else 0.0 for name, value in ranked}

    def explain_all(self, rows: Any, output: Any = None) -> Explanations:
        """Contributions of the heaviest terms of each row to its score: weight times value, from the intercept on.

        Terms beyond the first 20 are summed as "other terms". `Explanations.contributions` are sums by column.
        """
        return explain_terms(self, sparse.csr_matrix(self.map_encoded(rows, lambda X: X)), output)

    def _encoded(self, data: Any) -> Any:
        return sparse.csr_matrix(encoded(self.encoder, data, self._ignored))

    def map_encoded(self, data: Any, function: Callable) -> Any:
        data = one_row(data)
        source = opened(data, self.encoder.schema_, self._ignored)
        if source is None:
            return function(self._encoded(data))
        parts = [function(block.X) for block in self.encoder.transform(source).blocks() if len(block)]
        if not parts:
            raise ValueError("The source has no rows.")
        return stack_rows(parts)


def encode_training_rows(
    source: Source,
    roles: dict[str, str] | None,
    classify: bool,
    seed: int,
    max_terms: int = 10**9,
    clock: Clock | None = None,
    like: Any = None,
) -> tuple[Any, EncodedRows]:
    """An encoder fitted to the rows, and the rows encoded: sparse for texts alone, else dense with their scores.

    Texts of more than `max_terms` terms become scores even where they are alone. `like` is an encoder of some of the
    rows, whose penalties are used.
    """
    encoder = TableEncoder(roles=roles, random_state=seed)
    mapped = encoder.fit_transform(source)
    if not has_sparse_text(encoder):
        return encoder, encoded_rows(encoder, mapped, learn=None)
    rows = mapped.collect()
    X, y, ids = rows.X, rows.y, rows.ids
    weight, unit = weights_of(rows.weight)
    split = split_of(mapped, rows)
    if y is None or (all_sparse(encoder) and X.shape[1] <= max_terms):
        return encoder, EncodedRows(X, y, ids, (), weight, unit, *split)
    classes = np.unique(y) if classify else None
    folds = folds_of_rows(ids, seed, split[0])
    scored, dense = ScoredEncoder.fitted(encoder, X, y, folds, classes, seed, weight, clock, like)
    refuse_wide(scored, len(dense))
    categories = tuple(slice(b.start, b.stop) for b in scored.blocks_ if b.kind == "onehot" and b.stop - b.start > 2)
    return scored, EncodedRows(dense, y, ids, categories, weight, unit, *split, numbers=numbers_of(scored))


def learn_terms(
    rows: EncodedRows, classify: bool, seed: int, like: Predictor | None = None, clock: Clock | None = None
) -> SparsePredictor:
    """The linear model of sparse rows; with the penalty and temperature of another model, `like`, if there is one."""
    classes = np.unique(np.asarray(rows.y)) if classify else None
    known = None
    if like is None:
        folds = folds_of_rows(rows.ids, seed, rows.plan)
        model, scores = fit_sparse(rows.X, rows.y, folds, classes, seed, None, rows.weight, clock)
        calibration = _calibration(scores / model.temperature, rows, classes, folds.tested)
        known = _out_of_fold(scores / model.temperature, rows, classes, folds.tested)
    else:
        before = SparseLinear(like.coef, like.intercept, classes, like.alpha, like.temperature, like.candidates)
        model, calibration = refit_sparse(rows.X, rows.y, classes, seed, before, rows.weight, clock), like.calibration
    return SparsePredictor(
        SparseFeatures([LinearBlock(rows.X.shape[1])]),
        model.coef,
        model.intercept,
        model.classes,
        np.array([model.alpha]),
        model.alpha,
        model.temperature,
        model.candidates,
        calibration,
        out_of_fold=known,
    )


def _calibration(scores: np.ndarray, rows: EncodedRows, classes: np.ndarray | None, tested: np.ndarray) -> Any:
    """Split conformal calibration by out-of-fold scores of rows that were tested."""
    y, scores = np.asarray(rows.y)[tested], scores[tested]
    weight, groups = (None if each is None else each[tested] for each in (rows.weight, rows.groups))
    if classes is None:
        return IntervalCalibration.split(y.reshape(len(y), -1) - scores, weight, groups)
    if len(classes) < 2:
        return None
    return SetCalibration.of(LogLoss().class_probabilities(scores), np.searchsorted(classes, y), weight, groups)


def _out_of_fold(
    scores: np.ndarray, rows: EncodedRows, classes: np.ndarray | None, tested: np.ndarray
) -> OutOfFold | None:
    if classes is None or len(classes) < 2:
        return None
    codes = np.searchsorted(classes, np.asarray(rows.y)[tested])
    weight = None if rows.weight is None else rows.weight[tested]
    return OutOfFold(LogLoss().class_probabilities(scores[tested]), codes, weight)


def model_of(task: str, encoder: Any, predictor: Predictor, X: Any, report: dict[str, Any], seed: int) -> Model:
    """The model of dense or of sparse rows."""
    kind = SparseModel if sparse.issparse(X) else Model
    return kind(task, encoder, predictor, X, report, seed)
