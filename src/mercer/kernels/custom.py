"""User-defined similarities: a function, or a matrix of precomputed values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.kernels.base import Kernel
from mercer.kernels.parameters import FLAG
from mercer.kernels.rows import KernelInput


@dataclass
class Custom(Kernel):
    """k(x, z) = function(x, z) for any two objects: rows of an array, items of a list.

    Nothing is assumed of the function: it is called for every ordered pair, and :func:`check_mercer`
    checks whether it is a kernel. It sees rows of arrays and data frames as 1-D arrays, rows of a CSR
    matrix as 1 x d CSR matrices and items of other sequences as they are.

    Use it to try a similarity that is not here. Each pair of rows is a call of a Python function, about a microsecond
    at best: for more than some thousand rows compute the matrix elsewhere and use `Precomputed`.

    Parameters
    ----------
    function : callable
    vectorized : bool
        The function takes all rows at once, ``function(X, Y)``, and returns the (n, m) matrix.
    symmetric : bool
        The function is known to be symmetric: half of the pairs suffice when Y is None.

    >>> from mercer.kernels import Custom
    >>> Custom(lambda a, b: float(len(set(a) & set(b))))(["kernel", "trick"])
    array([[5., 2.],
           [2., 5.]])
    """

    function: Callable
    vectorized: bool = False
    symmetric: bool = False

    _needs = {"vectorized": FLAG, "symmetric": FLAG}

    def _validate(self) -> None:
        super()._validate()
        if not callable(self.function):
            raise TypeError(f"Custom: function must be callable, got {self.function!r}")

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        if self.vectorized:
            return self._matrix(X.raw, Y.raw, len(X), len(Y))
        mirrored = self.symmetric and Y is X
        gram = np.empty((len(X), len(Y)))
        for i, x in enumerate(X.items):
            for j in range(i if mirrored else 0, len(Y)):
                gram[i, j] = self._value(x, Y.items[j], i, j)
        return np.triu(gram) + np.triu(gram, 1).T if mirrored else gram

    def _diag(self, X: KernelInput) -> np.ndarray:
        if self.vectorized:
            rows = (X.raw[i : i + 1] for i in range(len(X)))
            return np.array([self._matrix(row, row, 1, 1)[0, 0] for row in rows], dtype=float)
        return np.array([self._value(x, x, i, i) for i, x in enumerate(X.items)], dtype=float)

    def _value(self, x: Any, z: Any, i: int, j: int) -> float:
        value = self.function(x, z)
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise TypeError(f"Custom: the function returned {value!r} for rows {i} and {j}, not a number") from None
        if np.isnan(number):
            raise ValueError(f"Custom: the function returned NaN for rows {i} and {j}")
        return number

    def _matrix(self, X: Any, Y: Any, n: int, m: int) -> np.ndarray:
        values = np.array(self.function(X, Y), dtype=float)
        if values.shape != (n, m):
            raise ValueError(f"Custom: the vectorized function returned shape {values.shape} for {n} and {m} rows")
        if np.isnan(values).any():
            i, j = np.argwhere(np.isnan(values))[0]
            raise ValueError(f"Custom: the function returned NaN for rows {i} and {j}")
        return values


@dataclass
class Precomputed(Kernel):
    """The rows are kernel values already: row i holds k(x_i, z) for every training object z.

    Fit on the square matrix of the training objects and predict on the test-by-training matrix.
    ``Precomputed()(K)`` is a copy of K. ``Precomputed()(K, Y)`` is the same, after checking that the
    columns of K stand for the rows of Y.

    Use it for similarities from elsewhere. They take n^2 numbers of memory, and there are no rows left from which
    random features could be drawn; `Landmarks` works. Prefer `Custom` for a function that is cheap to call.

    >>> import numpy as np
    >>> from mercer.kernels import Precomputed
    >>> Precomputed()(np.array([[2.0, 1.0], [1.0, 2.0]]))
    array([[2., 1.],
           [1., 2.]])
    """

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        K = self._values(X)
        if Y is not X and K.shape[1] != len(Y):
            raise ValueError(
                f"Precomputed: X holds similarities to {K.shape[1]} training rows, but Y has {len(Y)} rows"
            )
        return K.copy()

    def _diag(self, X: KernelInput) -> np.ndarray:
        K = self._values(X)
        if K.shape[0] != K.shape[1]:
            raise ValueError(
                f"Precomputed: k(x, x) is known only from a square matrix, got shape {K.shape}; "
                "a test-by-training matrix does not hold the similarity of a test row to itself"
            )
        return K.diagonal().copy()

    def _values(self, X: KernelInput) -> np.ndarray:
        K = X.numbers
        return K.toarray() if hasattr(K, "toarray") else K
