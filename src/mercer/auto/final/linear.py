"""The linear model on the features that a search found: ridge for a quantity, logistic regression for classes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from mercer._runtime.pool import for_each, ordered_map
from mercer.auto.budget.effort import Clock
from mercer.auto.budget.time_model import LogisticPace
from mercer.auto.features.blocks import Dictionary
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.training import N_FOLDS, Rows
from mercer.auto.search.equations import row_space_loss
from mercer.auto.search.evaluation import Candidate
from mercer.auto.search.search import Found
from mercer.linear import LogisticClassifier
from mercer.linear.ridge.fold_loss import FoldLoss, GramFoldLoss
from mercer.linear.ridge.row_space import row_basis, row_coordinates

_ROWS = 4096
#: Penalties of the logistic loss to try, relative to those of the squared error. Near even odds the logistic loss of
#: a score is an eighth of the squared error of targets four apart, so an eighth is where the two agree.
_LOGISTIC = (1 / 64, 1 / 16, 1 / 4)
#: The same for several classes without trees: where classes are told apart well, odds are anything but even.
_SMALL = (1 / 1024, 1 / 256, 1 / 64)
#: Rows that penalty and temperature are chosen on: to learn from, and to be told apart on.
_TRAIN, _TEST = 6000, 4000
_TEMPERATURES = np.geomspace(0.7, 2.0, 22)
_TOL, _STEPS = 1e-3, 24
_ROUNDING = 1e-7
#: From so many weights on, a penalty is chosen by half as many steps.
_LARGE = 4000
#: Pairs of waves that penalty and temperature are chosen with, beside trees and without them.
_FEW, _MANY = 192, 512
#: Up to so many rows, each fold is held out in turn, and stronger penalties are tried: classes may well be separable.
_FEW_ROWS = 1500
_STRONG = (1.0, 8.0)


def fit_head(found, equations, rows, labels, target, seed, like: Predictor | None = None, clock=None) -> Predictor:
    if labels is None:
        coef, intercept = (equations or _equations(found, rows)).weights(found.penalties)
        coef, intercept = coef * target.scale, intercept * target.scale + target.mean
        return Predictor(found.dictionary, coef, intercept, None, found.penalties, found=found)
    with warnings.catch_warnings():  # here, not where threads fit: warnings are filtered for all threads at once
        warnings.simplefilter("ignore", ConvergenceWarning)
        return _logistic(found, rows, labels, target, seed, like, clock)


def _equations(found: Found, rows: Rows) -> FoldLoss:
    if rows.few:
        return row_space_loss(rows, found.dictionary, found.scores)
    return GramFoldLoss(rows.gram(found.dictionary.over(rows.X, found.scores)), found.dictionary.block_of_column)


def _logistic(found, rows, labels, target, seed, like, clock=None) -> Predictor:
    """Multinomial logistic regression on columns divided by the roots of their penalties, with a temperature.

    The choices so far were those of the squared error: whether fewer blocks do better by the logistic loss is asked
    once more, and then they are all there is.
    """
    steps, late = _steps_in_time(found, rows, clock)
    if like is not None:
        alpha, temperature = like.alpha, like.temperature
    elif late:
        alpha, temperature = _LOGISTIC[1], 1.0
    else:
        found, alpha, temperature = _chosen_head(found.rivals(), rows, labels, seed)
    Z, scale = scaled(found, rows.X, found.scores), column_scales(found)
    basis = row_basis(Z)
    model = _solved(Z if basis is None else Z @ basis, labels, alpha, seed, rows.weight, steps)
    weights = model.coef_.T if basis is None else basis @ model.coef_.T
    coef = weights * scale[:, None].astype(np.float64)
    return Predictor(
        found.dictionary, coef, model.intercept_, target.classes, found.penalties, alpha, temperature, found=found
    )


def _steps_in_time(found, rows: Rows, clock: Clock | None) -> tuple[int, bool]:
    """Steps that there is time for, and whether there is none to choose a penalty as well."""
    if clock is None or clock.budget is None:
        return _STEPS, False
    pace = LogisticPace.of(found.dictionary.over(rows.X, found.scores), len(rows), rows.Y.shape[1], clock)
    narrow = sum(len(_narrow(rival.dictionary)) for rival in found.rivals()) / max(found.dictionary.width, 1)
    few = rows.distinct() <= _FEW_ROWS  # then every fold is held out in turn, for more penalties
    fits = N_FOLDS * (len(_LOGISTIC) + len(_STRONG)) if few else len(_LOGISTIC)
    chosen = fits * (1 + narrow) * pace.seconds(min(len(rows), _TRAIN + _TEST), _STEPS)
    late = chosen + pace.seconds(len(rows), _STEPS) > clock.left()
    return (pace.steps(len(rows), clock.left(), _STEPS) if late else _STEPS), late


def column_scales(found: Found) -> np.ndarray:
    """One over the root of each column's penalty."""
    return (1.0 / np.sqrt(found.penalties))[found.dictionary.block_of_column].astype(np.float32)


def scaled(found: Found, X: np.ndarray, scores) -> np.ndarray:
    """All features of the rows X, each divided by the root of its penalty; `scores` stand in for the trees'."""
    Z, scale = np.empty((len(X), found.dictionary.width), dtype=np.float32), column_scales(found)
    features = found.dictionary.over(X, scores)
    spans = [slice(start, start + _ROWS) for start in range(0, len(X), _ROWS)]
    for_each(lambda span: np.multiply(features(span), scale, out=Z[span]), spans)
    return Z


