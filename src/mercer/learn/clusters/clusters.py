"""Distances to cluster centers as features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from mercer._numeric.linalg.distances import distances
from mercer._runtime.checks import check_whole
from mercer._runtime.pool import for_each
from mercer.base import StreamingTransformer, seed_of
from mercer.learn.clusters.lloyd import initial_centers, lloyd, nearest
from mercer.linear.passes import IteratedEstimator
from mercer.source import Source

ENCODINGS = ("hard", "triangle", "distance")
#: Distances computed at a time.
_ENTRIES = 2**18


class ClusterFeatures(ClassNamePrefixFeaturesOutMixin, IteratedEstimator, StreamingTransformer):
    """One feature per cluster, from the distances z_k = ||x - c_k|| to the centers of k-means.

        hard      1 for the nearest center, else 0 (sparse)
        triangle  max(0, mean_j z_j - z_k): zero for centers farther than the mean distance, about half of them
        distance  z_k

    The triangle encoding keeps much of the information that the hard one drops and is still sparse (Coates, Ng and Lee
    2011). Centers are initialized by k-means++ on a uniform sample of the rows; each step of k-means is then one pass
    over all rows whose sums merge, so rows may come from files. A cluster without rows is moved to a row far from all
    centers.

    Use it where rows come in groups that matter to the target, and on patches of images. Distances need columns on one
    scale. A pass costs n k d operations; prefer `RandomFeatures` where the target varies within groups.

    Parameters
    ----------
    n_clusters : int, default=8
    encoding : {"hard", "triangle", "distance"}, default="hard"
    n_iter : int, default=50
        Maximum number of passes.
    tol : float, default=1e-4
        Stop when a pass lowers the sum of squared distances by a smaller fraction than this.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    centers_ : array (clusters, features), float64; fewer than n_clusters if there are fewer distinct rows
    inertia_path_ : array, the sum of squared distances before each pass
    n_iter_ : int, the number of passes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learn import ClusterFeatures
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> ClusterFeatures(2, encoding="distance").fit(X).transform([[0.5], [4.5]])
    array([[10.,  0.],
           [ 6.,  4.]])
    >>> ClusterFeatures(2).fit_transform(X).toarray()
    array([[0., 1.],
           [0., 1.],
           [1., 0.],
           [1., 0.]])
    """

    _needs_y = False

    def __init__(
        self, n_clusters: int = 8, encoding: str = "hard", n_iter: int = 50, tol: float = 1e-4, random_state: Any = 0
    ):
        self.n_clusters = n_clusters
        self.encoding = encoding
        self.n_iter = n_iter
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_whole("n_clusters", self.n_clusters)
        check_whole("n_iter", self.n_iter)
        if self.encoding not in ENCODINGS:
            raise ValueError(f"encoding must be one of {', '.join(ENCODINGS)}, not {self.encoding!r}.")
        if not self.tol >= 0:
            raise ValueError(f"tol must not be negative, not {self.tol!r}.")

    def _learn_from(self, source: Source) -> None:
        seed = seed_of(self.random_state)
        centers = initial_centers(source, self.n_clusters, seed, self.n_iter, self.tol)
        self.centers_, self.inertia_path_ = lloyd(source, centers, self.n_iter, self.tol)
        self.n_iter_ = len(self.inertia_path_)

    def _apply(self, X: Any) -> Any:
        n, k = X.shape[0], len(self.centers_)
        spans = [slice(i, i + max(16, _ENTRIES // k)) for i in range(0, n, max(16, _ENTRIES // k))]
        if self.encoding == "hard":
            labels = np.empty(n, dtype=np.int32)

            def label(rows: slice) -> None:
                labels[rows] = nearest(X[rows], self.centers_)[0]

            for_each(label, spans)
            return sparse.csr_array((np.ones(n, dtype=X.dtype), labels, np.arange(n + 1)), shape=(n, k))
        out = np.empty((n, k), dtype=X.dtype)
        centers = self.centers_.astype(X.dtype)
        centers = sparse.csr_array(centers) if hasattr(X, "tocsr") else centers

        def fill(rows: slice) -> None:
            z = distances(X[rows], centers)
            out[rows] = z if self.encoding == "distance" else np.maximum(z.mean(axis=1, keepdims=True) - z, 0)

        for_each(fill, spans)
        return out

    @property
    def _n_features_out(self) -> int:
        return len(self.centers_)
