"""Base classes of selectors: a mask of the selected columns, and optionally a linear predictor on them.

A selector sets `support_`, a mask of its input columns. One that learns weights inherits from `LinearPredictor` as well
and sets `coef_` and `intercept_`; its `loss` decides whether it is a regressor (squared) or a classifier.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, Tags, check_array, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from mercer._numeric.block import Block
from mercer._runtime.blas import SingleThreadedVerbs, on_one_blas_thread
from mercer._runtime.labels import class_labels
from mercer.base import StreamingTransformer
from mercer.linear.classes import at_least_two


class Selector(SelectorMixin, StreamingTransformer):
    """A transformer that keeps the columns of the mask `support_`, in order: arrays, CSR, frames and sources."""

    _needs_y = True
    #: Whether `transform` warns about an empty selection; False where the data decide how many columns to keep.
    _warns_if_empty = True

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X: an array gives an array (or CSR matrix), a `Source` a `Source`."""
        return self._mapped(X, self._apply)

    def _apply(self, X: Any) -> Any:
        kept = np.flatnonzero(self._get_support_mask())
        if len(kept) == 0 and self._warns_if_empty:
            warnings.warn(f"{type(self).__name__} selected no columns: the result is empty.", UserWarning, stacklevel=4)
        return X[:, kept]


def checked_target(y: Any, classification: bool) -> np.ndarray:
    """Validate y as scikit-learn does: one label or one float64 number per row."""
    if not classification:
        y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y")
        return column_or_1d(y, warn=True).astype(np.float64, copy=False)
    return class_labels(y)


class LinearPredictor(SingleThreadedVerbs, BaseEstimator):
    """The linear predictor X coef_ + intercept_: a regression estimate, or a score that is positive for the 2nd class.

    `coef_` has one weight per column of X. For a classifier it is a matrix with one row, as in scikit-learn, or one row
    per class if there are more than two; the largest score then wins.
    """

    #: Whether more than two classes are supported.
    _many_classes = False
    #: Remedy in the error of a regressor that is given labels.
    _remedy_for_labels = (
        "Give two classes as -1 and +1, or use GreedySelector(target='classes') or L1Constrained(loss='logistic')."
    )
    #: Losses of regressors; an estimator without the parameter `loss` is a regressor.
    _regression_losses = ("squared",)

    @property
    def _classifies(self) -> bool:
        return getattr(self, "loss", "squared") not in self._regression_losses

    def _checked_y(self, y: Any) -> np.ndarray:
        y = super()._checked_y(y)
        if not self._classifies and holds_text(y):
            raise ValueError(
                f"{type(self).__name__} predicts numbers, but the target holds labels. {self._remedy_for_labels}"
            )
        return checked_target(y, self._classifies)

    def _set_weights(self, coef: np.ndarray, intercept: Any) -> None:
        self.coef_ = np.atleast_2d(coef) if self._classifies else coef
        self.intercept_ = np.atleast_1d(intercept) if self._classifies else float(intercept)

    def _scores(self, X: Any) -> np.ndarray:
        """Compute one score per row, or one per class and row; only columns with a nonzero weight are read."""
        check_is_fitted(self)
        X = self._checked_X(X, reset=False)
        used = np.flatnonzero(np.any(np.atleast_2d(self.coef_), axis=0))
        return self._linear_scores(X[:, used], np.atleast_2d(self.coef_)[:, used])

    def _linear_scores(self, Z: Any, coef: np.ndarray) -> np.ndarray:
        if len(coef) > 1:
            return np.asarray(Z @ coef.T.astype(Z.dtype)) + self.intercept_
        return np.asarray(Z @ coef[0].astype(Z.dtype)) + np.ravel(self.intercept_)[0]

    @available_if(lambda self: self._classifies)
    @on_one_blas_thread
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of each row, positive for the second class; for more classes, one column per class."""
        return self._scores(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted target or class of each row."""
        scores = self._scores(X)
        if not self._classifies:
            return scores
        winner = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[np.minimum(winner, len(self.classes_) - 1)]  # a single class wins every row

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2 of the predictions, or the accuracy of a classifier."""
        metric = accuracy_score if self._classifies else r2_score
        return metric(y, self.predict(X), sample_weight=sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self._classifies:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(multi_class=self._many_classes)
        else:
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
        return tags


def holds_text(y: np.ndarray) -> bool:
    """Whether a target holds strings."""
    return y.dtype.kind in "US" or (y.dtype.kind == "O" and y.size > 0 and isinstance(y.flat[0], str))


def two_classes(y: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the two labels in sorted order, and y as -1 (the first) and +1."""
    classes, code = np.unique(y, return_inverse=True)
    at_least_two(classes, name)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(y)}: {name} found "
            f"{len(classes)} classes. Wrap it in sklearn.multiclass.OneVsRestClassifier."
        )
    return classes, np.where(code == 1, 1.0, -1.0)


def row_weights(block: Block) -> np.ndarray:
    """Return the weights of the rows of a block; ones if it has none."""
    return np.ones(len(block)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)


def dense(X: Any) -> np.ndarray:
    """Return an array or sparse matrix as a float64 array."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
