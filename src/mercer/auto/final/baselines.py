"""Baselines on the holdout: the linear model of the encoded columns, or a constant prediction."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer.auto.budget.clock import Clock
from mercer.auto.budget.time_model import LogisticTime
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.final.generalized import linear_generalized
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import EncodedRows, dense
from mercer.auto.search.state import SearchResult
from mercer.auto.text.scored_encoder import ScoredEncoder
from mercer.auto.text.sparse_model import SparsePredictor
from mercer.linear.ridge.row_space import BlockKernel, RowSpaceFoldLoss, row_basis

#: Iterations of the linear model of classes, at most.
_MAX_ITER = 300
#: Rows in which distinct rows are counted, and how many of these are few.
_FIRST_ROWS, _FEW = 1000, 20


def _scoring(X: np.ndarray) -> dict[str, Any]:
    """How the penalty of the linear model is chosen: by folds, unless few distinct rows may all be in one of them."""
    if len(np.unique(X[:_FIRST_ROWS], axis=0)) > _FEW:
        return {"scoring": "folds"}
    return {"scoring": "gcv"} if len(X) > 2 * X.shape[1] else {"alpha": 1.0}


@dataclass
class EncodedPredictor:
    """An encoder and a predictor of raw rows; with `width` only the first encoded columns are used."""

    encoder: Any
    predictor: Predictor
    width: int | None = None

    def encode(self, X: Any) -> Any:
        """Raw rows as the predictor takes them."""
        X = self.encoder.transform(X)
        return X if isinstance(self.predictor, SparsePredictor) else dense(X)[:, : self.width]

    def predict(self, X: Any) -> np.ndarray:
        """Predictions of raw rows."""
        return self.predictor.predict(self.encode(X))

    def scores(self, X: Any) -> np.ndarray:
        """Scores of raw rows, one column per output."""
        return self.predictor.scores(self.encode(X))

    def predictions_of(self, scores: np.ndarray) -> np.ndarray:
        """The predictions that follow from scores."""
        return self.predictor.predictions_of(scores)

    def probabilities_of(self, scores: np.ndarray) -> np.ndarray:
        """The probabilities of the classes that follow from scores."""
        return self.predictor.probabilities_of(scores)

    def quantiles_of(self, scores: np.ndarray) -> np.ndarray:
        """The quantiles that follow from scores."""
        return self.predictor.response.sorted_scores(scores)


class SharedEncoder:
    """An encoder that two models share: each thread encodes the rows it was last given once for both."""

    def __init__(self, encoder: Any):
        self.encoder, self._last = encoder, threading.local()

    def transform(self, X: Any) -> Any:
        """Encoded rows."""
        if getattr(self._last, "rows", None) is not X:
            self._last.encoded, self._last.rows = self.encoder.transform(X), X
        return self._last.encoded


@dataclass(frozen=True)
class ConstantPredictor:
    """The same prediction for every row; for classes the frequencies of the training rows as probabilities."""

    value: Any
    frequencies: np.ndarray | None = None
    #: What the value of a regression is.
    name: str = "mean"
    #: One for each quantile that is asked for.
    quantiles: np.ndarray | None = None

    def predict(self, X: Any) -> np.ndarray:
        """The value, as many times as there are rows."""
        return self.predictions_of(self.scores(X))

    def scores(self, X: Any) -> np.ndarray:
        """A row of no scores for each row."""
        return np.zeros((len(X), 0))

    def predictions_of(self, scores: np.ndarray) -> np.ndarray:
        """The value, as many times as there are rows."""
        return np.full((len(scores), *np.shape(self.value)), self.value)

    def probabilities_of(self, scores: np.ndarray) -> np.ndarray:
        """The frequencies, as many times as there are rows."""
        if self.frequencies is None:
            raise ValueError("A mean has no probabilities of classes.")
        return np.tile(self.frequencies, (len(scores), 1))

    def quantiles_of(self, scores: np.ndarray) -> np.ndarray:
        """The quantiles, as many times as there are rows."""
        return np.tile(np.asarray(self.quantiles), (len(scores), 1))

    def decided(self, rule: Any, classes: Any) -> ConstantPredictor:
        """The class that a decision rule takes for the frequencies."""
        chosen = rule.choose(np.asarray(self.frequencies)[None])
        return replace(self, value=classes[int(chosen[0])])

    @classmethod
    def of(cls, rows: EncodedRows, classify: bool) -> ConstantPredictor:
        """The most frequent class, or the mean; of another loss its best constant."""
        y = np.asarray(rows.y)
        if rows.response is not None and rows.response.levels:
            quantiles = np.array([loss.constant(y, rows.weight) for loss in rows.response.losses(y, rows.weight)])
            level, value = rows.response.levels[rows.response.predicted], quantiles[rows.response.predicted]
            return cls(value, None, "median" if level == 0.5 else f"quantile {level:g}", quantiles)
        if not classify:
            return cls(np.average(y, axis=0, weights=rows.weight))
        classes, codes = np.unique(y, return_inverse=True)
        counts = np.bincount(codes, rows.weight)
        return cls(classes[int(np.argmax(counts))], counts / counts.sum())


def baseline(
    encoder: Any,
    rows: EncodedRows,
    classify: bool,
    seed: int,
    clock: Clock | None = None,
    found: Any = None,
) -> tuple[str, Any]:
    """The name of the baseline, and its predictor of raw rows; `found` is what was learned from these rows."""
    alone = "the most frequent class" if classify else "the mean of the target"
    texts = isinstance(encoder, ScoredEncoder)
    width = len(encoder.kept) if texts else rows.X.shape[1]
    y = np.asarray(rows.y)
    constant = len(np.unique(y)) < 2 if y.ndim == 1 else bool(np.all(y == y[0]))
    if sparse.issparse(rows.X) or width == 0 or constant:
        if rows.response is not None and rows.response.levels:
            alone = f"the {ConstantPredictor.of(rows, classify).name} of the target"
        return alone, ConstantPredictor.of(rows, classify)
    name = "linear model of the columns that are not text" if texts else "linear model of the columns"
    penalty = found.linear_penalty if isinstance(found, SearchResult) and not texts else None
    made = linear(replace(rows, X=rows.X[:, :width]), classify, seed, clock, penalty)
    return name, EncodedPredictor(encoder, made, width)


def linear(
    rows: EncodedRows, classify: bool, seed: int, clock: Clock | None = None, penalty: float | None = None
) -> Predictor:
    """The linear model of the encoded columns; with fewer iterations if time is short.

    penalty : that of the smallest K-fold loss, if a search has found it
    """
    from mercer.linear import LogisticClassifier, RidgeRegressor

    if rows.response is not None:
        return linear_generalized(rows, seed)
    features = Features([LinearBlock(rows.X.shape[1])])
    if penalty is not None and not classify and len(rows.X) < rows.X.shape[1]:
        return _few_rows(rows, features, penalty)
    X = rows.X.astype(np.float32).astype(np.float64)
    basis = row_basis(X)
    X = X if basis is None else X @ basis
    if classify:
        classes = len(np.unique(np.asarray(rows.y)))
        outputs, clock = 1 if classes == 2 else classes, clock or Clock()
        steps = _MAX_ITER
        if clock.budget is not None:
            model = LogisticTime.of(lambda span: X[span], len(X), outputs, clock)
            steps = model.steps(len(X), clock.left(), _MAX_ITER)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The number of unique classes")  # `max_classes` has confirmed it
            if steps < _MAX_ITER:
                warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = LogisticClassifier(random_state=seed, tol=1e-5, max_iter=steps).fit(X, rows.y, rows.weight)
        coef = fitted.coef_.T if basis is None else basis @ fitted.coef_.T
        return Predictor(features, coef, fitted.intercept_, fitted.classes_, np.ones(1))
    ridge = RidgeRegressor(**_scoring(X), random_state=seed).fit(X, rows.y, rows.weight)
    coef = np.atleast_2d(ridge.coef_).T
    coef = coef if basis is None else basis @ coef
    return Predictor(features, coef, np.atleast_1d(ridge.intercept_), None, np.ones(1))


def _few_rows(rows: EncodedRows, features: Features, penalty: float) -> Predictor:
    """The ridge regression of fewer rows than columns with a known penalty: one system of the size of the rows."""
    X, y = rows.X.astype(np.float32), np.asarray(rows.y, dtype=np.float64)
    kernel = BlockKernel.of(X, rows.weight)
    one_fold = np.zeros(len(X), dtype=np.int64)
    Y = y.reshape(len(X), -1)
    equations = RowSpaceFoldLoss([kernel], features.block_of_column, one_fold, Y, lambda *_: X, rows.weight)
    penalties = np.maximum([penalty], equations.floor())
    return Predictor(features, *equations.weights(penalties), None, penalties)
