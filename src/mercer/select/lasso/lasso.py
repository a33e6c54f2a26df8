"""The Lasso: least squares with an l1 penalty, its path, and the penalty that predicts best."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy import sparse

from mercer._runtime.checks import check_whole
from mercer.base import StreamingEstimator, seed_of
from mercer.linear.passes import one_pass
from mercer.linear.ridge.overflow import refuse_overflow
from mercer.select.base import LinearPredictor, gathered
from mercer.select.lasso.folds import FromGram, FromRows, debiased
from mercer.select.lasso.path import solve_path
from mercer.select.resampling.threshold import ThresholdSelector
from mercer.source import MemorySource
from mercer.stats import Gram

#: Up to here the Gram matrix of all columns is the cheapest way ("auto").
GRAM_COLUMNS = 2000


@dataclass(frozen=True)
class LassoPath:
    """One row per penalty: `alphas`, `coefs` (CSR), `gaps` and the cross-validated `losses` (None for one alpha).

    As an array it is the dense matrix of coefficients.
    """

    alphas: np.ndarray
    coefs: sparse.csr_array
    gaps: np.ndarray
    losses: np.ndarray | None

    def __array__(self, dtype=None, copy=None):
        return self.coefs.toarray().astype(dtype or np.float64, copy=False)

    def __len__(self):
        return len(self.alphas)

    def entered(self) -> np.ndarray:
        """The columns in the order in which they first had a weight; those that never had one are left out."""
        first: dict[int, int] = {}
        for row in range(len(self)):
            span = slice(self.coefs.indptr[row], self.coefs.indptr[row + 1])
            for place in np.argsort(-np.abs(self.coefs.data[span]), kind="stable"):
                first.setdefault(int(self.coefs.indices[span][place]), row)
        return np.array(list(first), dtype=np.intp)


class Lasso(LinearPredictor, ThresholdSelector):
    """Least squares with an l1 penalty: minimizes 1/(2n) sum_i (y_i - <coef, x_i> - b)^2 + alpha ||coef||_1.

    Columns whose weight is zero are left out by `transform`. The penalty is scikit-learn's, the intercept carries none,
    and every solution of the path comes with its duality gap, an upper bound of how far its objective is from the
    least one. Of all penalties of the path, the one with the least cross-validated error is taken.

    Narrow data (up to 2,000 columns) are read once: path, gaps and exact K-fold scores follow from Gram matrices per
    fold, so sources, `partial_fit` and `merge` cost nothing extra. Wide data are held in memory, and solved on working
    sets of columns, most columns being cleared by a bound on their correlation instead of being read.

    Parameters
    ----------
    alpha : None, a number or several, default=None
        None tries `n_alphas` penalties from the least one that makes every weight zero, alpha_max, down to
        eps * alpha_max, evenly on a log scale.
    n_alphas : int, default=100
    eps : float, default=0.001
    n_folds : int, default=5
        Rows fall into folds by their hash, so equal rows share one.
    debias : bool, default=False
        Refit the selected columns by least squares, in the scores of folds too.
    solver : {"auto", "gram", "columns"}, default="auto"
        Gram matrices, or columns in memory (without `partial_fit` and `merge`); "auto" decides by the width alone.
    tol : float, default=1e-6
        The duality gap to reach, relative to that of no weights, the (halved) variance of y.
    random_state : int, default=0
        Seed of the assignment to folds.

    Attributes
    ----------
    coef_, intercept_ : the weights at the chosen penalty
    support_ : mask of the columns with a weight
    alpha_ : float, the chosen penalty
    dual_gap_ : float, the duality gap at it (before debiasing)
    path_ : LassoPath with `alphas`, `coefs`, `gaps`, `losses`

    References
    ----------
    Tibshirani (1996); Friedman, Hastie, Tibshirani (2010); Massias, Gramfort, Salmon (2018); Bertrand, Massias (2021).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.select import Lasso
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = Lasso(alpha=0.5).fit(X, y)
    >>> model.get_feature_names_out().tolist()
    ['bmi', 'bp', 's3', 's5']
    >>> bool(model.dual_gap_ <= 1e-6 * y.var())
    True
    """

    def __init__(
        self,
        alpha=None,
        n_alphas=100,
        eps=1e-3,
        n_folds=5,
        debias=False,
        solver="auto",
        tol=1e-6,
        random_state=0,
    ):
        self.alpha = alpha
        self.n_alphas = n_alphas
        self.eps = eps
        self.n_folds = n_folds
        self.debias = debias
        self.solver = solver
        self.tol = tol
        self.random_state = random_state

    @property
    def _multi_pass(self) -> bool:
        return self.solver == "columns"

    partial_fit = one_pass(StreamingEstimator.partial_fit)
    merge = one_pass(StreamingEstimator.merge)

    def _check_parameters(self):
        check_whole("n_alphas", self.n_alphas)
        check_whole("n_folds", self.n_folds, 2)
        if self.solver not in ("auto", "gram", "columns"):
            raise ValueError(f"solver must be 'auto', 'gram' or 'columns', not {self.solver!r}.")
        for name, value in (("eps", self.eps), ("tol", self.tol)):
            if not isinstance(value, Real) or not 0 < value < 1:
                raise ValueError(f"{name} must lie between 0 and 1, not {value!r}.")
        if self.alpha is not None:
            alphas = np.asarray(self.alpha, dtype=np.float64)
            if alphas.size == 0 or not np.all(np.isfinite(alphas) & (alphas > 0)):
                raise ValueError(
                    f"alpha must be positive, not {self.alpha!r}. For least squares without a penalty use "
                    "mercer.linear.RidgeRegressor(alpha=0)."
                )

    @property
    def _single(self) -> bool:  # nothing to choose from
        return self.alpha is not None and np.size(self.alpha) == 1

    def _empty(self):
        return Gram(1 if self._single else self.n_folds, seed_of(self.random_state))

    def _learn_from(self, source):
        wide = self.solver == "auto" and self.n_features_in_ > GRAM_COLUMNS
        if self.solver != "columns" and not wide:
            super()._learn_from(source)
            return
        self.__dict__.pop("_accumulator", None)
        self._set_from(FromRows(gathered(source), self.n_folds, seed_of(self.random_state)))

    def _finish(self, learned):
        if self.solver == "auto" and self.n_features_in_ > GRAM_COLUMNS:
            raise ValueError(
                f"With {self.n_features_in_} columns Lasso does not keep a Gram matrix unless told to: use "
                "solver='gram' to add rows in pieces, or give all rows to fit."
            )
        refuse_overflow(learned.total.G)
        self._set_from(FromGram(learned))

    def _set_from(self, seen):
        whole = seen.whole()
        refuse_overflow(whole.problem.b)
        alphas = self._alphas(whole)
        solutions, gaps = solve_path(whole.problem, whole.weight * alphas, self.tol)
        solutions = debiased(whole.problem, solutions) if self.debias else solutions
        losses = None if self._single else self._scored(seen, whole, alphas)
        best = 0 if losses is None else int(np.argmin(losses))
        coefs = stacked(solutions, self.n_features_in_)
        self.path_ = LassoPath(alphas, coefs, gaps / whole.weight, losses)
        self.alpha_, self.dual_gap_ = float(alphas[best]), float(self.path_.gaps[best])
        coef = coefs[[best]].toarray()[0]
        self.support_ = coef != 0
        self._set_weights(coef, whole.y_mean - whole.x_mean @ coef)

    def _alphas(self, whole) -> np.ndarray:
        if self.alpha is not None:
            return np.sort(np.atleast_1d(np.asarray(self.alpha, dtype=np.float64)).ravel())[::-1]
        most = np.abs(whole.problem.b).max(initial=0.0) / whole.weight
        if most == 0:  # nothing correlates with the target: any penalty gives zero
            most = np.finfo(np.float64).resolution
        above = 1.0 + 4.0 * np.finfo(np.float64).eps  # so that rounding lets nothing in at the first
        return above * most * np.geomspace(1.0, self.eps, self.n_alphas)

    def _scored(self, seen, whole, alphas) -> np.ndarray:
        """Cross-validated mean squared error of each penalty."""
        if seen.n_folds < 2:
            raise ValueError(
                "n_samples=1 or all rows equal: cross-validation needs at least two distinct rows in different folds "
                "(equal rows share a fold). Give one penalty, as in alpha=0.1."
            )
        total = np.zeros(len(alphas))
        for k in range(seen.n_folds):
            part = seen.without(k)
            solutions, _ = solve_path(part.problem, part.weight * alphas, self.tol)
            solutions = debiased(part.problem, solutions) if self.debias else solutions
            total += seen.losses(k, part, solutions)
        return total / whole.weight


class _PathOnly(Lasso):
    """All penalties, and no choice between them."""

    def _learn_from(self, source):
        dense = isinstance(source, MemorySource) and not sparse.issparse(source.X)
        if self.solver == "auto" and dense and self.n_features_in_ <= GRAM_COLUMNS:
            # One product of all columns is cheaper than the statistic, which also keeps folds and measures errors.
            self._set_from(FromRows(gathered(source), by_gram=source.n_rows >= self.n_features_in_))
            return
        super()._learn_from(source)

    @property
    def _single(self) -> bool:
        return True


def lasso_path(X, y, alphas=None, n_alphas=100, eps=1e-3, solver="auto", tol=1e-6, sample_weight=None) -> LassoPath:
    """Solutions of the Lasso for falling penalties, with their duality gaps, and no cross-validation.

    Parameters
    ----------
    X, y, sample_weight : as in `Lasso.fit`; X may be a `Source`, which brings the others
    alphas : numbers, default=None
        None takes `n_alphas` of them, from the least that makes every weight zero down to `eps` times it.
    n_alphas, eps, solver, tol : as in `Lasso`

    Returns
    -------
    LassoPath

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> path = lasso_path(*load_diabetes(return_X_y=True))
    >>> path.entered().tolist()[:3]
    [2, 8, 3]
    """
    model = _PathOnly(alpha=alphas, n_alphas=n_alphas, eps=eps, solver=solver, tol=tol)
    return model.fit(X, y, sample_weight).path_


def stacked(solutions, d) -> sparse.csr_array:
    """One row of coefficients per solution."""
    ordered = [(places[order], w[order]) for places, w in solutions for order in [np.argsort(places)]]
    indptr = np.cumsum([0] + [len(places) for places, _ in ordered])
    indices = np.concatenate([places for places, _ in ordered])
    return sparse.csr_array((np.concatenate([w for _, w in ordered]), indices, indptr), shape=(len(ordered), d))
