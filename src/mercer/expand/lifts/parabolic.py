"""The parabolic lift: balls become halfspaces, and halfspaces become balls again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._numeric.hashing.rows import as_float
from mercer._numeric.linalg.distances import is_sparse
from mercer._runtime.memory import refuse_too_large
from mercer.base import StreamingTransformer


class ParabolicLift(StreamingTransformer):
    """phi(x) = (x, ||x||^2): every ball of x is a halfspace of phi(x).

    The ball of center c and radius r is {x: <(2c, -1), phi(x)> >= ||c||^2 - r^2}, because
    ||x - c||^2 = ||x||^2 - 2 <c, x> + ||c||^2. Conversely, a linear rule on phi(x) is a ball if its last coefficient is
    negative, the complement of a ball if it is positive, and a halfspace if it is zero; `ball` returns which. A linear
    classifier after this lift separates classes by spheres or hyperplanes, for one additional column.

    Use it where classes are separated by balls, after putting columns on one scale; several balls at once need
    `PolynomialLift` of degree 2 or a kernel. It costs one pass and one column.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.expand import ParabolicLift
    >>> lift = ParabolicLift().fit(np.zeros((1, 2)))
    >>> lift.transform([[3.0, 4.0]])
    array([[ 3.,  4., 25.]])
    >>> center, radius = lift.ball([2.0, 4.0, -1.0], intercept=4.0)
    >>> center, radius
    (array([1., 2.]), 3.0)
    """

    def _apply(self, X: Any) -> Any:
        if is_sparse(X):
            return _with_column(X, _squared_norms(X))
        refuse_too_large(X.shape[0], X.shape[1] + 1, X.dtype.itemsize, "Transform fewer rows at a time.")
        out = np.empty((X.shape[0], X.shape[1] + 1), dtype=X.dtype)
        out[:, :-1] = X
        out[:, -1] = _squared_norms(X)
        return out

    def inverse_transform(self, X: Any) -> Any:
        """The rows without their last column."""
        check_is_fitted(self)
        X = X.tocsr() if hasattr(X, "tocsr") else as_float(np.asarray(X))
        if X.ndim != 2 or X.shape[1] != self.n_features_in_ + 1:
            raise ValueError(
                f"inverse_transform expects {self.n_features_in_ + 1} columns, got an array of shape {X.shape}."
            )
        return X[:, :-1]

    def ball(self, coef: Any, intercept: Any = 0.0) -> Region:
        """The region where <coef, phi(x)> + intercept > 0; a ball can be unpacked as (center, radius).

        Parameters
        ----------
        coef : array of n_features_in_ + 1 numbers, such as `coef_` of a binary linear classifier
        intercept : number
        """
        check_is_fitted(self)
        coef, intercept = np.asarray(coef, np.float64), np.asarray(intercept, np.float64)
        if coef.size != self.n_features_in_ + 1 or coef.ndim > 2 or intercept.size != 1:
            raise ValueError(
                f"One rule has {self.n_features_in_ + 1} coefficients and one intercept, got shapes {coef.shape} and "
                f"{intercept.shape}. Of several classes, give one row of coef_ and its intercept_."
            )
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError("coef and intercept must be finite.")
        return region_of_rule(coef.ravel(), float(intercept.ravel()[0]))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns, then "squared_norm"."""
        names = self._input_names(input_features)
        last = "squared_norm"
        while last in names:
            last += "_"
        return np.array([*names, last], dtype=object)

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_ + 1


