"""Kernels of products of coordinates: constant, linear, polynomial, all subsets, ANOVA."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from mercer._numeric.linalg.column_kernels import all_subsets, elementary_symmetric
from mercer._numeric.linalg.distances import is_sparse
from mercer.kernels.base import Kernel
from mercer.kernels.parameters import NON_NEGATIVE, POSITIVE, WHOLE
from mercer.kernels.rows import KernelInput, matching_numbers

BLOCK = 2**21  # entries of a sparse product made dense at a time


@dataclass
class Constant(Kernel):
    """k(x, z) = value, for rows of any kind: what an intercept adds to a kernel machine.

    Use it as a part of sums where a machine has no intercept of its own (`KernelHinge`, `KernelRegressor`).

    Parameters
    ----------
    value : float >= 0

    >>> from mercer.kernels import Constant
    >>> Constant(2.0)([[1.0], [5.0]])
    array([[2., 2.],
           [2., 2.]])
    """

    value: float = 1.0

    _needs = {"value": NON_NEGATIVE}

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        return np.full((len(X), len(Y)), self.value, dtype=np.result_type(X.dtype, Y.dtype))

    def _diag(self, X: KernelInput) -> np.ndarray:
        return np.full(len(X), self.value, dtype=X.dtype)

    @property
    def mass(self) -> float:
        return self.value

    @property
    def isotropic(self) -> bool:
        return True

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return np.zeros((n, d))

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.zeros(n)

    def _series(self, order: int) -> np.ndarray:
        return _coefficients([self.value], order)


class DotProduct(Kernel):
    """k(x, z) = f(<x, z>); a leaf states f as ``_of_product`` and its power series as ``_series``."""

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        A, B = matching_numbers(X, Y)
        return self._of_product(inner_products(A, B))

    def _diag(self, X: KernelInput) -> np.ndarray:
        A = X.numbers
        squares = A.multiply(A).sum(axis=1) if is_sparse(A) else np.einsum("ij,ij->i", A, A)
        return self._of_product(squares.astype(A.dtype, copy=False))

    def _of_product(self, t: np.ndarray) -> np.ndarray:
        """f(t); t may be overwritten."""
        raise NotImplementedError


@dataclass
class Linear(DotProduct):
    """k(x, z) = <x, z>.

    Use it as a part of sums, to give a kernel machine a linear part. On its own a linear model of the columns
    (`RidgeRegressor`) gives the same function without a Gram matrix.

    >>> from mercer.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def _of_product(self, t: np.ndarray) -> np.ndarray:
        return t

    def _series(self, order: int) -> np.ndarray:
        return _coefficients([0.0, 1.0], order)


