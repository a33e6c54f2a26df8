"""Selection of landmarks from a sample of rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from mercer import _numeric
from mercer._numeric.block import take_rows
from mercer._numeric.hashing.rows import hash_rows
from mercer._numeric.linalg.distances import is_sparse
from mercer._numeric.solvers.rpcholesky import rp_cholesky
from mercer.expand.landmarks.rows import as_double, for_kernel, identities, of_objects
from mercer.kernels import Kernel

#: Maximum number of landmarks taken to reach a tolerance.
MAX_LANDMARKS = 4096


@dataclass(frozen=True)
class Choice:
    """Landmarks, and the mean residual on the sample after 0, 1, 2, ... of them where the method knows it."""

    landmarks: Any
    path: np.ndarray | None = None


def choose_landmarks(how: str, kernel: Kernel, sample: Any, n_components: Any, seed: int, rounding: float) -> Choice:
    """Landmarks among the distinct rows of a sample, by the named method."""
    if how == "all":
        return Choice(sample.X)
    if how == "uniform":
        return Choice(take_rows(sample.X, uniform_order(identities(sample.X), seed)[:n_components]))
    if how == "kmeans":
        return Choice(cluster_centers(sample, n_components, seed))
    X = as_double(sample.X)

    def gram(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return kernel(for_kernel(X[rows]), for_kernel(X[columns]))

    chosen, path = pivots(gram, kernel.diag(for_kernel(X)), sample.weight, n_components, seed, rounding)
    return Choice(take_rows(sample.X, chosen), path)


def choose_columns(
    how: str, K: np.ndarray, weight: np.ndarray, n_components: Any, seed: int, rounding: float
) -> Choice:
    """Landmarks among the rows of a precomputed matrix of similarities, as indices."""
    n = K.shape[0]
    if how == "all":
        return Choice(np.arange(n))
    if how == "uniform":
        return Choice(np.argsort(_numeric.splitmix64(np.arange(n), seed), kind="stable")[:n_components])
    if how == "kmeans":
        raise ValueError("choose='kmeans' needs rows of numbers to average; with Precomputed() use 'rpcholesky'.")
    diagonal = K.diagonal()[:n]
    return Choice(*pivots(lambda i, j: K[i][:, j], diagonal, weight, n_components, seed, rounding))


def check_columns(landmarks: Any, n: int) -> np.ndarray:
    """Positions of landmarks among n training rows, distinct and in range."""
    positions = np.atleast_1d(np.asarray(landmarks))
    if positions.ndim != 1 or positions.dtype.kind not in "iu" or len(positions) == 0:
        raise ValueError(f"With Precomputed(), landmarks are numbers of columns, got {landmarks!r:.60}.")
    if positions.min() < 0 or positions.max() >= n:
        raise ValueError(f"With Precomputed(), landmarks must be among the {n} training rows, got {landmarks!r:.60}.")
    return positions.astype(np.intp)


def pivots(
    gram: Callable[..., np.ndarray],
    diagonal: np.ndarray,
    weight: np.ndarray,
    n_components: Any,
    seed: int,
    rounding: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Randomly pivoted Cholesky up to a number of landmarks, or until the residual trace falls below a fraction."""
    rng = np.random.default_rng([seed, 2])
    total = float(weight @ np.asarray(diagonal, dtype=np.float64))
    if isinstance(n_components, Integral):
        found = rp_cholesky(gram, diagonal, int(n_components), rng, weight, rounding=rounding)
    else:
        found = rp_cholesky(gram, diagonal, MAX_LANDMARKS, rng, weight, n_components * total, rounding)
        _warn_unless_reached(found, n_components, total)
    chosen = found.chosen if len(found.chosen) else np.zeros(1, dtype=np.intp)  # the kernel is 0 on all rows
    return chosen, found.traces / weight.sum()


def _warn_unless_reached(found: Any, tolerance: float, total: float) -> None:
    if found.traces[-1] > tolerance * total:
        warnings.warn(
            f"{len(found.chosen)} landmarks leave {found.traces[-1] / total:.2g} of the trace of the kernel matrix, "
            f"more than the tolerance {tolerance:g}, and no more than {MAX_LANDMARKS} are taken. "
            "The kernel is too narrow for these rows: widen it or raise the tolerance.",
            stacklevel=6,
        )


def uniform_order(rows: Any, seed: int) -> np.ndarray:
    """A random order of distinct rows that depends on their contents and the seed alone."""
    return np.argsort(_numeric.splitmix64(hash_rows(rows), seed), kind="stable")


def cluster_centers(sample: Any, n_components: int, seed: int) -> np.ndarray:
    """Centers of k-means on the sample: good for smooth isotropic kernels and few landmarks (Zhang et al. 2008)."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    if of_objects(sample.X):
        raise ValueError("choose='kmeans' needs rows of numbers to average; for objects use 'rpcholesky' or 'uniform'.")
    clusters = KMeans(min(n_components, sample.X.shape[0]), n_init=1, max_iter=50, random_state=seed % 2**32)
    # Threads of k-means add up in any order: on one thread the centers are the same every time.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer clusters than asked: repeated centers drop out
        clusters.fit(as_double(sample.X), sample_weight=sample.weight)
    return clusters.cluster_centers_.astype(sample.X.dtype)


def stored_as(landmarks: Any, sparse: bool) -> Any:
    """Landmarks dense or sparse, as the rows they will be compared with."""
    if sparse == is_sparse(landmarks):
        return landmarks
    if not sparse:
        return landmarks.toarray()
    from scipy.sparse import csr_array

    return csr_array(landmarks)
