"""Streaming k-means: initial centers from a sample, then one pass over the rows per step (Lloyd 1982)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from mercer._numeric.block import Block
from mercer._numeric.linalg.distances import squared_distances
from mercer.linear.ridge.overflow import refuse_overflow
from mercer.source import MemorySource, Source
from mercer.stats import Sample
from mercer.stats.base import Statistic
from mercer.stats.sample import SAMPLE_ROWS

#: Distances computed at a time.
_ENTRIES = 2**19
#: Number of rows kept as new centers of clusters without rows.
_FARTHEST = 64


@dataclass(frozen=True)
class ClusterSums(Statistic):
    """Per cluster of given centers the weight and sum of its rows; the sum of squared distances; the farthest rows."""

    centers: Any = None
    n: int = 0
    weight: Any = None
    sums: Any = None
    inertia: float = 0.0
    farthest: Any = None
    distances: Any = None

    def of(self, block: Block) -> ClusterSums:
        if len(block) == 0:
            return replace(self, n=0)
        labels, squares = nearest(block.X, self.centers)
        weight = np.ones(len(block)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        table = sparse.csr_array((weight, labels, np.arange(len(block) + 1)), shape=(len(block), len(self.centers)))
        sums = table.T @ (block.X.astype(np.float64) if hasattr(block.X, "tocsr") else block.X)
        last = np.argsort(-squares, kind="stable")[:_FARTHEST]
        return replace(
            self,
            n=len(block),
            weight=np.bincount(labels, weight, len(self.centers)),
            sums=_dense(sums).astype(np.float64),
            inertia=float(weight @ squares),
            farthest=_dense(block.X[last]).astype(np.float64),
            distances=squares[last],
        )

    def _merge(self, other: ClusterSums) -> ClusterSums:
        distances = np.concatenate([self.distances, other.distances])
        last = np.argsort(-distances, kind="stable")[:_FARTHEST]
        return replace(
            self,
            n=self.n + other.n,
            weight=self.weight + other.weight,
            sums=self.sums + other.sums,
            inertia=self.inertia + other.inertia,
            farthest=np.concatenate([self.farthest, other.farthest])[last],
            distances=distances[last],
        )

    def finish(self) -> ClusterSums:
        refuse_overflow(self.inertia)
        return self

    def new_centers(self) -> np.ndarray:
        """The means of the clusters; a cluster without rows moves to a row far from every center."""
        filled = self.weight > 0
        centers = np.where(filled[:, None], self.sums / np.where(filled, self.weight, 1.0)[:, None], self.centers)
        rows, first = np.unique(self.farthest, axis=0, return_index=True)
        order = np.argsort(first)
        far = rows[order][self.distances[first[order]] > 0]
        for cluster, row in zip(np.flatnonzero(~filled), far, strict=False):
            centers[cluster] = row
        return centers


def lloyd(source: Source, centers: np.ndarray, n_iter: int, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """Centers after at most n_iter passes, and the sum of squared distances to them before each.

    Stops when a pass lowers the sum by less than `tol` of it and left no cluster without rows.
    """
    path: list[float] = []
    for _ in range(n_iter):
        sums = source.fold(ClusterSums(centers)).finish()
        path.append(sums.inertia)
        centers = sums.new_centers()
        converged = len(path) > 1 and path[-2] - path[-1] <= tol * path[-2] and np.all(sums.weight > 0)
        if converged or path[-1] == 0:
            break
    return centers, np.array(path)


def initial_centers(source: Source, n_clusters: int, seed: int, n_iter: int, tol: float) -> np.ndarray:
    """k-means++ on a uniform sample of distinct rows, and k-means on it if there are more rows than that."""
    sample = source.fold(Sample(max(SAMPLE_ROWS, 4 * n_clusters), seed)).finish()
    centers = plus_plus(sample.X, sample.weight, n_clusters, np.random.default_rng([seed, 11]))
    if sample.complete:
        return centers
    return lloyd(MemorySource(sample.X, weight=sample.weight), centers, n_iter, tol)[0]


def plus_plus(X: Any, weight: np.ndarray, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Greedy k-means++: rows drawn in proportion to their squared distance from those before (Arthur, Vassilvitskii).

    Fewer rows than asked for where all distinct rows are taken.
    """
    trials = 2 + int(np.log(n_clusters))
    chosen = [_drawn(weight, 1, rng)[0]]
    distance = _squares(X, X[[chosen[0]]])[:, 0]
    refuse_overflow(distance)
    while len(chosen) < n_clusters and np.any(distance > 0):
        candidates = _drawn(weight * distance, trials, rng)
        closer = np.minimum(distance[:, None], _squares(X, X[candidates]))
        best = int(np.argmin(weight @ closer))
        chosen.append(candidates[best])
        distance = closer[:, best]
    return _dense(X[chosen]).astype(np.float64)


def nearest(X: Any, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The index of the nearest center of each row, the first of several, and its squared distance."""
    n = X.shape[0]
    labels, squares = np.empty(n, dtype=np.int32), np.empty(n)
    step = max(16, _ENTRIES // len(centers))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        table = _squares(X[rows], centers)
        labels[rows] = table.argmin(axis=1)
        squares[rows] = np.take_along_axis(table, labels[rows, None].astype(np.intp), axis=1)[:, 0]
    return labels, squares


def _squares(X: Any, centers: Any) -> np.ndarray:
    if hasattr(X, "tocsr") and not hasattr(centers, "tocsr"):
        centers = sparse.csr_array(centers)
    return squared_distances(X, centers.astype(X.dtype))


def _drawn(mass: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Indices drawn in proportion to their mass."""
    edges = np.cumsum(mass)
    indices = np.searchsorted(edges, rng.uniform(size=count) * edges[-1], side="right")
    return np.minimum(indices, np.flatnonzero(mass)[-1])


def _dense(X: Any) -> np.ndarray:
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)
