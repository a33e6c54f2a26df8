"""All products of up to p columns: the feature space of the polynomial kernel, written out."""

from __future__ import annotations

from math import perm, sqrt
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._runtime.checks import check_whole
from mercer.expand.lifts.high_dimensional import HighDimensionalTransformer
from mercer.expand.lifts.monomials import Monomials, monomial_name

MAX_SCALED_DEGREE = 170  # 170! is the largest factorial in float64


class MonomialLift(HighDimensionalTransformer):
    """A map to monomials, which a subclass defines in `_monomials(n_columns)`."""

    def _monomials(self, n_columns: int) -> Monomials:
        raise NotImplementedError

    def _finish(self, learned: Any) -> None:
        self._products = self._monomials(self.n_features_in_)
        self.n_output_features_ = self._products.n_outputs
        if self.n_output_features_ == 0:
            raise ValueError(f"{self!r} has no output columns: raise the degree or include the bias.")

    def _apply(self, X: Any) -> Any:
        return self._products.values(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "x0^2 x1", in the order of the output columns; at most ten million."""
        columns = self._input_names(input_features)
        return np.array(self._products.names(columns), dtype=object)

    def columns_of(self, output: int) -> tuple[int, ...]:
        """The input columns whose product is one output column, also where there are too many to name them all."""
        check_is_fitted(self)
        return self._products.combination(output)

    def name_of(self, output: int) -> str:
        """The name of one output column, also where there are too many to name them all."""
        chosen = self.columns_of(output)
        known = getattr(self, "feature_names_in_", None)
        return monomial_name(chosen, {j: f"x{j}" if known is None else str(known[j]) for j in chosen})

    @property
    def powers_(self) -> np.ndarray:
        """The exponents, an array of shape (n_output_features_, n_features_in_), computed on access."""
        check_is_fitted(self)
        return self._products.powers()


class PolynomialLift(MonomialLift):
    """All monomials of the columns of total degree at most p: phi(x) = (w_a x^a), |a| <= p, x^a = prod_j x_j^(a_j).

    A polynomial rule of degree p on x is a linear rule on phi(x). There are C(d + p, p) monomials with the constant,
    one less without. Columns come in the order of scikit-learn's `PolynomialFeatures`: by degree, then as
    `itertools.combinations_with_replacement` gives them.

    With ``scaling="raw"`` all w_a are 1. With ``scaling="kernel"``

        w_a = sqrt(p! / (a! (p - |a|)!)) offset^((p - |a|)/2),   <phi(x), phi(z)> = (offset + <x, z>)^p,

    which spans the same functions, but the length of a weight vector, and with it every margin and every penalty,
    is then that of the kernel.

    A CSR matrix gives a CSR matrix with 64-bit column numbers where they are needed, and is never made dense: a row
    with m stored entries costs C(m + p, p). A dense result that would not fit into memory is refused with its size.

    Use it for few columns and low degrees, where weights should be read as those of products. From some ten thousand
    monomials on, sketches (`RandomFeatures` of `Polynomial`) or the kernel itself cost less.

    Parameters
    ----------
    degree : int >= 0, default=2
    interaction_only : bool, default=False
        Products of distinct columns only. With ``scaling="kernel"`` these keep the weights above.
    include_bias : bool, default=True
        Whether the constant is among the columns.
    scaling : {"raw", "kernel"}, default="raw"
    offset : float >= 0, default=1.0
        The constant of the kernel. With 0 and ``scaling="kernel"`` there are only monomials of degree exactly p,
        the others having weight 0. Not used with ``scaling="raw"``.

    Attributes
    ----------
    n_output_features_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.expand import PolynomialLift
    >>> X = np.array([[1.0, 2.0], [3.0, -1.0]])
    >>> lift = PolynomialLift(2).fit(X)
    >>> lift.get_feature_names_out().tolist()
    ['1', 'x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    >>> lift.transform(X)
    array([[ 1.,  1.,  2.,  1.,  2.,  4.],
           [ 1.,  3., -1.,  9., -3.,  1.]])
    >>> Z = PolynomialLift(2, scaling="kernel").fit_transform(X)
    >>> (Z @ Z.T).round(6).tolist(), ((1 + X @ X.T) ** 2).tolist()
    ([[36.0, 4.0], [4.0, 121.0]], [[36.0, 4.0], [4.0, 121.0]])
    """

    def __init__(
        self,
        degree: int = 2,
        interaction_only: bool = False,
        include_bias: bool = True,
        scaling: str = "raw",
        offset: float = 1.0,
    ) -> None:
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias
        self.scaling = scaling
        self.offset = offset

    def _check_parameters(self) -> None:
        check_whole("degree", self.degree, 0)
        if self.scaling not in ("raw", "kernel"):
            raise ValueError(f"scaling must be 'raw' or 'kernel', not {self.scaling!r}.")
        if not isinstance(self.offset, Real) or not 0 <= self.offset < np.inf:
            raise ValueError(f"offset must be a finite number of at least 0, not {self.offset!r}.")

    def _monomials(self, n_columns: int) -> Monomials:
        repeat, low = not self.interaction_only, 0 if self.include_bias else 1
        if self.scaling == "raw":
            return Monomials(n_columns, low, self.degree, repeat)
        return kernel_monomials(n_columns, self.degree, self.offset, 1.0, low, repeat)


def kernel_monomials(
    n_columns: int, degree: int, offset: float, scale: float, low: int = 0, repeat: bool = True
) -> Monomials:
    """Monomials whose inner product is (offset + scale <x, z>)^degree, or its part of degree at least `low`."""
    if degree > MAX_SCALED_DEGREE:
        raise ValueError(
            f"The weights of degree {degree} exceed the range of float64; the limit is {MAX_SCALED_DEGREE}."
        )
    if offset == 0:
        low = degree
    factors = [sqrt(perm(degree, k)) * offset ** ((degree - k) / 2) * scale ** (k / 2) for k in range(degree + 1)]
    return Monomials(n_columns, low, degree, repeat, np.array(factors), factorials=True)
