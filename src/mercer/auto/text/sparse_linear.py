"""Wide sparse columns: a linear model on the terms of texts, its penalty chosen by the folds of the search.

Classes take the squared hinge, one class against the others, quantities the squared error. What is compared is the
out-of-fold loss as a share of the target's variance; for classes it is that of probabilities at the best temperature.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC

from mercer._numeric.hashing.rows import fold_of
from mercer.auto.budget.effort import Clock
from mercer.auto.rows.training import N_FOLDS
from mercer.auto.search.evaluation import Candidate

#: Costs of the hinge, and penalties of the squared error; rows are of length one.
_COSTS = (0.03, 0.1, 0.3, 1.0, 3.0)
_ALPHAS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_TEMPERATURES = np.geomspace(0.1, 30.0, 58)
_TOL, _STEPS, _FEWEST_STEPS = 1e-4, 2000, 3


@dataclass
class WideLinear:
    """scores = X @ coef + intercept of sparse rows; for classes probabilities are made of scores / temperature."""

    coef: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray | None
    alpha: float
    temperature: float = 1.0
    candidates: list[Candidate] = field(default_factory=list)

    def scores(self, X) -> np.ndarray:
        """One column per output."""
        return np.asarray(X @ self.coef) + self.intercept


def learn_wide(
    X, y, ids, classes, seed: int, alpha: float | None = None, weight=None, clock: Clock | None = None
) -> tuple[WideLinear, np.ndarray]:
    """The model of all rows and the out-of-fold scores of its rows; `alpha` says the penalty, None leaves it to them.

    A fold outside of which a class is missing, or there are no rows, is scored by zeros: it has nothing to say.
    Another penalty is tried while the clock has time for it and for the model of all rows; where it has little for the
    first, its steps are fewer.
    """
    clock = clock or Clock()
    if classes is not None and len(classes) < 2:
        return WideLinear(np.zeros((X.shape[1], 1)), np.zeros(1), classes, 1.0), np.zeros((X.shape[0], 1))
    folds = fold_of(ids, N_FOLDS, seed)
    target = np.searchsorted(classes, y) if classes is not None else np.asarray(y, dtype=np.float64)
    hot = _hot(target, classes)
    center = np.average(hot, axis=0, weights=weight)
    variance = float(np.average(np.sum((hot - center) ** 2, axis=1), weights=weight)) or 1.0
    tried: list[tuple] = []
    candidates: list[Candidate] = []
    strengths = _strengths(classes) if alpha is None else (alpha,)
    fit = _Fit(classes, seed, _steps_in_time(_Fit(classes, seed, 1), X, target, strengths[0], weight, clock))
    for strength in strengths:
        if tried and clock.left() < 2.0 * max(each.seconds for each in candidates):
            break
        start = clock.spent()
        scores = _held_out(fit, X, target, folds, strength, weight)
        loss, temperature = _loss(scores, hot, classes, weight)
        seconds = clock.spent() - start
        candidates.append(Candidate("terms", _title(classes, strength), loss / variance, seconds, X.shape[1]))
        tried.append((loss, strength, temperature, scores))
    place = int(np.argmin([each[0] for each in tried]))
    least = candidates[place].loss
    for candidate in candidates:
        candidate.why = f"loss {candidate.loss / least:.4g} x the least" if least > 0 else ""
    candidates[place].kept, candidates[place].why = True, "least loss of the penalties"
    _, strength, temperature, scores = tried[place]
    coef, intercept = fit(X, target, strength, weight)
    return WideLinear(coef, intercept, classes, strength, temperature, candidates), scores


def refit_wide(X, y, classes, seed: int, like: WideLinear, weight=None, clock: Clock | None = None) -> WideLinear:
    """The model of other rows with the penalty and the temperature that were chosen before: one fit, no folds."""
    if classes is not None and len(classes) < 2:
        return WideLinear(np.zeros((X.shape[1], 1)), np.zeros(1), classes, like.alpha)
    target = np.searchsorted(classes, y) if classes is not None else np.asarray(y, dtype=np.float64)
    steps = _steps_in_time(_Fit(classes, seed, 1), X, target, like.alpha, weight, clock or Clock(), fits=1)
    coef, intercept = _Fit(classes, seed, steps)(X, target, like.alpha, weight)
    return WideLinear(coef, intercept, classes, like.alpha, like.temperature, like.candidates)


def _strengths(classes):
    """Penalties to try, the likeliest first: time may end before all have been tried."""
    order = _ALPHAS if classes is None else tuple(1 / cost for cost in _COSTS)
    return sorted(order, key=lambda strength: abs(np.log(strength / 3.0)))


def _title(classes, strength) -> str:
    return f"{'squared error' if classes is None else 'squared hinge'}, penalty {strength:.3g}"


def _hot(target, classes) -> np.ndarray:
    if classes is None:
        return target.reshape(len(target), -1)
    return np.eye(len(classes))[target]


@dataclass(frozen=True)
class _Fit:
    """Weights (columns, outputs) and intercepts of rows and a penalty, in so many steps at most."""

    classes: np.ndarray | None
    seed: int
    steps: int

    def __call__(self, X, target, strength, weight=None) -> tuple[np.ndarray, np.ndarray]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if self.classes is None:
                steps = None if self.steps >= _STEPS else self.steps
                ridge = Ridge(strength, solver="sparse_cg", tol=_TOL, max_iter=steps).fit(X, target, weight)
                return np.atleast_2d(ridge.coef_).T.copy(), np.atleast_1d(ridge.intercept_).astype(np.float64)
            svm = LinearSVC(C=1 / strength, tol=1e-3, max_iter=self.steps, dual=True, random_state=self.seed)
            svm.fit(X, target, weight)
            return np.ascontiguousarray(svm.coef_.T), np.asarray(svm.intercept_, dtype=np.float64)


def _steps_in_time(one: _Fit, X, target, strength, weight, clock: Clock, fits: int = N_FOLDS + 1) -> int:
    """Steps of each of so many fits that the clock has time for, by a fit of one step, half of which is preparation."""
    if clock.budget is None:
        return _STEPS
    start = clock.spent()
    one(X, target, strength, weight)
    seconds = clock.spent() - start
    return int(np.clip(2 * clock.left() / max(fits * seconds, 1e-9), _FEWEST_STEPS, _STEPS))


def _held_out(fit: _Fit, X, target, folds, strength, weight=None) -> np.ndarray:
    classes = fit.classes
    hot = _hot(target, classes)
    scores = np.zeros((X.shape[0], 1 if classes is not None and len(classes) == 2 else hot.shape[1]))
    if classes is None:
        scores += np.average(hot, axis=0, weights=weight)
    for fold in np.unique(folds):
        held = folds == fold
        train = ~held
        if not train.any() or (classes is not None and len(np.unique(target[train])) < len(classes)):
            continue
        heavy = None if weight is None else weight[train]
        coef, intercept = fit(X[train], target[train], strength, heavy)
        scores[held] = _as_new(X[held], X[train]) @ coef + intercept
    return scores


def _as_new(X, known):
    """Rows as they would be encoded had only the `known` ones been seen: no other terms, and of their length again.

    Terms of its own take a share of the length of a row; a new row has none, and its scores would be larger.
    """
    seen = np.zeros(X.shape[1])
    seen[known.indices] = 1.0
    kept = sparse.csr_matrix(X @ sparse.diags(seen))
    before, after = (np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel()) for rows in (X, kept))
    factor = np.divide(before, after, out=np.zeros_like(before), where=after > 0)
    return sparse.diags(factor) @ kept


def chances(scores) -> np.ndarray:
    """Probabilities of the classes."""
    if scores.shape[1] == 1:
        second = expit(scores)
        return np.hstack([1 - second, second])
    return softmax(scores, axis=1)


def _loss(scores, hot, classes, weight=None) -> tuple[float, float]:
    """Mean squared error and the temperature it was reached with."""
    if classes is None:
        return float(np.average(np.sum((scores - hot) ** 2, axis=1), weights=weight)), 1.0
    errors = (np.sum((chances(scores / t) - hot) ** 2, axis=1) for t in _TEMPERATURES)
    losses = [float(np.average(each, weights=weight)) for each in errors]
    best = int(np.argmin(losses))
    return losses[best], float(_TEMPERATURES[best])
