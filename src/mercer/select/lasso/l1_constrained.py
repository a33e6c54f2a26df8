"""Linear predictors in an l1 ball, for several losses."""

from __future__ import annotations

import warnings
from numbers import Real

import numpy as np
from scipy import optimize, sparse
from sklearn.exceptions import ConvergenceWarning

from mercer._runtime.checks import check_whole
from mercer.base import StreamingEstimator
from mercer.linear.passes import one_pass
from mercer.linear.ridge.overflow import refuse_overflow
from mercer.select.base import LinearPredictor, gathered, two_classes
from mercer.select.lasso.folds import FromGram
from mercer.select.lasso.l1_ball import LogisticProblem, QuadraticProblem, frank_wolfe, gap_of, projected_descent
from mercer.select.resampling.threshold import ThresholdSelector
from mercer.stats import Gram

#: Weights this small next to the radius are rounding.
_ZERO = 1e-12


class L1Constrained(LinearPredictor, ThresholdSelector):
    """The linear predictor of least mean loss among those with ||coef||_1 <= radius, intercept free.

    The losses of a row with score f = <coef, x> + b are (y - f)^2 / 2 ("squared"), and for two classes y = -1, +1
    log(1 + e^(-y f)) ("logistic") and max(0, 1 - y f) ("hinge"). For each radius there is a penalty at which the Lasso
    has the same solution; a radius says directly how large the weights may be.

    `gap_` is a proven bound of how far the mean loss is above the least possible. The squared loss is read once, from
    any source, with `partial_fit` and `merge`; the others hold the rows in memory.

    Parameters
    ----------
    radius : float, default=1.0
    loss : {"squared", "logistic", "hinge"}, default="squared"
    solver : {"projected", "frank_wolfe"}, default="projected"
        Accelerated projected gradients, or Frank-Wolfe steps, of which t use at most t columns and end within
        2 C / (t + 2) of the least loss. (The hinge loss is solved as a linear program, whatever is said here.)
    tol : float, default=1e-8
        The gap to reach, relative to the loss without weights.
    max_iter : int, default=10000

    Attributes
    ----------
    coef_, intercept_ : the weights
    support_ : mask of the columns with a weight
    gap_ : float
    gaps_ : array, the gap after each step
    n_iter_ : int
    classes_ : the two labels in sorted order (losses of classes)

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

    def __init__(self, radius=1.0, loss="squared", solver="projected", tol=1e-8, max_iter=10_000):
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

    def _check_parameters(self):
        if self.loss not in ("squared", "logistic", "hinge"):
            raise ValueError(f"loss must be 'squared', 'logistic' or 'hinge', not {self.loss!r}.")
        if self.solver not in ("projected", "frank_wolfe"):
            raise ValueError(f"solver must be 'projected' or 'frank_wolfe', not {self.solver!r}.")
        for name in ("radius", "tol"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0 < value < np.inf:
                raise ValueError(f"{name} must be positive, not {value!r}.")
        check_whole("max_iter", self.max_iter)

    def _empty(self):
        return Gram(1)

    def _finish(self, learned):
        refuse_overflow(learned.total.G)
        part = FromGram(learned).whole()
        seen = part.problem
        problem = QuadraticProblem(seen.G, seen.b, seen.yy, part.weight)
        coef = self._minimized(problem, len(seen.b))
        self._set_weights(coef, part.y_mean - part.x_mean @ coef)

    def _learn_from(self, source):
        if self.loss == "squared":
            super()._learn_from(source)
            return
        self.__dict__.pop("_accumulator", None)
        block = gathered(source)
        self.classes_, sign = two_classes(np.asarray(block.y), type(self).__name__)
        weight = np.ones(len(sign)) if block.weight is None else block.weight
        X = block.X.tocsr().astype(np.float64) if hasattr(block.X, "tocsr") else np.asarray(block.X, dtype=np.float64)
        mean = np.asarray(X.T @ weight) / weight.sum()
        if self.loss == "hinge":
            self._set_program(X, sign, weight)
            return
        problem = LogisticProblem(X, mean, sign, weight)
        coef = self._minimized(problem, X.shape[1])
        problem.gradient(coef)
        self._set_weights(coef, problem.offset - mean @ coef)

    def _minimized(self, problem, d) -> np.ndarray:
        solve = projected_descent if self.solver == "projected" else frank_wolfe
        goal = self.tol * max(problem.value(np.zeros(d)), 1e-300)
        with np.errstate(over="ignore", invalid="ignore"):
            coef, gaps = solve(problem, self.radius, d, goal, self.max_iter)
        refuse_overflow(coef)
        coef[np.abs(coef) <= _ZERO * self.radius] = 0.0
        self._set_gaps(gaps, gap_of(coef, problem.gradient(coef), self.radius), goal, coef)
        return coef

    def _set_gaps(self, gaps, gap, goal, coef):
        self.gaps_, self.gap_, self.n_iter_ = np.array(gaps), gap, len(gaps)
        self.support_ = coef != 0
        if gap > 2 * goal + 1e-15:
            warnings.warn(
                f"L1Constrained stopped after {len(gaps)} steps at a gap of {gap:.3g} instead of {goal:.3g}: raise "
                "max_iter or tol, or standardize the columns.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _set_program(self, X, sign, weight):
        """min sum of weight_i xi_i, xi_i >= 1 - sign_i (<u - v, x_i> + c), xi, u, v >= 0, sum of u + v <= radius."""
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
