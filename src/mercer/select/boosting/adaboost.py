"""AdaBoost: a linear model over weak classifiers, grown greedily on the exponential risk."""

from __future__ import annotations

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._runtime.checks import check_whole
from mercer.linear.passes import IteratedEstimator
from mercer.select.base import LinearPredictor, Selector, gathered, two_classes
from mercer.select.boosting.stumps import Stumps
from mercer.select.greedy.forward import first_best
from mercer.select.greedy.risks import LONGEST_STEP, ExponentialRisk
from mercer.source.progress import report_progress

#: Errors below this end the boosting: the weak classifier alone is (all but) perfect.
_PERFECT = 1e-10
#: An edge below this is none: the best weak classifier guesses.
_GUESS = 1e-12


class AdaBoost(LinearPredictor, Selector, IteratedEstimator):
    """AdaBoost of two classes over decision stumps, or over columns of -1 and +1.

    Each round takes the weak classifier h with the least weighted error eps (or its negation) and adds it with weight
    eta = log((1 - eps) / eps) / 2; rows are weighted by exp(-y f). That is forward greedy selection by line searches on

        R(f) = log mean_i exp(-y_i f(x_i)),

    which each round changes by log(2 sqrt(eps (1 - eps))), and the share of training errors is at most exp(R). The
    result is a linear model on explicit features, the chosen stumps: `transform` makes them, for any model to use.
    Rows of a source are brought into memory.

    Parameters
    ----------
    n_rounds : int, default=100
        The most rounds. It ends early when the best weak classifier only guesses, or errs nowhere: that one is given
        the weight of an error of 1e-10, and nothing is left to do.
    learner : {"stumps", "columns"}, default="stumps"
        Weak classifiers: thresholds on columns (at most 256 bins each) and a constant, or the columns themselves, which
        must hold -1 and +1.

    Attributes
    ----------
    classes_ : the two labels
    stumps_ : record array of the features that `transform` makes: column and threshold (learner="stumps")
    support_ : mask of the columns in use
    coef_, intercept_ : weights of the stumps, or one per column; the intercept is the weight of the constant
    picks_ : the feature of each round: its place in `stumps_` or its column; -1 for the constant
    errors_, steps_ : eps and the signed eta of each round
    risks_ : R after each round
    bounds_ : the bound on the share of training errors after each round, the product of all 2 sqrt(eps (1 - eps))

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer.select import AdaBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoost(n_rounds=50).fit(X, y)
    >>> bool(1 - model.score(X, y) <= model.bounds_[-1] <= 0.1), model.transform(X).shape[1] <= 50
    (True, True)

    References
    ----------
    Y. Freund and R. E. Schapire (1997). A decision-theoretic generalization of on-line learning and an application to
    boosting. Journal of Computer and System Sciences 55(1).
    """

    loss = "exponential"

    def __init__(self, n_rounds=100, learner="stumps"):
        self.n_rounds = n_rounds
        self.learner = learner

    def _check_parameters(self):
        check_whole("n_rounds", self.n_rounds)
        if self.learner not in ("stumps", "columns"):
            raise ValueError(f"learner must be 'stumps' or 'columns', not {self.learner!r}.")

    def _learn_from(self, source):
        self._accumulator = None
        rows = gathered(source)
        self.classes_, y = two_classes(rows.y, type(self).__name__)
        w = np.ones(len(y)) if rows.weight is None else rows.weight
        weak = Stumps(rows.X) if self.learner == "stumps" else _Signs(rows.X)
        numbers = self._boost(weak, y, w)
        if self.learner == "stumps":
            self._set_stumps(weak, numbers)
        else:
            self._set_columns(numbers)

    def _boost(self, weak, y, w) -> list[int]:
        """The rounds; the number of the weak classifier of each, -1 for the constant."""
        risk, f = ExponentialRisk(), np.zeros(len(y))
        numbers, errors, steps, risks = [], [], [], []
        for done in range(self.n_rounds):
            v = y * risk.shares(y, f, w)
            edges = weak.edges(v)
            if self.learner == "stumps":
                edges = np.append(edges, v.sum())  # the constant
            best = first_best(np.abs(edges))
            if not abs(edges[best]) > _GUESS:
                break
            constant = self.learner == "stumps" and best == len(edges) - 1
            error = max((1.0 - abs(edges[best])) / 2.0, 0.0)
            size = LONGEST_STEP if error <= _PERFECT else 0.5 * np.log((1.0 - error) / error)
            step = float(np.copysign(size, edges[best]))
            f = f + step * (1.0 if constant else weak.values(best))
            numbers.append(-1 if constant else best)
            errors.append(error)
            steps.append(step)
            risks.append(risk.value(y, f, w))
            report_progress(done + 1, self.n_rounds)
            if error <= _PERFECT:
                break
        self.errors_, self.steps_, self.risks_ = np.array(errors), np.array(steps), np.array(risks)
        self.bounds_ = np.cumprod(2.0 * np.sqrt(self.errors_ * (1.0 - self.errors_)))
        return numbers

    def _set_stumps(self, weak, numbers):
        distinct = list(dict.fromkeys(number for number in numbers if number >= 0))
        place = {number: i for i, number in enumerate(distinct)} | {-1: -1}
        self.picks_ = np.array([place[number] for number in numbers], dtype=np.int64)
        self.stumps_ = np.recarray(len(distinct), dtype=[("feature", np.int64), ("threshold", np.float64)])
        for i, number in enumerate(distinct):
            self.stumps_[i] = weak.where(number)
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[self.stumps_.feature] = True
        weights = np.bincount(self.picks_ + 1, weights=self.steps_, minlength=len(distinct) + 1)
        self._set_weights(weights[1:], weights[0])

    def _set_columns(self, numbers):
        self.picks_ = np.array(numbers, dtype=np.int64)
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[self.picks_] = True
        self._set_weights(np.bincount(self.picks_, weights=self.steps_, minlength=self.n_features_in_), 0.0)

    def _apply(self, X):
        """The chosen stumps of each row, -1 and +1 (or the chosen columns)."""
        if self.learner == "columns":
            return super()._apply(X)
        columns = X[:, self.stumps_.feature]
        columns = columns.toarray() if hasattr(columns, "tocsr") else columns
        return np.where(columns > self.stumps_.threshold.astype(X.dtype), 1.0, -1.0).astype(X.dtype)

    def _scores(self, X):
        if self.learner == "columns":
            return super()._scores(X)
        features = self.transform(X)
        return features @ self.coef_[0].astype(features.dtype) + self.intercept_[0]

    def get_feature_names_out(self, input_features=None):
        """Names such as "x3 > 0.5", or those of the chosen columns."""
        check_is_fitted(self)
        names = self._input_names(input_features)
        if self.learner == "columns":
            return np.asarray(names, dtype=object)[self.support_]
        return np.array([f"{names[j]} > {t:.6g}" for j, t in self.stumps_.tolist()], dtype=object)

    @available_if(lambda self: self.learner == "columns")
    def inverse_transform(self, X):
        """Rows with the chosen columns as given and zeros elsewhere; stumps have no way back, so not for them."""
        return super().inverse_transform(X)


class _Signs:
    """Columns of -1 and +1 as weak classifiers."""

    def __init__(self, X):
        X = X.toarray() if hasattr(X, "tocsr") else X
        other = np.argwhere(np.abs(X) != 1)
        if len(other):
            row, column = other[0]
            raise ValueError(
                f"learner='columns' needs columns of -1 and +1; row {row} of column {column} holds {X[row, column]}. "
                "Use learner='stumps' for numbers."
            )
        self.X = X

    def edges(self, v):
        return np.asarray(self.X.T @ v.astype(self.X.dtype), dtype=np.float64)

    def values(self, number):
        return self.X[:, number].astype(np.float64)
