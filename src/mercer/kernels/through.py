"""A kernel in a metric: the kernel after a linear map of the rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._numeric.linalg.distances import is_sparse
from mercer.kernels.algebra import CompositeKernel
from mercer.kernels.base import Kernel
from mercer.kernels.rows import KernelInput

_MAX_SHOWN = 9  # entries that `repr` writes out


@dataclass(eq=False)
class Through(CompositeKernel):
    """k(x A, z A): the kernel in the metric A A', with distances sqrt((x - z)' A A' (x - z)).

    A frequency omega of k becomes A omega.

    Use it for a metric that is known or learned (`LearnedMetric`). A matrix A with few columns also makes distances
    cheaper.

    Parameters
    ----------
    kernel : Kernel on the rows x A
    matrix : array of shape (d, r) or (d,)
        A for rows of d columns; the kernel sees r columns. A vector a is the diagonal matrix of its entries: column j
        is multiplied by a_j.

    >>> from mercer.kernels import Linear
    >>> Linear().through([[1.0], [2.0]])([[3.0, 1.0]], [[1.0, 1.0]])
    array([[15.]])
    >>> Linear().through([1.0, 2.0])([[3.0, 1.0]], [[1.0, 1.0]])
    array([[7.]])
    """

    kernel: Kernel
    matrix: Any

    def __repr__(self) -> str:
        matrix = np.asarray(self.matrix)
        shown = matrix.tolist() if matrix.size <= _MAX_SHOWN else f"<{' x '.join(map(str, matrix.shape))} numbers>"
        return f"Through(kernel={self.kernel!r}, matrix={shown})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Through) and self.kernel == other.kernel and np.array_equal(self.matrix, other.matrix)

    __hash__ = None  # type: ignore[assignment]

    def _validate(self) -> None:
        super()._validate()
        matrix = np.asarray(self.matrix)
        is_real = matrix.ndim in (1, 2) and matrix.dtype.kind in "fiu" and 0 not in matrix.shape
        if not (is_real and np.isfinite(matrix).all()):
            raise ValueError(
                "through() needs a matrix or a vector of finite numbers, one row or entry per column of the data, got "
                f"{matrix.dtype} of shape {matrix.shape}."
            )

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        x = self._image(X)
        return self.kernel._gram(x, x if Y is X else self._image(Y))

    def _diag(self, X: KernelInput) -> np.ndarray:
        return self.kernel._diag(self._image(X))

    def _resolve(self, X: KernelInput) -> Kernel:
        resolved = self.kernel._resolve(self._image(X))
        return self if resolved is self.kernel else replace(self, kernel=resolved)

    def _image(self, X: KernelInput) -> KernelInput:
        self.check_width(X.numbers.shape[1])
        return KernelInput(linear_image(X.numbers, np.asarray(self.matrix)), X.name)

    def check_width(self, width: int) -> None:
        """Refuse data of another width than the matrix has rows."""
        rows = np.shape(self.matrix)[0]
        if rows != width:
            raise ValueError(f"through() was given a matrix of {rows} rows, but the data have {width} columns.")

    @property
    def n_columns_out(self) -> int:
        """Number of columns that the kernel sees."""
        return np.shape(self.matrix)[-1]

    @property
    def mass(self) -> float:
        return self.kernel.mass

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        self.check_width(d)
        return linear_image(self.kernel._frequencies(n, self.n_columns_out, rng), self.transposed)

    @property
    def transposed(self) -> np.ndarray:
        """A' in float64 (of a vector, the vector): maps frequencies of the kernel to those in the metric."""
        return np.asarray(self.matrix, dtype=np.float64).T


def linear_image(X: Any, matrix: np.ndarray) -> Any:
    """X A in the precision of X; X diag(a) for a vector a, which keeps CSR matrices sparse."""
    matrix = matrix.astype(X.dtype, copy=False)
    if matrix.ndim == 2:
        return X @ matrix
    return X.multiply(matrix).tocsr() if is_sparse(X) else X * matrix
