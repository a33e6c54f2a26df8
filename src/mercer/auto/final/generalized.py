"""The final linear model of a loss that was asked for: absolute, Huber, quantile, Poisson, gamma or Tweedie.

Features and the penalties of their blocks are those of the search. Half of a penalty of the squared error, times the
mean curvature of the loss, is the penalty with the same effect; held-out rows choose a multiple of that.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from mercer._numeric.linalg.weighted import weighted_quantile
from mercer._runtime.pool import for_each
from mercer.auto.budget.clock import Clock
from mercer.auto.conformal.calibration import IntervalCalibration
from mercer.auto.constants import (
    FEW_LOGISTIC_ROWS,
    GENERALIZED_MULTIPLES,
    GENERALIZED_TEST,
    GENERALIZED_TRAIN,
    PAIRS_WITH_TREES,
    PAIRS_WITHOUT_TREES,
)
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.final.predictor import Predictor
from mercer.auto.final.response import Response, robust_scale
from mercer.auto.rows.encoding import EncodedRows
from mercer.auto.rows.targets import NumericTarget
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.state import Candidate, SearchResult, TreeSearch
from mercer.linear.optimize.generalized import LinearPoint, RowProblem, minimize_loss
from mercer.linear.regression_losses import HuberLoss, PinballLoss, ScoreLoss
from mercer.linear.ridge.fold_loss import GramFoldLoss
from mercer.linear.ridge.penalties import best_penalties

_BATCH_ROWS = 4096
#: Bandwidths of the smoothed pinball loss, in standard deviations of the residuals: the first, and bounds on the last.
_WIDE, _MIN_BANDWIDTH, _MAX_BANDWIDTH = 0.5, 0.05, 0.3
#: Tolerances of the fits that penalties are chosen by, and of the final one.
_PATH_TOL, _TOL = 1e-4, 1e-6
#: Multiplications that the Hessians of all folds may take where each fold is held out in turn.
_MAX_PRODUCTS = 1e9


def fit_generalized(
    found: SearchResult,
    rows: TrainingRows,
    target: NumericTarget,
    like: Predictor | None = None,
    clock: Clock | None = None,
) -> tuple[Predictor, list[Candidate]]:
    """Fit the loss of the target's response; with the penalties of another model, `like`, where it is given."""
    response: Response = target.response
    tried: list[Candidate] = []
    calibration = None
    if like is not None:
        multiples, calibration = np.atleast_1d(like.alpha), like.calibration
    elif clock is not None and not clock.allows(0.9):
        multiples = np.ones(response.n_outputs)
    else:
        found, multiples, calibration, tried = _best_alternative(found, rows, target)
    problem = RowProblem(
        training_features(found, rows), target.response_of(rows.Y), rows.weight, column_signs(found, rows)
    )
    solver = PathSolver(problem, found.penalties[found.features.block_of_column], found.score.loss, response)
    points = [solver.solve(k, (multiple,))[0] for k, multiple in enumerate(multiples)]
    coef, intercept = _scores_of(points, target)
    known = (None, found.penalties, multiples)
    made = Predictor(found.features, coef, intercept, *known, calibration=calibration, result=found, response=response)
    return made, tried


def column_signs(found: SearchResult, rows: TrainingRows) -> np.ndarray | None:
    """The sign that each feature's weight must have for monotone columns; None if there are none."""
    if rows.signs is None or not np.any(rows.signs):
        return None
    return np.concatenate([block.weight_signs(rows.signs) for block in found.features.blocks])


def _scores_of(points: list[LinearPoint], target: NumericTarget) -> tuple[np.ndarray, np.ndarray]:
    """Weights and intercepts of scores in the units of the target, or of its logarithm."""
    coef = np.column_stack([point.coef for point in points])
    intercept = np.array([point.intercept for point in points])
    if target.log_link:
        return coef, intercept + np.log(target.unit)
    return coef * target.scale, intercept * target.scale + target.mean


def constant_response(rows: TrainingRows, target: NumericTarget, features: Features) -> Predictor:
    """The best constant, for too few distinct rows or a constant target."""
    y, response = target.response_of(rows.Y), target.response
    none = np.zeros(features.width)
    constants = [loss.constant(y, rows.weight) for loss in response.losses(y, rows.weight)]
    coef, intercept = _scores_of([LinearPoint(none, each, none) for each in constants], target)
    return Predictor(features, coef, intercept, None, np.ones(1), np.ones(len(constants)), response=response)


