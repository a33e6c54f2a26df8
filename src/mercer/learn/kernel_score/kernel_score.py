"""The score of kernel ridge regression as a feature."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from mercer import _numeric
from mercer._runtime.checks import check_whole
from mercer._runtime.derived import DerivedCache
from mercer.base import seed_of
from mercer.expand.landmarks.similarities import SimilarityMap
from mercer.kernels import Kernel, KernelParameter, Laplace
from mercer.kernels.stationary import Stationary
from mercer.kernels.through import Through
from mercer.learn.gathering import gather
from mercer.learn.kernel_score.solver import fold_ridge
from mercer.learn.out_of_fold import OutOfFoldTransformer
from mercer.learn.targets import check_task, classes_in, numeric_target, target_names
from mercer.source import MemorySource, Source
from mercer.stats import Sample

#: Rows whose similarities are computed at a time.
_ROWS = 128
#: Distinct rows that the median distance comes from.
_SAMPLE_ROWS = 2048


class KernelScore(KernelParameter, OutOfFoldTransformer):
    """The prediction of kernel ridge regression, one column per output.

        s(x) = mean of y + sum_i a_i k(x, x_i),    (K + alpha) a = y - mean of y.

    There is one fit on all rows, and one without each fold. `fit_transform` gives each training row the score of the
    fit that has not seen it, so weights fitted to it do not overestimate it; `transform` uses the fit on all rows.

    Use it beside other features where a target varies smoothly in places and abruptly in others: nearby rows then say
    what trees and random features leave. `mercer.fit` tries it with the Laplace kernel of columns weighted by trees.
    It keeps up to `max_rows` rows: a fit takes their number squared times four bytes divided by two, and a few dozen
    products with that matrix; each new row takes its similarities to all of them.

    Parameters
    ----------
    kernel : isotropic shift-invariant kernel, such a kernel in a metric, str or None, default=None
        None is ``Laplace(bandwidth="median")``.
    alpha : float > 0, default=0.1
        The penalty of the norm of the function.
    n_folds : int, default=5
    max_rows : int, default=20000
        With more rows, about this many (those of smallest hash) are learned from.
    task : {"auto", "regression", "classification"}, default="auto"
        "auto" treats strings, booleans and whole numbers of at most 20 distinct values as classes, whose indicators
        are the outputs (of two classes that of the second).
    random_state : int, default=0

    Attributes
    ----------
    classes_ : the classes, or None for a continuous target
    kernel_ : the kernel in its metric, with every parameter a number
    centers_ : array (rows, columns), the rows kept
    coef_ : array (fits, rows, outputs), the coefficients of the fit on all rows and of those without each fold
    intercept_ : array (outputs,), the mean of y, which all fits share

    References
    ----------
    Wolpert, "Stacked generalization", 1992; Diaz, Epperly, Frangella, Tropp and Webber, "Robust, randomized
    preconditioning for kernel ridge regression", 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learn import KernelScore
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    >>> y = np.sin(4 * X[:, 0]) * X[:, 1]
    >>> score = KernelScore(alpha=0.01).fit_transform(X, y)
    >>> bool(np.corrcoef(score[:, 0], y)[0, 1] > 0.97)
    True
    """

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        alpha: float = 0.1,
        n_folds: int = 5,
        max_rows: int = 20_000,
        task: str = "auto",
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.n_folds = n_folds
        self.max_rows = max_rows
        self.task = task
        self.random_state = random_state

    @classmethod
    def from_fit(cls, kernel: Through, centers: np.ndarray, coef: np.ndarray, **params: Any) -> KernelScore:
        """A fitted transformer of centered targets, from the coefficients (rows, outputs) of its centers."""
        made = cls(kernel, task="regression", **params)
        made.n_features_in_, made.classes_ = centers.shape[1], None
        made._keep(kernel, centers, coef[None], np.zeros(coef.shape[1]), [])
        return made

    def _check_parameters(self) -> None:
        check_task(self.task)
        for name, minimum in (("n_folds", 2), ("max_rows", 2)):
            check_whole(name, getattr(self, name), minimum)
        if not isinstance(self.alpha, Real) or not 0 < float(self.alpha) < np.inf:
            raise ValueError(f"alpha must be a positive number, not {self.alpha!r}.")
        inner = self._kernel()
        inner = inner.kernel if isinstance(inner, Through) else inner
        if not (isinstance(inner, Stationary) and inner.isotropic):
            raise TypeError(f"kernel must be a function of Euclidean distances, not {self.kernel!r}.")

    def _kernel(self) -> Any:
        return Laplace(bandwidth="median") if self.kernel is None else super()._kernel()

    def _learn_from(self, source: Source) -> None:
        self.classes_ = classes_in(source, self.task)
        rows = gather(source, int(self.max_rows), seed_of(self.random_state))
        known, folds = np.unique(self._folds(rows), return_inverse=True)
        if len(known) < 2:
            raise ValueError(
                f"n_samples={len(rows)}, but scores are learned without each fold, and all rows are in one (equal rows "
                "share a fold). Give more distinct rows."
            )
        X = np.asarray(rows.X, dtype=np.float64)
        Y = numeric_target(rows.y, self.classes_)
        mean = np.average(Y, axis=0, weights=rows.weight)
        sample = MemorySource(X, weight=rows.weight).fold(Sample(_SAMPLE_ROWS)).finish().X
        kernel = self._kernel().resolve(sample[:_SAMPLE_ROWS])
        found = fold_ridge(kernel, X, Y - mean, folds, float(self.alpha), rows.weight)
        self._keep(kernel, X, found.coef, mean, known.tolist())

    def _keep(
        self, kernel: Kernel, centers: np.ndarray, coef: np.ndarray, intercept: np.ndarray, folds: list[int]
    ) -> None:
        self.kernel_ = kernel if isinstance(kernel, Through) else Through(kernel, np.ones(centers.shape[1]))
        self.centers_, self.coef_, self.intercept_, self._fit_folds = centers, coef, intercept, folds
        similarities_to_centers.refresh(self)

    def _scores(self, X: np.ndarray, fit: int) -> np.ndarray:
        """The scores of rows by one of the fits, in float64."""
        X = np.ascontiguousarray(X, dtype=np.float64)
        packed, n_outputs = _numeric.pack_columns(np.ascontiguousarray(self.coef_[fit])), self.coef_.shape[2]
        out = np.empty((len(X), n_outputs))
        for start in range(0, len(X), _ROWS):
            rows = slice(start, start + _ROWS)
            found = similarities_to_centers(self).features(X[rows])
            _numeric.row_products(found, packed, n_outputs, out[rows])
        return out + self.intercept_

    def _apply(self, X: np.ndarray) -> np.ndarray:
        return self._scores(X, 0).astype(X.dtype)

    def _held_out(self, X: np.ndarray, fold: np.ndarray) -> np.ndarray:
        out = np.empty((len(X), self.coef_.shape[2]), dtype=X.dtype)
        fits = {k: 1 + i for i, k in enumerate(self._fit_folds)}
        for k in np.unique(fold).tolist():  # no fit has seen a row of a fold without training rows
            out[fold == k] = self._scores(X[fold == k], fits.get(k, 0))
        return out

    def get_feature_names_out(self, input_features: Iterable[str] | None = None) -> np.ndarray:
        """Names such as `kernelscore` or, of several outputs, `kernelscore_1`."""
        self._input_names(input_features)
        names = target_names(self.classes_, self.coef_.shape[2])
        return np.array([f"kernelscore{n and '_' + n}" for n in names], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


#: The map of an estimator to the similarities of rows to its centers.
similarities_to_centers = DerivedCache(lambda score: SimilarityMap(score.kernel_, score.centers_, None))