@dataclass(frozen=True)
class Region:
    """The set of x with <v, x> + w ||x||^2 + b > 0.

    A ball can be indexed and unpacked as (center, radius). Every other kind refuses: its center and radius, where it
    has them, are attributes.

    Attributes
    ----------
    kind : "ball" (w < 0), "complement" of a ball (w > 0), "halfspace" (w = 0), "everything" or "nothing"
    center : array; None if w = 0
    radius : the radius of the ball, or of the ball that the complement excludes; inf for a halfspace, nan where the
        rule has one sign everywhere (r^2 < 0)
    normal : v, the direction in which a halfspace extends; None for the others
    """

    kind: str
    center: np.ndarray | None
    radius: float
    normal: np.ndarray | None = None
    rule: Any = field(default=None, repr=False)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._center_and_radius())

    def __getitem__(self, index: int) -> Any:
        return self._center_and_radius()[index]

    def __len__(self) -> int:
        return 2

    def _center_and_radius(self) -> tuple[np.ndarray | None, float]:
        if self.kind != "ball":
            kind = "the complement of a ball" if self.kind == "complement" else repr(self.kind)
            raise ValueError(
                f"The region is {kind}, not a ball, and does not unpack as (center, radius). "
                "Use its attributes kind, center, radius and normal."
            )
        return self.center, self.radius

    def contains(self, X: Any) -> np.ndarray:
        """Whether each row of X lies in the region.

        Evaluates the rule itself, which stays accurate where the curvature is almost zero and the radius huge.
        """
        v, w, b = self.rule
        X = X.tocsr() if hasattr(X, "tocsr") else np.atleast_2d(np.asarray(X, dtype=np.float64))
        return X @ v + w * _squared_norms(X) + b > 0


def region_of_rule(coef: np.ndarray, intercept: float) -> Region:
    """The region where <coef, (x, ||x||^2)> + intercept > 0.

    With coef = (v, w) and w != 0 the rule is w (||x - c||^2 - r^2) > 0, c = -v/(2w), r^2 = (||v||^2 - 4 w b)/(4 w^2).
    """
    size = max(np.abs(coef).max(), abs(intercept)) or 1.0
    v, w, b = coef[:-1] / size, float(coef[-1] / size), intercept / size  # of size 1, so that squares stay finite
    rule = v, w, b
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        center = -v / (2 * w)
    if w == 0 or not np.isfinite(center).all():  # or the curvature underflows
        if np.any(v):
            return Region("halfspace", None, np.inf, v, (v, 0.0, b))
        return Region("everything" if b > 0 else "nothing", None, np.nan, None, rule)
    discriminant = float(v @ v) - 4 * w * b
    if discriminant < 0 or (discriminant == 0 and w < 0):  # an open ball of radius 0 is empty
        return Region("everything" if w > 0 else "nothing", center, np.nan if discriminant else 0.0, None, rule)
    return Region("complement" if w > 0 else "ball", center, float(np.sqrt(discriminant)) / (2 * abs(w)), None, rule)


def _squared_norms(X: Any) -> np.ndarray:
    with np.errstate(over="ignore"):
        squares = X.multiply(X).sum(axis=1) if is_sparse(X) else np.einsum("ij,ij->i", X, X)
    squares = np.asarray(squares).ravel()
    if not np.isfinite(squares).all():
        row = int(np.argmin(np.isfinite(squares)))
        raise ValueError(
            f"The squared norm of row {row} exceeds the range of {X.dtype}: "
            "bring the columns to a common scale first (for example mercer.normalize.Standardize)."
        )
    return squares


def _with_column(X: Any, column: np.ndarray) -> Any:
    """A CSR matrix with one column more; a zero is not stored."""
    stored = column != 0
    ends = X.indptr[1:].astype(np.int64)
    indptr = np.concatenate([[0], ends + np.cumsum(stored)])
    data, indices = np.empty(indptr[-1], X.dtype), np.empty(indptr[-1], np.int64)
    added = np.zeros(len(data), dtype=bool)
    added[indptr[1:][stored] - 1] = True
    data[added], indices[added] = column[stored], X.shape[1]
    data[~added], indices[~added] = X.data[: ends[-1]], X.indices[: ends[-1]]
    return type(X)((data, indices, indptr), shape=(X.shape[0], X.shape[1] + 1))
