"""Mean and scatter matrix of rows in one pass, centered from the start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer._numeric.linalg.gram import mirror, plus_outer_product
from mercer._runtime.checks import refuse_missing
from mercer._runtime.memory import refuse_too_large
from mercer.stats.base import Statistic

#: Number of rows whose mean is the origin of a block.
_FIRST_ROWS = 256
#: Offsets up to this many standard deviations cost less than two digits of sixteen, and no copy is made.
_MAX_OFFSET = 2.0
#: With more columns than this, check that there is memory for the matrix.
_MANY_COLUMNS = 5000


@dataclass(frozen=True)
class Scatter(Statistic):
    """weight = sum of w, mean, and S = sum of w (x - mean)(x - mean)'.

    Blocks are measured from near their own mean, and two statistics merge by S = S1 + S2 + (w1 w2 / w) d d', d the
    difference of their means (Chan, Golub and LeVeque 1983): an offset costs no accuracy. Products of float32 rows are
    summed in float64 every 1,024 rows or sooner. Until `finish` only the upper triangle of S counts. NaN and infinity
    are refused: they show in the sums of their columns, so rows need no check before.
    """

    n: int = 0
    weight: float = 0.0
    mean: Any = None
    S: Any = None

    def of(self, block: Block) -> Scatter:
        if len(block) == 0:
            return Scatter()
        if block.X.shape[1] > _MANY_COLUMNS:
            d = block.X.shape[1]
            refuse_too_large(d, d, 8, "PCA(k, solver='randomized') needs no such matrix.")
        weight = None if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        total = float(len(block)) if weight is None else float(weight.sum())
        if hasattr(block.X, "tocsr"):
            origin, sums, S = _sparse_sums(block.X.tocsr().astype(np.float64), weight)
        else:
            origin, sums, S = _dense_sums(block.X, weight)
        if not np.isfinite(sums).all():
            refuse_missing(block.X, start=block.start)
        with np.errstate(over="ignore", invalid="ignore"):
            S = plus_outer_product(S, -sums, sums / total)
        return replace(self, n=len(block), weight=total, mean=origin + sums / total, S=S)

    def _merge(self, other: Scatter) -> Scatter:
        weight = self.weight + other.weight
        shift = other.mean - self.mean
        with np.errstate(over="ignore", invalid="ignore"):
            S = plus_outer_product(self.S, shift, shift * (self.weight * other.weight / weight), other.S)
        return replace(self, n=self.n + other.n, weight=weight, mean=self.mean + shift * (other.weight / weight), S=S)

    def finish(self) -> Scatter:
        if self.n == 0:
            raise ValueError("There are no rows: the scatter matrix is not defined.")
        return replace(self, S=mirror(self.S))


def _dense_sums(X: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An origin near the mean, and the sums of w z and w z z' (upper triangle) for z measured from it."""
    X = np.require(X, requirements=["C", "A"])
    d = X.shape[1]
    sums, S = np.zeros(d), np.zeros((d, d))
    root = None if weight is None else np.sqrt(weight).astype(X.dtype)
    with np.errstate(over="ignore", invalid="ignore"):  # overflow is refused at the end
        origin = _origin(X)
        _numeric.add_scatter(S, sums, X, origin, root)
    return np.zeros(d) if origin is None else origin.astype(np.float64), sums, S


def _origin(X: np.ndarray) -> np.ndarray | None:
    """The mean of the first rows, or None where 0 is as good: within a few standard deviations of it."""
    some = X[:_FIRST_ROWS]
    origin = some.mean(axis=0)
    return None if np.all(np.abs(origin) <= _MAX_OFFSET * some.std(axis=0)) else origin


def _sparse_sums(X: Any, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    scaled = X if weight is None else X.multiply(weight[:, None]).tocsr()
    S = X.T @ scaled
    sums = np.asarray(scaled.sum(axis=0)).ravel()
    return np.zeros(X.shape[1]), sums, S.toarray()
