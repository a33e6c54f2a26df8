"""The linear part of a model of classes, with rows so far by the second-order expansion of their log-loss.

No sums of fixed size hold the log-loss of all rows for all weights. At the weights W of the model the loss of the rows
so far is, to second order (Laplace),

    sum over the outputs o of  w_o' H_o w_o / 2 - b_o' w_o,     H_o = sum of p_o (1 - p_o) z z',

z with a last entry of one for the intercept. New rows enter exactly: Newton steps minimize the sum of both and of the
penalties, which stay as they were. The sums then take the new rows in, at the weights that were found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer._runtime.errors import MercerError
from mercer.auto.features.union import Features
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.training import TrainingRows
from mercer.auto.updates.features import features_of
from mercer.auto.updates.packed import packed, unpacked
from mercer.linear.losses import LogLoss
from mercer.linear.ridge.bounded import BoundedQuadratic

_BATCH_ROWS = 1024
_MAX_STEPS, _TOL = 50, 1e-10


@dataclass
class ClassState:
    """Curvatures H_o as triangles, linear terms b, the number of rows so far, and signs of weights if asked for."""

    n: int
    triangles: np.ndarray
    b: np.ndarray
    signs: np.ndarray | None = None

    @staticmethod
    def n_matrices(predictor: Predictor) -> int:
        return predictor.coef.shape[1]

    @classmethod
    def of(
        cls, predictor: Predictor, rows: TrainingRows, folds: np.ndarray, target: Any, signs: np.ndarray | None
    ) -> ClassState:
        W = _weights(predictor)
        H, b = _expansion(predictor.features, rows, folds, W)
        # At its minimum the gradient of the penalized loss is zero: b is such that it is exactly so.
        b = np.column_stack([H[o] @ W[:, o] for o in range(W.shape[1])]) + 2 * _penalties(predictor)[:, None] * W
        return cls(len(rows), packed(H), b, signs)

    def numbers(self, y: np.ndarray) -> np.ndarray:
        """Class numbers, as a column."""
        return np.asarray(y, dtype=np.int64).reshape(-1, 1)

    def changed(
        self, predictor: Predictor, rows: TrainingRows, folds: np.ndarray, sign: int
    ) -> tuple[ClassState, Predictor]:
        """The expansion and the model with rows added (sign 1) or taken away (sign -1)."""
        W, n = _weights(predictor), self.n + sign * len(rows)
        if n < 2:
            raise MercerError(f"{max(n, 0)} rows would be left, too few for a model.", remedy="Fit a new one.")
        H = unpacked(self.triangles, len(W))
        penalties = _penalties(predictor)
        Z, codes, weight = _rows(predictor.features, rows, folds)
        if sign > 0:
            W = _minimized(W, (H, self.b), (Z, codes, weight), penalties, self.signs)
        more_H, more_b = _of_rows(Z, codes, weight, W)
        H, b = H + sign * more_H, self.b + sign * more_b
        if sign < 0:
            W = np.column_stack([_solved(H[o], b[:, o], penalties, self.signs) for o in range(W.shape[1])])
        made = replace(predictor, coef=W[:-1].copy(), intercept=W[-1].copy())
        return ClassState(n, packed(H), b, self.signs), made


def _weights(predictor: Predictor) -> np.ndarray:
    return np.vstack([predictor.coef, np.atleast_1d(predictor.intercept)])


def _penalties(predictor: Predictor) -> np.ndarray:
    return np.append(predictor.alpha * predictor.penalties[predictor.features.block_of_column], 0.0)


def _rows(features: Features, rows: TrainingRows, folds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features with a column of ones, class numbers and weights."""
    Z = np.ones((len(rows), features.width + 1))
    for start in range(0, len(rows), _BATCH_ROWS):
        span = slice(start, start + _BATCH_ROWS)
        Z[span, :-1] = features_of(features, rows.X[span], folds[span])
    return Z, rows.Y[:, 0].astype(np.int64), rows.counts


def _expansion(features: Features, rows: TrainingRows, folds: np.ndarray, W: np.ndarray) -> tuple[Any, Any]:
    H, b = np.zeros((W.shape[1], len(W), len(W))), np.zeros_like(W)
    for start in range(0, len(rows), 16 * _BATCH_ROWS):
        some = np.arange(start, min(start + 16 * _BATCH_ROWS, len(rows)))
        more = _of_rows(*_rows(features, rows.at(some), folds[some]), W)
        H, b = H + more[0], b + more[1]
    return H, b


def _of_rows(Z: np.ndarray, codes: np.ndarray, weight: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """H and b of some rows at the weights W."""
    scores = Z @ W
    p = LogLoss().probabilities(scores)
    gradient = Z.T @ (weight[:, None] * LogLoss().value_and_gradient(codes, scores)[1])
    H = np.stack([(Z * (weight * q * (1 - q))[:, None]).T @ Z for q in p.T])
    return H, np.column_stack([H[o] @ W[:, o] for o in range(W.shape[1])]) - gradient


def _minimized(W: np.ndarray, old: tuple, new: tuple, penalties: np.ndarray, signs: np.ndarray | None) -> np.ndarray:
    """Newton steps, output by output, on the expansion of old rows, the log-loss of new ones and the penalties."""
    (H, b), (Z, codes, weight) = old, new

    def value(V: np.ndarray) -> float:
        past = sum(0.5 * V[:, o] @ H[o] @ V[:, o] - b[:, o] @ V[:, o] for o in range(V.shape[1]))
        return float(past + weight @ LogLoss().value(codes, Z @ V) + np.sum(penalties[:, None] * V**2))

    now = value(W)
    for _ in range(_MAX_STEPS):
        more_H, more_b = _of_rows(Z, codes, weight, W)
        targets = [_solved(H[o] + more_H[o], b[:, o] + more_b[:, o], penalties, signs) for o in range(W.shape[1])]
        step, t = np.column_stack(targets) - W, 1.0
        while t > 1e-6 and not (then := value(W + t * step)) <= now:
            t *= 0.5
        if t <= 1e-6:
            break
        W, gain, now = W + t * step, now - then, then
        if gain <= _TOL * max(abs(now), 1.0):
            break
    return W


def _solved(H: np.ndarray, b: np.ndarray, penalties: np.ndarray, signs: np.ndarray | None) -> np.ndarray:
    """The minimum of w' H w / 2 - b' w + sum of penalty_j w_j^2, within the bounds on signs."""
    M = H.copy()
    floor = 1e-12 * float(np.trace(H)) / len(H)
    M.flat[:: len(M) + 1] += 2 * penalties + floor
    try:
        if signs is not None and np.any(signs):
            return BoundedQuadratic(M, np.append(signs, 0)).minimum(b)
        return dense.cho_solve(dense.cho_factor(M), b)
    except np.linalg.LinAlgError:
        raise MercerError(
            "So little would be left of the rows that their sums are no longer positive.",
            remedy="Fit a new model to the rows that are left.",
        ) from None
