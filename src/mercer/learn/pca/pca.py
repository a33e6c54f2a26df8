"""Principal component analysis in one pass, and the repair of rows with it."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._numeric.hashing.rows import as_float
from mercer._numeric.linalg import dense
from mercer._runtime.checks import refuse_missing
from mercer._runtime.pool import for_each
from mercer.base import StreamingTransformer, seed_of
from mercer.learn.pca import spectrum
from mercer.learn.pca.repair import Changes, Subspace
from mercer.learn.pca.scatter import Scatter
from mercer.learn.pca.subspace import leading_directions
from mercer.linear.passes import IteratedEstimator
from mercer.linear.ridge.overflow import refuse_overflow
from mercer.source import MemorySource, Source
from mercer.stats import Moments

SOLVERS = ("auto", "exact", "randomized")
#: With more columns than this, "auto" does not form the covariance matrix.
MAX_EXACT_COLUMNS = 10_000
_BLOCK_ROWS = 2048


class PCA(ClassNamePrefixFeaturesOutMixin, IteratedEstimator, StreamingTransformer):
    """Principal components: z = C (x - mean), C the leading eigenvectors of the covariance as rows.

    The exact solver needs one pass for mean and scatter, supports `partial_fit` and merges. The randomized solver, for
    many columns, takes one pass per step of subspace iteration and keeps sparse rows sparse (Halko, Martinsson and
    Tropp 2011). The entry of largest magnitude of every component is positive.

    Use it to shorten correlated columns, or to whiten them. It ignores the target: directions of little variance may be
    the ones that matter (`LearnedMetric` asks the target). The exact solver takes n d^2 operations, d^3 for the
    eigenvectors, and memory for d x d numbers.

    Parameters
    ----------
    n_components : int, float in (0, 1), "auto" or None, default=None
        The number of components, or the fraction of the variance that they must explain. "auto" keeps those above
        the noise level, which is estimated (Gavish and Donoho 2014); None keeps all with a positive variance. The
        randomized solver needs a number.
    whiten : bool, default=False
        Divide each coordinate by its standard deviation.
    solver : {"auto", "exact", "randomized"}, default="auto"
        "auto" is exact for up to 10,000 columns.
    n_iter : int, default=7
        Steps of the randomized solver.
    random_state : int, RandomState or None, default=0
        Seed of the initial directions of the randomized solver.

    Attributes
    ----------
    components_ : array (n_components_, features), rows of length 1
    mean_ : array
    explained_variance_ : array, variance along each component (divided by n - 1, n the total weight)
    explained_variance_ratio_ : array, as a fraction of the total variance
    singular_values_ : array, of the centered rows
    noise_variance_ : float, variance of the noise of an entry: the residual sum of squares over its degrees of freedom
    shrinkage_ : array, factors of the coordinates in `repair`; 0 for components below the noise level
    n_components_ : int
    solver_ : str, the solver used

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learn import PCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2)) @ rng.normal(size=(2, 10)) + 0.01 * rng.normal(size=(500, 10))
    >>> pca = PCA("auto").fit(X)
    >>> pca.n_components_
    2
    >>> broken = X[:1].copy()
    >>> broken[0, 3], broken[0, 7] = np.nan, 50.0
    >>> repaired, changes = pca.repair(broken, return_changes=True)
    >>> print(np.argwhere(changes.gross).tolist(), f"largest error {abs(repaired - X[:1]).max():.2f}")
    [[0, 7]] largest error 0.01
    """

    _needs_y = False
    _former = {"_least_noise": "_min_noise"}

    def __init__(
        self,
        n_components: Any = None,
        whiten: bool = False,
        solver: str = "auto",
        n_iter: int = 7,
        random_state: Any = 0,
    ):
        self.n_components = n_components
        self.whiten = whiten
        self.solver = solver
        self.n_iter = n_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, not {self.solver!r}.")
        k = self.n_components
        counted = isinstance(k, Integral) and not isinstance(k, bool) and int(k) >= 1
        fraction = isinstance(k, Real) and not isinstance(k, Integral) and 0 < float(k) < 1
        if not (counted or fraction or k is None or (isinstance(k, str) and k == "auto")):
            raise ValueError(
                f"n_components must be a positive whole number, a fraction in (0, 1), 'auto' or None, not {k!r}."
            )
        if self.solver == "randomized" and not counted:
            raise ValueError(f"The randomized solver needs a whole number of components, not {k!r}.")

    # learning

    @property
    def _multi_pass(self) -> bool:
        return self.solver == "randomized" or getattr(self, "solver_", None) == "randomized"

    def _empty(self) -> Scatter:
        return Scatter()

    def _from_memory(self, X: Any, y: Any, sample_weight: Any) -> Source:
        plain = isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.ndim == 2 and sample_weight is None
        if not plain or self._is_randomized(X.shape[1]):
            return super()._from_memory(X, y, sample_weight)
        # The statistic refuses NaN and infinity, which show in its sums: this saves one reading of the rows.
        return MemorySource(validate_data(self, X, reset=True, ensure_all_finite=False, **self._check_X))

    def _is_randomized(self, n_columns: int) -> bool:
        large = self.solver == "auto" and n_columns > MAX_EXACT_COLUMNS and isinstance(self.n_components, Integral)
        return large or self.solver == "randomized"

    def _learn_from(self, source: Source) -> None:
        if not self._is_randomized(self.n_features_in_):
            StreamingTransformer._learn_from(self, source)
            return
        self._refuse_too_many()
        moments = source.fold(Moments()).finish()
        self._weight = float(moments.weight[0])
        total = float(np.sum(moments.var) * self._weight)
        refuse_overflow(total)
        seed = seed_of(self.random_state)
        values, vectors = leading_directions(source, moments.mean, int(self.n_components), self.n_iter, seed)
        self.mean_, self.solver_ = moments.mean, "randomized"
        self.__dict__.pop("_accumulator", None)
        self._set_components(values, vectors, total)

    def _finish(self, learned: Any) -> None:
        self._refuse_too_many()
        refuse_overflow(learned.S)
        self._weight, self.mean_, self.solver_ = learned.weight, learned.mean, "exact"
        d, k = self.n_features_in_, self.n_components
        total = float(np.trace(learned.S))
        leading = [d - int(k), d - 1] if isinstance(k, Integral) else None
        values, vectors = dense.eigh(learned.S, subset_by_index=leading, check_finite=False)
        values, vectors = values[::-1].copy(), vectors[:, ::-1].T
        values[values <= 8 * d * np.finfo(float).eps * max(values[0], 0.0)] = 0.0  # rounding
        k = self._n_kept(values)
        self._set_components(values, vectors, total, k)

    def _refuse_too_many(self) -> None:
        k, d = self.n_components, self.n_features_in_
        if isinstance(k, Integral) and k > d:
            raise ValueError(f"n_components={k} exceeds the number of columns, n_features={d}.")

    def _n_kept(self, values: np.ndarray) -> int:
        """The number of components to keep, given all variances unless their number is known."""
        k = self.n_components
        if isinstance(k, str):
            return max(1, spectrum.rank_above_noise(np.sqrt(values), max(self._weight, 1.0), self.n_features_in_))
        if isinstance(k, Integral):
            return len(values)
        if k is None:
            return max(1, int(np.count_nonzero(values)))
        explained = np.cumsum(values) / max(float(np.sum(values)), np.finfo(float).tiny)
        return min(int(np.searchsorted(explained, k)) + 1, len(values))

    def _set_components(self, values: np.ndarray, vectors: np.ndarray, total: float, k: int | None = None) -> None:
        """Set the public attributes from eigenvalues of the scatter and eigenvectors as rows."""
        n, d = max(self._weight, 1.0), self.n_features_in_
        k = len(values) if k is None else k
        if k < d:
            rest = np.append(np.zeros(k), np.sqrt(max(total - float(np.sum(values[:k])), 0.0)))
            self.noise_variance_ = spectrum.noise_from_rest(rest, k, n, d)
        else:
            self.noise_variance_ = spectrum.noise_from_median(np.sqrt(values[: int(min(n, d))]), n, d)
        values, vectors = values[:k], vectors[:k]
        signs = np.where(vectors[np.arange(k), np.abs(vectors).argmax(axis=1)] < 0, -1.0, 1.0)
        self.components_ = vectors * signs[:, None]
        self.n_components_ = k
        self.singular_values_ = np.sqrt(values)
        self.explained_variance_ = values / (n - 1.0 if n > 1 else 1.0)
        self.explained_variance_ratio_ = values / max(total, np.finfo(float).tiny)
        self.shrinkage_ = spectrum.shrinkage(self.singular_values_, n, d, self.noise_variance_)
        self._min_noise = 1e-7 * float(np.sqrt(total / (n * d)))

    # use

    def _scale(self) -> np.ndarray:
        """The factors of whitening; 0 where a component has no variance."""
        deviation = np.sqrt(self.explained_variance_)
        positive = deviation > 1e-12 * deviation.max(initial=0.0)
        return np.where(positive, 1.0 / np.where(positive, deviation, 1.0), 0.0)

    def _apply(self, X: Any) -> Any:
        map_ = (self.components_ * self._scale()[:, None] if self.whiten else self.components_).T
        if hasattr(X, "tocsr"):
            return (X @ map_ - self.mean_ @ map_).astype(X.dtype, copy=False)
        out = np.empty((X.shape[0], map_.shape[1]), dtype=X.dtype)
        mean, map_ = self.mean_.astype(X.dtype), map_.astype(X.dtype)

        def fill(start: int) -> None:
            rows = slice(start, start + _BLOCK_ROWS)
            np.matmul(X[rows] - mean, map_, out=out[rows])

        for_each(fill, range(0, len(X), _BLOCK_ROWS))
        return out

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Map coordinates back to rows: mean + C'z, with whitening undone."""
        check_is_fitted(self)
        X = X.toarray() if hasattr(X, "toarray") else as_float(np.asarray(X))
        if X.ndim != 2 or X.shape[1] != self.n_components_:
            raise ValueError(
                f"inverse_transform expects {self.n_components_} columns, got an array of shape {X.shape}."
            )
        components = self.components_
        if self.whiten:
            components = components * np.sqrt(self.explained_variance_)[:, None]
        return X @ components.astype(X.dtype) + self.mean_.astype(X.dtype)

    def repair(self, X: Any, gross: float = 6.0, shrink: bool = True, return_changes: bool = False) -> Any:
        """Remove noise, fill missing entries and replace gross errors by projection on the components.

        Noise: coordinates are multiplied by `shrinkage_`, the optimal one of Gavish and Donoho (2017), which also
        drops components below the noise level. Missing entries (NaN) are predicted from the others of their row.
        Entries more than `gross` standard deviations of the noise from their prediction count as gross errors: they
        are found with robust weights, left out, and predicted like missing ones. A row most of whose entries would be
        errors is an outlier: only its missing entries are filled.

        Parameters
        ----------
        X : array of rows, or a `Source`
        gross : float, default=6.0
            np.inf replaces no entry.
        shrink : bool, default=True
            False leaves entries that are neither missing nor gross errors as they are.
        return_changes : bool, default=False

        Returns
        -------
        repaired : array like X (a `Source` for a `Source`)
        changes : `Changes`, the entries that were changed and why, if `return_changes`
        """
        check_is_fitted(self)
        if not gross > 0:
            raise ValueError(f"gross must be a positive number of standard deviations, not {gross!r}.")
        subspace = Subspace(
            self.mean_, self.components_, self.shrinkage_, float(np.sqrt(self.noise_variance_)), self._min_noise
        )
        if isinstance(X, Source):
            if return_changes:
                raise ValueError("The changes of a Source are not kept: repair its blocks one by one to see them.")
            mapped = X.map(lambda block: block.with_X(self._repaired(subspace, block.X, gross, shrink)[0]))
            mapped.derived = True
            return mapped
        repaired, changes = self._repaired(subspace, X, gross, shrink)
        return (repaired, changes) if return_changes else repaired

    def _repaired(self, subspace: Subspace, X: Any, gross: float, shrink: bool) -> tuple[np.ndarray, Changes]:
        X = X.to_numpy() if hasattr(X, "to_numpy") else X.toarray() if hasattr(X, "toarray") else X
        X = as_float(np.asarray(X))
        if X.ndim != 2:
            raise ValueError(f"repair expects rows in a 2D array, got an array of shape {X.shape}.")
        self._of_known_width(X)
        refuse_missing(X, getattr(self, "feature_names_in_", None), allow_nan=True)
        repaired, changes = subspace.repair(X.astype(np.float64), gross, shrink)
        return repaired.astype(X.dtype), changes

    @property
    def _n_features_out(self) -> int:
        return self.n_components_