def linear_generalized(encoded: EncodedRows, seed: int) -> Predictor:
    """The linear model of the encoded columns by the same loss, with its best penalty by ridge regression."""
    target = encoded.response.target(encoded.y, encoded.weight)
    rows = TrainingRows(encoded.X, target.numbers(encoded.y), encoded.ids, seed, weight=encoded.weight)
    features = Features([LinearBlock(encoded.X.shape[1])])
    if len(np.unique(rows.folds)) < 2 or not np.any(rows.Y):
        return constant_response(rows, target, features)
    gram = rows.gram(features.over(rows.X))
    penalties, score = best_penalties(GramFoldLoss(gram, features.block_of_column))
    found = SearchResult(features, penalties, score, TreeSearch())
    return fit_generalized(found, rows, target)[0]


@dataclass
class PathSolver:
    """Fits of one problem for several multiples of the penalties.

    penalties : of the squared error, one for each column; variance : the K-fold squared error
    """

    problem: RowProblem
    penalties: np.ndarray
    variance: float
    response: Response

    @property
    def _deviation(self) -> float:
        """The standard deviation of the residuals of ridge regression."""
        return float(np.sqrt(max(self.variance, 1e-12)))

    def solve(self, output: int, multiples: tuple[float, ...], tol: float = _TOL) -> list[LinearPoint]:
        """The models of an output, one for each multiple: the largest is fitted first, each starts from the last."""
        y, weight = self.problem.y, self.problem.weight
        penalties = self.penalties / 2
        made: dict[float, LinearPoint] = {}
        point: LinearPoint | None = None
        for multiple in sorted(multiples, reverse=True):
            for loss in self._losses(output, point):
                start = self.problem.start(loss) if point is None else point
                curvature = float(np.average(loss.curvature(y, start.scores), weights=weight))
                point = minimize_loss(self.problem, loss, multiple * curvature * penalties, start, tol)
            assert point is not None  # there is a loss
            made[multiple] = self._exact(output, point)
        return [made[multiple] for multiple in multiples]

    def _losses(self, output: int, known: LinearPoint | None) -> list[ScoreLoss]:
        """The losses to minimize one after the other: less and less smooth pinball losses, or the one there is."""
        y, weight = self.problem.y, self.problem.weight
        residual = y if known is None else y - known.scores
        loss = self.response.losses(residual, weight)[output]
        if isinstance(loss, HuberLoss) and known is None:  # then once more with the scale of the residuals
            return [loss, *self._rescaled(loss)]
        if not isinstance(loss, PinballLoss):
            return [loss]
        scale = self._deviation if known is None else robust_scale(residual, weight)
        last = replace(loss, bandwidth=float(scale * self._bandwidth()))
        return [replace(loss, bandwidth=float(_WIDE * scale)), last] if known is None else [last]

    def _rescaled(self, loss: HuberLoss) -> list[ScoreLoss]:
        return [replace(loss, delta=loss.delta * min(1.0, self._deviation))]

    def _bandwidth(self) -> float:
        """((log n + p) / n)^(2/5) (He, Pan, Tan, Zhou 2023), p the number of features that penalties leave free."""
        n = len(self.problem.y)
        ratio = (np.log(n) + min(self.problem.Z.shape[1], np.sqrt(n))) / n
        return float(np.clip(ratio**0.4, _MIN_BANDWIDTH, _MAX_BANDWIDTH))

    def _exact(self, output: int, point: LinearPoint) -> LinearPoint:
        """The model with the intercept that the loss itself, not a smooth one, has its minimum at."""
        if not self.response.levels:
            return point
        level = self.response.levels[output]
        shift = weighted_quantile(self.problem.y - point.scores, level, self.problem.weight)
        return LinearPoint(point.coef, point.intercept + shift, point.scores + shift)


def training_features(found: SearchResult, rows: TrainingRows, index: np.ndarray | None = None) -> np.ndarray:
    """The features of training rows in float32."""
    X = rows.X if index is None else rows.X[index]
    scores = found.scores if index is None or found.scores is None else found.scores[index]
    Z, of_rows = np.empty((len(X), found.features.width), dtype=np.float32), found.features.over(X, scores)
    spans = [slice(start, start + _BATCH_ROWS) for start in range(0, len(X), _BATCH_ROWS)]

    def fill(span: slice) -> None:
        Z[span] = of_rows(span)

    for_each(fill, spans)
    return Z


