"""Linear predictors in an l1 ball, for several losses."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from scipy import optimize, sparse
from sklearn.exceptions import ConvergenceWarning

from mercer._runtime.checks import check_whole
from mercer.base import StreamingEstimator
from mercer.linear.passes import one_pass
from mercer.linear.ridge.overflow import refuse_extremes, refuse_large, refuse_overflow
from mercer.select.base import LinearPredictor, Selector, row_weights, two_classes
from mercer.select.lasso.cross_validation import GramCrossValidation
from mercer.select.lasso.l1_ball import (
    LogisticObjective,
    Objective,
    QuadraticObjective,
    frank_wolfe,
    frank_wolfe_gap,
    projected_gradient,
)
from mercer.source import Source
from mercer.stats import Gram
from mercer.stats.gram import GramPerFold

#: Weights below this fraction of the radius are rounding.
_ZERO = 1e-12
#: Sums of squares are multiplied by one another: beyond the range of float64 over this, a column is refused.
_MARGIN = 1e150


class L1Constrained(LinearPredictor, Selector):
    """The linear predictor of minimum mean loss among those with ||coef||_1 <= radius, intercept free.

    The losses of a row with score f = <coef, x> + b are (y - f)^2 / 2 ("squared"), and for two classes y = -1, +1
    log(1 + e^(-y f)) ("logistic") and max(0, 1 - y f) ("hinge"). For each radius there is a penalty at which the Lasso
    has the same solution; a radius states directly how large the weights may be.

    `gap_` bounds how far the mean loss is above its minimum. The squared loss needs one pass over any source, with
    `partial_fit` and `merge`; the other losses collect the rows in memory.

    Use it where few of many columns matter and a bound of the weights has a meaning. Of columns that repeat each other
    it takes one: prefer `RidgeRegressor` to share the weight. A sweep costs one operation per entry of the columns in
    use. Tibshirani, Regression shrinkage and selection via the Lasso, 1996.

    Parameters
    ----------
    radius : float, default=1.0
    loss : {"squared", "logistic", "hinge"}, default="squared"
    solver : {"projected", "frank_wolfe"}, default="projected"
        Accelerated projected gradients, or Frank-Wolfe steps, of which t use at most t columns and end within
        2 C / (t + 2) of the minimum. (The hinge loss is always solved as a linear program.)
    tol : float, default=1e-8
        The gap to reach, relative to the loss without weights.
    max_iter : int, default=10000

    Attributes
    ----------
    coef_, intercept_ : the weights
    support_ : mask of the columns with a nonzero weight
    gap_ : float
    gaps_ : array, the gap after each step
    n_iter_ : int
    classes_ : the two labels in sorted order (classification losses)

    References
    ----------
    Tibshirani (1996); Duchi et al. (2008); Jaggi (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.select import L1Constrained
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> model = L1Constrained(radius=1.0).fit(X, 3 * X[:, 2] + 0.1 * X[:, 4])
    >>> model.coef_.round(3)
    array([0., 0., 1., 0., 0.])
    """

    _warns_if_empty = False

    def __init__(
        self,
        radius: float = 1.0,
        loss: str = "squared",
        solver: str = "projected",
        tol: float = 1e-8,
        max_iter: int = 10_000,
    ):
        self.radius = radius
        self.loss = loss
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    @property
    def _multi_pass(self) -> bool:
        return self.loss != "squared"

    partial_fit = one_pass(StreamingEstimator.partial_fit)
    merge = one_pass(StreamingEstimator.merge)

    def _check_parameters(self) -> None:
        if self.loss not in ("squared", "logistic", "hinge"):
            raise ValueError(f"loss must be 'squared', 'logistic' or 'hinge', not {self.loss!r}.")
        if self.solver not in ("projected", "frank_wolfe"):
            raise ValueError(f"solver must be 'projected' or 'frank_wolfe', not {self.solver!r}.")
        for name in ("radius", "tol"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0 < float(value) < np.inf:
                raise ValueError(f"{name} must be a positive number, not {value!r}.")
        check_whole("max_iter", self.max_iter)

    def _empty(self) -> Gram:
        return Gram(1)

    def _finish(self, learned: GramPerFold) -> None:
        refuse_extremes(learned, self._input_names(), margin=_MARGIN)
        problem = GramCrossValidation(learned).all_rows()
        datafit = problem.datafit
        coef = self._minimize(QuadraticObjective(datafit.G, datafit.b, datafit.yy, problem.weight), len(datafit.b))
        self._set_weights(coef, problem.y_mean - problem.x_mean @ coef)

    def _learn_from(self, source: Source) -> None:
        if self.loss == "squared":
            super()._learn_from(source)
            return
        self.__dict__.pop("_accumulator", None)
        block = source.collect()
        self.classes_, sign = two_classes(np.asarray(block.y), type(self).__name__)
        weight = row_weights(block)
        X = block.X.tocsr().astype(np.float64) if hasattr(block.X, "tocsr") else np.asarray(block.X, dtype=np.float64)
        refuse_large(X, self._input_names(), margin=_MARGIN)
        mean = np.asarray(X.T @ weight) / weight.sum()
        if self.loss == "hinge":
            self._solve_hinge(X, sign, weight)
            return
        objective = LogisticObjective(X, mean, sign, weight)
        coef = self._minimize(objective, X.shape[1])
        objective.gradient(coef)
        self._set_weights(coef, objective.intercept - mean @ coef)

    def _minimize(self, objective: Objective, d: int) -> np.ndarray:
        solve = projected_gradient if self.solver == "projected" else frank_wolfe
        goal = self.tol * max(objective.value(np.zeros(d)), 1e-300)
        with np.errstate(over="ignore", invalid="ignore"):
            coef, gaps = solve(objective, self.radius, d, goal, self.max_iter)
        refuse_overflow(coef)
        coef[np.abs(coef) <= _ZERO * self.radius] = 0.0
        self._set_gaps(gaps, frank_wolfe_gap(coef, objective.gradient(coef), self.radius), goal, coef)
        return coef

    def _set_gaps(self, gaps: list[float], gap: float, goal: float, coef: np.ndarray) -> None:
        self.gaps_, self.gap_, self.n_iter_ = np.array(gaps), gap, len(gaps)
        self.support_ = coef != 0
        if gap > 2 * goal + 1e-15:
            warnings.warn(
                f"L1Constrained stopped after {len(gaps)} steps at a gap of {gap:.3g} instead of {goal:.3g}: raise "
                "max_iter or tol, or standardize the columns.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _solve_hinge(self, X: Any, sign: np.ndarray, weight: np.ndarray) -> None:
        """Solve min sum_i weight_i xi_i, xi_i >= 1 - sign_i (<u - v, x_i> + c), xi, u, v >= 0, sum(u + v) <= radius."""
        n, d = X.shape
        signed = sparse.csr_array(sparse.diags(sign) @ sparse.csr_array(X))
        rows = sparse.hstack([-signed, signed, sparse.csr_array(-sign[:, None]), -sparse.eye_array(n)])
        ball = sparse.csr_array(np.r_[np.ones(2 * d), np.zeros(1 + n)][None, :])
        cost = np.r_[np.zeros(2 * d + 1), weight / weight.sum()]
        bounds = np.column_stack([np.r_[np.zeros(2 * d), -np.inf, np.zeros(n)], np.full(2 * d + 1 + n, np.inf)])
        limits = np.r_[-np.ones(n), self.radius]
        done = optimize.linprog(cost, sparse.vstack([rows, ball], format="csr"), limits, bounds=bounds, method="highs")
        if not done.success:
            raise ValueError(f"The linear program of the hinge loss failed: {done.message} Standardize the columns.")
        coef = done.x[:d] - done.x[d : 2 * d]
        coef[np.abs(coef) <= _ZERO * self.radius] = 0.0
        gap = max(float(done.fun - done.ineqlin.marginals @ limits), 0.0)  # strong duality: zero up to rounding
        self._set_gaps([gap], gap, max(self.tol, 1e-9), coef)
        self._set_weights(coef, done.x[2 * d])
