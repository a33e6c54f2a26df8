"""The base of linear classifiers: labels of any sortable type, scores and predicted classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer._runtime.blas import SingleThreadedVerbs
from mercer._runtime.labels import class_labels
from mercer.source import MemorySource, Source
from mercer.stats import LabelCounts


class LinearClassifier(SingleThreadedVerbs, ClassifierMixin):
    """Scores X coef_' + intercept_: one column for two classes (positive for the second), else one per class."""

    def _checked_y(self, y: Any) -> np.ndarray:
        return class_labels(super()._checked_y(y))

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = self._checked_X(X, reset=False)
        return X @ self.coef_.T.astype(X.dtype) + self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of each class; for two classes one column, positive for the second."""
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class with the largest score, row by row."""
        scores = self.decision_function(X)
        index = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[index]


def at_least_two(classes: np.ndarray, name: str) -> None:
    """Raise ValueError for a target of a single class."""
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs samples of at least 2 classes, but the data contains only one class: "
            f"{classes.tolist()[0]!r}."
        )


def classes_of(source: Source) -> np.ndarray:
    """Return the labels of a source in sorted order."""
    if isinstance(source, MemorySource):
        return np.unique(source.y)
    return source.fold(LabelCounts()).finish().levels


def coded(source: Source, classes: np.ndarray) -> Source:
    """Return the same rows with class codes 0, 1, ... as targets."""
    if isinstance(source, MemorySource):
        return MemorySource(source.X, np.searchsorted(classes, source.y), source.weight)
    return source.map(lambda block: replace(block, y=np.searchsorted(classes, np.asarray(block.y))))
