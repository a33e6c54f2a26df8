"""Kernel k-means."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._runtime.checks import check_whole
from mercer.kernels import Kernel
from mercer.machines import similarity
from mercer.machines.base import KernelMachine


class KernelKMeans(ClusterMixin, KernelMachine):
    """k-means on phi(x): minimizes the sum of ||phi(x_i) - c_(l_i)||^2 over labels l, centers being means.

    Distances need the Gram matrix only (Dhillon, Guan and Kulis 2004):
    ||phi(x) - c_l||^2 = k(x, x) - 2 mean_(j in l) k(x, x_j) + mean_(i, j in l) k(x_i, x_j). Lloyd's steps are those of
    k-means on the explicit features. It starts from rows drawn as in k-means++, which also needs distances only.

    Use it for groups that no hyperplanes divide, and for objects with a kernel only. The start matters, so compare a
    few. A step costs n^2 operations, memory is n^2 numbers: for more rows run k-means on `Landmarks`.

    Parameters
    ----------
    kernel : Kernel, str or None, default=None
        A kernel or the name of one; None is ``Gaussian(bandwidth="median")``.
    n_clusters : int, default=8
    init : "k-means++" or list of row numbers, default="k-means++"
        The rows whose features are the first centers.
    n_init : int, default=4
        Starts from k-means++; the best end counts.
    max_iter : int, default=300
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    labels_ : cluster of each training row
    inertia_ : the sum of squared distances to the centers
    n_iter_ : steps of the best start

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import KernelKMeans
    >>> X, y = make_circles(200, factor=0.3, noise=0.03, random_state=0)
    >>> labels = KernelKMeans(Gaussian(0.4), n_clusters=2).fit_predict(X)
    >>> sorted(len(set(labels[y == side])) for side in (0, 1))[0]
    1
    """

    _if_not_mercer = (
        "Kernel k-means then compares squared distances that may be negative: Lloyd's steps need not lower the "
        "objective, and stop at `max_iter` at the latest. mercer.kernels.repair(K, 'shift') keeps the order of all "
        "clusterings of a matrix and makes it valid."
    )

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_clusters: int = 8,
        init: Any = "k-means++",
        n_init: int = 4,
        max_iter: int = 300,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of X; those of a `Source` are collected first."""
        for name in ("n_clusters", "n_init", "max_iter"):
            check_whole(name, getattr(self, name))
        block = self._read(X)
        n = len(block)
        if n < self.n_clusters:
            raise ValueError(f"n_samples={n} should be >= n_clusters={self.n_clusters}.")
        self.kernel_ = self._resolved_kernel(block.X)
        K = similarity.gram(self.kernel_, block.X)
        if not similarity.is_mercer_by_construction(self.kernel_):
            similarity.warn_unless_mercer(self.kernel_, K, self._if_not_mercer)
            K = similarity.symmetric_part(K)
        rng = check_random_state(self.random_state)
        starts = [plus_plus(K, self.n_clusters, rng) for _ in range(self.n_init)] if self._draws else [self._given(n)]
        found = [lloyd(K, start, self.max_iter) for start in starts]
        self.inertia_, self.labels_, self.n_iter_ = min(found, key=lambda one: one[0])
        self.X_fit_ = block.X
        self._members = memberships(self.labels_, self.n_clusters)
        self._squares = np.einsum("ic,ic->c", self._members, K @ self._members)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The nearest center of each row of X."""
        check_is_fitted(self)
        means = similarity.products(self.kernel_, self._new_rows(X), self.X_fit_, self._members)
        return np.argmin(self._squares - 2.0 * means, axis=1).astype(np.int32)

    @property
    def _draws(self) -> bool:
        return isinstance(self.init, str)

    def _given(self, n: int) -> np.ndarray:
        rows = np.asarray(self.init)
        if rows.shape != (self.n_clusters,) or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n:
            raise ValueError(f"init must be 'k-means++' or {self.n_clusters} row numbers below {n}, not {self.init!r}.")
        return rows


def plus_plus(K: np.ndarray, n_clusters: int, rng: np.random.RandomState) -> np.ndarray:
    """Rows drawn with probability proportional to the squared distance to those before (Arthur, Vassilvitskii 2007)."""
    diagonal = K.diagonal().astype(np.float64)
    chosen = [int(rng.randint(len(K)))]
    nearest = np.full(len(K), np.inf)
    while len(chosen) < n_clusters:
        last = chosen[-1]
        nearest = np.minimum(nearest, np.maximum(diagonal + diagonal[last] - 2.0 * K[last], 0.0))
        nearest[chosen] = 0.0
        total = nearest.sum()
        if total > 0:
            index = np.searchsorted(np.cumsum(nearest), rng.uniform() * total, side="right")
            chosen.append(min(int(index), len(K) - 1))
        else:  # fewer distinct rows than clusters: any row not chosen yet
            chosen.append(int(rng.choice(np.setdiff1d(np.arange(len(K)), chosen))))
    return np.array(chosen)


def lloyd(K: np.ndarray, start: np.ndarray, max_iter: int) -> tuple[float, np.ndarray, int]:
    """Objective, labels and number of steps of Lloyd's iteration from the rows `start` as centers."""
    n, k = len(K), len(start)
    diagonal = K.diagonal().astype(np.float64)
    squares, means = diagonal[start], K[:, start].astype(np.float64)
    labels = np.full(n, -1)
    steps, before = 0, labels - 1
    while steps < max_iter and not np.array_equal(before, labels):
        steps += 1
        distances = squares - 2.0 * means
        before, labels = labels, np.argmin(distances, axis=1)
        _fill_empty(labels, distances + diagonal[:, None], k)
        members = memberships(labels, k)
        means = K @ members.astype(K.dtype)
        squares = np.einsum("ic,ic->c", members, means)
    own = diagonal + (squares - 2.0 * means)[np.arange(n), labels]
    return float(np.maximum(own, 0.0).sum()), labels.astype(np.int32), steps


def memberships(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """One column per cluster: 1 / its size at its rows, so that K times it gives means."""
    table = np.zeros((len(labels), n_clusters))
    table[np.arange(len(labels)), labels] = 1.0
    return table / np.maximum(table.sum(axis=0), 1.0)


def _fill_empty(labels: np.ndarray, distances: np.ndarray, n_clusters: int) -> None:
    """An empty cluster takes the row that is farthest from its center, out of a cluster with others."""
    for cluster in np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0):
        sizes = np.bincount(labels, minlength=n_clusters)
        own = np.where(sizes[labels] > 1, distances[np.arange(len(labels)), labels], -np.inf)
        labels[int(np.argmax(own))] = cluster
