"""The linear model on the features that a search found: ridge for regression, logistic regression for classes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer._runtime.pool import for_each, ordered_map
from mercer.auto.budget.clock import Clock
from mercer.auto.budget.time_model import LogisticTime
from mercer.auto.conformal.calibration import SetCalibration
from mercer.auto.conformal.cross_validated import cross_validated
from mercer.auto.constants import (
    FEW_LOGISTIC_ROWS,
    MANY_WEIGHTS,
    PAIRS_WITH_TREES,
    PAIRS_WITHOUT_TREES,
    RELATIVE_PENALTIES,
    SMALL_PENALTIES,
    STRONG_PENALTIES,
    TEMPERATURES,
    TEST_ROWS,
    TRAIN_ROWS,
)
from mercer.auto.decisions.rule import OutOfFold
from mercer.auto.features.union import Features
from mercer.auto.final.generalized import fit_generalized
from mercer.auto.final.monotone import fit_monotone, monotone_logistic
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.targets import NumericTarget
from mercer.auto.rows.training import N_FOLDS, TrainingRows
from mercer.auto.search.equations import row_space_loss
from mercer.auto.search.simplest import SIMPLEST, simplest_model
from mercer.auto.search.state import Candidate, SearchResult
from mercer.linear import LogisticClassifier
from mercer.linear.losses import LogLoss
from mercer.linear.ridge.fold_loss import FoldLoss, GramFoldLoss
from mercer.linear.ridge.row_space import row_basis, row_coordinates

_BATCH_ROWS = 4096
_TOL, _MAX_ITER = 1e-3, 24
#: Relative error of sums of float32 products.
_ROUNDING = 1e-7

#: A model and the candidates that were compared for it.
Fitted = tuple[Predictor, list[Candidate]]


def fit_linear(
    found: SearchResult,
    equations: FoldLoss | None,
    rows: TrainingRows,
    labels: np.ndarray | None,
    target: NumericTarget,
    seed: int,
    like: Predictor | None = None,
    clock: Clock | None = None,
    constant_width: bool = False,
) -> Fitted:
    """Fit the final model; with the penalty and temperature of another one, `like`, where it is given.

    constant_width : whether prediction intervals have the same width for all rows
    """
    if target.response is not None:
        return fit_generalized(found, rows, target, like, clock)
    if labels is None and rows.signs is not None:
        return fit_monotone(found, rows, target, like, clock is None or clock.allows(1.0)), []
    if labels is None:
        equations = equations or _equations(found, rows)
        coef, intercept = equations.weights(found.penalties)
        coef, intercept = coef * target.scale, intercept * target.scale + target.mean
        calibration = None
        if clock is None or clock.allows(1.0):
            calibration = cross_validated(found, equations, rows, target, constant_width)
        known = (None, found.penalties)
        return Predictor(found.features, coef, intercept, *known, calibration=calibration, result=found), []
    with warnings.catch_warnings():  # here, not where threads fit: warnings are filtered for all threads at once
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes")  # `max_classes` has confirmed it
        return _logistic(found, rows, labels, target, seed, like, clock)


def _equations(found: SearchResult, rows: TrainingRows) -> FoldLoss:
    if rows.few:
        return row_space_loss(rows, found.features, found.scores)
    return GramFoldLoss(rows.gram(found.features.over(rows.X, found.scores)), found.features.block_of_column)


def _logistic(
    found: SearchResult,
    rows: TrainingRows,
    labels: np.ndarray,
    target: NumericTarget,
    seed: int,
    like: Predictor | None,
    clock: Clock | None,
) -> Fitted:
    """Multinomial logistic regression on columns divided by the roots of their penalties, with a temperature.

    The search has minimized the squared error. Whether fewer blocks do better by the logistic loss is decided here.
    """
    max_iter, out_of_time = _iterations_in_time(found, rows, clock)
    tried: list[Candidate] = []
    calibration, known = None, None
    if like is not None:
        alpha, temperature, calibration = like.alpha, like.temperature, like.calibration
    elif out_of_time:
        alpha, temperature = RELATIVE_PENALTIES[1], 1.0
    else:
        found, alpha, temperature, known, tried = _best_alternative(found, rows, labels, seed)
        if known is not None:
            calibration = SetCalibration.of(known.probabilities, known.codes, known.weight)
    parameters = (target.classes, found.penalties, alpha, temperature)
    if rows.signs is not None:
        coef, intercept = monotone_logistic(found, rows, labels, alpha)
        made = Predictor(found.features, coef, intercept, *parameters)
        return replace(made, calibration=calibration, result=found, out_of_fold=known), tried
    Z, scale = scaled(found, rows.X, found.scores), column_scales(found)
    basis = row_basis(Z)
    model = _solved(Z if basis is None else Z @ basis, labels, alpha, seed, rows.weight, max_iter)
    weights = model.coef_.T if basis is None else basis @ model.coef_.T
    coef = weights * scale[:, None].astype(np.float64)
    made = Predictor(found.features, coef, model.intercept_, *parameters)
    return replace(made, calibration=calibration, result=found, out_of_fold=known), tried


def _iterations_in_time(found: SearchResult, rows: TrainingRows, clock: Clock | None) -> tuple[int, bool]:
    """Iterations that there is time for, and whether there is none to choose a penalty as well."""
    if clock is None or clock.budget is None:
        return _MAX_ITER, False
    model = LogisticTime.of(found.features.over(rows.X, found.scores), len(rows), rows.Y.shape[1], clock)
    others = sum(len(_leading(other.features)) for other in found.alternatives()) / max(found.features.width, 1)
    few = rows.distinct() <= FEW_LOGISTIC_ROWS  # then every fold is held out in turn, for more penalties
    fits = N_FOLDS * (len(RELATIVE_PENALTIES) + len(STRONG_PENALTIES)) if few else len(RELATIVE_PENALTIES)
    chosen = fits * (1 + others) * model.seconds(min(len(rows), TRAIN_ROWS + TEST_ROWS), _MAX_ITER)
    out_of_time = chosen + model.seconds(len(rows), _MAX_ITER) > clock.left()
    return (model.steps(len(rows), clock.left(), _MAX_ITER) if out_of_time else _MAX_ITER), out_of_time


def column_scales(found: SearchResult) -> np.ndarray:
    """One over the root of each column's penalty."""
    return (1.0 / np.sqrt(found.penalties))[found.features.block_of_column].astype(np.float32)


