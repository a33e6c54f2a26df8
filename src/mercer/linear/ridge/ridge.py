"""Ridge regression and classification: one pass, then every penalty is free."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer.base import StreamingEstimator, seed_of
from mercer.linear.alpha import check_alpha
from mercer.linear.classes import LinearClassifier
from mercer.linear.passes import one_pass
from mercer.linear.ridge import blocks, path
from mercer.linear.ridge.factor import Spectral, Tridiagonal
from mercer.linear.ridge.loo import LeaveOneOut
from mercer.linear.ridge.overflow import refuse_overflow
from mercer.stats import Gram, LabelGram
from mercer.stats.gram import GramPerFold

#: The penalties of a block, relative to alpha, that are tried unless others are named.
BLOCK_PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)


class BaseRidge(StreamingEstimator):
    """Penalties, their scores and the chosen one, from the Gram statistics per fold."""

    _needs_y = True
    _former = {"alphas": "alpha"}

    def __init__(
        self, alpha="path", blocks=None, scoring="folds", n_folds=5, block_penalties=BLOCK_PENALTIES, random_state=0
    ):
        self.alpha = alpha
        self.blocks = blocks
        self.scoring = scoring
        self.n_folds = n_folds
        self.block_penalties = block_penalties
        self.random_state = random_state

    @property
    def _looks_again(self) -> bool:
        return self.scoring == "loo"

    partial_fit = one_pass(StreamingEstimator.partial_fit)
    merge = one_pass(StreamingEstimator.merge)

    def _check_parameters(self):
        if self.scoring not in ("folds", "gcv", "loo"):
            raise ValueError(f"scoring must be 'folds', 'gcv' or 'loo', not {self.scoring!r}.")
        if not isinstance(self.n_folds, (int, np.integer)) or self.n_folds < 2:
            raise ValueError(f"n_folds must be a whole number of at least 2, not {self.n_folds!r}.")
        check_alpha(self.alpha, zero=True)
        if self.blocks is not None:
            factors = _factors_of(self.block_penalties)
            if np.size(factors) == 0 or not np.all(np.isfinite(factors)) or np.any(factors <= 0):
                raise ValueError(f"Penalties of blocks must be finite and positive, not {self.block_penalties!r}.")

    def _learn_from(self, source):
        self._rows = source  # for a second look at them
        try:
            super()._learn_from(source)
        finally:
            self.__dict__.pop("_rows", None)

    def _finish(self, learned: GramPerFold):
        refuse_overflow(learned.total.G)
        scale = self._column_scale(learned)
        seen = learned if scale is None else blocks.scaled(learned, scale)
        total, trained = self._factors(seen, self._single)
        self.floor_ = path.floor(seen, total)
        self.alphas_ = self._penalties(total)
        scored = self._scored(seen, total, trained, scale)
        best = 0 if scored is None else path.choose(self.alphas_, *scored)
        self.losses_ = None if scored is None else scored[0]
        self.alpha_ = float(self.alphas_[best])
        self._set_weights(learned, total, 1.0 if scale is None else scale)

    @property
    def _single(self) -> bool:
        return np.size(self.alpha) == 1 and not isinstance(self.alpha, str)

    def _column_scale(self, learned) -> np.ndarray | None:
        """What each column is multiplied by for its block's penalty; None without blocks."""
        if self.blocks is None:
            return None
        self.blocks_, place = blocks.block_of_each(self.blocks, len(learned.total.z))
        if isinstance(self.block_penalties, dict):
            missing = [name for name in self.blocks_.tolist() if name not in self.block_penalties]
            if missing:
                raise ValueError(f"block_penalties names no penalty for block {missing[0]!r}.")
            factors = np.array([self.block_penalties[name] for name in self.blocks_.tolist()], dtype=np.float64)
        else:
            grid = _factors_of(self.block_penalties)
            factors = blocks.search(len(self.blocks_), grid, lambda f: self._fold_loss(learned, f[place]))
        self.block_penalties_ = factors
        return 1.0 / np.sqrt(factors[place])

    def _fold_loss(self, learned, penalties) -> float:
        """The least cross-validated loss of all alphas with relative penalties of the columns."""
        seen = blocks.scaled(learned, 1.0 / np.sqrt(penalties))
        total, trained = self._factors(seen, single=False, scoring="folds")
        floor = path.floor(seen, total)
        asked = path.default_alphas(total, floor) if isinstance(self.alpha, str) else np.atleast_1d(self.alpha)
        alphas = np.where((asked > 0) & (asked < floor), floor, np.asarray(asked, dtype=np.float64))
        losses, bars = path.fold_losses(seen, trained, alphas)
        return float(np.min(np.where(losses < 0, np.inf, losses + bars)))

    def _factors(self, learned, single, scoring=None):
        """The factored normal equations of all rows and, where folds are scored, of all rows but those of each fold."""
        scoring = self.scoring if scoring is None else scoring
        if scoring != "folds" and not single:
            if scoring == "loo" and learned.n < 2:
                raise ValueError(f"n_samples={learned.n}, but leaving one out must leave another. Give one penalty.")
            return path.factor([learned.total], Spectral)[0], []
        positive = isinstance(self.alpha, str) or np.all(np.asarray(self.alpha) > 0)
        if single:
            return path.factor([learned.total], Tridiagonal if positive else Spectral)[0], []
        if len(learned.folds) < 2:
            raise ValueError(
                f"n_samples={learned.n}, but cross-validation needs at least two distinct rows in different folds "
                "(equal rows share a fold). Give one penalty, as in alpha=1.0, or use scoring='gcv'."
            )
        if positive:
            return path.factor_folds(learned, path.lowest(learned, self.alpha))
        others = [learned.total - fold for fold in learned.folds]
        total, *trained = path.factor([learned.total, *others], Spectral)
        return total, trained

    def _penalties(self, total) -> np.ndarray:
        if isinstance(self.alpha, str):
            return path.default_alphas(total, self.floor_)
        asked = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        low = (asked < self.floor_) & (asked > 0)
        if np.any(low):
            warnings.warn(
                f"Penalties below {self.floor_:.3g} drown in the rounding of this Gram matrix and are raised to it. "
                "Standardize the columns or use float64 to go lower.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return np.where(low, self.floor_, asked)

    def _scored(self, learned, total, trained, scale):
        """Loss and error bar of each penalty, or None where there is nothing to choose."""
        if len(self.alphas_) == 1:
            return None
        if self.scoring == "gcv":
            return path.gcv_losses(total, self.alphas_)
        if self.scoring == "loo":
            return self._left_out(learned, total, 1.0 if scale is None else scale), np.zeros(len(self.alphas_))
        return path.fold_losses(learned, trained, self.alphas_)

    def _left_out(self, learned, total, scale) -> np.ndarray:
        center = total.z_mean / scale + learned.z_origin
        y_center = total.y_mean + learned.y_origin
        empty = LeaveOneOut(total, self.alphas_, center, y_center, scale, learned.labels)
        return self._rows.fold(empty).finish()

    def _set_weights(self, learned, total, scale):
        coef = total.solutions(np.array([self.alpha_]))[0] * np.reshape(scale, (-1, 1))
        z_mean = total.z_mean / scale + learned.z_origin
        y_mean = total.y_mean + learned.y_origin
        self._set_outputs(coef, y_mean - z_mean @ coef, learned)


def _factors_of(block_penalties) -> np.ndarray:
    """The numbers of a list or dict of penalties."""
    values = block_penalties.values() if isinstance(block_penalties, dict) else np.atleast_1d(block_penalties)
    return np.array(list(values), dtype=np.float64)


class RidgeRegressor(MultiOutputMixin, RegressorMixin, BaseRidge):
    """Least squares with an l2 penalty: minimizes sum_i w_i (y_i - <coef, x_i> - b)^2 + alpha ||coef||^2.

    One pass collects Gram matrices per fold; the whole path of penalties and its exact K-fold scores follow without
    another. With one penalty it is scikit-learn's ``Ridge(alpha)``. Accepts arrays, CSR, frames and sources, weights,
    several targets, `partial_fit` and `merge`.

    Parameters
    ----------
    alpha : "path", a number or several, default="path"
        The penalties to try. "path" spans twelve decades below the largest eigenvalue of the Gram matrix, but never
        goes under the floor that rounding sets.
    scoring : {"folds", "gcv", "loo"}, default="folds"
        Exact K-fold cross-validation, generalized cross-validation, or exact leave-one-out errors. The last takes a
        second look at the rows, so there is no `partial_fit` and no `merge` with it. (A weight of 3 stands for three
        equal rows, of which one is left out at a time.)
    n_folds : int, default=5
        Rows fall into folds by their hash, so equal rows share one.
    blocks : None, one label per column, or a list of slices, default=None
        Blocks of columns with penalties of their own: the penalty of block b is alpha c_b ||coef_b||^2.
    block_penalties : numbers or dict, default=(0.01, 0.1, 1, 10, 100)
        The c_b to try: starting from ones, one block after the other takes the value with the least K-fold loss (over
        all alphas), until none changes. A dict {block: c_b} sets them. Nothing here needs another pass.
    random_state : int, default=0
        Seed of the assignment to folds.

    Attributes
    ----------
    coef_, intercept_ : the weights at the chosen penalty
    alpha_ : float, the chosen penalty
    alphas_, losses_ : the penalties tried and the cross-validated mean squared error of each (None for one penalty)
    floor_ : float, the least penalty that rounding allows
    blocks_, block_penalties_ : the names of the blocks and the c_b of each, where there are blocks

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
        check_is_fitted(self)
        X = self._checked_X(X, reset=False)
        return X @ self.coef_.T.astype(X.dtype) + self.intercept_


class RidgeClassifier(LinearClassifier, BaseRidge):
    """Ridge regression on the indicators of the classes; the class with the largest score wins.

    Everything `RidgeRegressor` says holds here, the loss being the squared error of targets -1 and +1. Classes need
    not be known in advance: `partial_fit` and `merge` take them as they come.

    Parameters
    ----------
    alpha, blocks, scoring, n_folds, block_penalties, random_state : as in `RidgeRegressor`

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

    @one_pass
    def partial_fit(self, X, y=None, classes=None, sample_weight=None):
        """Learn from more rows. `classes` may name classes in advance; others are added when they come."""
        self._classes = None if classes is None else np.unique(classes)
        return super().partial_fit(X, y, sample_weight)

    def _empty(self):
        return LabelGram(self.n_folds, seed_of(self.random_state), labels=getattr(self, "_classes", None))

    def _set_outputs(self, coef, intercept, learned):
        self.classes_ = learned.labels
        coef, intercept = 2.0 * coef.T, 2.0 * intercept - 1.0
        if len(self.classes_) == 2:
            coef, intercept = coef[1:], intercept[1:]
        self.coef_, self.intercept_ = coef, intercept
