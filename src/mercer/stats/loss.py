"""Value, gradient and curvature of a loss at given weights, in one pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._numeric.hashing.rows import fold_of
from mercer._numeric.linalg.gram import aligned_empty
from mercer._numeric.linalg.scatter import FLOAT32_ROWS
from mercer.stats.base import Statistic

#: Numbers that stay in the caches, and rows that are moved to the origin as one.
_ENTRIES, _AT_ONCE = 1 << 19, 16


@dataclass(frozen=True)
class LossStep:
    """What `LossAt` says: sums over rows at weights w and intercept b (the last entry of `gradient`, `hessian`)."""

    weight: float
    value: float
    gradient: np.ndarray
    hessian: np.ndarray | None


@dataclass(frozen=True)
class LossAt(Statistic):
    """sum_i w_i loss(y_i, <z_i, coef> + intercept) with its gradient and, if asked, its Hessian.

    `loss` answers `value(y, score)`, `slope(y, score)` and `curvature(y, score)` row by row. An iterative learner
    folds once per step: Newton with the Hessian, L-BFGS without.
    """

    loss: Any
    coef: np.ndarray
    intercept: float = 0.0
    curvature: bool = False
    n: int = 0
    weight: float = 0.0
    value: float = 0.0
    gradient: Any = None
    hessian: np.ndarray | None = None

    def of(self, block):
        if len(block) == 0:
            return replace(self, n=0)
        weight = np.ones(len(block)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        score = np.asarray(block.X @ self.coef, dtype=np.float64) + self.intercept
        slope = weight * self.loss.slope(block.y, score)
        return replace(
            self,
            n=len(block),
            weight=weight.sum(),
            value=float(weight @ self.loss.value(block.y, score)),
            gradient=_with_intercept(block.X.T @ slope, slope.sum()),
            hessian=self._hessian_of(block, weight, score) if self.curvature else None,
        )

    def _hessian_of(self, block, weight, score):
        bend = weight * self.loss.curvature(block.y, score)
        if hasattr(block.X, "tocsr"):
            product = (block.X.T @ block.X.multiply(bend[:, None])).toarray()
        else:
            product = (block.X.T * bend) @ block.X
        cross = np.asarray(block.X.T @ bend)
        return np.block([[product, cross[:, None]], [cross, np.array([[bend.sum()]])]])

    def _merge(self, other):
        return replace(
            self,
            n=self.n + other.n,
            weight=self.weight + other.weight,
            value=self.value + other.value,
            gradient=self.gradient + other.gradient,
            hessian=self.hessian + other.hessian if self.curvature else None,
        )

    def finish(self) -> LossStep:
        if self.n == 0:
            raise ValueError("No rows: the loss of nothing is not defined.")
        return LossStep(self.weight, self.value, self.gradient, self.hessian)


def _with_intercept(gradient, slope):
    return np.append(np.asarray(gradient, dtype=np.float64), slope)


@dataclass(frozen=True)
class LossesStep:
    """What `LossesAt` says, one entry per model: sums over the rows it learns from, and over the rows it left out."""

    value: np.ndarray
    gradient: np.ndarray
    held_out: np.ndarray
    weight: np.ndarray
    held_out_weight: np.ndarray


@dataclass(frozen=True)
class LossesAt(Statistic):
    """Losses and gradients of several models in one pass: sum of w_i loss(y_i, (z_i - origin)' W + b) for each.

    `points` is an array (models, D + 1, outputs), the intercepts in the last row. Model k learns from the rows outside
    of fold `left_out[k]` (-1: from all rows), the folds being those of `Gram`; the loss on that fold is told too.
    `loss.value_and_slope(y, scores)` answers for scores (rows, models, outputs). Memory: one gradient per model.
    Without an origin the rows are taken as they are, and must be those of `measured_from`.

    Products run in the precision of the rows, over at most 1,024 of them at a time, and add up in float64; losses are
    computed for as many rows at once as stay in the caches.
    """

    loss: Any
    points: np.ndarray
    origin: np.ndarray | None
    left_out: np.ndarray | None = None
    n_folds: int = 1
    seed: int = 0
    n: int = 0
    sums: Any = None  # value, loss held out, and the weights of both: (4, models)
    gradient: Any = None

    def of(self, block):
        if len(block) == 0:
            return replace(self, n=0)
        models, rows_of_point, outputs = self.points.shape
        sums = np.zeros((4, models))
        gradient = np.zeros((rows_of_point, models * outputs))
        weight = None if block.weight is None else np.asarray(block.weight, dtype=np.float64)[:, None]
        learns = self._learns(block)
        flat = self.points.transpose(1, 0, 2).reshape(rows_of_point, -1)
        step = FLOAT32_ROWS * max(1, _ENTRIES // (FLOAT32_ROWS * max(rows_of_point, flat.shape[1])))
        X = block.X
        as_it_is = self.origin is None or hasattr(X, "tocsr")
        room = None if as_it_is else aligned_empty((min(step, len(block)), X.shape[1]), X.dtype)
        for start in range(0, len(block), step):
            rows = slice(start, min(start + step, len(block)))
            Z = X[rows] if room is None else _from_origin(X[rows], self.origin, room[: rows.stop - start])
            counts = (None if each is None else each[rows] for each in (weight, learns))
            self._add(sums, gradient, flat, Z, block.y[rows], *counts)
        gradient = gradient.reshape(rows_of_point, models, outputs).transpose(1, 0, 2)
        return replace(self, n=len(block), sums=sums, gradient=gradient)

    def _learns(self, block) -> np.ndarray | None:
        """Which rows each model learns from, 1 or 0; None if from all."""
        if self.left_out is None:
            return None
        fold = fold_of(block.ids, self.n_folds, self.seed)
        return (fold[:, None] != self.left_out).astype(np.float64)

    def _add(self, sums, gradient, flat, Z, y, weight, learns):
        sparse = hasattr(Z, "tocsr")
        shift = flat[-1] - self.origin @ flat[:-1] if sparse else flat[-1]
        weights = flat[:-1].astype(Z.dtype)
        spans = [slice(start, min(start + FLOAT32_ROWS, len(y))) for start in range(0, len(y), FLOAT32_ROWS)]
        scores = np.concatenate([np.asarray(Z[rows] @ weights, dtype=np.float64) for rows in spans]) + shift
        value, slope = self.loss.value_and_slope(y, scores.reshape(len(y), len(self.points), -1))
        learned, held = _counts(weight, learns)
        parts = {0: _times(learned, value), 2: np.ones((len(y), 1)) if learned is None else learned}
        if held is not None:
            parts |= {1: held * value, 3: held}
        slope = _times(None if learned is None else learned[:, :, None], slope).reshape(len(y), -1)
        small = slope.astype(Z.dtype)
        for rows in spans:
            for place, part in parts.items():
                sums[place] += np.sum(part[rows], axis=0)
            total = slope[rows].sum(axis=0)
            product = np.asarray(Z[rows].T @ small[rows], dtype=np.float64)
            gradient[:-1] += product - np.outer(self.origin, total) if sparse else product
            gradient[-1] += total

    def _merge(self, other):
        sums, gradient = self.sums + other.sums, self.gradient + other.gradient
        return replace(self, n=self.n + other.n, sums=sums, gradient=gradient)

    def finish(self) -> LossesStep:
        if self.n == 0:
            raise ValueError("No rows: the loss of nothing is not defined.")
        value, held_out, weight, held_out_weight = self.sums
        return LossesStep(value, self.gradient, held_out, weight, held_out_weight)


def _counts(weight, learns) -> tuple[np.ndarray | None, np.ndarray | None]:
    """How much rows count for those who learn from them, and for those who do not; None: all once, and none at all."""
    if learns is None:
        return weight, None
    return (learns, 1.0 - learns) if weight is None else (weight * learns, weight * (1.0 - learns))


def _times(counts, values) -> np.ndarray:
    """Values as often as they count; None: once."""
    return values if counts is None else counts * values


def measured_from(X: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """X - origin, in the precision of X, as `LossesAt` takes rows in each pass."""
    return _from_origin(X, origin, aligned_empty(X.shape, X.dtype))


def _from_origin(X, origin, Z):
    """Z = X - origin in the precision of X and in aligned memory: equal rows then have equal products, to the bit."""
    origin = origin.astype(X.dtype)
    some = len(X) - len(X) % _AT_ONCE if X.flags.c_contiguous else 0
    if some:  # short rows take NumPy less time many at once
        long = _AT_ONCE * X.shape[1]
        np.subtract(X[:some].reshape(-1, long), np.tile(origin, _AT_ONCE), out=Z[:some].reshape(-1, long))
    np.subtract(X[some:], origin, out=Z[some:])
    return Z