def splits_of(rows: TrainingRows, width: int) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """(fold, training rows, test rows): the largest fold held out, or several in turn where rows are few."""
    folds, order = rows.folds, rows.smallest(len(rows))
    few = rows.distinct() <= FEW_LOGISTIC_ROWS
    n_folds = max(1, int(_MAX_PRODUCTS / (len(rows) * max(width, 1) ** 2))) if few else 1
    found = []
    for fold in np.argsort(-np.bincount(folds, rows.counts), kind="stable")[:n_folds]:
        held_out = folds[order] == fold
        if held_out.any():
            found.append((int(fold), order[~held_out][:GENERALIZED_TRAIN], order[held_out][:GENERALIZED_TEST]))
    return found


def _best_alternative(
    found: SearchResult, rows: TrainingRows, target: NumericTarget
) -> tuple[SearchResult, np.ndarray, IntervalCalibration | None, list[Candidate]]:
    """The features and, for each output, the multiple of the penalties of smallest loss on held-out rows.

    The residuals of these rows are the calibration of intervals.
    """
    splits = splits_of(rows, len(_leading(found.features)))
    tried = []
    for other in found.alternatives():
        start = time.perf_counter()
        losses, scores = _held_out(other, splits, rows, target)
        best = losses.argmin(axis=0)
        name = " + ".join(block.kind for block in other.features.blocks)
        seconds, loss = time.perf_counter() - start, float(losses.min(axis=0).mean())
        candidate = Candidate("final", f"{target.response.loss} loss on {name}", loss, seconds, other.features.width)
        chosen = np.column_stack([scores[best[k]][:, k] for k in range(scores.shape[2])])
        tried.append((candidate, other, np.array(GENERALIZED_MULTIPLES)[best], chosen))
    k = int(np.argmin([candidate.loss for candidate, *_ in tried]))
    why = f"{target.response.loss} loss of held-out rows: "
    candidates = [
        replace(each, kept=i == k, why=why + ("the smallest" if i == k else "not the smallest"))
        for i, (each, *_) in enumerate(tried)
    ]
    _, best_found, multiples, chosen = tried[k]
    test = np.concatenate([part for *_, part in splits])
    return best_found, multiples, _calibration(chosen, rows, target, test), candidates


def _held_out(
    found: SearchResult, splits: list[tuple[int, np.ndarray, np.ndarray]], rows: TrainingRows, target: NumericTarget
) -> tuple[np.ndarray, np.ndarray]:
    """Mean losses (multiples, outputs) of held-out rows, and their scores (multiples, rows, outputs)."""
    response, y = target.response, target.response_of(rows.Y)
    columns, signs = _leading(found.features), column_signs(found, rows)
    total, scores = np.zeros((len(GENERALIZED_MULTIPLES), response.n_outputs)), []
    for fold, train, test in splits:
        part = replace(found, features=found.features.without_fold(fold))
        problem = RowProblem(
            training_features(part, rows, train)[:, columns], y[train], rows.weight_of(train),
            None if signs is None else signs[columns],
        )  # fmt: skip
        solver = PathSolver(
            problem, found.penalties[found.features.block_of_column[columns]], found.score.loss, response
        )
        Z = training_features(part, rows, test)[:, columns].astype(np.float64)
        losses = response.losses(y[train] - (0 if target.log_link else np.median(y[train])), rows.weight_of(train))
        out = np.empty((len(GENERALIZED_MULTIPLES), len(test), response.n_outputs))
        for k, loss in enumerate(losses):
            for m, point in enumerate(solver.solve(k, GENERALIZED_MULTIPLES, _PATH_TOL)):
                out[m, :, k] = Z @ point.coef + point.intercept
                total[m, k] += float(rows.counts[test] @ loss.value(y[test], out[m, :, k]))
        scores.append(out)
    weight = sum(float(rows.counts[test].sum()) for *_, test in splits)
    return total / weight, np.concatenate(scores, axis=1)


def _leading(features: Features) -> np.ndarray:
    """The columns of all blocks but with the first random features only."""
    return features.leading(PAIRS_WITH_TREES if features.has("trees") else PAIRS_WITHOUT_TREES)


def _calibration(
    scores: np.ndarray, rows: TrainingRows, target: NumericTarget, test: np.ndarray
) -> IntervalCalibration:
    """Split conformal intervals of constant width from predictions of held-out rows."""
    y = target.response_of(rows.Y[test])
    if target.log_link:
        y, scores = y * target.unit, scores + np.log(target.unit)
    else:
        y, scores = y * target.scale + target.mean, scores * target.scale + target.mean
    residuals = y - target.response.predictions_of(scores)
    return IntervalCalibration.split(residuals[:, None], rows.weight_of(test))
