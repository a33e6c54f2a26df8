"""Ridge regression and classification: one pass, then every penalty is free."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer.base import StreamingEstimator, seed_of
from mercer.linear import path
from mercer.linear.factor import Spectral, Tridiagonal
from mercer.stats import Gram, LabelGram
from mercer.stats.gram import GramPerFold


class _Ridge(StreamingEstimator):
    """Penalties, their scores and the chosen one, from the Gram statistics per fold."""

    _needs_y = True

    def __init__(self, alphas="path", scoring="folds", n_folds=5, random_state=0):
        self.alphas = alphas
        self.scoring = scoring
        self.n_folds = n_folds
        self.random_state = random_state

    def _check_parameters(self):
        if self.scoring not in ("folds", "gcv"):
            raise ValueError(f"scoring must be 'folds' or 'gcv', not {self.scoring!r}.")
        if not isinstance(self.n_folds, (int, np.integer)) or self.n_folds < 2:
            raise ValueError(f"n_folds must be a whole number of at least 2, not {self.n_folds!r}.")
        if isinstance(self.alphas, str):
            if self.alphas != "path":
                raise ValueError(f"alphas must be 'path', a number or a list of numbers, not {self.alphas!r}.")
        elif np.size(self.alphas) == 0 or not np.all(np.isfinite(self.alphas)) or np.any(np.asarray(self.alphas) < 0):
            raise ValueError(f"Penalties must be finite and not negative, not {self.alphas!r}.")

    def _finish(self, learned: GramPerFold):
        total, trained = self._factors(learned)
        self.floor_ = path.floor(learned, total)
        self.alphas_ = self._penalties(total)
        scored = self._scored(learned, total, trained)
        best = 0 if scored is None else path.choose(self.alphas_, *scored)
        self.losses_ = None if scored is None else scored[0]
        self.alpha_ = float(self.alphas_[best])
        self._set_weights(learned, total)

    def _factors(self, learned):
        """The factored normal equations of all rows and, where folds are scored, of all rows but those of each fold."""
        single = np.size(self.alphas) == 1 and not isinstance(self.alphas, str)
        if self.scoring == "gcv" and not single:
            return path.factor([learned.total], Spectral)[0], []
        kind = Tridiagonal if isinstance(self.alphas, str) or np.all(np.asarray(self.alphas) > 0) else Spectral
        if not single and len(learned.folds) < 2:
            raise ValueError(
                f"n_samples={learned.n}, but cross-validation needs at least two distinct rows in different folds "
                "(equal rows share a fold). Give one penalty, as in alphas=1.0, or use scoring='gcv'."
            )
        others = [] if single else [learned.total - fold for fold in learned.folds]
        total, *trained = path.factor([learned.total, *others], kind)
        return total, trained

    def _penalties(self, total) -> np.ndarray:
        if isinstance(self.alphas, str):
            return path.default_alphas(total, self.floor_)
        asked = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64))
        low = (asked < self.floor_) & (asked > 0)
        if np.any(low):
            warnings.warn(
                f"Penalties below {self.floor_:.3g} drown in the rounding of this Gram matrix and are raised to it. "
                "Standardize the columns or use float64 to go lower.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return np.where(low, self.floor_, asked)

    def _scored(self, learned, total, trained):
        """Loss and error bar of each penalty, or None where there is nothing to choose."""
        if len(self.alphas_) == 1:
            return None
        if self.scoring == "gcv":
            return path.gcv_losses(total, self.alphas_)
        return path.fold_losses(learned, trained, self.alphas_)

    def _set_weights(self, learned, total):
        coef = total.solutions(np.array([self.alpha_]))[0]
        z_mean = total.z_mean + learned.z_origin
        y_mean = total.y_mean + learned.y_origin
        self._set_outputs(coef, y_mean - z_mean @ coef, learned)

    def _scores(self, X) -> np.ndarray:
        check_is_fitted(self)
        X = self._checked_X(X, reset=False)
        return X @ self.coef_.T.astype(X.dtype) + self.intercept_


class RidgeRegressor(MultiOutputMixin, RegressorMixin, _Ridge):
    """Least squares with an l2 penalty: minimizes sum_i w_i (y_i - <coef, x_i> - b)^2 + alpha ||coef||^2.

    One pass collects Gram matrices per fold; the whole path of penalties and its exact K-fold scores follow without
    another. With one penalty it is scikit-learn's ``Ridge(alpha)``. Accepts arrays, CSR, frames and sources, weights,
    several targets, `partial_fit` and `merge`.

    Parameters
    ----------
    alphas : "path", a number or several, default="path"
        The penalties to try. "path" spans twelve decades below the largest eigenvalue of the Gram matrix, but never
        goes under the floor that rounding sets.
    scoring : {"folds", "gcv"}, default="folds"
        Exact K-fold cross-validation, or generalized cross-validation.
    n_folds : int, default=5
        Rows fall into folds by their hash, so equal rows share one.
    random_state : int, default=0
        Seed of the assignment to folds.

    Attributes
    ----------
    coef_, intercept_ : the weights at the chosen penalty
    alpha_ : float, the chosen penalty
    alphas_, losses_ : the penalties tried and the cross-validated mean squared error of each (None for one penalty)
    floor_ : float, the least penalty that rounding allows

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.linear import RidgeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RidgeRegressor().fit(X, y)
    >>> round(model.score(X, y), 2)
    0.51
    """

    def _empty(self):
        return Gram(self.n_folds, seed_of(self.random_state))

    def _checked_y(self, y):
        y = check_array(super()._checked_y(y), ensure_2d=False, dtype="numeric", input_name="y")
        self._one_target = y.ndim == 1
        return y.astype(np.float64, copy=False)

    def _set_outputs(self, coef, intercept, learned):
        self.coef_ = coef[:, 0] if self._one_target else coef.T
        self.intercept_ = intercept[0] if self._one_target else intercept

    def predict(self, X):
        """Predicted targets, one row per row of X."""
        return self._scores(X)


class RidgeClassifier(ClassifierMixin, _Ridge):
    """Ridge regression on the indicators of the classes; the class with the largest score wins.

    Everything `RidgeRegressor` says holds here, the loss being the squared error of targets -1 and +1. Classes need
    not be known in advance: `partial_fit` and `merge` take them as they come.

    Parameters
    ----------
    alphas, scoring, n_folds, random_state : as in `RidgeRegressor`

    Attributes
    ----------
    classes_ : the labels in sorted order
    coef_, intercept_ : one row per class, or one in all for two classes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.linear import RidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(RidgeClassifier().fit(X, y).score(X, y), 2)
    0.85
    """

    def partial_fit(self, X, y=None, classes=None, sample_weight=None):
        """Learn from more rows. `classes` may name classes in advance; others are added when they come."""
        self._classes = None if classes is None else np.unique(classes)
        return super().partial_fit(X, y, sample_weight)

    def _empty(self):
        return LabelGram(self.n_folds, seed_of(self.random_state), labels=getattr(self, "_classes", None))

    def _checked_y(self, y):
        y = column_or_1d(super()._checked_y(y), warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        return y

    def _set_outputs(self, coef, intercept, learned):
        self.classes_ = learned.labels
        coef, intercept = 2.0 * coef.T, 2.0 * intercept - 1.0
        if len(self.classes_) == 2:
            coef, intercept = coef[1:], intercept[1:]
        self.coef_, self.intercept_ = coef, intercept

    def decision_function(self, X):
        """Score of each class; for two classes one column, positive for the second."""
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X):
        """The class with the largest score, row by row."""
        scores = self.decision_function(X)
        winner = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[winner]
