"""Leading eigenvectors of a scatter matrix that is not formed: subspace iteration, one pass over the rows per step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.linalg import dense
from mercer._numeric.linalg.gram import aligned_empty
from mercer._numeric.linalg.scatter import FLOAT32_ROWS
from mercer._runtime.blas import single_threaded_blas
from mercer.source import Source
from mercer.stats.base import Statistic

#: Oversampling: directions beyond those asked for.
_OVERSAMPLING = 10


@dataclass(frozen=True)
class ScatterTimes(Statistic):
    """S Q = sum of w (x - m)(x - m)'Q for a few columns Q. Sparse rows stay sparse: there it is
    sum of w x y' - m (sum of w y)', y = Q'x - Q'm."""

    Q: Any = None
    mean: Any = None
    n: int = 0
    product: Any = None

    def of(self, block: Block) -> ScatterTimes:
        if len(block) == 0:
            return replace(self, n=0)
        d, k = self.Q.shape
        product, inside = np.zeros((d, k)), np.zeros(k)
        sparse = hasattr(block.X, "tocsr")
        Q = aligned_empty((d, k), block.X.dtype)
        Q[:] = self.Q
        for start in range(0, len(block), FLOAT32_ROWS):
            rows = slice(start, start + FLOAT32_ROWS)
            X = block.X[rows] if sparse else block.X[rows] - self.mean.astype(Q.dtype)
            Y = X @ Q
            if sparse:
                Y -= self.mean @ self.Q
            if block.weight is not None:
                Y *= np.asarray(block.weight)[rows, None]
            product += X.T @ Y
            inside += Y.sum(axis=0, dtype=np.float64)
        if sparse:
            product -= np.outer(self.mean, inside)
        return replace(self, n=len(block), product=product)

    def _merge(self, other: ScatterTimes) -> ScatterTimes:
        return replace(self, n=self.n + other.n, product=self.product + other.product)

    def finish(self) -> np.ndarray:
        return self.product


def leading_directions(
    source: Source, mean: np.ndarray, k: int, n_iter: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenvalues of the scatter about the mean and their vectors as rows, after n_iter + 1 passes.

    Subspace iteration from random directions, a few more than asked for, then Rayleigh-Ritz (Halko, Martinsson and
    Tropp 2011).
    """
    d = len(mean)
    with single_threaded_blas():  # the same bits on any number of threads
        return _iterated(
            source, mean, k, n_iter, np.random.default_rng([seed, 7]).normal(size=(d, min(d, k + _OVERSAMPLING)))
        )


def _iterated(source: Source, mean: np.ndarray, k: int, n_iter: int, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    Q = dense.qr(Q)[0]
    for _ in range(n_iter):
        Q = dense.qr(source.fold(ScatterTimes(Q, mean)).finish())[0]
    T = Q.T @ source.fold(ScatterTimes(Q, mean)).finish()
    values, vectors = dense.eigh((T + T.T) / 2)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    return np.maximum(values, 0.0), (Q @ vectors).T
