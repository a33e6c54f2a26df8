"""Deterministic error bounds of landmark features, per pair and in total."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._numeric.linalg.distances import is_sparse
from mercer.bounds import Certificate, certify
from mercer.bounds.certify import N_PAIRS
from mercer.bounds.rendering import table_row
from mercer.expand.landmarks.rows import holds_objects
from mercer.source import Source


@dataclass(frozen=True, eq=False)
class LandmarkCertificate(Certificate):
    """`Certificate` with deterministic bounds for landmarks. With r(x) = k(x, x) - ||z(x)||^2,

        |k(x, x') - <z(x), z(x')>| <= sqrt(r(x) r(x'))   for every pair (Cauchy and Schwarz off the span),
        ||K - ZZ'||_2 <= trace(K - ZZ') = sum of r(x)    on all rows together.

    Attributes
    ----------
    n_all : int, number of rows of X
    residual_sum, residual_max : sum and maximum of r(x) over all of them
    diagonal_sum : sum of k(x, x)
    """

    n_all: int = 0
    residual_sum: float = 0.0
    residual_max: float = 0.0
    diagonal_sum: float = 0.0

    @property
    def unexplained(self) -> float:
        """The unexplained fraction of the trace of K: sum of r(x) / sum of k(x, x)."""
        return self.residual_sum / self.diagonal_sum if self.diagonal_sum > 0 else 0.0

    def fitted_value_bound(self, alpha: float) -> float:
        """How far ridge on the features can be from kernel ridge, in fitted values, relative to the norm of y.

            ||y_kernel - y_features|| <= min(1, sum of r(x) / alpha) ||y||

        on all rows of X, for the same penalty alpha (sum of squares + alpha ||w||^2), no intercept.
        """
        if not alpha > 0:
            raise ValueError(f"alpha must be positive, got {alpha!r}.")
        norm = self.residual_sum
        if self.spectral_rows == self.n_all and self.spectral_norm is not None:  # it was measured on all rows
            norm = min(norm, self.spectral_norm)
        return min(1.0, norm / alpha)

    def as_dict(self) -> dict:
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in Certificate.__dataclass_fields__}
        return {**super().as_dict(), **own, "unexplained": self.unexplained}

    def __str__(self) -> str:
        lines = [
            super().__str__(),
            table_row("r(x), largest", self.residual_max) + "  |k - <z, z'>| <= sqrt(r r'), for certain",
            table_row("r(x), sum", self.residual_sum)
            + f"  on all {self.n_all:,} rows, {100 * self.unexplained:.2g} % of the trace; bounds ||K - ZZ'||_2",
        ]
        return "\n".join(lines)


class ResidualCertificate:
    """Mixin of fitted maps that project onto a span: `_residual(X)` gives r(x) and k(x, x) of checked rows."""

    def residual(self, X: Any) -> np.ndarray:
        """r(x) = k(x, x) - ||z(x)||^2 >= 0 for every row, in float64: the residual of the projection.

        It is the square of the distance of phi(x) from the span of the landmarks. A `Source` gives the residuals of
        all its rows. With ``Precomputed()``, X is the square matrix of the training rows.
        """
        return self._residual_and_diagonal(X)[0]

    def certificate(
        self: Any, X: Any, delta: float = 0.05, n_pairs: int = N_PAIRS, random_state: Any = 0
    ) -> LandmarkCertificate:
        """Agreement of <z, z'> with the kernel on the rows of X: deterministic bounds, and errors of random pairs.

        The bound sqrt(r(x) r(x')) of every pair (``pointwise``; 64 roundings of k(x, x) are added to each r) and
        ``residual_sum``, which bounds ||K - ZZ'||_2 and with it the effect on ridge regression, are deterministic. The
        confidence 1 - delta applies only to pairs beyond those measured; see ``mercer.bounds.certify``. A `Source` is
        read twice.
        """
        residuals, diagonal = self._residual_and_diagonal(X)
        features, kernel, bounds = self, self.kernel_, self._pair_bounds
        if self._precomputed:
            features, kernel, bounds = _by_position(self, self._checked_X(X, reset=False), residuals, diagonal)
            X = np.arange(len(residuals), dtype=np.float64)[:, None]
        elif not isinstance(X, Source) and holds_objects(X):
            X = list(X)
        measured = certify(features, kernel, X, delta, n_pairs, pointwise=bounds, random_state=random_state)
        return LandmarkCertificate(
            **{f.name: getattr(measured, f.name) for f in fields(Certificate)},
            n_all=len(residuals),
            residual_sum=float(residuals.sum()),
            residual_max=float(residuals.max()),
            diagonal_sum=float(diagonal.sum()),
        )

    def _pair_bounds(self: Any, x: Any, z: Any) -> np.ndarray:
        bounds = []
        for rows in (x, z):
            residuals, diagonal = self._residual_and_diagonal(rows)
            bounds.append(_with_rounding(residuals, diagonal, self._rounding_of(rows)))
        return np.sqrt(bounds[0] * bounds[1])

    def _residual_and_diagonal(self: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        if not self.whiten:
            raise ValueError("Plain similarities approximate no kernel: there is a residual with whiten=True only.")
        if not isinstance(X, Source):
            return self._residual(self._checked_X(X, reset=False))
        found = [self._residual(self._checked_rows(block)) for block in X.blocks() if len(block)]
        residuals, diagonal = (np.concatenate(part) for part in zip(*found, strict=True))
        return residuals, diagonal


def _with_rounding(residuals: np.ndarray, diagonal: np.ndarray, rounding: float) -> np.ndarray:
    return residuals + rounding * diagonal


def _by_position(
    features: Any, K: Any, residuals: np.ndarray, diagonal: np.ndarray
) -> tuple[Any, Any, Callable[..., np.ndarray]]:
    """A precomputed matrix as a map, a kernel and bounds of pairs on the positions 0..n-1 of its rows."""
    K = K.toarray() if is_sparse(K) else K
    safe = np.sqrt(_with_rounding(residuals, diagonal, features._rounding_of(K)))
    return _MapOfPositions(features, K), _MatrixKernel(K), lambda x, z: safe[_positions(x)] * safe[_positions(z)]


class _MapOfPositions:
    def __init__(self, features: Any, K: np.ndarray) -> None:
        self.features, self.K = features, K

    def transform(self, rows: Any) -> np.ndarray:
        return self.features.transform(self.K[_positions(rows)])

    def __str__(self) -> str:
        return str(self.features)


class _MatrixKernel:
    def __init__(self, K: np.ndarray) -> None:
        self.K = K

    def __call__(self, rows: Any, others: Any = None) -> np.ndarray:
        chosen = np.ix_(_positions(rows), _positions(rows if others is None else others))
        return self.K[chosen].astype(np.float64)

    def __str__(self) -> str:
        return "the matrix given"


def _positions(rows: Any) -> np.ndarray:
    return np.asarray(rows)[:, 0].astype(np.intp)
