"""Logistic regression on rows wherever they are: each step is one pass, and every problem of a search shares it."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning

from mercer.base import seed_of
from mercer.linear.alpha import check_alpha
from mercer.linear.classes import LinearClassifier, at_least_two, coded
from mercer.linear.losses import LogLoss
from mercer.linear.optimize.curvature import MOST_COLUMNS, Landscape
from mercer.linear.optimize.joint import MOST_ENTRIES, JointHessian
from mercer.linear.optimize.lbfgs import minimize, side_by_side
from mercer.linear.optimize.search import Folds, Problem, fold_models, length, near_rows, penalized, temperature
from mercer.linear.passes import IteratedEstimator
from mercer.linear.ridge.overflow import refuse_overflow
from mercer.stats import LabelCounts, Moments

N_ALPHAS = 12
#: Steps taken before the curvature is measured anew where they led.
_ROUND = 12
#: Relative error of a sum of losses, by the precision of the rows.
_ROUNDING = {np.dtype(np.float32): 1e-7, np.dtype(np.float64): 1e-13}


class LogisticClassifier(LinearClassifier, IteratedEstimator):
    """Logistic regression: minimizes sum_i w_i log(1 + exp(-y_i (<coef, x_i> + b))) + alpha ||coef||^2.

    It is scikit-learn's ``LogisticRegression(C=1 / (2 * alpha))``, the intercept without penalty; more than two classes
    share a softmax. Each step is one pass over an array, CSR matrix, frame or source. Steps are quasi-Newton from a
    matrix that bounds the curvature (Boehning 1992), so the first one is ridge regression, and the curvature is
    measured again where the steps led.

    Parameters
    ----------
    alpha : a number, several, or "path", default=1.0
        The penalty. Among several the one with the least log loss on held-out folds is chosen; "path" tries twelve
        over seven decades. All problems of the search advance on the same passes.
    tol : float, default=1e-8
        Stop where the gradient, in the norm of the bound on the curvature, has fallen to this share of what it was
        without weights (on float32 rows to 4e-6 of it, if that is more: they say no more).
    max_iter : int, default=300
        The most steps.
    n_folds : int, default=5
        Folds for the choice among several penalties; rows fall into them by their hash.
    calibrate : bool, default=False
        Divide scores by a temperature before they become probabilities (Guo et al. 2017): the one with the least log
        loss on held-out folds. Decisions stay; a weak penalty's overconfidence goes.
    random_state : int, default=0
        Seed of the assignment to folds.

    Attributes
    ----------
    classes_ : the labels in sorted order
    coef_, intercept_ : one row per class, or one in all for two classes
    alpha_ : float, the penalty
    alphas_, losses_ : the penalties tried and the mean held-out log loss of each (None for one penalty)
    temperature_ : float, what scores are divided by in `predict_proba`
    n_iter_ : int, the steps taken
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

    def __init__(self, alpha=1.0, tol=1e-8, max_iter=300, n_folds=5, calibrate=False, random_state=0):
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.n_folds = n_folds
        self.calibrate = calibrate
        self.random_state = random_state

    def _check_parameters(self):
        check_alpha(self.alpha)
        if not isinstance(self.n_folds, (int, np.integer)) or self.n_folds < 2:
            raise ValueError(f"n_folds must be a whole number of at least 2, not {self.n_folds!r}.")
        if not self.tol > 0 or not self.max_iter >= 1:
            raise ValueError(f"tol and max_iter must be positive, not {self.tol!r} and {self.max_iter!r}.")

    def _learn_from(self, source):
        problem = self._problem(source)
        bound = problem.landscape.bound(LogLoss().bound(problem.start.shape[1]))
        refuse_overflow(bound.trace())
        if isinstance(self.alpha, str):
            self.alphas_ = bound.trace() * np.geomspace(1.0, 1e-7, N_ALPHAS) if bound.trace() > 0 else np.ones(1)
        else:
            self.alphas_ = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        self._choose(problem, bound)
        self._set_weights(self._minimum(problem, bound), problem.landscape.origin)

    def _choose(self, problem, bound):
        """The penalty and the temperature, where they are asked for, by held-out folds."""
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

    def _problem(self, source) -> Problem:
        """One look: the classes and their frequencies (and the spread of the columns, where there are many)."""
        counted = source.fold(LabelCounts())
        labels = counted.finish()
        self.classes_ = labels.levels
        at_least_two(self.classes_, type(self).__name__)
        weight = float(np.sum(labels.counts))
        first = _first_block(source)
        origin = _mean(first)
        spread = weight * source.fold(Moments()).finish().var if len(origin) > MOST_COLUMNS else None
        source = coded(source, self.classes_)
        landscape = Landscape.of(source, counted.n, weight, origin, spread, seed_of(self.random_state))
        rounding = _ROUNDING[first.X.dtype]
        return Problem(source, landscape, labels.counts / weight, rounding, near_rows(source, origin))

    def _minimum(self, problem, bound) -> np.ndarray:
        """The minimizer for the chosen penalty, in rounds between which the curvature is measured anew."""
        solve = first = bound.solver(self.alpha_)
        told: list = [None, None]  # the last point and the answer there: rounds begin where the last one ended

        def answer(points):
            if told[0] is not points[0]:
                step = problem.losses(points[0][None])
                told[:] = points[0], penalized(points[0], step.value[0], step.gradient[0], self.alpha_)
            return {0: told[1]}

        def norm(g):
            return length(g, first)

        x, self.n_iter_ = problem.start, 0
        # Gradients of float32 rows carry some 30 roundings.
        tol = max(self.tol, 4e-6 if problem.rounding > 1e-10 else 0.0)
        # The gradient of nothing but rounding counts as none.
        least = max(tol * norm(answer({0: x})[0][1]), 100 * np.finfo(float).eps * np.sqrt(problem.landscape.weight))
        while True:
            steps = min(_ROUND, self.max_iter - self.n_iter_)
            [end] = side_by_side([minimize(x, solve, norm, least, steps, problem.rounding)], answer)
            x, self.n_iter_ = end.x, self.n_iter_ + end.n_iter
            if end.converged or self.n_iter_ >= self.max_iter or (end.stalled and end.n_iter == 0):
                break
            solve = self._curvature_at(problem, x).solver(self.alpha_)
        # A point that no step improves is the minimum as far as the rounding of the values can tell.
        self.converged_ = bool(end.converged or (end.stalled and end.norm**2 <= 100 * problem.rounding * end.value))
        if not self.converged_:
            self._warn(end.norm / least * tol)
        return x

    def _curvature_at(self, problem, x):
        origin = problem.landscape.origin
        if x.shape[1] > 1 and x.size <= MOST_ENTRIES:
            return problem.source.fold(JointHessian(x, origin)).finish()

        def bend(block):
            shift = x[-1] - origin @ x[:-1]
            return LogLoss().bend(np.asarray(block.X @ x[:-1], dtype=np.float64) + shift)

        return problem.landscape.at(bend, LogLoss().bound(x.shape[1]))

    def _warn(self, reached):
        warnings.warn(
            f"LogisticClassifier stopped after {self.n_iter_} steps with a relative gradient of {reached:.1e}, above "
            f"tol={self.tol:.1e}. Raise max_iter, raise the penalty (alpha), or standardize the columns.",
            ConvergenceWarning,
            stacklevel=5,
        )

    def _set_weights(self, x, origin):
        self.coef_ = x[:-1].T.copy()
        self.intercept_ = x[-1] - origin @ x[:-1]

    def predict_proba(self, X):
        """Probability of each class, one column per class."""
        scores = self._scores(X).astype(np.float64) / self.temperature_
        p = LogLoss().probabilities(scores)
        return np.hstack([1.0 - p, p]) if len(self.classes_) == 2 else p

    def predict_log_proba(self, X):
        """Logarithms of the probabilities, accurate where they underflow."""
        scores = self._scores(X).astype(np.float64) / self.temperature_
        if len(self.classes_) == 2:
            return -np.hstack([np.logaddexp(0.0, scores), np.logaddexp(0.0, -scores)])
        return log_softmax(scores, axis=1)


def _first_block(source):
    blocks = (task.read() for task in source.tasks())
    return next(block for block in blocks if len(block))


def _mean(block) -> np.ndarray:
    """The (weighted) mean of some rows, representable in their precision."""
    weight = np.ones(len(block)) if block.weight is None else block.weight
    total = weight @ block.X if hasattr(block.X, "tocsr") else weight @ block.X.astype(np.float64)
    return (np.asarray(total).ravel() / weight.sum()).astype(block.X.dtype).astype(np.float64)
