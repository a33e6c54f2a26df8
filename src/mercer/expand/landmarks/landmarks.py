"""Landmarks: similarities to chosen rows, and the Nystrom approximation."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from mercer._numeric.block import Block, take_rows
from mercer._numeric.linalg.distances import is_sparse
from mercer._numeric.solvers.rpcholesky import rounding_tolerance
from mercer._runtime.pool import for_each
from mercer.base import StreamingTransformer, seed_of
from mercer.expand.landmarks.certificate import ResidualCertificate
from mercer.expand.landmarks.choice import Choice, check_columns, choose_columns, choose_landmarks, stored_as
from mercer.expand.landmarks.rows import (
    CollectedRows,
    RowSample,
    as_double,
    for_kernel,
    holds_objects,
    object_column,
    of_objects,
)
from mercer.expand.landmarks.whitening import triangular_product, whitening
from mercer.kernels import Kernel, KernelParameter, Precomputed
from mercer.stats.base import Statistic
from mercer.stats.sample import SAMPLE_ROWS

METHODS = ("rpcholesky", "uniform", "kmeans", "all")
#: Entries of similarities computed at a time: they stay in the cache until they are whitened.
_ENTRIES = 2**19
_MEDIAN_ROWS = 2048


class Landmarks(KernelParameter, ResidualCertificate, ClassNamePrefixFeaturesOutMixin, StreamingTransformer):
    """Similarity to landmarks s_1..s_m, plain or whitened (the Nystrom approximation of the kernel).

        plain     z(x) = (k(x, s_1), ..., k(x, s_m))
        whitened  z(x) = L^-1 (k(x, s_1), ..., k(x, s_m)),   LL' = (k(s_i, s_j))_ij

    Whitened, <z(x), z(x')> is the inner product of the projections of phi(x) and phi(x') on the span of the landmarks:
    exact when every row is a landmark, and otherwise with an error that is known for each pair (`residual`,
    `certificate`). The residual of k(x, x) is r(x) = k(x, x) - ||z(x)||^2 >= 0, and
    |k(x, x') - <z(x), z(x')>| <= sqrt(r(x) r(x')).

    Use them for any kernel, also on strings, sets and trees, and where rows form clusters: fewer features are needed
    than `RandomFeatures` take. They cost m kernel values and m^2 operations per row. A kernel with slowly falling
    eigenvalues needs many of them.

    Parameters
    ----------
    n_components : int or float in (0, 1), default=500
        Number of landmarks, or the fraction of the trace of the kernel matrix of the sample that may remain: the
        smallest number of landmarks whose mean r(x) is at most that fraction of the mean k(x, x) ("rpcholesky" only).
    kernel : Kernel, str or None, default=None
        A kernel or the name of one; None is ``Gaussian(bandwidth="median")``. With ``Precomputed()``, X holds the
        similarities of its rows to all training rows, and landmarks are columns.
    choose : {"rpcholesky", "uniform", "kmeans", "all"}, default="rpcholesky"
        "rpcholesky" draws each landmark in proportion to r(x) given those before, which finds small clusters and never
        takes a row twice (Chen et al. 2023, in the accelerated form of Epperly et al. 2024). "uniform" draws distinct
        rows, "kmeans" takes the centers of clusters, "all" every distinct row in the order of the data. All but "all"
        choose from a sample of at most 16,384 distinct rows (or n_components, if that is more).
    landmarks : array, CSR matrix or list of objects, default=None
        Given landmarks; with ``Precomputed()``, indices of columns.
    whiten : bool, default=True
        False gives the plain similarities, for which k need not be a Mercer kernel.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    kernel_ : the kernel with every parameter a number
    landmarks_ : array, CSR matrix or list of objects; positions of columns with ``Precomputed()``
    n_components_ : int
        Number of landmarks: smaller than requested when there are fewer rows or, if whitened, when the kernel matrix of
        the rows has lower numerical rank.
    whitening_ : array of shape (n_components_, n_components_), float64
        The upper triangular L^-T, if whitened.
    residual_path_ : array
        Mean r(x) on the sample after 0, 1, 2, ... landmarks ("rpcholesky").

    Notes
    -----
    Features are a product with the inverse factor, computed in float64. Landmarks whose pivot is below 64 times the
    rounding of the rows are dropped, so its entries stay moderate: fitted on float32, the map works in float32; a map
    fitted on float64 works on float32 rows in float64 when its smallest pivot demands it.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.expand import Landmarks
    >>> from mercer.kernels import Custom, Gaussian
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> features = Landmarks(20, Gaussian(2.0)).fit(X)
    >>> Z = features.transform(X)
    >>> print(f"largest error {abs(Z @ Z.T - Gaussian(2.0)(X)).max():.3f}, bound {features.residual(X).max():.3f}")
    largest error 0.045, bound 0.045
    >>> letters = Custom(lambda a, b: float(len(set(a) & set(b))))
    >>> Landmarks(kernel=letters, landmarks=["abc", "xyz"], whiten=False).fit_transform(["a", "cabby", "ax"])
    array([[1., 0.],
           [3., 1.],
           [1., 1.]])
    """

    _former = {"n_landmarks": "n_components", "n_landmarks_": "n_components_"}

    def __init__(
        self,
        n_components: int | float = 500,
        kernel: Kernel | str | None = None,
        choose: str = "rpcholesky",
        landmarks: Any = None,
        whiten: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.choose = choose
        self.landmarks = landmarks
        self.whiten = whiten
        self.random_state = random_state

    def _check_parameters(self) -> None:
        n = self.n_components
        if isinstance(n, Kernel):
            raise TypeError(f"n_components must be a number, not {n!r}. Did you mean kernel={n!r}?")
        self._kernel()
        if self.choose not in METHODS:
            raise ValueError(f"choose must be one of {', '.join(METHODS)}, not {self.choose!r}.")
        counted = isinstance(n, Integral) and not isinstance(n, bool) and n >= 1
        if not counted and (isinstance(n, Integral) or not isinstance(n, Real) or not 0 < n < 1):
            raise ValueError(f"n_components must be a positive whole number or a fraction in (0, 1), not {n!r}.")
        if not counted and self.landmarks is None and self.choose in ("uniform", "kmeans"):
            raise ValueError(f"n_components={n!r}, a fraction of the trace, needs choose='rpcholesky'.")

    @property
    def _precomputed(self) -> bool:
        return isinstance(self._kernel_if_valid(), Precomputed)

    # learning

    def _empty(self) -> Statistic | None:
        if self._precomputed:
            return CollectedRows(distinct=False)
        if self.landmarks is not None:
            learns = self._kernel().is_data_dependent
            return RowSample(_MEDIAN_ROWS) if learns else None
        if self.choose == "all":
            return CollectedRows()
        return RowSample(max(SAMPLE_ROWS, self.n_components))  # type: ignore[arg-type]

    def _finish(self, learned: Any) -> None:
        for name in ("residual_path_", "whitening_"):  # of another fit, with other parameters
            self.__dict__.pop(name, None)
        landmarks, gram = self._columns(learned) if self._precomputed else self._rows(learned)
        if self.whiten:
            found = whitening(gram(landmarks), self._rounding, in_order=hasattr(self, "residual_path_"))
            landmarks = take_rows(landmarks, found.kept)
            self.whitening_, self._smallest_pivot = found.matrix, found.smallest
        self.n_components_ = landmarks.shape[0]
        self._landmarks = landmarks
        self.landmarks_ = for_kernel(landmarks)
        self._prepared: dict[Any, Any] = {}

    def _rows(self, sample: Any) -> tuple[Any, Callable[[Any], np.ndarray]]:
        """Landmarks, and a function that computes their Gram matrix."""
        kernel = self._kernel()
        first = None if sample is None else for_kernel(take_rows(sample.X, slice(0, _MEDIAN_ROWS)))
        self.kernel_ = kernel if sample is None else kernel.resolve(first)
        if self.landmarks is not None:
            landmarks = self._checked_X(self.landmarks, reset=None)
        else:
            seed = seed_of(self.random_state)
            choice = choose_landmarks(self.choose, self.kernel_, sample, self.n_components, seed, self._rounding)
            landmarks = self._with_path(choice)
        return landmarks, lambda chosen: self.kernel_(for_kernel(as_double(chosen))).astype(np.float64, copy=False)

    def _columns(self, known: Any) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """The same for a precomputed matrix, whose landmarks are column indices."""
        self.kernel_, K = self._kernel(), as_double(known.X)
        K = K.toarray() if is_sparse(K) else K
        if self.landmarks is not None:
            landmarks = check_columns(self.landmarks, K.shape[0])
        else:
            seed = seed_of(self.random_state)
            landmarks = self._with_path(
                choose_columns(self.choose, K, known.weight, self.n_components, seed, self._rounding)
            )
        return landmarks, lambda chosen: K[np.ix_(chosen, chosen)]

    def _with_path(self, choice: Choice) -> Any:
        if choice.path is not None:
            self.residual_path_ = choice.path
        return choice.landmarks

    @property
    def _rounding(self) -> float:
        """Pivots below this fraction of k(x, x) are rounding, in the precision of the rows seen by fit."""
        return rounding_tolerance(self._fit_dtype)

    def _rounding_of(self, rows: Any) -> float:
        """The rounding of features of these rows."""
        return max(self._rounding, rounding_tolerance(getattr(rows, "dtype", None)))

    # checking: numbers as every estimator does, objects not at all

    def _checked_X(self, X: Any, reset: bool | None, start: int = 0) -> Any:
        if not holds_objects(X) or self._precomputed or self.kernel is None:
            X = super()._checked_X(X, reset, start)
        else:
            X = object_column(X)
            if reset:
                self.n_features_in_ = 1
                self.__dict__.pop("feature_names_in_", None)
        if reset:
            self._fit_dtype = X.dtype
        elif of_objects(X) != (self._fit_dtype.kind == "O"):
            raise ValueError(
                "Some rows are numbers and others objects: fit, transform and landmarks must agree on what a row is."
            )
        return X

    def _checked_block(self, X: Any, y: Any, sample_weight: Any, reset: bool | None, start: int = 0) -> Block:
        if self._precomputed and sample_weight is not None and np.any(np.asarray(sample_weight) == 0):
            raise ValueError("Rows of weight zero are dropped: with Precomputed(), drop their columns as well.")
        return super()._checked_block(X, y, sample_weight, reset, start)

    # applying

    def _apply(self, X: Any) -> Any:
        dtype = np.dtype(np.float64) if of_objects(X) else X.dtype
        out = np.empty((X.shape[0], self.n_components_), dtype=dtype)
        self._by_blocks(X, X.dtype, lambda rows, part: self._write(part, out[rows]))
        return out

    def _by_blocks(self, X: Any, dtype: np.dtype, function: Callable[[slice, Any], None]) -> None:
        """Call function(rows, X[rows] in this precision) for blocks of rows that fit the cache, on all cores."""
        self._prepare(dtype, is_sparse(X))
        step = max(64, _ENTRIES // self.n_components_)
        spans = [slice(start, start + step) for start in range(0, X.shape[0], step)]
        for_each(lambda rows: function(rows, X[rows].astype(dtype, copy=False)), spans)

    def _write(self, X: Any, out: np.ndarray) -> None:
        landmarks, upper, working = self._prepared[X.dtype, is_sparse(X)]
        similarities = self._similarities(X.astype(working, copy=False), landmarks)
        if upper is None:
            out[:] = similarities
        elif similarities.dtype == out.dtype == upper.dtype:
            triangular_product(similarities, upper, out)
        else:
            out[:] = similarities @ upper

    def _similarities(self, X: Any, landmarks: Any) -> np.ndarray:
        if self._precomputed:
            columns = X[:, landmarks]
            return columns.toarray() if is_sparse(columns) else columns
        return self.kernel_(for_kernel(X), landmarks)

    def _prepare(self, dtype: np.dtype, sparse: bool) -> None:
        """Landmarks and whitening as rows of this kind need them, made once."""
        if (dtype, sparse) in self._prepared:
            return
        working = self._working_dtype(dtype)
        landmarks = self._landmarks
        if of_objects(landmarks):
            landmarks = for_kernel(landmarks)
        elif not self._precomputed:
            landmarks = stored_as(landmarks.astype(working, copy=False), sparse)
        upper = self.whitening_.astype(working if working.kind == "f" else np.float64) if self.whiten else None
        self._prepared[dtype, sparse] = landmarks, upper, working

    def _working_dtype(self, dtype: np.dtype) -> np.dtype:
        """The precision to compute in: float32 only if no pivot is so small that it would show."""
        if dtype != np.float32 or not self.whiten:
            return dtype
        return dtype if self._smallest_pivot >= rounding_tolerance(np.float32) else np.dtype(np.float64)

    def _residual(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """r(x) and k(x, x) of checked rows, in float64 and without keeping the features."""
        # Of a precomputed matrix only the whole has a diagonal.
        diagonal = self.kernel_.diag(as_double(X)) if self._precomputed else np.empty(X.shape[0])
        explained = np.empty(X.shape[0])

        def explain(rows: slice, part: Any) -> None:
            Z = np.empty((part.shape[0], self.n_components_))
            self._write(part, Z)
            explained[rows] = np.einsum("ij,ij->i", Z, Z)
            if not self._precomputed:
                diagonal[rows] = self.kernel_.diag(for_kernel(part))

        self._by_blocks(X, X.dtype if of_objects(X) else np.dtype(np.float64), explain)
        return np.maximum(diagonal - explained, 0.0), diagonal

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags

    def __getstate__(self) -> dict[str, Any]:
        # Copies in other precisions are made again where they are needed.
        state = super().__getstate__()
        return {**state, "_prepared": {}} if "_prepared" in state else state
