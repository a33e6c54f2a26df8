"""The Lasso: least squares with an l1 penalty, its path, and the penalty chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from mercer._runtime.checks import check_whole
from mercer.base import StreamingEstimator, seed_of
from mercer.linear.passes import one_pass
from mercer.linear.ridge.overflow import refuse_extremes, refuse_overflow
from mercer.select.base import LinearPredictor, Selector
from mercer.select.lasso.cross_validation import CenteredProblem, GramCrossValidation, RowCrossValidation, debiased
from mercer.select.lasso.datafit import Solution
from mercer.select.lasso.early_stop import fold_losses
from mercer.select.lasso.path import solve_path
from mercer.source import MemorySource, Source
from mercer.stats import Gram
from mercer.stats.gram import GramPerFold

#: Up to this many columns the Gram matrix of all columns is the cheapest way ("auto").
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

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.coefs.toarray().astype(dtype or np.float64, copy=False)

    def __len__(self) -> int:
        return len(self.alphas)

    def entered(self) -> np.ndarray:
        """Return the columns in the order in which they enter the path; those that never do are left out."""
        first: dict[int, int] = {}
        for row in range(len(self)):
            span = slice(self.coefs.indptr[row], self.coefs.indptr[row + 1])
            for i in np.argsort(-np.abs(self.coefs.data[span]), kind="stable"):
                first.setdefault(int(self.coefs.indices[span][i]), row)
        return np.array(list(first), dtype=np.intp)


class Lasso(LinearPredictor, Selector):
    """Least squares with an l1 penalty: minimizes 1/(2n) sum_i (y_i - <coef, x_i> - b)^2 + alpha ||coef||_1.

    `transform` drops the columns whose weight is zero. The penalty is scikit-learn's, the intercept is not penalized,
    and every solution of the path comes with its duality gap, an upper bound of its objective above the minimum. The
    penalty with the smallest cross-validated error is chosen. Small penalties let many columns in and cost most, and
    the folds rarely choose them: the path ends once its cross-validated error has risen, penalty by penalty over a
    factor of two, and exceeded the smallest by more than one standard error. Penalties that are given are all solved.

    Up to 2,000 columns need one pass: path, gaps and exact K-fold scores follow from Gram matrices per fold, so
    sources, `partial_fit` and `merge` cost nothing extra. Wider data are collected in memory and solved on working sets
    of columns, most columns being screened by a bound on their correlation instead of being read.

    Parameters
    ----------
    alpha : None, a number or several, default=None
        None tries `n_alphas` penalties from the smallest one that makes every weight zero, alpha_max, down to
        eps * alpha_max, evenly on a log scale, until the folds end the path.
    n_alphas : int, default=100
    eps : float, default=0.001
    n_folds : int, default=5
        Rows are assigned to folds by their hash, so equal rows share one.
    debias : bool, default=False
        Refit the selected columns by least squares, in cross-validation too.
    solver : {"auto", "gram", "columns"}, default="auto"
        Gram matrices, or columns in memory (without `partial_fit` and `merge`); "auto" decides by the number of
        columns alone.
    tol : float, default=1e-6
        The duality gap to reach, relative to that of zero weights, half the variance of y.
    random_state : int, default=0
        Seed of the assignment to folds.

    Attributes
    ----------
    coef_, intercept_ : the weights at the chosen penalty
    support_ : mask of the columns with a nonzero weight
    alpha_ : float, the chosen penalty
    dual_gap_ : float, the duality gap at it (before debiasing)
    path_ : LassoPath with `alphas`, `coefs`, `gaps`, `losses` of the penalties up to the end of the path;
        `lasso_path` computes the whole path without folds

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
    >>> print(f"duality gap {model.dual_gap_ / y.var():.6f} of the variance of y")
    duality gap 0.000000 of the variance of y
    """

    _warns_if_empty = False

    def __init__(
        self,
        alpha: Any = None,
        n_alphas: int = 100,
        eps: float = 1e-3,
        n_folds: int = 5,
        debias: bool = False,
        solver: str = "auto",
        tol: float = 1e-6,
        random_state: Any = 0,
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

    def _check_parameters(self) -> None:
        check_whole("n_alphas", self.n_alphas)
        check_whole("n_folds", self.n_folds, 2)
        if self.solver not in ("auto", "gram", "columns"):
            raise ValueError(f"solver must be 'auto', 'gram' or 'columns', not {self.solver!r}.")
        for name, value in (("eps", self.eps), ("tol", self.tol)):
            if not isinstance(value, Real) or not 0 < value < 1:
                raise ValueError(f"{name} must lie between 0 and 1, not {value!r}.")
        if self.alpha is not None:
            alphas = np.asarray(self.alpha)
            if alphas.size == 0 or alphas.dtype.kind not in "iuf" or not np.all(np.isfinite(alphas) & (alphas > 0)):
                raise ValueError(
                    f"alpha must be None, a positive number or several, not {self.alpha!r}. For least squares "
                    "without a penalty use mercer.linear.RidgeRegressor(alpha=0)."
                )

    @property
    def _single(self) -> bool:  # no choice between penalties
        return self.alpha is not None and np.size(self.alpha) == 1

    def _empty(self) -> Gram:
        return Gram(1 if self._single else self.n_folds, seed_of(self.random_state))

    def _learn_from(self, source: Source) -> None:
        by_columns = self.solver == "auto" and self.n_features_in_ > GRAM_COLUMNS
        if self.solver != "columns" and not by_columns:
            super()._learn_from(source)
            return
        self.__dict__.pop("_accumulator", None)
        self._set_from(RowCrossValidation(source.collect(), self.n_folds, seed_of(self.random_state)))

    def _finish(self, learned: GramPerFold) -> None:
        if self.solver == "auto" and self.n_features_in_ > GRAM_COLUMNS:
            raise ValueError(
                f"With {self.n_features_in_} columns solver='auto' keeps no Gram matrix: use solver='gram' to add rows "
                "in pieces, or give all rows to fit."
            )
        refuse_extremes(learned, self._input_names())
        self._set_from(GramCrossValidation(learned))

    def _set_from(self, data: GramCrossValidation | RowCrossValidation) -> None:
        whole = data.all_rows()
        refuse_overflow(whole.datafit.b)
        alphas = self._alphas(whole)
        losses = None if self._single else self._cross_validated(data, whole, alphas)
        alphas = alphas if losses is None else alphas[: len(losses)]
        solutions, gaps = self._solved(whole, alphas)
        best = 0 if losses is None else int(np.argmin(losses))
        coefs = coefficient_rows(solutions, self.n_features_in_)
        self.path_ = LassoPath(alphas, coefs, gaps / whole.weight, losses)
        self.alpha_, self.dual_gap_ = float(alphas[best]), float(self.path_.gaps[best])
        coef = coefs[[best]].toarray()[0]
        self.support_ = coef != 0
        self._set_weights(coef, whole.y_mean - whole.x_mean @ coef)

    def _solved(self, problem: CenteredProblem, alphas: np.ndarray) -> tuple[list[Solution], np.ndarray]:
        solutions, gaps = solve_path(problem.datafit, problem.weight * alphas, self.tol)
        return debiased(problem.datafit, solutions) if self.debias else solutions, gaps

    def _alphas(self, whole: CenteredProblem) -> np.ndarray:
        if self.alpha is not None:
            return np.sort(np.atleast_1d(np.asarray(self.alpha, dtype=np.float64)).ravel())[::-1]
        alpha_max = np.abs(whole.datafit.b).max(initial=0.0) / whole.weight
        if alpha_max == 0:  # no column correlates with the target: any penalty gives zero
            alpha_max = np.finfo(np.float64).resolution
        margin = 1.0 + 4.0 * np.finfo(np.float64).eps  # so that rounding lets no column in at the first penalty
        return margin * alpha_max * np.geomspace(1.0, self.eps, self.n_alphas)

    def _cross_validated(
        self, data: GramCrossValidation | RowCrossValidation, whole: CenteredProblem, alphas: np.ndarray
    ) -> np.ndarray:
        """Return the cross-validated mean squared error of each penalty, up to the one at which the path ends."""
        if data.n_folds < 2:
            raise ValueError(
                "n_samples=1 or all rows equal: cross-validation needs at least two distinct rows in different folds "
                "(equal rows share a fold). Give one penalty, as in alpha=0.1."
            )
        sums = fold_losses(data, alphas, self.tol, self.debias, may_stop=self.alpha is None)
        return sums.sum(axis=1) / whole.weight


class _PathOnly(Lasso):
    """The path without cross-validation."""

    def _learn_from(self, source: Source) -> None:
        dense = isinstance(source, MemorySource) and not sparse.issparse(source.X)
        if self.solver == "auto" and dense and self.n_features_in_ <= GRAM_COLUMNS:
            # One product of all columns is cheaper than the statistic, which also keeps folds and measures errors.
            self._set_from(RowCrossValidation(source.collect(), gram=source.n_rows >= self.n_features_in_))
            return
        super()._learn_from(source)

    @property
    def _single(self) -> bool:
        return True


def lasso_path(
    X: Any,
    y: Any = None,
    alphas: Any = None,
    n_alphas: int = 100,
    eps: float = 1e-3,
    solver: str = "auto",
    tol: float = 1e-6,
    sample_weight: Any = None,
) -> LassoPath:
    """Compute Lasso solutions for decreasing penalties with their duality gaps, without cross-validation.

    Use it to see in which order columns enter, or to choose the penalty by a rule of your own. Use `Lasso` for a fitted
    model whose penalty is cross-validated.

    Parameters
    ----------
    X, y, sample_weight : as in `Lasso.fit`; X may be a `Source`, which brings the others
    alphas : numbers, default=None
        None takes `n_alphas` of them, from the smallest that makes every weight zero down to `eps` times it.
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


def coefficient_rows(solutions: list[Solution], d: int) -> sparse.csr_array:
    """Return one row of d coefficients per solution."""
    ordered = [(columns[order], w[order]) for columns, w in solutions for order in [np.argsort(columns)]]
    indptr = np.cumsum([0] + [len(columns) for columns, _ in ordered])
    indices = np.concatenate([columns for columns, _ in ordered])
    return sparse.csr_array((np.concatenate([w for _, w in ordered]), indices, indptr), shape=(len(ordered), d))
