"""The linear support vector machine, certified by its duality gap."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer._runtime.errors import ParameterError
from mercer._runtime.pool import ordered_map
from mercer.base import is_too_large_to_collect, seed_of
from mercer.linear.classes import LinearClassifier, at_least_two, classes_of, coded
from mercer.linear.optimize.dual import HingeProblem, HingeSolution, solve
from mercer.linear.optimize.hinge_passes import solve_by_passes
from mercer.linear.passes import IteratedEstimator
from mercer.linear.ridge.overflow import refuse_overflow
from mercer.source import Source
from mercer.stats import Moments

_SOLVERS = ("auto", "dual", "newton")
#: Columns of passes, at most: the state is the square of their number.
_MAX_COLUMNS = 2_000


class HingeClassifier(LinearClassifier, IteratedEstimator):
    """Hinge loss with an l2 penalty: minimizes sum_i w_i max(0, 1 - y_i (<coef, x_i> + b)) + alpha ||coef||^2.

    It is scikit-learn's ``SVC(kernel="linear", C=1 / (2 * alpha))``: the intercept has no penalty. Dual coordinate
    descent (Hsieh et al. 2008) sweeps over the rows in random order; if it converges slowly and columns are few, an
    interior-point method finishes. The duality gap bounds the distance of the objective from its optimum.

    More than two classes are fitted one against the rest. The sweeps visit the rows in random order, so those of a
    source are collected in memory, in their own precision, CSR kept sparse. Larger data are fitted in passes over the
    source by Newton steps on a smoothed hinge loss (``solver="newton"``), whose state does not grow with the rows; the
    smoothing falls until the duality gap of the hinge loss itself is within `tol`.

    Use it for many sparse columns, such as words, where the margin matters and no probabilities are asked for
    (`LogisticClassifier` gives them). A sweep costs one operation per stored entry.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty.
    tol : float, default=1e-4
        Stop where the duality gap is at most this fraction of the objective.
    max_iter : int, default=2000
        Upper bound on the sweeps over the rows, or on the passes.
    random_state : int, default=0
        Seed of the order of the rows.
    solver : {"auto", "dual", "newton"}, default="auto"
        "auto" is "newton" for a source of dense rows with more than 10^8 entries and at most 2,000 columns, and "dual"
        for all other data.

    Attributes
    ----------
    classes_ : the labels in sorted order
    coef_, intercept_ : one row per class, or a single row for two classes
    dual_coef_ : the dual variables, one row per problem and one column per row of X; None with solver="newton"
    objective_, dual_gap_ : the objective reached and the duality gap there, one entry per problem
    n_iter_ : int, the largest number of sweeps or passes of a problem
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

    def __init__(
        self,
        alpha: float = 1.0,
        tol: float = 1e-4,
        max_iter: int = 2000,
        random_state: Any = 0,
        solver: str = "auto",
    ):
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.solver = solver

    def _check_parameters(self) -> None:
        alpha: Any = self.alpha
        if not (np.isscalar(alpha) and np.isfinite(alpha) and self.alpha > 0):
            raise ValueError(f"alpha must be a positive number, not {self.alpha!r}.")
        if not self.tol > 0 or not self.max_iter >= 1:
            raise ValueError(f"tol and max_iter must be positive, not {self.tol!r} and {self.max_iter!r}.")
        if self.solver not in _SOLVERS:
            raise ValueError(f"solver must be one of {', '.join(_SOLVERS)}, not {self.solver!r}.")

    def _learn_from(self, source: Source) -> None:
        if self._wants_passes(source):
            self._learn_by_passes(source)
        else:
            self._learn_in_memory(source)

    def _wants_passes(self, source: Source) -> bool:
        d = self.n_features_in_
        if self.solver == "newton" and d > _MAX_COLUMNS:
            problem = f"cannot be 'newton' for {d:,} columns: it keeps a matrix of their products"
            raise ParameterError("solver", self.solver, problem, remedy="Use solver='dual', or select columns first.")
        if self.solver != "auto" or d > _MAX_COLUMNS:
            return self.solver == "newton"
        if not is_too_large_to_collect(source, d):
            return False
        first = next((block for block in (task.read() for task in source.tasks()) if len(block)), None)
        return first is not None and not hasattr(first.X, "tocsr")

    def _learn_by_passes(self, source: Source) -> None:
        self.classes_ = classes_of(source)
        at_least_two(self.classes_, type(self).__name__)
        moments = source.fold(Moments()).finish()
        refuse_overflow(moments.weight * moments.var)
        task = (len(self.classes_), moments, float(self.alpha), float(self.tol), int(self.max_iter))
        found = solve_by_passes(coded(source, self.classes_), *task)
        solutions = [
            HingeSolution(each.x[:-1], float(each.x[-1]), np.zeros(0), each.objective, each.gap, each.n_passes)
            for each in found
        ]
        self._set_weights(solutions, moments.mean, "passes")

    def _learn_in_memory(self, source: Source) -> None:
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

    def _set_weights(self, solutions: list[HingeSolution], origin: np.ndarray, steps: str = "sweeps") -> None:
        self.coef_ = np.stack([solution.w for solution in solutions])
        self.intercept_ = np.array([solution.b for solution in solutions]) - self.coef_ @ origin
        self.dual_coef_ = np.stack([solution.beta for solution in solutions]) if steps == "sweeps" else None
        self.objective_ = np.array([solution.objective for solution in solutions])
        self.dual_gap_ = np.array([solution.gap for solution in solutions])
        self.n_iter_ = max(solution.sweeps for solution in solutions)
        self.converged_ = bool(np.all(self.dual_gap_ <= self.tol * self.objective_))
        if not self.converged_:
            warnings.warn(
                f"HingeClassifier stopped after {self.n_iter_} {steps} with a duality gap of "
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
