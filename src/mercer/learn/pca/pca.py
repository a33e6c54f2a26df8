"""Principal components from one pass, and the repair of rows they allow."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy.linalg import eigh
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._numeric.hashing.rows import as_float
from mercer._runtime.checks import refuse_missing
from mercer._runtime.pool import for_each, single_threaded_blas
from mercer.base import StreamingTransformer, seed_of
from mercer.learn.pca import spectrum
from mercer.learn.pca.repair import Subspace
from mercer.learn.pca.scatter import Scatter
from mercer.learn.pca.subspace import leading_directions
from mercer.linear.passes import IteratedEstimator
from mercer.linear.ridge.overflow import refuse_overflow
from mercer.source import MemorySource, Source
from mercer.stats import Moments

SOLVERS = ("auto", "exact", "randomized")
#: More columns than this are too many for a matrix of columns squared.
WIDE = 10_000
_ROWS = 2048


class PCA(ClassNamePrefixFeaturesOutMixin, IteratedEstimator, StreamingTransformer):
    """Principal components: z = C (x - mean), C the leading eigenvectors of the covariance as rows.

    The exact solver needs one pass for mean and scatter, whatever the order and size of the pieces, and merges with
    others. The randomized one, for rows too wide for that, takes a pass per step of subspace iteration and keeps sparse
    rows sparse (Halko, Martinsson and Tropp 2011). The largest entry in magnitude of every component is positive.

    Parameters
    ----------
    n_components : int, float in (0, 1), "auto" or None, default=None
        How many; or the least number that explains this share of the variance; "auto" keeps those that stand out of
        noise of unknown size (Gavish and Donoho 2014); None keeps all that have any variance. The randomized solver
        needs a number.
    whiten : bool, default=False
        Divide each coordinate by its standard deviation.
    solver : {"auto", "exact", "randomized"}, default="auto"
        "auto" is exact for up to 10,000 columns.
    n_iter : int, default=7
        Steps of the randomized solver.
    random_state : int, RandomState or None, default=0
        Where the randomized solver starts.

    Attributes
    ----------
    components_ : array (n_components_, features), rows of length 1
    mean_ : array
    explained_variance_ : array, variance along each component (divided by n - 1, n the total weight)
    explained_variance_ratio_ : array, as a share of the whole
    singular_values_ : array, of the centered rows
    noise_variance_ : float, variance of the noise of an entry: what the components leave, over its degrees of freedom
    shrinkage_ : array, what `repair` multiplies each coordinate by; 0 for components that noise explains
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
    >>> bool(abs(repaired - X[:1]).max() < 0.1), np.argwhere(changes.gross).tolist()
    (True, [[0, 7]])
    """

    _needs_y = False

    def __init__(self, n_components=None, whiten=False, solver="auto", n_iter=7, random_state=0):
        self.n_components = n_components
        self.whiten = whiten
        self.solver = solver
        self.n_iter = n_iter
        self.random_state = random_state

    def _check_parameters(self):
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, not {self.solver!r}.")
        k = self.n_components
        counted = isinstance(k, Integral) and not isinstance(k, bool) and k >= 1
        share = isinstance(k, Real) and not isinstance(k, Integral) and 0 < k < 1
        if not (counted or share or k is None or (isinstance(k, str) and k == "auto")):
            raise ValueError(
                f"n_components must be a positive whole number, a share in (0, 1), 'auto' or None, not {k!r}."
            )
        if self.solver == "randomized" and not counted:
            raise ValueError(f"The randomized solver needs a whole number of components, not {k!r}.")

    # learning

    @property
    def _multi_pass(self) -> bool:  # type: ignore[override]
        return self.solver == "randomized" or getattr(self, "solver_", None) == "randomized"

    def _empty(self):
        return Scatter()

    def _from_memory(self, X, y, sample_weight):
        plain = isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.ndim == 2 and sample_weight is None
        if not plain or self._takes_steps(X.shape[1]):
            return super()._from_memory(X, y, sample_weight)
        # The statistic refuses NaN and infinity, which it meets in its sums: rows are not read one more time for that.
        return MemorySource(validate_data(self, X, reset=True, ensure_all_finite=False, **self._check_X))

    def _takes_steps(self, n_columns: int) -> bool:
        wide = self.solver == "auto" and n_columns > WIDE and isinstance(self.n_components, Integral)
        return wide or self.solver == "randomized"

    def _learn_from(self, source):
        if not self._takes_steps(self.n_features_in_):
            return StreamingTransformer._learn_from(self, source)
        self._refuse_too_many()
        moments = source.fold(Moments()).finish()
        self._weight = float(moments.weight[0])
        total = float(np.sum(moments.var) * self._weight)
        refuse_overflow(total)
        seed = seed_of(self.random_state)
        values, vectors = leading_directions(source, moments.mean, int(self.n_components), self.n_iter, seed)
        self.mean_, self.solver_ = moments.mean, "randomized"
        self.__dict__.pop("_accumulator", None)
        return self._settle(values, vectors, total)

    def _finish(self, learned):
        self._refuse_too_many()
        refuse_overflow(learned.S)
        self._weight, self.mean_, self.solver_ = learned.weight, learned.mean, "exact"
        d, k = self.n_features_in_, self.n_components
        total = float(np.trace(learned.S))
        leading = [d - int(k), d - 1] if isinstance(k, Integral) else None
        with single_threaded_blas():  # the same bits on any number of threads
            values, vectors = eigh(learned.S, subset_by_index=leading, check_finite=False)
        values, vectors = values[::-1].copy(), vectors[:, ::-1].T
        values[values <= 8 * d * np.finfo(float).eps * max(values[0], 0.0)] = 0.0  # rounding
        k = self._number(values)
        self._settle(values, vectors, total, k)

    def _refuse_too_many(self):
        k, d = self.n_components, self.n_features_in_
        if isinstance(k, Integral) and k > d:
            raise ValueError(f"n_components={k} exceeds the number of columns, n_features={d}.")

    def _number(self, values) -> int:
        """How many components to keep, given all variances unless their number is known."""
        k = self.n_components
        if isinstance(k, str):
            return max(1, spectrum.rank_above_noise(np.sqrt(values), max(self._weight, 1.0), self.n_features_in_))
        if isinstance(k, Integral):
            return len(values)
        if k is None:
            return max(1, int(np.count_nonzero(values)))
        share = np.cumsum(values) / max(float(np.sum(values)), np.finfo(float).tiny)
        return min(int(np.searchsorted(share, k)) + 1, len(values))

    def _settle(self, values, vectors, total, k=None):
        """The public attributes, from eigenvalues of the scatter and eigenvectors as rows."""
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
        self._least_noise = 1e-7 * float(np.sqrt(total / (n * d)))

    # use

    def _scale(self):
        """What whitening multiplies coordinates by; 0 where a component has no variance."""
        spread = np.sqrt(self.explained_variance_)
        seen = spread > 1e-12 * spread.max(initial=0.0)
        return np.where(seen, 1.0 / np.where(seen, spread, 1.0), 0.0)

    def _apply(self, X):
        map_ = (self.components_ * self._scale()[:, None] if self.whiten else self.components_).T
        if hasattr(X, "tocsr"):
            return (X @ map_ - self.mean_ @ map_).astype(X.dtype, copy=False)
        out = np.empty((X.shape[0], map_.shape[1]), dtype=X.dtype)
        mean, map_ = self.mean_.astype(X.dtype), map_.astype(X.dtype)

        def fill(start):
            rows = slice(start, start + _ROWS)
            np.matmul(X[rows] - mean, map_, out=out[rows])

        for_each(fill, range(0, len(X), _ROWS))
        return out

    def inverse_transform(self, X):
        """The rows that coordinates stand for: mean + C'z, whitening undone."""
        check_is_fitted(self)
        X = X.toarray() if hasattr(X, "toarray") else as_float(np.asarray(X))
        if X.ndim != 2 or X.shape[1] != self.n_components_:
            raise ValueError(
                f"inverse_transform expects {self.n_components_} columns, got an array of shape {X.shape}."
            )
        way_back = self.components_
        if self.whiten:
            way_back = way_back * np.sqrt(self.explained_variance_)[:, None]
        return X @ way_back.astype(X.dtype) + self.mean_.astype(X.dtype)

    def repair(self, X, gross=6.0, shrink=True, return_changes=False):
        """Rows with small noise, missing entries and gross errors, made right by what the training rows have in common.

        Small noise: coordinates are multiplied by `shrinkage_`, the optimal one of Gavish and Donoho (2017), which also
        drops components that noise explains. Missing entries (NaN) are predicted from the others of their row. Entries
        that the others put more than `gross` standard deviations of the noise away from where they are count as gross
        errors: they are found with robust weights, left out, and predicted like missing ones. A row most of whose
        entries would be errors is not like the training rows: nothing but its gaps is changed.

        Parameters
        ----------
        X : array of rows, or a `Source`
        gross : float, default=6.0
            np.inf takes every entry at its word.
        shrink : bool, default=True
            False leaves entries that are neither missing nor gross errors as they are.
        return_changes : bool, default=False

        Returns
        -------
        repaired : array like X (a `Source` for a `Source`)
        changes : `Changes`, which entries were changed and why, if `return_changes`
        """
        check_is_fitted(self)
        if not gross > 0:
            raise ValueError(f"gross must be a positive number of standard deviations, not {gross!r}.")
        subspace = Subspace(
            self.mean_, self.components_, self.shrinkage_, float(np.sqrt(self.noise_variance_)), self._least_noise
        )
        if isinstance(X, Source):
            if return_changes:
                raise ValueError("The changes of a Source are not kept: repair its blocks one by one to see them.")
            mapped = X.map(lambda block: block.with_X(self._repaired(subspace, block.X, gross, shrink)[0]))
            mapped.derived = True
            return mapped
        repaired, changes = self._repaired(subspace, X, gross, shrink)
        return (repaired, changes) if return_changes else repaired

    def _repaired(self, subspace, X, gross, shrink):
        X = X.to_numpy() if hasattr(X, "to_numpy") else X.toarray() if hasattr(X, "toarray") else X
        X = as_float(np.asarray(X))
        if X.ndim != 2:
            raise ValueError(f"repair expects rows in a 2D array, got an array of shape {X.shape}.")
        self._of_known_width(X)
        refuse_missing(X, getattr(self, "feature_names_in_", None), allow_nan=True)
        repaired, changes = subspace.repair(X.astype(np.float64), gross, shrink)
        return repaired.astype(X.dtype), changes

    @property
    def _n_features_out(self):
        return self.n_components_
