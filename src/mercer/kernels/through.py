"""A kernel seen through a linear map of the rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.kernels.algebra import Node
from mercer.kernels.base import Kernel
from mercer.kernels.rows import Rows

_SHOWN = 9  # numbers that are written out


@dataclass(eq=False)
class Through(Node):
    """k(x A, z A) with a matrix A of one row per column of x: the kernel in the metric A A'.

    Distances become sqrt((x - z)' A A' (x - z)), and a frequency omega of k becomes A omega.

    Parameters
    ----------
    kernel : Kernel on the rows x A
    matrix : array of shape (columns of x, columns that the kernel sees)

    >>> from mercer.kernels import Linear
    >>> Linear().through([[1.0], [2.0]])([[3.0, 1.0]], [[1.0, 1.0]])
    array([[15.]])
    """

    kernel: Kernel
    matrix: Any

    def __repr__(self):
        matrix = np.asarray(self.matrix)
        shown = matrix.tolist() if matrix.size <= _SHOWN else f"<{' x '.join(map(str, matrix.shape))} numbers>"
        return f"Through(kernel={self.kernel!r}, matrix={shown})"

    def __eq__(self, other):
        same = type(other) is type(self) and self.kernel == other.kernel
        return same and np.array_equal(self.matrix, other.matrix)

    __hash__ = None  # type: ignore[assignment]

    def _validate(self):
        super()._validate()
        matrix = np.asarray(self.matrix)
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiu" or 0 in matrix.shape or not np.isfinite(matrix).all():
            raise ValueError(
                f"through() needs a matrix of finite numbers, one row per column of the data, got {matrix.dtype} "
                f"of shape {matrix.shape}."
            )

    def _gram(self, X, Y):
        x = self._image(X)
        return self.kernel._gram(x, x if Y is X else self._image(Y))

    def _diag(self, X):
        return self.kernel._diag(self._image(X))

    def _resolve(self, X):
        settled = self.kernel._resolve(self._image(X))
        return self if settled is self.kernel else replace(self, kernel=settled)

    def _image(self, X):
        numbers = X.numbers
        self.check_width(numbers.shape[1])
        return Rows(numbers @ np.asarray(self.matrix).astype(numbers.dtype), X.name)

    def check_width(self, width):
        """Refuse data of another width than the matrix has rows."""
        rows = np.shape(self.matrix)[0]
        if rows != width:
            raise ValueError(f"through() was given a matrix of {rows} rows, but the data have {width} columns.")

    @property
    def mass(self):
        return self.kernel.mass

    def _frequencies(self, n, d, rng):
        matrix = np.asarray(self.matrix, dtype=np.float64)
        self.check_width(d)
        return self.kernel._frequencies(n, matrix.shape[1], rng) @ matrix.T
