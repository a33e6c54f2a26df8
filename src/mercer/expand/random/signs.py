"""Random signs: features of kernels that multiply over columns.

For signs r_j = +-1, products over two different subsets of columns of r_j x_j are uncorrelated, so a polynomial in
which every subset of columns occurs at most once, evaluated at (r_j x_j)_j, is an unbiased feature of the kernel with
the squares of its coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._runtime.loaded import require
from mercer.expand.random.maps import FeatureMap
from mercer.expand.random.seed import Seed

#: Largest degree at which Newton's identities are accurate.
NEWTON = 4


class Signs:
    """m rows of random signs for d columns, stored as bytes; a smaller set is the beginning of a larger one."""

    _made_again = ("_laid_out",)

    def __init__(self, m: int, d: int, rng: np.random.Generator) -> None:
        self.bytes = 2 * rng.integers(0, 2, size=(m, d), dtype=np.int8) - 1
        self._laid_out: dict = {}

    def _check_loaded(self) -> None:
        good = isinstance(self.bytes, np.ndarray) and self.bytes.ndim == 2 and self.bytes.dtype == np.int8
        require(good and np.all(np.abs(self.bytes) == 1), "signs are not +1 and -1")

    def ready(self, dtype: np.dtype) -> None:
        if dtype not in self._laid_out:
            self._laid_out[dtype] = np.ascontiguousarray(self.bytes.T, dtype=dtype)

    def products(self, X: Any) -> np.ndarray:
        """<r_i, x> for the rows x of X, shape (rows, m)."""
        return X @ self._laid_out[X.dtype]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_laid_out": {}}


class AllSubsetsMap(FeatureMap):
    """prod_j (1 + r_j y_j), y = sqrt(scale) x, for m random sign vectors r and their negatives.

    For |y_j| < 1 it is c(x) exp(<r, a>) with a_j = atanh y_j and c(x) = prod_j sqrt(1 - y_j^2): one matrix product. The
    pair r, -r is written as c (cosh<r, a>, sinh<r, a>), which has the same inner products. If the number of columns
    is odd, the last one is a single exp. The relative variance of one feature, prod_j (1 + (y_j + y'_j)^2 /
    (1 + y_j y'_j)^2) - 1, is about e^{||y + y'||^2}: scale the rows to norms of about 1.
    """

    how = ("signs",)

    def __init__(self, scale: float, d: int, n_components: int, weight: float, seed: Seed) -> None:
        self.root, self.n_components = float(np.sqrt(scale)), n_components
        self.n_pairs = n_components // 2
        m = n_components - self.n_pairs
        self.factor = float(np.sqrt(weight / m))
        self.signs = Signs(m, d, seed.rng())

    def ready(self, dtype: np.dtype, sparse: bool) -> None:
        self.signs.ready(dtype)

    def check(self, X: Any) -> None:
        values = X.data if hasattr(X, "tocsr") else X
        if values.size == 0 or np.abs(values).max() * self.root < 1:
            return
        far = np.flatnonzero(np.abs(values) * self.root >= 1)[0]
        if hasattr(X, "tocsr"):
            row, column = int(np.searchsorted(X.indptr, far, side="right") - 1), int(X.indices[far])
        else:
            row, column = divmod(int(far), X.shape[1])
        raise ValueError(
            f"Random features of AllSubsets need |sqrt(scale) x| < 1, but column {column} is {X[row, column]:.6g}, "
            f"first at row {row}, and sqrt(scale) is {self.root:.3g}. Scale the columns down (for example by "
            "mercer.normalize.UnitRange and a factor below 1) or choose a smaller AllSubsets(scale=...)."
        )

    def apply(self, X: Any, out: np.ndarray) -> None:
        y = X * X.dtype.type(self.root)
        exponents = self.signs.products(_of_entries(np.arctanh, y))
        squares = _of_entries(lambda v: 0.5 * np.log1p(-v * v), y)
        log_c = np.asarray(squares.sum(axis=1)).reshape(-1, 1) + math.log(self.factor)
        p = self.n_pairs
        up, down = np.exp(exponents[:, :p] + log_c), np.exp(log_c - exponents[:, :p])
        np.multiply(up + down, 0.5, out=out[:, :p], dtype=out.dtype)
        np.multiply(up - down, 0.5, out=out[:, p : 2 * p], dtype=out.dtype)
        out[:, 2 * p :] = np.exp(exponents[:, p:] + log_c)


class AnovaMap(FeatureMap):
    """e_q(r_1 x_1, ..., r_d x_d) for m random sign vectors r, q = degree.

    e_q follows from the power sums p_k = sum_j (r_j x_j)^k by Newton's identities, e_k = (1/k) sum_i (-1)^{i-1}
    e_{k-i} p_i. Of these the even ones do not depend on r and the odd ones are matrix products <r, x^k>. Beyond degree
    4 cancellation makes the identities inaccurate, and the recursion over columns is used instead.
    """

    how = ("signs",)

    def __init__(self, degree: int, d: int, n_components: int, weight: float, seed: Seed) -> None:
        self.degree, self.n_components = degree, n_components
        self.factor = float(np.sqrt(weight / n_components))
        self.signs = Signs(n_components, d, seed.rng())

    def ready(self, dtype: np.dtype, sparse: bool) -> None:
        self.signs.ready(dtype)

    def apply(self, X: Any, out: np.ndarray) -> None:
        symmetric = self._by_power_sums(X) if self.degree <= NEWTON else self._by_columns(X)
        np.multiply(symmetric, self.factor, out=out, dtype=out.dtype)

    def _by_power_sums(self, X: Any) -> np.ndarray:
        sums: list[np.ndarray] = []
        elementary: list[Any] = [1.0]
        for k in range(1, self.degree + 1):
            power = _of_entries(lambda v, k=k: v**k, X)  # type: ignore[misc]
            sums.append(self.signs.products(power) if k % 2 else np.asarray(power.sum(axis=1)).reshape(-1, 1))
            terms = ((-1) ** i * elementary[k - 1 - i] * sums[i] for i in range(k))
            elementary.append(sum(terms) / k)
        return elementary[self.degree]

    def _by_columns(self, X: Any) -> np.ndarray:
        orders = np.zeros((self.degree + 1, X.shape[0], self.n_components), dtype=X.dtype)
        orders[0] = 1
        columns = X.tocsc() if hasattr(X, "tocsr") else X.T
        for j, signs in enumerate(self.signs.bytes.T.astype(X.dtype)):
            rows = slice(None)
            if hasattr(X, "tocsr"):
                entries = slice(*columns.indptr[j : j + 2])
                rows, values = columns.indices[entries], columns.data[entries]
            else:
                values = columns[j]
            signed = values[:, None] * signs
            for q in range(self.degree, 0, -1):
                orders[q][rows] += signed * orders[q - 1][rows]
        return orders[self.degree]


def _of_entries(function: Callable[[np.ndarray], np.ndarray], X: Any) -> Any:
    """function(0) = 0 applied to every entry, or to the stored ones."""
    if not hasattr(X, "tocsr"):
        return function(X)
    result = X.copy()
    result.data = function(X.data)
    return result
