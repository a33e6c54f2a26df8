"""What selectors share: a mask of columns that `transform` keeps, and the linear predictor that may come with it.

A selector sets `support_`, a mask of its input columns. One that learns weights adds `LinearPredictor` and sets `coef_`
and `intercept_`; its `loss` says whether it is a regressor (squared) or a classifier of two classes (any other).
"""

from __future__ import annotations

import warnings
from functools import reduce

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, assert_all_finite, check_array, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from mercer._numeric.block import Block, concatenate
from mercer.base import StreamingTransformer
from mercer.linear.classes import at_least_two
from mercer.source import MemorySource, Source


class Selector(SelectorMixin, StreamingTransformer):
    """A map that keeps the columns of the mask `support_`, in their order; arrays, CSR, frames and sources alike."""

    _needs_y = True

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.support_

    def transform(self, X):
        """The selected columns of X: an array gives an array (or CSR matrix), a `Source` a `Source`."""
        return self._mapped(X, self._apply)

    def _apply(self, X):
        kept = np.flatnonzero(self._get_support_mask())
        if len(kept) == 0:
            warnings.warn(f"{type(self).__name__} selected no columns: the result is empty.", UserWarning, stacklevel=4)
        return X[:, kept]


def checked_target(y, classes: bool) -> np.ndarray:
    """One label or one float64 number per row, as scikit-learn would have them."""
    if not classes:
        y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y")
        return column_or_1d(y, warn=True).astype(np.float64, copy=False)
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return y


class LinearPredictor(BaseEstimator):
    """Scores X coef_ + intercept_: the prediction itself, or positive for the second of two classes.

    `coef_` has one weight per column of X (for a classifier it is a matrix of one row, as in scikit-learn, or of a row
    for each of more than two classes, where the largest score wins).
    """

    #: Whether it can tell more than two classes apart.
    _many_classes = False
    #: What to do with labels, said by a regressor that was given some.
    _for_labels = (
        "Give two classes as -1 and +1, or use GreedySelector(target='classes') or L1Constrained(loss='logistic')."
    )

    #: Parameters by whose value an estimator is a regressor; one without the parameter `loss` is.
    _regression_losses = ("squared",)

    @property
    def _classifies(self) -> bool:
        return getattr(self, "loss", "squared") not in self._regression_losses

    def _checked_y(self, y):
        y = super()._checked_y(y)
        if not self._classifies and holds_text(y):
            raise ValueError(f"{type(self).__name__} predicts numbers, but the target holds labels. {self._for_labels}")
        return checked_target(y, self._classifies)

    def _set_weights(self, coef: np.ndarray, intercept) -> None:
        self.coef_ = np.atleast_2d(coef) if self._classifies else coef
        self.intercept_ = np.atleast_1d(intercept) if self._classifies else float(intercept)

    def _scores(self, X) -> np.ndarray:
        """One score per row, or one for each of many classes; only columns with a weight are read."""
        check_is_fitted(self)
        X = self._checked_X(X, reset=False)
        used = np.flatnonzero(np.any(np.atleast_2d(self.coef_), axis=0))
        return self._weighed(X[:, used], np.atleast_2d(self.coef_)[:, used])

    def _weighed(self, Z, coef):
        if len(coef) > 1:
            return np.asarray(Z @ coef.T.astype(Z.dtype)) + self.intercept_
        return np.asarray(Z @ coef[0].astype(Z.dtype)) + np.ravel(self.intercept_)[0]

    @available_if(lambda self: self._classifies)
    def decision_function(self, X):
        """Score of each row, positive for the second class; of more than two classes a column for each."""
        return self._scores(X)

    def predict(self, X):
        """The predicted target of each row, or its class."""
        scores = self._scores(X)
        if not self._classifies:
            return scores
        winner = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[np.minimum(winner, len(self.classes_) - 1)]  # one class so far: it is all there is

    def score(self, X, y, sample_weight=None):
        """R^2 of the predictions, or the share of rows whose class was predicted."""
        judge = accuracy_score if self._classifies else r2_score
        return judge(y, self.predict(X), sample_weight=sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self._classifies:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(multi_class=self._many_classes)
        else:
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
        return tags


def holds_text(y: np.ndarray) -> bool:
    """Whether a target is one of text."""
    return y.dtype.kind in "US" or (y.dtype.kind == "O" and y.size > 0 and isinstance(y.flat[0], str))


def two_classes(y: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The two labels in sorted order, and y as -1 (the first) and +1."""
    classes, code = np.unique(y, return_inverse=True)
    at_least_two(classes, name)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(y)}: {name} found "
            f"{len(classes)} classes. Wrap it in sklearn.multiclass.OneVsRestClassifier."
        )
    return classes, np.where(code == 1, 1.0, -1.0)


def gathered(source: Source) -> Block:
    """All rows of a source in one block in memory, for learners that look at them many times."""
    if isinstance(source, MemorySource):
        return source.read(0, source.n_rows)
    return reduce(concatenate, (block for block in source.blocks() if len(block)))
