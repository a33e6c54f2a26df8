"""Kernel PCA and pre-images."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._numeric.hashing.rows import as_float
from mercer._numeric.linalg import dense
from mercer._runtime.blas import on_one_blas_thread
from mercer._runtime.checks import check_whole
from mercer.kernels import Gaussian, Kernel
from mercer.machines import similarity
from mercer.machines.base import KernelMachine, are_objects
from mercer.machines.regressor import KernelRegressor

_PREIMAGE_STEPS = 100
_NO_ROWS = "Only rows of numbers have pre-images: these are seen through their similarities alone."


def _has_rows(machine: KernelPCA) -> bool:
    """Precomputed similarities have no rows, and so no pre-images."""
    if machine.__sklearn_tags__().input_tags.pairwise:
        raise AttributeError(_NO_ROWS)
    return True


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelMachine):
    """PCA of phi(x): the leading eigenvectors of the doubly centered Gram matrix (Schoelkopf, Smola, Mueller 1998).

    The coordinates are those of PCA on the explicit features, each up to its sign; here the largest coordinate in
    magnitude of every component is positive on the training rows.

    `inverse_transform` is learned: kernel ridge regression from the coordinates to the training rows,
    its penalty chosen by leave-one-out (Bakir, Weston and Schoelkopf 2004). For the Gaussian kernel the result is then
    improved by the fixed-point iteration of Mika et al. (1999), which lowers ||phi(z) - P phi||.

    Use it to look at the shape of data in few coordinates, or to remove noise by `inverse_transform`. For features of a
    model `Landmarks` cost less: this takes the n x n Gram matrix and its leading eigenvectors.

    Parameters
    ----------
    kernel : Kernel, str or None, default=None
        A kernel or the name of one; None is ``Gaussian(bandwidth="median")``.
    n_components : int, default=2

    Attributes
    ----------
    eigenvalues_ : of the centered Gram matrix, the largest first; divided by the number of rows they are variances
    eigenvectors_ : array (rows, components)
    X_fit_ : the training rows

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> from mercer.machines import KernelPCA
    >>> X = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    >>> KernelPCA(Linear(), n_components=1).fit_transform(X).round(6)
    array([[ 5.],
           [ 0.],
           [-5.]])
    """

    _if_not_mercer = (
        "Kernel PCA then leaves out the directions of negative eigenvalues: distances between the coordinates are "
        "not those the similarity implies. mercer.kernels.repair shows the options for a matrix."
    )

    def __init__(self, kernel: Kernel | str | None = None, n_components: int = 2) -> None:
        self.kernel = kernel
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the rows of X; those of a `Source` are collected first."""
        check_whole("n_components", self.n_components)
        block = self._read(X)
        n = len(block)
        if self.n_components > n:
            raise ValueError(f"n_components={self.n_components} exceeds the number of rows, n_samples={n}.")
        self.kernel_ = self._resolved_kernel(block.X)
        K = similarity.gram(self.kernel_, block.X).astype(np.float64, copy=False)
        if not similarity.is_mercer_by_construction(self.kernel_):
            similarity.warn_unless_mercer(self.kernel_, K, self._if_not_mercer)
            K = similarity.symmetric_part(K)
        self._means = K.mean(axis=0)
        self._center(K)
        self.eigenvalues_, self.eigenvectors_ = _leading(K, self.n_components)
        self.X_fit_ = block.X
        self.__dict__.pop("_preimages", None)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Coordinates of the rows of X."""
        rows = self._new_rows(X)
        # Centering is linear: (K - means) A needs the product K A and the mean of each row of K only.
        scaled = self.eigenvectors_ * _inverse_root(self.eigenvalues_)
        n = len(self.eigenvectors_)
        with_means = np.hstack([scaled, np.full((n, 1), 1.0 / n)])
        found = similarity.products(self.kernel_, rows, self.X_fit_, with_means)
        # The remaining row means multiply the sums of the columns, which are zero up to rounding.
        sums = scaled.sum(axis=0)
        result = found[:, :-1] - self._means @ scaled - (found[:, -1:] - self._means.mean()) * sums
        return result.astype(getattr(rows, "dtype", float), copy=False) if not are_objects(rows) else result

    @available_if(_has_rows)
    @on_one_blas_thread
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows whose features are close to the given coordinates: approximate pre-images."""
        check_is_fitted(self)
        X = as_float(np.asarray(X))
        if X.ndim != 2 or X.shape[1] != len(self.eigenvalues_):
            raise ValueError(
                f"inverse_transform expects {len(self.eigenvalues_)} columns, got an array of shape {X.shape}."
            )
        if are_objects(self.X_fit_):
            raise ValueError(_NO_ROWS)
        Z = self._preimage_regressor().predict(X.astype(np.float64))
        return self._fixed_point(X, Z).astype(X.dtype) if isinstance(self.kernel_, Gaussian) else Z.astype(X.dtype)

    def _center(self, K: np.ndarray) -> None:
        K -= self._means
        K -= self._means[:, None]
        K += self._means.mean()

    def _training_rows(self) -> np.ndarray:
        return self.X_fit_.toarray() if hasattr(self.X_fit_, "toarray") else np.asarray(self.X_fit_)

    def _preimage_regressor(self) -> _CenteredRegressor:
        if not hasattr(self, "_preimages"):
            coordinates = self.eigenvectors_ * np.sqrt(self.eigenvalues_)
            rows = self._training_rows().astype(np.float64)
            mean = rows.mean(axis=0)
            self._preimages = _CenteredRegressor(KernelRegressor(alpha="loo").fit(coordinates, rows - mean), mean)
        return self._preimages

    def _fixed_point(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """z <- sum_i g_i k(z, x_i) x_i / sum_i g_i k(z, x_i), g the weights of the projection; kept where it helps."""
        rows = self._training_rows().astype(np.float64)
        weights = X @ (self.eigenvectors_ * _inverse_root(self.eigenvalues_)).T
        weights += (1.0 - weights.sum(axis=1, keepdims=True)) / len(rows)
        start, size = Z, np.abs(rows).max()
        first = value = np.sum(weights * self.kernel_(Z, rows), axis=1)
        for _ in range(_PREIMAGE_STEPS):
            pull = weights * self.kernel_(Z, rows)
            total = pull.sum(axis=1)
            safe = total > 1e-6
            moved = np.where(safe[:, None], (pull @ rows) / np.where(safe, total, 1.0)[:, None], Z)
            done = np.abs(moved - Z).max() <= 1e-8 * size
            Z = moved
            if done:
                break
        # ||phi(z) - P phi||^2 = 1 - 2 value + const: the larger value is the closer pre-image.
        value = np.sum(weights * self.kernel_(Z, rows), axis=1)
        return np.where((value > first)[:, None], Z, start)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class _CenteredRegressor:
    """A regressor of centered targets: kernel machines have no intercept."""

    def __init__(self, regressor: KernelRegressor, mean: np.ndarray) -> None:
        self.regressor, self.mean = regressor, mean

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.regressor.predict(X).reshape(len(X), -1) + self.mean


def _leading(K: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenvalues, negative and lost ones as 0, and their vectors with a definite sign."""
    n = len(K)
    top = float(np.abs(K).sum(axis=1).max(initial=0.0))
    values, vectors = dense.eigh(K, subset_by_index=[n - k, n - 1], check_finite=False)
    values, vectors = values[::-1].copy(), vectors[:, ::-1].copy()
    values[values <= n * np.finfo(float).eps * top] = 0.0
    vectors *= np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(k)] < 0, -1.0, 1.0)
    return values, vectors


def _inverse_root(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, 1.0 / np.sqrt(np.where(values > 0, values, 1.0)), 0.0)