def _solved(Z, labels, alpha, seed, weight=None, steps=_STEPS) -> LogisticClassifier:
    """A quick fit: the search has no use for more digits than the folds can tell apart.

    Columns of nearly no penalty are long: a penalty that drowns in the rounding of their float32 products is raised.
    """
    squares = np.einsum("ij,ij->i", Z, Z, dtype=np.float64)  # by rows: nothing is copied to weigh them
    floor = _ROUNDING * float(np.sum(squares) if weight is None else weight @ squares)
    model = LogisticClassifier(max(alpha, floor), tol=_TOL, max_iter=steps, random_state=seed)
    return model.fit(Z, labels, weight)


def _chosen_head(heads: list[Found], rows: Rows, labels, seed) -> tuple[Found, float, float]:
    """The dictionary, penalty and temperature with the least log loss on held-out rows, waves cut to a few hundred.

    One fold is held out, every one in turn where rows are few.
    """
    folds, order = rows.folds, rows.smallest(len(rows))
    few = rows.distinct() <= _FEW_ROWS
    asked = np.unique(folds) if few else [np.argmax(np.bincount(folds, rows.counts))]
    parts = []
    for fold in asked:
        held = folds[order] == fold
        train, test = order[~held][:_TRAIN], order[held][:_TEST]
        if len(np.unique(labels[train])) <= labels.max() or len(test) == 0:
            return heads[0], _LOGISTIC[1], 1.0
        parts.append((int(fold), train, test))

    def least(head: Found) -> tuple[Candidate, float, float]:
        start = time.perf_counter()
        loss, alpha, temperature = min(_losses(head, parts, rows, labels, seed))
        name = " + ".join(block.kind for block in head.dictionary.blocks)
        seconds = time.perf_counter() - start
        return Candidate("head", f"logistic on {name}", loss, seconds, head.dictionary.width), alpha, temperature

    best = list(ordered_map(least, heads))
    place = int(np.argmin([tried.loss for tried, *_ in best]))
    for k, (tried, *_) in enumerate(best):
        tried.kept = k == place
        tried.why = "log loss of held-out rows: " + ("the least" if k == place else "not the least")
        heads[0].candidates.append(tried)
    return heads[place], *best[place][1:]


def _losses(head: Found, parts, rows: Rows, labels, seed):
    """(log loss, penalty, temperature) of all choices, over all the held-out rows of the parts."""
    columns = _narrow(head.dictionary)
    alone = rows.Y.shape[1] > 2 and not any(block.kind == "score" for block in head.dictionary.blocks)
    alphas = _SMALL if alone and len(head.dictionary.blocks) > 1 else _LOGISTIC if head.thorough else _LOGISTIC[1:2]
    alphas = (*alphas, *_STRONG) if rows.distinct() <= _FEW_ROWS else alphas
    steps = _STEPS if len(columns) * rows.Y.shape[1] < _LARGE else _STEPS // 2
    total = dict.fromkeys(((alpha, t) for alpha in alphas for t in _TEMPERATURES), 0.0)
    known = None
    for fold, train, test in parts:
        dictionary = head.dictionary.without(fold)
        if dictionary is not known:
            known, features = dictionary, _features(replace(head, dictionary=dictionary), columns, rows)
        Z_train, Z_test = features(train), features(test)
        basis = row_basis(Z_train)
        if basis is not None:
            Z_train, Z_test = Z_train @ basis, Z_test @ basis
        weight, counts = rows.weight_of(train), rows.counts[test]
        for alpha in alphas:
            model = _solved(Z_train, labels[train], alpha, seed, weight, steps)
            scores = model.decision_function(Z_test).astype(np.float64).reshape(len(test), -1)
            for t, loss in zip(_TEMPERATURES, _log_losses(scores, labels[test], counts), strict=True):
                total[alpha, t] += counts.sum() * loss
    heavy = sum(rows.counts[test].sum() for *_, test in parts)
    return [(loss / heavy, alpha, float(t)) for (alpha, t), loss in total.items()]


def _features(head: Found, columns: np.ndarray, rows: Rows) -> Callable[[np.ndarray], np.ndarray]:
    """places -> the scaled features of these rows, of which only products matter: where rows are few, coordinates."""
    if rows.wide:
        return row_coordinates(scaled(head, rows.X, head.scores)[:, columns]).__getitem__
    return lambda places: scaled(head, rows.X[places], None if head.scores is None else head.scores[places])[:, columns]


def _narrow(dictionary: Dictionary) -> np.ndarray:
    """The columns of all blocks but with the first waves only (a shorter map is the beginning of a longer one)."""
    chosen = []
    most = _FEW if any(block.kind == "score" for block in dictionary.blocks) else _MANY
    for block, columns in zip(dictionary.blocks, dictionary.slices(), strict=True):
        places = np.arange(columns.start, columns.stop)
        if block.kind == "waves" and block.width > 2 * most:
            half = block.width // 2
            places = np.concatenate([places[:most], places[half : half + most]])
        chosen.append(places)
    return np.concatenate(chosen)


def _log_losses(scores, labels, weight) -> list[float]:
    """The mean log loss of the scores at each of the temperatures."""
    if scores.shape[1] == 1:
        against = np.where(labels > 0, -scores[:, 0], scores[:, 0])
        losses = (np.logaddexp(0, against / t) for t in _TEMPERATURES)
    else:
        own = scores[np.arange(len(scores)), labels]
        losses = (logsumexp(scores / t, axis=1) - own / t for t in _TEMPERATURES)
    total = weight.sum()
    return [float((each * weight).sum() / total) for each in losses]
