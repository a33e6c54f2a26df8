"""Ridge regression and ridge classification."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer.base import seed_of
from mercer.linear.classes import LinearClassifier
from mercer.linear.passes import one_pass
from mercer.linear.ridge.base import BaseRidge
from mercer.stats import Gram, LabelGram
from mercer.stats.triangle import FactoredGram


class RidgeRegressor(MultiOutputMixin, RegressorMixin, BaseRidge):
    """Least squares with an l2 penalty: minimizes sum_i w_i (y_i - <coef, x_i> - b)^2 + alpha ||coef||^2.

    One pass collects Gram matrices per fold; the path of penalties and its exact K-fold scores follow without another.
    With one penalty it is scikit-learn's ``Ridge(alpha)``. Accepts arrays, CSR, frames and sources, weights, several
    targets, `partial_fit` and `merge`.

    Use it for dense or many useful columns, for paths of penalties, and on data that arrive in parts. Prefer
    `L1Constrained` or a selector where few of many columns matter. The pass costs n d^2 operations and d^2 numbers of
    memory per fold, a penalty d^2 more. Hoerl and Kennard, Ridge regression, 1970.

    Parameters
    ----------
    alpha : "path", a number or several, default="path"
        The penalties to try. "path" spans twelve decades below the largest eigenvalue of the Gram matrix, but never
        goes under the floor that rounding sets. 0 is least squares: solved by orthogonal factors of the rows, which
        keep twice the digits of Gram matrices; a warning says how many digits of the weights hold, if fewer than six.
    blocks : None, one label per column, or a list of slices, default=None
        Blocks of columns with penalties of their own: the penalty is sum_b alpha c_b ||coef_b||^2.
    scoring : {"folds", "gcv", "loo"}, default="folds"
        Exact K-fold cross-validation, generalized cross-validation, or exact leave-one-out errors. The last takes a
        second pass over the rows, so there is no `partial_fit` and no `merge` with it. (A weight of 3 stands for three
        equal rows, of which one is left out at a time.)
    n_folds : int, default=5
        Rows fall into folds by their hash, so equal rows share one.
    block_penalties : None, one number per block, or a dict {block: number}, default=None
        The c_b, relative to alpha (``alpha=1.0`` makes them absolute). None searches them: L-BFGS on the log penalties
        with the exact gradient of the K-fold loss. With ``alpha="path"`` and ``scoring="folds"`` the penalties found
        are the model's; else only their ratios are taken, and alpha, their geometric mean, is chosen as without blocks.
        Fewer rows than columns, given to `fit` as an array, are solved by systems of the size of the rows.
    random_state : int, default=0
        Seed of the assignment to folds.

    Attributes
    ----------
    coef_, intercept_ : the weights at the chosen penalty
    alpha_ : float, the chosen penalty
    alphas_, losses_ : the penalties tried and the cross-validated mean squared error of each (None for one penalty)
    floor_ : the smallest penalty that rounding allows; one per block where their penalties are searched
    blocks_, penalties_ : the names of the blocks and the penalty alpha c_b of each, where there are blocks

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.linear import RidgeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RidgeRegressor().fit(X, y)
    >>> round(model.score(X, y), 2)
    0.51
    """

    def _empty(self) -> Gram:
        unpenalized = self.blocks is None and not isinstance(self.alpha, str) and np.min(self.alpha) == 0
        return (FactoredGram if unpenalized else Gram)(self.n_folds, seed_of(self.random_state))

    def _checked_y(self, y: Any) -> np.ndarray:
        y = check_array(super()._checked_y(y), ensure_2d=False, dtype="numeric", input_name="y")
        self._one_target = y.ndim == 1
        return y.astype(np.float64, copy=False)

    def _targets(self, y: np.ndarray) -> tuple[None, np.ndarray]:
        return None, np.asarray(y, dtype=np.float64).reshape(len(y), -1)

    def _set_outputs(self, coef: np.ndarray, intercept: np.ndarray, labels: np.ndarray | None) -> None:
        self.coef_ = coef[:, 0] if self._one_target else coef.T
        self.intercept_ = intercept[0] if self._one_target else intercept

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets, one row per row of X."""
        check_is_fitted(self)
        X = self._checked_X(X, reset=False)
        return X @ self.coef_.T.astype(X.dtype) + self.intercept_


class RidgeClassifier(LinearClassifier, BaseRidge):
    """Ridge regression on the indicators of the classes; predicts the class with the largest score.

    Use it for a fast classifier with a path of penalties in one pass. Prefer `LogisticClassifier` for probabilities and
    for classes of very different sizes.

    Parameters are those of `RidgeRegressor`, the loss being the squared error of targets -1 and +1. Classes need not be
    known in advance: `partial_fit` and `merge` add those they meet.

    Parameters
    ----------
    alpha, blocks, scoring, n_folds, block_penalties, random_state : as in `RidgeRegressor`

    Attributes
    ----------
    classes_ : the labels in sorted order
    coef_, intercept_ : one row per class, or a single row for two classes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.linear import RidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(RidgeClassifier().fit(X, y).score(X, y), 2)
    0.85
    """

    @one_pass
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows. `classes` may name classes in advance; others are added when they come."""
        self._classes = None if classes is None else np.unique(classes)
        return super().partial_fit(X, y, sample_weight)

    def _empty(self) -> LabelGram:
        return LabelGram(self.n_folds, seed_of(self.random_state), labels=getattr(self, "_classes", None))

    def _targets(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        labels, codes = np.unique(y, return_inverse=True)
        return labels, np.eye(len(labels))[codes]

    def _set_outputs(self, coef: np.ndarray, intercept: np.ndarray, labels: np.ndarray | None) -> None:
        assert labels is not None
        self.classes_ = labels
        coef, intercept = 2.0 * coef.T, 2.0 * intercept - 1.0
        if len(self.classes_) == 2:
            coef, intercept = coef[1:], intercept[1:]
        self.coef_, self.intercept_ = coef, intercept
