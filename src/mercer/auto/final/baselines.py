"""What a model is compared with on the holdout: the linear model of the plain columns, or one answer for all rows."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer.auto.budget.effort import Clock
from mercer.auto.budget.time_model import LogisticPace
from mercer.auto.features.blocks import Dictionary, Plain
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import Encoded, dense
from mercer.auto.text.scored_encoder import ScoredEncoder
from mercer.auto.text.sparse_model import WidePredictor
from mercer.linear.ridge.row_space import row_basis

#: The most steps of the linear model of classes.
_STEPS = 300
_GLANCE, _FEW = 1000, 20


def _scoring(X: np.ndarray) -> dict[str, Any]:
    """How the penalty of the linear model is chosen: by folds, unless few different rows may well be in one of them."""
    if len(np.unique(X[:_GLANCE], axis=0)) > _FEW:
        return {"scoring": "folds"}
    return {"scoring": "gcv"} if len(X) > 2 * X.shape[1] else {"alpha": 1.0}


@dataclass
class Encoding:
    """An encoder and a predictor as one thing that predicts raw rows; `width` takes the first encoded columns only."""

    encoder: Any
    predictor: Predictor
    width: int | None = None

    def predict(self, X):
        X = self.encoder.transform(X)
        return self.predictor.predict(X if isinstance(self.predictor, WidePredictor) else dense(X)[:, : self.width])


class Once:
    """An encoder that two models share: each thread encodes the rows it was last given once for both."""

    def __init__(self, encoder):
        self.encoder, self._last = encoder, threading.local()

    def transform(self, X):
        if getattr(self._last, "rows", None) is not X:
            self._last.encoded, self._last.rows = self.encoder.transform(X), X
        return self._last.encoded


@dataclass(frozen=True)
class Same:
    """The same answer for every row."""

    answer: Any

    def predict(self, X):
        return np.full((len(X), *np.shape(self.answer)), self.answer)

    @classmethod
    def of(cls, rows: Encoded, classify: bool) -> Same:
        """The most frequent class, or the mean."""
        y = np.asarray(rows.y)
        if not classify:
            return cls(np.average(y, axis=0, weights=rows.weight))
        classes, codes = np.unique(y, return_inverse=True)
        return cls(classes[int(np.argmax(np.bincount(codes, rows.weight)))])


def baseline(encoder, rows: Encoded, classify: bool, seed: int, clock: Clock | None = None) -> tuple[str, Any]:
    """What the model is compared with, in words, and the thing that predicts raw rows."""
    alone = "the most frequent class" if classify else "the mean of the target"
    texts = isinstance(encoder, ScoredEncoder)
    width = len(encoder.kept) if texts else rows.X.shape[1]
    y = np.asarray(rows.y)
    steady = len(np.unique(y)) < 2 if y.ndim == 1 else bool(np.all(y == y[0]))
    if sparse.issparse(rows.X) or width == 0 or steady:
        return alone, Same.of(rows, classify)
    name = "linear model of the columns that are not text" if texts else "linear model of the plain columns"
    return name, Encoding(encoder, linear(replace(rows, X=rows.X[:, :width]), classify, seed, clock), width)


def linear(rows: Encoded, classify: bool, seed: int, clock: Clock | None = None) -> Predictor:
    """The linear model of the encoded columns: what everything else is compared with; fewer digits if time is short."""
    from mercer.linear import LogisticClassifier, RidgeRegressor

    dictionary = Dictionary([Plain(rows.X.shape[1])])
    X = rows.X.astype(np.float32).astype(np.float64)
    basis = row_basis(X)
    X = X if basis is None else X @ basis
    if classify:
        classes = len(np.unique(np.asarray(rows.y)))
        outputs, clock = 1 if classes == 2 else classes, clock or Clock()
        steps = _STEPS
        if clock.budget is not None:
            pace = LogisticPace.of(lambda span: X[span], len(X), outputs, clock)
            steps = pace.steps(len(X), clock.left(), _STEPS)
        with warnings.catch_warnings():
            if steps < _STEPS:
                warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = LogisticClassifier(random_state=seed, tol=1e-5, max_iter=steps).fit(X, rows.y, rows.weight)
        coef = fitted.coef_.T if basis is None else basis @ fitted.coef_.T
        return Predictor(dictionary, coef, fitted.intercept_, fitted.classes_, np.ones(1))
    ridge = RidgeRegressor(**_scoring(X), random_state=seed).fit(X, rows.y, rows.weight)
    coef = np.atleast_2d(ridge.coef_).T
    coef = coef if basis is None else basis @ coef
    return Predictor(dictionary, coef, np.atleast_1d(ridge.intercept_), None, np.ones(1))
