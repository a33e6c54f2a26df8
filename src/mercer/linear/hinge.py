"""The linear support vector machine, certified by its duality gap."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer._runtime.pool import ordered_map
from mercer.base import seed_of
from mercer.linear.classes import LinearClassifier, at_least_two
from mercer.linear.optimize.dual import HingeProblem, HingeSolution, solve
from mercer.linear.passes import IteratedEstimator
from mercer.source import Source


class HingeClassifier(LinearClassifier, IteratedEstimator):
    """Hinge loss with an l2 penalty: minimizes sum_i w_i max(0, 1 - y_i (<coef, x_i> + b)) + alpha ||coef||^2.

    It is scikit-learn's ``SVC(kernel="linear", C=1 / (2 * alpha))``: the intercept has no penalty. Dual coordinate
    descent (Hsieh et al. 2008) sweeps over the rows in random order; if it converges slowly and columns are few, an
    interior-point method finishes. The duality gap bounds the distance of the objective from its optimum.

    More than two classes are fitted one against the rest. Rows of a source are collected in memory, in their own
    precision, CSR kept sparse: the sweeps visit them in random order.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty.
    tol : float, default=1e-4
        Stop where the duality gap is at most this fraction of the objective.
    max_iter : int, default=2000
        Upper bound on the sweeps over the rows.
    random_state : int, default=0
        Seed of the order of the rows.

    Attributes
    ----------
    classes_ : the labels in sorted order
    coef_, intercept_ : one row per class, or a single row for two classes
    dual_coef_ : the dual variables, one row per problem and one column per row of X
    objective_, dual_gap_ : the objective reached and the duality gap there, one entry per problem
    n_iter_ : int, the largest number of sweeps of a problem
    converged_ : bool

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from mercer.linear import HingeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = HingeClassifier().fit(scale(X), y)
    >>> round(model.score(scale(X), y), 2), bool(model.dual_gap_[0] <= 1e-4 * model.objective_[0])
    (0.99, True)
    """

    def __init__(self, alpha: float = 1.0, tol: float = 1e-4, max_iter: int = 2000, random_state: Any = 0):
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        alpha: Any = self.alpha
        if not (np.isscalar(alpha) and np.isfinite(alpha) and self.alpha > 0):
            raise ValueError(f"alpha must be a positive number, not {self.alpha!r}.")
        if not self.tol > 0 or not self.max_iter >= 1:
            raise ValueError(f"tol and max_iter must be positive, not {self.tol!r} and {self.max_iter!r}.")

    def _learn_from(self, source: Source) -> None:
        rows = source.collect()
        assert rows.y is not None
        self.classes_, code = np.unique(rows.y, return_inverse=True)
        at_least_two(self.classes_, type(self).__name__)
        X, origin = _centered(rows.X)
        upper = np.ones(len(rows)) if rows.weight is None else np.asarray(rows.weight, dtype=np.float64)
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        seed = seed_of(self.random_state)

        def one(k: int) -> HingeSolution:
            problem = HingeProblem(X, np.where(code == k, 1.0, -1.0), upper, float(self.alpha))
            return solve(problem, self.tol, self.max_iter, np.random.default_rng([seed, k]))

        self._set_weights(list(ordered_map(one, positive)), origin)

    def _set_weights(self, solutions: list[HingeSolution], origin: np.ndarray) -> None:
        self.coef_ = np.stack([solution.w for solution in solutions])
        self.intercept_ = np.array([solution.b for solution in solutions]) - self.coef_ @ origin
        self.dual_coef_ = np.stack([solution.beta for solution in solutions])
        self.objective_ = np.array([solution.objective for solution in solutions])
        self.dual_gap_ = np.array([solution.gap for solution in solutions])
        self.n_iter_ = max(solution.sweeps for solution in solutions)
        self.converged_ = bool(np.all(self.dual_gap_ <= self.tol * self.objective_))
        if not self.converged_:
            warnings.warn(
                f"HingeClassifier stopped after {self.n_iter_} sweeps with a duality gap of "
                f"{np.max(self.dual_gap_ / self.objective_):.1e} of the objective, above tol={self.tol:.1e}. Raise "
                "max_iter, raise alpha, or standardize the columns.",
                ConvergenceWarning,
                stacklevel=4,
            )


def _centered(X: Any) -> tuple[Any, np.ndarray]:
    """Return rows about their mean, which speeds up the sweeps, and the mean; sparse rows stay as they are."""
    if hasattr(X, "tocsr"):
        return X.tocsr(), np.zeros(X.shape[1])
    origin = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    return np.ascontiguousarray(X - origin), origin.astype(np.float64)
