"""Measure a fitted map on the user's data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer._numeric.linalg.distances import is_sparse, paired_distances
from mercer._runtime.blas import on_one_blas_thread
from mercer.bounds.arguments import check_count, check_delta
from mercer.bounds.certificate import Certificate
from mercer.bounds.pairs import RowPairs, SampledTable, draw_pairs
from mercer.bounds.relative import refuse_rough

N_PAIRS = 5000
SPECTRAL_ROWS = 1000
LARGEST_SPECTRAL_ROWS = 2000
SMALL = 100  # rows up to which all eigenvalues are computed
_KERNEL_PAIRS = 64  # kernels come as matrices: of 64 x 64 values the diagonal is used


@on_one_blas_thread
def certify(
    transformer: Any,
    kernel: Any,
    X: Any,
    delta: float = 0.05,
    n_pairs: int = N_PAIRS,
    spectral_rows: int = SPECTRAL_ROWS,
    pointwise: Callable[[Any, Any], np.ndarray] | None = None,
    random_state: Any = 0,
) -> Certificate:
    """How well <z(x), z(x')> agrees with k(x, x') on random pairs of rows of X, and what follows for all pairs.

    Also measures the spectral norm ||K - ZZ'||_2 on some rows, which bounds the effect on ridge regression
    (``Certificate.fitted_value_bound``).

    Use it after fitting a map, to know the error reached on rows like these; use `fourier_dimension` instead before
    there are data. For distances and projections use `certify_distances`. It costs `n_pairs` kernel values, and the
    spectral norm of a matrix of `spectral_rows`.

    Parameters
    ----------
    transformer : a fitted map with ``transform``
    kernel : Kernel
    X : array, CSR matrix, data frame or Source (read once)
        If the map was learned from rows with a target or by choosing among rows, use rows that it has not seen.
    delta : float in (0, 1), each statement of the certificate fails with at most this probability
    n_pairs : int, number of pairs to measure
    spectral_rows : int, at most 2000; 0 leaves the spectral norm out
    pointwise : function (x rows, x' rows) -> bounds, for maps that know a certain bound of each error
    random_state : int, seed of the rows and pairs

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.bounds import certify
    >>> from mercer.expand import RandomFeatures
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(2000, 5))
    >>> certificate = certify(RandomFeatures(Gaussian(2.0), n_components=4096).fit(X), Gaussian(2.0), X)
    >>> print(f"largest error {certificate.max:.2f}; more for at most {certificate.exceedance:.2%} of all pairs")
    largest error 0.05; more for at most 0.06% of all pairs
    """
    pairs = _pairs(X, delta, n_pairs, random_state)
    errors = _over(pairs, lambda x, z: inner_products(transformer, x, z) - kernel_values(kernel, x, z))
    spectral = _spectral_norm(transformer, kernel, pairs.table, spectral_rows)
    return Certificate(
        subject=f"{_described(transformer)} for {kernel}",
        measured="|<z, z'> - k|",
        errors=errors,
        delta=delta,
        kind=pairs.kind,
        n_rows=len(pairs.table),
        spectral_norm=spectral[0],
        spectral_rows=spectral[1],
        pointwise=None if pointwise is None else _over(pairs, pointwise),
    )


@on_one_blas_thread
def certify_distances(
    transformer: Any, X: Any, delta: float = 0.05, n_pairs: int = N_PAIRS, kernel: Any = None, random_state: Any = 0
) -> Certificate:
    """How well a map keeps squared distances, as relative errors ||z - z'||^2 / ||x - x'||^2 - 1 on random pairs.

    For a map of kernel features (one with ``kernel_``, or with ``kernel`` given here) the distance to be kept is that
    of the kernel, k(x, x) + k(x', x') - 2 k(x, x'). Kernels that are rough at 0, such as Laplace, exponential powers
    with q < 2 and Matern with nu <= 2, are refused: for them the relative error is unbounded as rows come closer, see
    ``mercer.bounds.relative``.

    Use it for projections, hashing and smooth kernels where distances matter, as for neighbors and clusters; use
    `certify` instead where a linear model follows, as inner products matter there.

    Parameters
    ----------
    transformer : a fitted map with ``transform``
    X : array, CSR matrix or Source of numbers (read once)
    delta : float in (0, 1), each statement of the certificate fails with at most this probability
    n_pairs : int, number of pairs to measure
    kernel : Kernel or None, default=None
    random_state : int, seed of the rows and pairs

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.random_projection import GaussianRandomProjection
    >>> from mercer.bounds import certify_distances
    >>> X = np.random.default_rng(0).normal(size=(500, 1000))
    >>> projection = GaussianRandomProjection(400, random_state=0).fit(X)
    >>> print(f"largest relative error {certify_distances(projection, X).max:.1f}")
    largest relative error 0.3
    """
    kernel = getattr(transformer, "kernel_", None) if kernel is None else kernel
    pairs = _pairs(X, delta, n_pairs, random_state)
    if kernel is None:
        wanted, distance = _over(pairs, lambda x, z: paired_distances(_as_double(x), _as_double(z))), "||x - x'||^2"
    else:
        refuse_rough(kernel, pairs.table.rows.shape[1])
        wanted, distance = _over(pairs, lambda x, z: kernel_distances(kernel, x, z)), "||phi - phi'||^2"
    found = _over(pairs, lambda x, z: _feature_distances(transformer, x, z))
    is_distinct = wanted > 0  # different rows may coincide for the kernel
    if not is_distinct.any():
        raise ValueError("All pairs measured are at distance 0: there is no relative error.")
    return Certificate(
        subject=_described(transformer) + ("" if kernel is None else f" for {kernel}"),
        measured=f"|||z - z'||^2 / {distance} - 1|",
        errors=(found[is_distinct] / wanted[is_distinct]) ** 2 - 1,
        delta=delta,
        kind=pairs.kind,
        n_rows=len(pairs.table),
    )


class KernelCertificate:
    """For fitted maps with ``transform`` and ``kernel_``."""

    kernel_: Any

    def certificate(self, X: Any, delta: float = 0.05, n_pairs: int = N_PAIRS, random_state: Any = 0) -> Certificate:
        """Measure |<z(x), z(x')> - k(x, x')| on random pairs of rows of X; see ``mercer.bounds.certify``."""
        _check_fitted(self)
        if self.kernel_ is None:
            raise ValueError(f"{_described(self)} was made without a kernel: there is nothing to compare with.")
        return certify(self, self.kernel_, X, delta, n_pairs, random_state=random_state)


class DistanceCertificate:
    """For fitted projections: maps with ``transform`` that should keep distances."""

    def certificate(self, X: Any, delta: float = 0.05, n_pairs: int = N_PAIRS, random_state: Any = 0) -> Certificate:
        """Measure relative errors of squared distances on random pairs; see ``mercer.bounds.certify_distances``."""
        _check_fitted(self)
        return certify_distances(self, X, delta, n_pairs, random_state=random_state)


def _check_fitted(transformer: Any) -> None:
    from sklearn.utils.validation import check_is_fitted  # a second of loading that the dimensions do not need

    check_is_fitted(transformer)


def kernel_values(kernel: Any, x: Any, z: Any) -> np.ndarray:
    """k(x_i, z_i) in float64 for the i-th rows of both."""
    return _diagonals(kernel, x, z)


def kernel_distances(kernel: Any, x: Any, z: Any) -> np.ndarray:
    """||phi(x_i) - phi(z_i)|| in float64 for the i-th rows of both."""
    return _diagonals(kernel.distance, x, z)


def inner_products(transformer: Any, x: Any, z: Any) -> np.ndarray:
    """<z(x_i), z(z_i)> in float64 for the i-th rows of both."""
    a, b = _features(transformer, x), _features(transformer, z)
    if is_sparse(a):
        return np.asarray(a.multiply(b).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", a, b)


def _feature_distances(transformer: Any, x: Any, z: Any) -> np.ndarray:
    return paired_distances(_features(transformer, x), _features(transformer, z))


def _features(transformer: Any, x: Any) -> Any:
    found = transformer.transform(x)
    return _as_double(found if is_sparse(found) else np.asarray(found))


def _as_double(x: Any) -> Any:
    """Numbers in float64, so that rounding of the reference does not count as an error of the map."""
    return x.astype(np.float64) if getattr(getattr(x, "dtype", None), "kind", None) in set("fiub") else x


def _diagonals(matrix: Callable[[Any, Any], np.ndarray], x: Any, z: Any) -> np.ndarray:
    x, z = _as_double(x), _as_double(z)
    n = x.shape[0] if hasattr(x, "shape") else len(x)
    parts = [slice(start, start + _KERNEL_PAIRS) for start in range(0, n, _KERNEL_PAIRS)]
    rows = (lambda t, part: t.iloc[part]) if hasattr(x, "iloc") else (lambda t, part: t[part])
    return np.concatenate([np.diagonal(matrix(rows(x, part), rows(z, part))).astype(np.float64) for part in parts])


def _pairs(X: Any, delta: float, n_pairs: int, random_state: Any) -> RowPairs:
    check_delta(delta)
    return draw_pairs(X, check_count("n_pairs", n_pairs), check_count("random_state", random_state, minimum=0))


def _over(pairs: RowPairs, measure: Callable[[Any, Any], np.ndarray]) -> np.ndarray:
    return np.concatenate([measure(x, z) for x, z in pairs.chunks()])


def _spectral_norm(transformer: Any, kernel: Any, table: SampledTable, n_rows: int) -> tuple[float | None, int | None]:
    """||K - ZZ'||_2 on the first rows of the sample."""
    n_rows = min(check_count("spectral_rows", n_rows, minimum=0), len(table))
    if n_rows > LARGEST_SPECTRAL_ROWS:
        raise ValueError(f"spectral_rows must be at most {LARGEST_SPECTRAL_ROWS}, got {n_rows}.")
    if n_rows == 0:
        return None, None
    rows = table.take(np.arange(n_rows))
    Z = _features(transformer, rows)
    gram = (Z @ Z.T).toarray() if is_sparse(Z) else Z @ Z.T
    return largest_eigenvalue(kernel(_as_double(rows)) - gram), n_rows


def largest_eigenvalue(E: np.ndarray) -> float:
    """The largest absolute eigenvalue of a symmetric matrix, to machine precision (by Lanczos when it is large)."""
    if len(E) > SMALL:
        from scipy.sparse.linalg import ArpackNoConvergence

        start = np.random.default_rng(0).normal(size=len(E))  # fixed, so that the figure is the same every time
        try:
            return float(abs(dense.eigsh(E, k=1, which="LM", v0=start, return_eigenvectors=False)[0]))
        except ArpackNoConvergence:
            pass
    return float(np.abs(dense.eigvalsh(E)).max())


def _described(transformer: Any) -> str:
    return " ".join(str(transformer).split())