@dataclass
class Polynomial(DotProduct):
    """k(x, z) = (offset + scale <x, z>)^degree: all products of up to `degree` coordinates.

    Use it with degree 2 or 3 where products of columns matter, on scaled or normalized rows: values grow with the 2
    degree-th power of their length. A Gram matrix takes one matrix product whatever the degree, while `PolynomialLift`
    has C(d + degree, degree) columns. Shawe-Taylor and Cristianini, Kernel Methods for Pattern Analysis, 2004, section
    9.1.

    Parameters
    ----------
    degree : int >= 0
    offset : float >= 0
        With 0 the features are the products of exactly `degree` coordinates.
    scale : float > 0

    >>> from mercer.kernels import Polynomial
    >>> Polynomial(2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    degree: int = 2
    offset: float = 1.0
    scale: float = 1.0

    _needs = {"degree": WHOLE, "offset": NON_NEGATIVE, "scale": POSITIVE}

    def _of_product(self, t: np.ndarray) -> np.ndarray:
        t *= t.dtype.type(self.scale)
        t += t.dtype.type(self.offset)
        return t**self.degree

    def _series(self, order: int) -> np.ndarray:
        p, c = self.degree, float(self.offset)
        return _coefficients([comb(p, n) * c ** (p - n) * self.scale**n for n in range(p + 1)], order)


@dataclass
class AllSubsets(Kernel):
    """k(x, z) = prod_j (1 + scale x_j z_j): one feature for the product over every subset of columns.

    Takimoto and Warmuth, Path kernels and multiplicative updates, JMLR 2003.

    Use it for columns of 0 and 1 of which few are 1 in a row, where conjunctions of any length may matter. Values
    double with every column that two rows share: prefer `Anova` where conjunctions are short. The cost is one product
    per column and pair of rows.

    Parameters
    ----------
    scale : float > 0
        A subset of s columns weighs scale^s.

    >>> from mercer.kernels import AllSubsets
    >>> AllSubsets()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[36.]])
    """

    scale: float = 1.0

    _needs = {"scale": POSITIVE}

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        return all_subsets(*matching_numbers(X, Y), self.scale)

    def _diag(self, X: KernelInput) -> np.ndarray:
        A = X.numbers
        scale = A.dtype.type(self.scale)
        if is_sparse(A):
            return _row_reduce(np.multiply, 1 + scale * A.data * A.data, A)
        return np.prod(1 + scale * A * A, axis=1)


@dataclass
class Anova(Kernel):
    """k(x, z) = e_q(x_1 z_1, ..., x_d z_d), q = degree: the products over all subsets of exactly q columns.

    e_q is the elementary symmetric polynomial, sum over j_1 < ... < j_q of prod_i x_(j_i) z_(j_i);
    0 when there are fewer than q columns. Shawe-Taylor and Cristianini, Kernel Methods for Pattern
    Analysis, 2004, section 9.2.

    Use it for interactions of exactly `degree` different columns; `Polynomial` has powers of single columns and the
    lower degrees as well. Time is degree times that of a matrix product, or more.

    Parameters
    ----------
    degree : int >= 0

    >>> from mercer.kernels import Anova
    >>> Anova(2)([[1.0, 2.0, 3.0]], [[1.0, 1.0, 1.0]])
    array([[11.]])
    """

    degree: int = 2

    _needs = {"degree": WHOLE}

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        return elementary_symmetric(*matching_numbers(X, Y), self.degree)

    def _diag(self, X: KernelInput) -> np.ndarray:
        # e_q of x_j^2, as the Gram value of the squares against a row of ones, one column at a time
        A = X.numbers
        ones = np.ones((1, A.shape[1]), dtype=A.dtype)
        return elementary_symmetric(A * A, ones, self.degree)[:, 0]


def inner_products(A: Any, B: Any) -> np.ndarray:
    """<x, z> for all pairs of rows as a dense array."""
    if not (is_sparse(A) or is_sparse(B)):
        # contiguous and the same object: NumPy then uses syrk, whose result is exactly symmetric
        left = np.ascontiguousarray(A)
        if B is A:
            return left @ left.T
        # rows in the same memory must not: the last bit would depend on whether a machine keeps a copy of its rows
        return left @ (B.copy() if _same_memory(left, B) else B).T
    out = np.empty((A.shape[0], B.shape[0]), dtype=np.result_type(A.dtype, B.dtype))
    step = max(1, BLOCK // max(B.shape[0], 1))
    for start in range(0, A.shape[0], step):
        block = A[start : start + step] @ B.T
        out[start : start + step] = block.toarray() if is_sparse(block) else block
    return out


def _same_memory(A: np.ndarray, B: np.ndarray) -> bool:
    return A.__array_interface__["data"][0] == B.__array_interface__["data"][0]


def _row_reduce(ufunc: np.ufunc, values: np.ndarray, matrix: Any) -> np.ndarray:
    """ufunc over the stored entries of every row of a CSR matrix; its identity for empty rows."""
    out = np.full(matrix.shape[0], ufunc.identity, dtype=matrix.dtype)
    filled = np.diff(matrix.indptr) > 0
    if filled.any():
        out[filled] = ufunc.reduceat(values, matrix.indptr[:-1][filled])
    return out


def _coefficients(known: list[float], order: int) -> np.ndarray:
    result = np.zeros(order + 1)
    count = min(len(known), order + 1)
    result[:count] = known[:count]
    return result