def scaled(found: SearchResult, X: np.ndarray, scores: np.ndarray | None) -> np.ndarray:
    """All features of the rows X, each divided by the root of its penalty; `scores` replace those of the trees."""
    Z, scale = np.empty((len(X), found.features.width), dtype=np.float32), column_scales(found)
    features = found.features.over(X, scores)
    spans = [slice(start, start + _BATCH_ROWS) for start in range(0, len(X), _BATCH_ROWS)]
    for_each(lambda span: np.multiply(features(span), scale, out=Z[span]), spans)
    return Z


def _solved(
    Z: np.ndarray,
    labels: np.ndarray,
    alpha: float,
    seed: int,
    weight: np.ndarray | None = None,
    max_iter: int = _MAX_ITER,
) -> LogisticClassifier:
    """A fit of few digits, as many as the folds can tell.

    Columns of nearly no penalty are long: a penalty below the rounding of their float32 products is raised.
    """
    squares = np.einsum("ij,ij->i", Z, Z, dtype=np.float64)  # by rows: nothing is copied to weigh them
    floor = _ROUNDING * float(np.sum(squares) if weight is None else weight @ squares)
    model = LogisticClassifier(max(alpha, floor), tol=_TOL, max_iter=max_iter, random_state=seed)
    return model.fit(Z, labels, weight)


#: A fold, its training rows and its test rows.
Split = tuple[int, np.ndarray, np.ndarray]


def _best_alternative(
    found: SearchResult, rows: TrainingRows, labels: np.ndarray, seed: int
) -> tuple[SearchResult, float, float, OutOfFold | None, list[Candidate]]:
    """The features, penalty and temperature with the smallest log-loss on held-out rows, and the candidates.

    Where rows are few, the features are the simplest that the log-losses of the rows cannot tell from the best. The
    probabilities of these rows are those by which sets of classes are calibrated and decisions chosen.

    Random features are cut to a few hundred. One fold is held out, every one in turn where rows are few.
    """
    splits, alternatives, simpler = _splits(rows, labels), found.alternatives(), found.simpler
    if not splits:
        return found, RELATIVE_PENALTIES[1], 1.0, None, []
    test = np.concatenate([each for *_, each in splits])

    def evaluated(found: SearchResult) -> tuple[Candidate, float, float, np.ndarray]:
        start = time.perf_counter()
        tried = _losses(found, splits, rows, labels, seed)
        loss, alpha, temperature, scores = min(tried, key=lambda each: each[:3])
        name = "logistic on " + " + ".join(block.kind for block in found.features.blocks)
        if simpler and found is simpler[0]:
            name = "the frequencies of the classes"
        candidate = Candidate("final", name, loss, time.perf_counter() - start, found.features.width)
        return candidate, alpha, temperature, scores / temperature

    tried = list(ordered_map(evaluated, alternatives))
    lowest = best = int(np.argmin([candidate.loss for candidate, *_ in tried]))
    if simpler:
        losses = [rows.counts[test] * LogLoss().value(labels[test], scores) for *_, scores in tried]
        best = len(tried) - 1 - simplest_model(losses[::-1], rows.ids[test])  # from simple to complex
    why = {best: SIMPLEST, lowest: "the smallest"}
    candidates = [
        replace(each, kept=k == best, why="log-loss of held-out rows: " + why.get(k, "not the smallest"))
        for k, (each, *_) in enumerate(tried)
    ]
    _, alpha, temperature, scores = tried[best]
    known = OutOfFold(LogLoss().class_probabilities(scores), labels[test], rows.weight_of(test))
    return alternatives[best], alpha, temperature, known, candidates


