"""Value, gradient and Hessian of a loss at given weights, in one pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer._numeric.linalg.gram import aligned_empty
from mercer._numeric.linalg.scatter import FLOAT32_ROWS
from mercer.stats.base import Statistic

#: Entries that stay in the caches, and rows that are shifted together.
_ENTRIES, _ROWS_TOGETHER = 1 << 19, 16


@dataclass(frozen=True)
class LossStep:
    """The result of `LossAt`: sums over rows at weights w and intercept b (the last entry of `gradient`, `hessian`)."""

    weight: float
    value: float
    gradient: np.ndarray
    hessian: np.ndarray | None


@dataclass(frozen=True)
class LossAt(Statistic):
    """sum_i w_i loss(y_i, <z_i, coef> + intercept) with its gradient and, with `curvature`, its Hessian.

    `loss` has `value(y, score)`, `gradient(y, score)` and `curvature(y, score)`, row by row. An iterative learner
    folds once per step: Newton with the Hessian, L-BFGS without.

    Use it in an iterative learner of one model. For several models, penalties or folds at once use `LossesAt`.

    >>> from mercer.linear.losses import Logistic
    >>> from mercer.source import MemorySource
    >>> rows = MemorySource(np.array([[1.0], [2.0], [-1.0]]), np.array([1.0, 1.0, -1.0]))
    >>> step = rows.fold(LossAt(Logistic(), np.zeros(1))).finish()
    >>> round(step.value, 3), step.gradient.tolist()
    (2.079, [-2.0, -0.5])
    """

    loss: Any
    coef: np.ndarray
    intercept: float = 0.0
    curvature: bool = False
    n: int = 0
    weight: float = 0.0
    value: float = 0.0
    gradient: Any = None
    hessian: Any = None

    def of(self, block: Block) -> Self:
        if len(block) == 0:
            return replace(self, n=0)
        weight = np.ones(len(block)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        score = np.asarray(block.X @ self.coef, dtype=np.float64) + self.intercept
        gradient = weight * self.loss.gradient(block.y, score)
        return replace(
            self,
            n=len(block),
            weight=weight.sum(),
            value=float(weight @ self.loss.value(block.y, score)),
            gradient=_with_intercept(block.X.T @ gradient, gradient.sum()),
            hessian=self._hessian_of(block, weight, score) if self.curvature else None,
        )

    def _hessian_of(self, block: Block, weight: np.ndarray, score: np.ndarray) -> np.ndarray:
        curvature = weight * self.loss.curvature(block.y, score)
        if hasattr(block.X, "tocsr"):
            product = (block.X.T @ block.X.multiply(curvature[:, None])).toarray()
        else:
            product = (block.X.T * curvature) @ block.X
        cross = np.asarray(block.X.T @ curvature)
        return np.block([[product, cross[:, None]], [cross, np.array([[curvature.sum()]])]])

    def _merge(self, other: Self) -> Self:
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
            raise ValueError("No rows: the loss of an empty data set is undefined.")
        return LossStep(self.weight, self.value, self.gradient, self.hessian)


def _with_intercept(gradient: np.ndarray, intercept: float) -> np.ndarray:
    return np.append(np.asarray(gradient, dtype=np.float64), intercept)


@dataclass(frozen=True)
class LossesStep:
    """The result of `LossesAt`, one entry per model: sums over its training rows, and over its held-out rows."""

    value: np.ndarray
    gradient: np.ndarray
    held_out: np.ndarray
    weight: np.ndarray
    held_out_weight: np.ndarray


@dataclass(frozen=True)
class LossesAt(Statistic):
    """Losses and gradients of several models in one pass: sum of w_i loss(y_i, (z_i - origin)' W + b) for each.

    `points` is an array (models, D + 1, outputs), the intercepts in the last row. Model k is trained on the rows
    outside fold `left_out[k]` (-1: on all rows), the folds being those of `Gram`; the loss on that fold is summed as
    well. `loss.value_and_gradient(y, scores)` takes scores (rows, models, outputs). Memory: one gradient per model.
    Without an origin the rows are used as they are, and must be those of `measured_from`.

    Products run in the precision of the rows, over at most 1,024 of them at a time, and are summed in float64; losses
    are computed for as many rows at once as stay in the caches.

    Use it where many models advance on the same pass, as for a path of penalties with cross-validation. A single model
    with a Hessian needs `LossAt` instead.

    >>> from mercer.linear.losses import LogLoss
    >>> from mercer.source import MemorySource
    >>> rows = MemorySource(np.array([[1.0], [2.0], [-1.0]]), np.array([1, 1, 0]))
    >>> points = np.array([[[0.0], [0.0]], [[1.0], [0.0]]])  # two models: weight 0 and weight 1, no intercepts
    >>> rows.fold(LossesAt(LogLoss(), points, np.zeros(1))).finish().value.round(3).tolist()
    [2.079, 0.753]
    """

    loss: Any
    points: np.ndarray
    origin: Any
    left_out: np.ndarray | None = None
    n_folds: int = 1
    seed: int = 0
    n: int = 0
    sums: Any = None  # loss of training rows and of held-out rows, and the weights of both: (4, models)
    gradient: Any = None

    def of(self, block: Block) -> Self:
        if len(block) == 0:
            return replace(self, n=0)
        models, rows_of_point, outputs = self.points.shape
        sums = np.zeros((4, models))
        gradient = np.zeros((rows_of_point, models * outputs))
        weight = None if block.weight is None else np.asarray(block.weight, dtype=np.float64)[:, None]
        trains = self._trains(block)
        flat = self.points.transpose(1, 0, 2).reshape(rows_of_point, -1)
        step = FLOAT32_ROWS * max(1, _ENTRIES // (FLOAT32_ROWS * max(rows_of_point, flat.shape[1])))
        X = block.X
        unshifted = self.origin is None or hasattr(X, "tocsr")
        buffer = None if unshifted else aligned_empty((min(step, len(block)), X.shape[1]), X.dtype)
        for start in range(0, len(block), step):
            rows = slice(start, min(start + step, len(block)))
            Z = X[rows] if buffer is None else _from_origin(X[rows], self.origin, buffer[: rows.stop - start])
            part = (None if each is None else each[rows] for each in (weight, trains))
            self._add(sums, gradient, flat, Z, np.asarray(block.y)[rows], *part)
        gradient = gradient.reshape(rows_of_point, models, outputs).transpose(1, 0, 2)
        return replace(self, n=len(block), sums=sums, gradient=gradient)

    def _trains(self, block: Block) -> np.ndarray | None:
        """Return 1 for the training rows of each model and 0 for the others; None if all rows are."""
        if self.left_out is None:
            return None
        fold = fold_of(block.ids, self.n_folds, self.seed)
        return (fold[:, None] != self.left_out).astype(np.float64)

    def _add(
        self,
        sums: np.ndarray,
        gradient: np.ndarray,
        flat: np.ndarray,
        Z: Any,
        y: np.ndarray,
        weight: np.ndarray | None,
        trains: np.ndarray | None,
    ) -> None:
        """Add the losses and gradients of some rows."""
        sparse = hasattr(Z, "tocsr")
        shift = flat[-1] - self.origin @ flat[:-1] if sparse else flat[-1]
        weights = flat[:-1].astype(Z.dtype)
        spans = [slice(start, min(start + FLOAT32_ROWS, len(y))) for start in range(0, len(y), FLOAT32_ROWS)]
        scores = np.concatenate([np.asarray(Z[rows] @ weights, dtype=np.float64) for rows in spans]) + shift
        value, gradients = self.loss.value_and_gradient(y, scores.reshape(len(y), len(self.points), -1))
        trained, held = _row_weights(weight, trains)
        parts = {0: _times(trained, value), 2: np.ones((len(y), 1)) if trained is None else trained}
        if held is not None:
            parts |= {1: held * value, 3: held}
        gradients = _times(None if trained is None else trained[:, :, None], gradients).reshape(len(y), -1)
        rounded = gradients.astype(Z.dtype)
        for rows in spans:
            for index, part in parts.items():
                sums[index] += np.sum(part[rows], axis=0)
            total = gradients[rows].sum(axis=0)
            product = np.asarray(Z[rows].T @ rounded[rows], dtype=np.float64)
            gradient[:-1] += product - np.outer(self.origin, total) if sparse else product
            gradient[-1] += total

    def _merge(self, other: Self) -> Self:
        sums, gradient = self.sums + other.sums, self.gradient + other.gradient
        return replace(self, n=self.n + other.n, sums=sums, gradient=gradient)

    def finish(self) -> LossesStep:
        if self.n == 0:
            raise ValueError("No rows: the loss of an empty data set is undefined.")
        value, held_out, weight, held_out_weight = self.sums
        return LossesStep(value, self.gradient, held_out, weight, held_out_weight)


def _row_weights(weight: np.ndarray | None, trains: np.ndarray | None) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the weights of the rows in training (None: all one) and in held-out sums (None: all zero)."""
    if trains is None:
        return weight, None
    return (trains, 1.0 - trains) if weight is None else (weight * trains, weight * (1.0 - trains))


def _times(weight: np.ndarray | None, values: np.ndarray) -> np.ndarray:
    return values if weight is None else weight * values


def measured_from(X: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Return X - origin in the precision of X, as `LossesAt` computes it in each pass."""
    return _from_origin(X, origin, aligned_empty(X.shape, X.dtype))


def _from_origin(X: np.ndarray, origin: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Z = X - origin in the precision of X and in aligned memory: equal rows then have equal products, to the bit."""
    origin = origin.astype(X.dtype)
    n_whole = len(X) - len(X) % _ROWS_TOGETHER if X.flags.c_contiguous else 0
    if n_whole:  # NumPy subtracts short rows faster several at a time
        long = _ROWS_TOGETHER * X.shape[1]
        np.subtract(X[:n_whole].reshape(-1, long), np.tile(origin, _ROWS_TOGETHER), out=Z[:n_whole].reshape(-1, long))
    np.subtract(X[n_whole:], origin, out=Z[n_whole:])
    return Z
