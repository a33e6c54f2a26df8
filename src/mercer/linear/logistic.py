"""Logistic regression by passes over a source; all problems of a search share each pass."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning

from mercer._numeric.block import Block
from mercer.base import seed_of
from mercer.linear.alpha import Alpha, check_alpha
from mercer.linear.classes import LinearClassifier, at_least_two, coded
from mercer.linear.losses import LogLoss
from mercer.linear.optimize.curvature import MAX_COLUMNS, Curvature, LossPreconditioner
from mercer.linear.optimize.lbfgs import minimize, minimize_together
from mercer.linear.optimize.search import (
    Folds,
    MultinomialProblem,
    centered_rows,
    fold_models,
    gradient_norm,
    penalized,
    temperature,
)
from mercer.linear.optimize.softmax import MAX_ENTRIES, SoftmaxHessian, SoftmaxHessianAt
from mercer.linear.passes import IteratedEstimator
from mercer.linear.ridge.overflow import refuse_overflow
from mercer.source import Source
from mercer.stats import LabelCounts, Moments

N_ALPHAS = 12
#: Steps between two measurements of the curvature.
_STEPS_PER_ROUND = 12
#: Relative error of a sum of losses, by the precision of the rows.
_ROUNDING = {np.dtype(np.float32): 1e-7, np.dtype(np.float64): 1e-13}


class LogisticClassifier(LinearClassifier, IteratedEstimator):
    """Logistic regression: minimizes sum_i w_i log(1 + exp(-y_i (<coef, x_i> + b))) + alpha ||coef||^2.

    It is scikit-learn's ``LogisticRegression(C=1 / (2 * alpha))``, the intercept without penalty; more than two classes
    share a softmax. Each step is one pass over an array, CSR matrix, frame or source. Steps are quasi-Newton from a
    matrix that bounds the Hessian (Boehning 1992), so the first one is ridge regression; every twelve steps the
    curvature is measured at the current point.

    Use it for classes with probabilities. Prefer `RidgeClassifier` for a quick path of penalties, whose scores are no
    probabilities. A step costs one pass and n d operations.

    Parameters
    ----------
    alpha : a number, several, or "path", default=1.0
        The penalty. Among several the one with the smallest log loss on held-out folds is chosen; "path" tries twelve
        over seven decades. All fits of the search share the same passes.
    tol : float, default=1e-8
        Stop where the gradient, in the norm of the bound on the curvature, has fallen to this fraction of its value at
        zero weights (at least 4e-6 for float32 rows, whose gradients are no more accurate).
    max_iter : int, default=300
        Upper bound on the number of steps.
    n_folds : int, default=5
        Folds for the choice among several penalties; rows are assigned to them by their hash.
    calibrate : bool, default=False
        Divide scores by the temperature of smallest log loss on held-out folds before they become probabilities (Guo et
        al. 2017). Predicted classes do not change; the overconfidence of a weak penalty is corrected.
    random_state : int, default=0
        Seed of the assignment to folds.

    Attributes
    ----------
    classes_ : the labels in sorted order
    coef_, intercept_ : one row per class, or a single row for two classes
    alpha_ : float, the penalty
    alphas_, losses_ : the penalties tried and the mean held-out log loss of each (None for one penalty)
    temperature_ : float, the divisor of the scores in `predict_proba`
    n_iter_ : int, the number of steps
    converged_ : bool

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from mercer.linear import LogisticClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticClassifier().fit(scale(X), y)
    >>> round(model.score(scale(X), y), 3)
    0.988
    """

    _former = {"alphas": "alpha"}

    def __init__(
        self,
        alpha: Alpha = 1.0,
        tol: float = 1e-8,
        max_iter: int = 300,
        n_folds: int = 5,
        calibrate: bool = False,
        random_state: Any = 0,
    ):
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.n_folds = n_folds
        self.calibrate = calibrate
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_alpha(self.alpha)
        if not isinstance(self.n_folds, (int, np.integer)) or self.n_folds < 2:
            raise ValueError(f"n_folds must be a whole number of at least 2, not {self.n_folds!r}.")
        if not self.tol > 0 or not self.max_iter >= 1:
            raise ValueError(f"tol and max_iter must be positive, not {self.tol!r} and {self.max_iter!r}.")

    def _learn_from(self, source: Source) -> None:
        problem = self._problem(source)
        bound = problem.preconditioner.bound(LogLoss().bound(problem.start.shape[1]))
        refuse_overflow(bound.trace())
        if isinstance(self.alpha, str):
            self.alphas_ = bound.trace() * np.geomspace(1.0, 1e-7, N_ALPHAS) if bound.trace() > 0 else np.ones(1)
        else:
            self.alphas_ = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        self._choose(problem, bound)
        self._set_weights(self._minimum(problem, bound), problem.preconditioner.origin)

    def _choose(self, problem: MultinomialProblem, bound: Curvature) -> None:
        """Choose the penalty and the temperature on held-out folds, if there is a choice."""
        self.losses_, self.temperature_, best = None, 1.0, 0
        if len(self.alphas_) > 1 or self.calibrate:
            folds = Folds(self.n_folds, seed_of(self.random_state))
            models = fold_models(problem, bound, self.alphas_, folds)
            if len(self.alphas_) > 1:
                self.losses_ = folds.held_out(problem, models)
                best = int(np.lexsort((-self.alphas_, self.losses_))[0])
            if self.calibrate:
                self.temperature_ = temperature(problem, models[best], folds)
        self.alpha_ = float(self.alphas_[best])

    def _problem(self, source: Source) -> MultinomialProblem:
        """Count the classes and prepare the preconditioner: two passes, the second over a sample of many rows."""
        counted = source.fold(LabelCounts())
        labels = counted.finish()
        self.classes_ = labels.levels
        at_least_two(self.classes_, type(self).__name__)
        weight = float(np.sum(labels.counts))
        first = _first_block(source)
        origin = _mean(first)
        squares = weight * source.fold(Moments()).finish().var if len(origin) > MAX_COLUMNS else None
        source = coded(source, self.classes_)
        preconditioner = LossPreconditioner.of(source, counted.n, weight, origin, squares, seed_of(self.random_state))
        rounding = _ROUNDING[first.X.dtype]
        return MultinomialProblem(
            source, preconditioner, labels.counts / weight, rounding, centered_rows(source, origin)
        )

    def _minimum(self, problem: MultinomialProblem, bound: Curvature) -> np.ndarray:
        """Minimize for the chosen penalty, in rounds between which the curvature is measured again."""
        solve = first = bound.solver(self.alpha_)
        last: list = [None, None]  # the last point and the answer there: rounds begin where the last one ended

        def evaluate(points: dict[int, np.ndarray]) -> dict[int, tuple[float, np.ndarray]]:
            if last[0] is not points[0]:
                step = problem.losses(points[0][None])
                last[:] = points[0], penalized(points[0], step.value[0], step.gradient[0], self.alpha_)
            return {0: last[1]}

        norm = partial(gradient_norm, solve=first)
        x, self.n_iter_ = problem.start, 0
        # Gradients of float32 rows carry some 30 roundings.
        tol = max(self.tol, 4e-6 if problem.rounding > 1e-10 else 0.0)
        # A gradient within rounding counts as zero.
        rounding = 100 * np.finfo(float).eps * np.sqrt(problem.preconditioner.weight)
        target = max(tol * norm(evaluate({0: x})[0][1]), rounding)
        while True:
            steps = min(_STEPS_PER_ROUND, self.max_iter - self.n_iter_)
            [end] = minimize_together([minimize(x, solve, norm, target, steps, problem.rounding)], evaluate)
            x, self.n_iter_ = end.x, self.n_iter_ + end.n_iter
            if end.converged or self.n_iter_ >= self.max_iter or (end.stalled and end.n_iter == 0):
                break
            solve = self._curvature_at(problem, x).solver(self.alpha_)
        # A point that no step improves is the minimum, up to the rounding of the values.
        self.converged_ = bool(end.converged or (end.stalled and end.norm**2 <= 100 * problem.rounding * end.value))
        if not self.converged_:
            self._warn(end.norm / target * tol)
        return x

    def _curvature_at(self, problem: MultinomialProblem, x: np.ndarray) -> Curvature | SoftmaxHessian:
        origin = problem.preconditioner.origin
        if x.shape[1] > 1 and x.size <= MAX_ENTRIES:
            return problem.source.fold(SoftmaxHessianAt(x, origin)).finish()

        def curvature(block: Block) -> np.ndarray:
            shift = x[-1] - origin @ x[:-1]
            return LogLoss().curvature(np.asarray(block.X @ x[:-1], dtype=np.float64) + shift)

        return problem.preconditioner.at(curvature, LogLoss().bound(x.shape[1]))

    def _warn(self, reached: float) -> None:
        warnings.warn(
            f"LogisticClassifier stopped after {self.n_iter_} steps with a relative gradient of {reached:.1e}, above "
            f"tol={self.tol:.1e}. Raise max_iter, raise the penalty (alpha), or standardize the columns.",
            ConvergenceWarning,
            stacklevel=5,
        )

    def _set_weights(self, x: np.ndarray, origin: np.ndarray) -> None:
        self.coef_ = x[:-1].T.copy()
        self.intercept_ = x[-1] - origin @ x[:-1]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, one column per class."""
        return LogLoss().class_probabilities(self._scores(X).astype(np.float64) / self.temperature_)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return logarithms of the probabilities, accurate where these underflow."""
        scores = self._scores(X).astype(np.float64) / self.temperature_
        if len(self.classes_) == 2:
            return -np.hstack([np.logaddexp(0.0, scores), np.logaddexp(0.0, -scores)])
        return log_softmax(scores, axis=1)


def _first_block(source: Source) -> Block:
    blocks = (task.read() for task in source.tasks())
    return next(block for block in blocks if len(block))


def _mean(block: Block) -> np.ndarray:
    """Return the (weighted) mean of some rows, rounded to their precision."""
    weight = np.ones(len(block)) if block.weight is None else block.weight
    total = weight @ block.X if hasattr(block.X, "tocsr") else weight @ block.X.astype(np.float64)
    return (np.asarray(total).ravel() / weight.sum()).astype(block.X.dtype).astype(np.float64)