def _splits(rows: TrainingRows, labels: np.ndarray) -> list[Split]:
    """The largest fold held out, or each one where rows are few; none if a class would be missing.

    Where folds follow an order, the last one, which is predicted from most rows, takes the place of the largest.
    """
    folds, order = rows.row_folds, rows.smallest(len(rows))
    few = rows.distinct() <= FEW_LOGISTIC_ROWS
    tested = [fold for fold in folds.known if folds.is_tested(fold)]
    one = int(np.argmax(np.bincount(folds.labels, rows.counts))) if folds.is_partition else tested[-1]
    splits = []
    for fold in tested if few else [one]:
        train = order[folds.outside(fold)[order]][:TRAIN_ROWS]
        test = order[folds.inside(fold)[order]][:TEST_ROWS]
        if len(np.unique(labels[train])) <= labels.max() or len(test) == 0:
            if not folds.is_partition and len(tested) > 1 and few:
                continue  # the first of an order may have too few rows before it
            return []
        splits.append((int(fold), train, test))
    return splits


def _losses(
    found: SearchResult, splits: list[Split], rows: TrainingRows, labels: np.ndarray, seed: int
) -> list[tuple[float, float, float, np.ndarray]]:
    """(log-loss, penalty, temperature, scores) of all choices, over all the held-out rows of the splits."""
    columns, alphas = _leading(found.features), _penalties(found, rows)
    max_iter = _MAX_ITER if len(columns) * rows.Y.shape[1] < MANY_WEIGHTS else _MAX_ITER // 2
    total = dict.fromkeys(((alpha, t) for alpha in alphas for t in TEMPERATURES), 0.0)
    held_out: dict[float, list[np.ndarray]] = {alpha: [] for alpha in alphas}
    known = None
    for fold, train, test in splits:
        features = found.features.without_fold(fold)
        if features is not known:
            known, of_rows = features, _features(replace(found, features=features), columns, rows)
        Z_train, Z_test = of_rows(train), of_rows(test)
        basis = row_basis(Z_train)
        if basis is not None:
            Z_train, Z_test = Z_train @ basis, Z_test @ basis
        weight, counts = rows.weight_of(train), rows.counts[test]
        for alpha in alphas:
            model = _solved(Z_train, labels[train], alpha, seed, weight, max_iter)
            scores = model.decision_function(Z_test).astype(np.float64).reshape(len(test), -1)
            held_out[alpha].append(scores)
            for t, loss in zip(TEMPERATURES, _log_losses(scores, labels[test], counts), strict=True):
                total[alpha, t] += counts.sum() * loss
    weight = sum(rows.counts[test].sum() for *_, test in splits)
    joined = {alpha: np.concatenate(parts) for alpha, parts in held_out.items()}
    return [(loss / weight, alpha, float(t), joined[alpha]) for (alpha, t), loss in total.items()]


def _penalties(found: SearchResult, rows: TrainingRows) -> tuple[float, ...]:
    """Relative penalties worth trying."""
    alone = rows.Y.shape[1] > 2 and not found.features.has("trees")
    if alone and len(found.features.blocks) > 1:
        alphas: tuple[float, ...] = SMALL_PENALTIES
    else:
        alphas = RELATIVE_PENALTIES if found.thorough else RELATIVE_PENALTIES[1:2]
    return (*alphas, *STRONG_PENALTIES) if rows.distinct() <= FEW_LOGISTIC_ROWS else alphas


def _features(found: SearchResult, columns: np.ndarray, rows: TrainingRows) -> Callable[[np.ndarray], np.ndarray]:
    """index -> the scaled features of these rows; where rows are few, coordinates with the same inner products."""
    if rows.wide:
        return row_coordinates(scaled(found, rows.X, found.scores)[:, columns]).__getitem__

    def of_rows(index: np.ndarray) -> np.ndarray:
        scores = None if found.scores is None else found.scores[index]
        return scaled(found, rows.X[index], scores)[:, columns]

    return of_rows


def _leading(features: Features) -> np.ndarray:
    """The columns of all blocks but with the first random features only."""
    return features.leading(PAIRS_WITH_TREES if features.has("trees") else PAIRS_WITHOUT_TREES)


def _log_losses(scores: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> list[float]:
    """The mean log-loss of the scores at each of the temperatures."""
    losses = (LogLoss().value(labels, scores / t) for t in TEMPERATURES)
    total = weight.sum()
    return [float((each * weight).sum() / total) for each in losses]
