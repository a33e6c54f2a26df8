"""AdaBoost: a linear model over weak classifiers, by greedy minimization of the exponential risk."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._runtime.checks import check_whole
from mercer.base import is_too_large_to_collect
from mercer.linear.passes import IteratedEstimator
from mercer.select.base import LinearPredictor, Selector, row_weights, two_classes
from mercer.select.boosting.rounds import BoostedRows, MemoryRows, SourceRows
from mercer.select.boosting.stumps import SignColumns, Stumps
from mercer.select.greedy.forward import first_maximum
from mercer.select.greedy.risks import MAX_STEP
from mercer.source import Source
from mercer.source.progress import report_progress
from mercer.stats import LabelCounts

#: A weak classifier with a weighted error up to this is perfect and ends the boosting.
_PERFECT = 1e-10
#: A best edge up to this is none: every weak classifier guesses.
_MIN_EDGE = 1e-12


class AdaBoost(LinearPredictor, Selector, IteratedEstimator):
    """AdaBoost for two classes over decision stumps, or over columns of -1 and +1.

    Each round takes the weak classifier h with the smallest weighted error eps (or its negation) and adds it with
    weight eta = log((1 - eps) / eps) / 2; rows are weighted by exp(-y f). That is forward greedy selection by line
    searches on

        R(f) = log mean_i exp(-y_i f(x_i)),

    which each round changes by log(2 sqrt(eps (1 - eps))), and the training error rate is at most exp(R). The result is
    a linear model on explicit features, the selected stumps: `transform` computes them, for any model to use. Rows of
    a source are collected in memory; one of more than 10^8 entries is read once per round instead, with thresholds
    from a sample of its rows.

    Use it for two classes and thresholds of single columns that are to be read. Mislabeled rows gain ever more weight:
    prefer `GreedySelector` with the logistic loss there. A round costs one pass over the sorted columns. Freund and
    Schapire, A decision-theoretic generalization of on-line learning, 1997.

    Parameters
    ----------
    n_rounds : int, default=100
        Maximum number of rounds. Boosting ends early when the best weak classifier only guesses, or makes no error: it
        then gets the weight of an error of 1e-10.
    learner : {"stumps", "columns"}, default="stumps"
        Weak classifiers: thresholds on columns (at most 256 bins each) and a constant, or the columns themselves, which
        must hold -1 and +1.

    Attributes
    ----------
    classes_ : the two labels
    stumps_ : record array of the features that `transform` computes: column and threshold (learner="stumps")
    support_ : mask of the columns in use
    coef_, intercept_ : weights of the stumps, or one per column; the intercept is the weight of the constant
    feature_indices_ : the feature of each round: its index in `stumps_` or its column; -1 for the constant
    errors_, steps_ : eps and the signed eta of each round
    risks_ : R after each round
    bounds_ : upper bound of the training error rate after each round, the product of all 2 sqrt(eps (1 - eps))

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer.select import AdaBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoost(n_rounds=50).fit(X, y)
    >>> print(f"training error {1 - model.score(X, y):.3f}, bound {model.bounds_[-1]:.3f}")
    training error 0.000, bound 0.011
    >>> model.transform(X).shape
    (569, 44)

    References
    ----------
    Y. Freund and R. E. Schapire (1997). A decision-theoretic generalization of on-line learning and an application to
    boosting. Journal of Computer and System Sciences 55(1).
    """

    loss = "exponential"
    _former = {"picks_": "feature_indices_"}

    def __init__(self, n_rounds: int = 100, learner: str = "stumps"):
        self.n_rounds = n_rounds
        self.learner = learner

    def _check_parameters(self) -> None:
        check_whole("n_rounds", self.n_rounds)
        if self.learner not in ("stumps", "columns"):
            raise ValueError(f"learner must be 'stumps' or 'columns', not {self.learner!r}.")

    def _learn_from(self, source: Source) -> None:
        self._accumulator = None
        weak: Stumps | SourceRows
        if is_too_large_to_collect(source, self.n_features_in_):
            labels = source.fold(LabelCounts()).finish().levels
            self.classes_, _ = two_classes(labels, type(self).__name__)
            rows: BoostedRows = (weak := SourceRows(source, self.classes_[1], self.learner == "columns"))
        else:
            block = source.collect()
            self.classes_, y = two_classes(np.asarray(block.y), type(self).__name__)
            kind = Stumps if self.learner == "stumps" else SignColumns
            rows = MemoryRows(weak := kind(block.X), y, row_weights(block))  # type: ignore[assignment]
        indices = self._boost(rows)
        if self.learner == "stumps":
            self._set_stumps(weak, indices)
        else:
            self._set_columns(indices)

    def _boost(self, rows: BoostedRows) -> list[int]:
        """Run the rounds; return the index of the weak classifier of each, -1 for the constant."""
        indices, errors, steps, risks = [], [], [], []
        for done in range(self.n_rounds):
            edges, constant_edge = rows.edges()
            if self.learner == "stumps":
                edges = np.append(edges, constant_edge)
            best = first_maximum(np.abs(edges))
            if not abs(edges[best]) > _MIN_EDGE:
                break
            constant = self.learner == "stumps" and best == len(edges) - 1
            error = max((1.0 - abs(edges[best])) / 2.0, 0.0)
            size = MAX_STEP if error <= _PERFECT else 0.5 * np.log((1.0 - error) / error)
            step = float(np.copysign(size, edges[best]))
            rows.add(None if constant else best, step)
            indices.append(-1 if constant else best)
            errors.append(error)
            steps.append(step)
            risks.append(rows.risk())
            report_progress(done + 1, self.n_rounds)
            if error <= _PERFECT:
                break
        self.errors_, self.steps_, self.risks_ = np.array(errors), np.array(steps), np.array(risks)
        self.bounds_ = np.cumprod(2.0 * np.sqrt(self.errors_ * (1.0 - self.errors_)))
        return indices

    def _set_stumps(self, weak: Stumps | SourceRows, indices: list[int]) -> None:
        distinct = list(dict.fromkeys(index for index in indices if index >= 0))
        position = {index: i for i, index in enumerate(distinct)} | {-1: -1}
        self.feature_indices_ = np.array([position[index] for index in indices], dtype=np.int64)
        self.stumps_ = np.recarray(len(distinct), dtype=[("feature", np.int64), ("threshold", np.float64)])
        for i, index in enumerate(distinct):
            self.stumps_[i] = weak.describe(index)
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[self.stumps_.feature] = True
        weights = np.bincount(self.feature_indices_ + 1, weights=self.steps_, minlength=len(distinct) + 1)
        self._set_weights(weights[1:], weights[0])

    def _set_columns(self, indices: list[int]) -> None:
        self.feature_indices_ = np.array(indices, dtype=np.int64)
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[self.feature_indices_] = True
        coef = np.bincount(self.feature_indices_, weights=self.steps_, minlength=self.n_features_in_)
        self._set_weights(coef, 0.0)

    def _apply(self, X: Any) -> Any:
        """Return the selected stumps of each row, -1 and +1 (or the selected columns)."""
        if self.learner == "columns":
            return super()._apply(X)
        columns = X[:, self.stumps_.feature]
        columns = columns.toarray() if hasattr(columns, "tocsr") else columns
        return np.where(columns > self.stumps_.threshold.astype(X.dtype), 1.0, -1.0).astype(X.dtype)

    def _scores(self, X: Any) -> np.ndarray:
        if self.learner == "columns":
            return super()._scores(X)
        features = self.transform(X)
        return features @ self.coef_[0].astype(features.dtype) + np.ravel(self.intercept_)[0]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return names such as "x3 > 0.5", or those of the selected columns."""
        check_is_fitted(self)
        names = self._input_names(input_features)
        if self.learner == "columns":
            return np.asarray(names, dtype=object)[self.support_]
        return np.array([f"{names[j]} > {t:.6g}" for j, t in self.stumps_.tolist()], dtype=object)

    @available_if(lambda self: self.learner == "columns")
    def inverse_transform(self, X: Any) -> Any:
        """Return rows with the selected columns as given and zeros elsewhere; only for learner="columns"."""
        return super().inverse_transform(X)
