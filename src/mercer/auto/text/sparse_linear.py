"""Sparse text features: a linear model on the terms of texts, its penalty chosen by the folds of the search.

Classification minimizes the squared hinge loss, one class against the others, regression the squared error. Penalties
are compared by the out-of-fold squared error as a fraction of the target's variance; for classes it is that of
probabilities at the best temperature.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC

from mercer.auto.budget.clock import Clock
from mercer.auto.constants import HINGE_COSTS, RIDGE_PENALTIES, TEXT_TEMPERATURES
from mercer.auto.rows.training import N_FOLDS, folds_of_rows
from mercer.auto.search.evaluation import relative_loss
from mercer.auto.search.state import Candidate
from mercer.linear.losses import LogLoss
from mercer.stats.folds import RowFolds

_TOL, _MAX_ITER, _MIN_ITER = 1e-4, 2000, 3


@dataclass
class SparseLinear:
    """scores = X @ coef + intercept of sparse rows; for classes, scores over `temperature` are log-odds."""

    coef: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray | None
    alpha: float
    temperature: float = 1.0
    candidates: list[Candidate] = field(default_factory=list)

    def scores(self, X: sparse.csr_matrix) -> np.ndarray:
        """One column per output."""
        return np.asarray(X @ self.coef) + self.intercept


def fit_sparse(
    X: sparse.csr_matrix,
    y: np.ndarray,
    ids: np.ndarray | RowFolds,
    classes: np.ndarray | None,
    seed: int,
    alpha: float | None = None,
    weight: np.ndarray | None = None,
    clock: Clock | None = None,
) -> tuple[SparseLinear, np.ndarray]:
    """The model of all rows and the out-of-fold scores of its rows; with `alpha` None the folds choose the penalty.

    `ids` are the hashes of the rows, or their folds. A fold without which a class is missing, or there are no rows,
    gets scores of zero. Another penalty is tried while
    there is time for it and for the model of all rows; if there is little for the first, it takes fewer iterations.
    """
    clock = clock or Clock()
    if classes is not None and len(classes) < 2:
        return SparseLinear(np.zeros((X.shape[1], 1)), np.zeros(1), classes, 1.0), np.zeros((X.shape[0], 1))
    folds = ids if isinstance(ids, RowFolds) else folds_of_rows(ids, seed)
    target = np.searchsorted(classes, y) if classes is not None else np.asarray(y, dtype=np.float64)
    indicators = _indicators(target, classes)
    center = np.average(indicators, axis=0, weights=weight)
    variance = float(np.average(np.sum((indicators - center) ** 2, axis=1), weights=weight)) or 1.0
    tried: list[tuple] = []
    candidates: list[Candidate] = []
    alphas = _alphas(classes) if alpha is None else [alpha]
    fit = _Fit(classes, seed, _iterations_in_time(_Fit(classes, seed, 1), X, target, alphas[0], weight, clock))
    for each in alphas:
        if tried and clock.left() < 2.0 * max(candidate.seconds for candidate in candidates):
            break
        start = clock.spent()
        scores = _out_of_fold(fit, X, target, folds, each, weight)
        tested = slice(None) if folds.is_partition else folds.tested
        some = None if weight is None else weight[tested]
        loss, temperature = _loss(scores[tested], indicators[tested], classes, some)
        seconds = clock.spent() - start
        candidates.append(
            Candidate("terms", _title(classes, each), loss / variance, seconds, X.shape[1], on_all_rows=True)
        )
        tried.append((loss, each, temperature, scores))
    best = int(np.argmin([loss for loss, *_ in tried]))
    smallest = candidates[best].loss
    candidates = [
        replace(candidate, kept=k == best, why=relative_loss(candidate.loss, smallest))
        for k, candidate in enumerate(candidates)
    ]
    _, alpha, temperature, scores = tried[best]
    coef, intercept = fit(X, target, alpha, weight)
    return SparseLinear(coef, intercept, classes, alpha, temperature, candidates), scores


def refit_sparse(
    X: sparse.csr_matrix,
    y: np.ndarray,
    classes: np.ndarray | None,
    seed: int,
    like: SparseLinear,
    weight: np.ndarray | None = None,
    clock: Clock | None = None,
) -> SparseLinear:
    """The model of other rows with the penalty and the temperature that were chosen before: one fit, no folds."""
    if classes is not None and len(classes) < 2:
        return SparseLinear(np.zeros((X.shape[1], 1)), np.zeros(1), classes, like.alpha)
    target = np.searchsorted(classes, y) if classes is not None else np.asarray(y, dtype=np.float64)
    steps = _iterations_in_time(_Fit(classes, seed, 1), X, target, like.alpha, weight, clock or Clock(), fits=1)
    coef, intercept = _Fit(classes, seed, steps)(X, target, like.alpha, weight)
    return SparseLinear(coef, intercept, classes, like.alpha, like.temperature, like.candidates)


def _alphas(classes: np.ndarray | None) -> list[float]:
    """Penalties to try, the likeliest first: time may end before all have been tried."""
    alphas = RIDGE_PENALTIES if classes is None else tuple(1 / cost for cost in HINGE_COSTS)
    return sorted(alphas, key=lambda alpha: abs(np.log(alpha / 3.0)))


def _title(classes: np.ndarray | None, alpha: float) -> str:
    return f"{'squared error' if classes is None else 'squared hinge'}, penalty {alpha:.3g}"


def _indicators(target: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    if classes is None:
        return target.reshape(len(target), -1)
    return np.eye(len(classes))[target]


@dataclass(frozen=True)
class _Fit:
    """Fits weights (columns, outputs) and intercepts to rows, in at most `max_iter` iterations."""

    classes: np.ndarray | None
    seed: int
    max_iter: int

    def __call__(
        self, X: sparse.csr_matrix, target: np.ndarray, alpha: float, weight: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if self.classes is None:
                max_iter = None if self.max_iter >= _MAX_ITER else self.max_iter
                ridge = Ridge(alpha, solver="sparse_cg", tol=_TOL, max_iter=max_iter).fit(X, target, weight)
                return np.atleast_2d(ridge.coef_).T.copy(), np.atleast_1d(ridge.intercept_).astype(np.float64)
            svm = LinearSVC(C=1 / alpha, tol=1e-3, max_iter=self.max_iter, dual=True, random_state=self.seed)
            svm.fit(X, target, weight)
            return np.ascontiguousarray(svm.coef_.T), np.asarray(svm.intercept_, dtype=np.float64)


def _iterations_in_time(
    one: _Fit,
    X: sparse.csr_matrix,
    target: np.ndarray,
    alpha: float,
    weight: np.ndarray | None,
    clock: Clock,
    fits: int = N_FOLDS + 1,
) -> int:
    """Iterations of each of several fits that there is time for, by a fit of one, half of which is preparation."""
    if clock.budget is None:
        return _MAX_ITER
    start = clock.spent()
    one(X, target, alpha, weight)
    seconds = clock.spent() - start
    return int(np.clip(2 * clock.left() / max(fits * seconds, 1e-9), _MIN_ITER, _MAX_ITER))


def _out_of_fold(
    fit: _Fit,
    X: sparse.csr_matrix,
    target: np.ndarray,
    folds: RowFolds,
    alpha: float,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    classes = fit.classes
    indicators = _indicators(target, classes)
    scores = np.zeros((X.shape[0], 1 if classes is not None and len(classes) == 2 else indicators.shape[1]))
    if classes is None:
        scores += np.average(indicators, axis=0, weights=weight)
    for fold in folds.known:
        held_out, train = folds.inside(fold), folds.outside(fold)
        if not train.any() or (classes is not None and len(np.unique(target[train])) < len(classes)):
            continue
        some = None if weight is None else weight[train]
        coef, intercept = fit(X[train], target[train], alpha, some)
        scores[held_out] = _as_new(X[held_out], X[train]) @ coef + intercept
    return scores


def _as_new(X: sparse.csr_matrix, train: sparse.csr_matrix) -> sparse.csr_matrix:
    """Rows as an encoder of the `train` rows would encode them: without other terms, rescaled to their length.

    Terms of its own take a part of the length of a row; a new row has none, and its scores would be larger.
    """
    seen = np.zeros(X.shape[1])
    seen[train.indices] = 1.0
    kept = sparse.csr_matrix(X @ sparse.diags(seen))
    before, after = (np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel()) for rows in (X, kept))
    factor = np.divide(before, after, out=np.zeros_like(before), where=after > 0)
    return sparse.diags(factor) @ kept


def _loss(
    scores: np.ndarray, indicators: np.ndarray, classes: np.ndarray | None, weight: np.ndarray | None = None
) -> tuple[float, float]:
    """The mean squared error, at the best temperature for classes, and that temperature."""
    if classes is None:
        return float(np.average(np.sum((scores - indicators) ** 2, axis=1), weights=weight)), 1.0
    errors = (np.sum((LogLoss().class_probabilities(scores / t) - indicators) ** 2, axis=1) for t in TEXT_TEMPERATURES)
    losses = [float(np.average(each, weights=weight)) for each in errors]
    best = int(np.argmin(losses))
    return losses[best], float(TEXT_TEMPERATURES[best])
