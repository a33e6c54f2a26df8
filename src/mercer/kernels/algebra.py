"""Sums, products, scales, restrictions and normalizations of kernels.

Every node answers every question its parts can answer.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from mercer.kernels.base import Kernel
from mercer.kernels.parameters import NON_NEGATIVE
from mercer.kernels.rows import KernelInput, column_positions


class CompositeKernel(Kernel):
    """A kernel made of kernels: validates and resolves its parts."""

    def _parts(self) -> dict[str, Kernel]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name in ("left", "right", "kernel")}

    def _validate(self) -> None:
        for name, part in self._parts().items():
            if not isinstance(part, Kernel):
                raise TypeError(f"{type(self).__name__}: {name} must be a kernel, got {part!r}")
            part._validate()
        super()._validate()

    def require_resolved(self) -> None:
        for part in self._parts().values():
            part.require_resolved()

    def _resolve(self, X: KernelInput) -> Kernel:
        parts = self._parts()
        resolved = {name: part._resolve(X) for name, part in parts.items()}
        return replace(self, **resolved) if any(resolved[name] is not parts[name] for name in parts) else self


@dataclass
class Sum(CompositeKernel):
    """k(x, z) = left(x, z) + right(x, z): the features of both, side by side.

    Its spectral law is the mixture of the two laws, weighted by their masses.

    Use it for parts that act on their own, for example columns of different kinds, each with its kernel. The cost is
    that of both kernels.

    >>> from mercer.kernels import Gaussian, Linear
    >>> (Gaussian() + Linear())([[0.0], [1.0]]).round(3)
    array([[1.   , 0.607],
           [0.607, 2.   ]])
    """

    left: Kernel
    right: Kernel

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        return _combine(np.add, self.left._gram(X, Y), self.right._gram(X, Y))

    def _diag(self, X: KernelInput) -> np.ndarray:
        return _combine(np.add, self.left._diag(X), self.right._diag(X))

    @property
    def isotropic(self) -> bool:
        return self.left.isotropic and self.right.isotropic

    @property
    def mass(self) -> float:
        return self.left.mass + self.right.mass

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        from_left, count = self._draw_sides(n, rng)
        omega = np.empty((n, d))
        omega[from_left] = self.left._frequencies(count, d, rng)
        omega[~from_left] = self.right._frequencies(n - count, d, rng)
        return omega

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        from_left, count = self._draw_sides(n, rng)
        scales = np.empty(n)
        scales[from_left] = self.left._spectral_scales(count, rng)
        scales[~from_left] = self.right._spectral_scales(n - count, rng)
        return scales

    def _draw_sides(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
        fraction = self.left.mass / self.mass if self.mass > 0 else 1.0
        from_left = rng.random(n) < fraction
        return from_left, int(from_left.sum())

    def _series(self, order: int) -> np.ndarray:
        return self.left._series(order) + self.right._series(order)


@dataclass
class Product(CompositeKernel):
    """k(x, z) = left(x, z) right(x, z): all products of a feature of one and a feature of the other.

    A draw of its spectral law is the sum of a draw of each.

    Use it where rows are similar only if both kernels say so, for example in place and in time; a sum is for parts that
    act on their own. The cost is that of both kernels.

    >>> from mercer.kernels import Linear
    >>> (Linear() * Linear())([[1.0, 2.0]], [[3.0, 1.0]])
    array([[25.]])
    """

    left: Kernel
    right: Kernel

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        return _combine(np.multiply, self.left._gram(X, Y), self.right._gram(X, Y))

    def _diag(self, X: KernelInput) -> np.ndarray:
        return _combine(np.multiply, self.left._diag(X), self.right._diag(X))

    @property
    def isotropic(self) -> bool:
        return self.left.isotropic and self.right.isotropic

    @property
    def mass(self) -> float:
        return self.left.mass * self.right.mass

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return self.left._frequencies(n, d, rng) + self.right._frequencies(n, d, rng)

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        # s g + s' g' has the law of sqrt(s^2 + s'^2) g
        return np.hypot(self.left._spectral_scales(n, rng), self.right._spectral_scales(n, rng))

    def _series(self, order: int) -> np.ndarray:
        return np.convolve(self.left._series(order), self.right._series(order))[: order + 1]


@dataclass
class Scaled(CompositeKernel):
    """scale * k(x, z), scale >= 0.

    Use it to weigh the parts of a sum. The scale of a whole kernel only rescales the penalty of a machine.

    >>> from mercer.kernels import Linear
    >>> 0.5 * Linear()
    Scaled(kernel=Linear(), scale=0.5)
    """

    kernel: Kernel
    scale: float = 1.0

    _needs = {"scale": NON_NEGATIVE}

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        gram = self.kernel._gram(X, Y)
        gram *= gram.dtype.type(self.scale)
        return gram

    def _diag(self, X: KernelInput) -> np.ndarray:
        diagonal = self.kernel._diag(X)
        return diagonal * diagonal.dtype.type(self.scale)

    @property
    def isotropic(self) -> bool:
        return self.kernel.isotropic

    @property
    def mass(self) -> float:
        return self.scale * self.kernel.mass

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return self.kernel._frequencies(n, d, rng)

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return self.kernel._spectral_scales(n, rng)

    def _series(self, order: int) -> np.ndarray:
        return self.scale * self.kernel._series(order)


@dataclass
class Restricted(CompositeKernel):
    """k(x[columns], z[columns]): the kernel sees some columns only.

    Columns are a number or a name, a list of them, a slice or a mask. Names need a data frame. One
    number or name hands kernels on objects the cells of that column, so that tables of mixed columns
    work: ``Overlap().on("tags") + Gaussian().on(["age", "height"])``.

    Use it for tables whose columns differ in kind or in scale. The cost is that of the kernel on these columns.

    >>> from mercer.kernels import Linear
    >>> Linear().on([0, 2])([[1.0, 7.0, 2.0]], [[3.0, 9.0, 1.0]])
    array([[5.]])
    """

    kernel: Kernel
    columns: Any

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        x = X.select(self.columns)
        return self.kernel._gram(x, x if Y is X else Y.select(self.columns))

    def _diag(self, X: KernelInput) -> np.ndarray:
        return self.kernel._diag(X.select(self.columns))

    def _resolve(self, X: KernelInput) -> Kernel:
        resolved = self.kernel._resolve(X.select(self.columns))
        return self if resolved is self.kernel else replace(self, kernel=resolved)

    @property
    def mass(self) -> float:
        return self.kernel.mass

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        chosen = np.atleast_1d(column_positions(self.columns, d))
        omega = np.zeros((n, d))
        # a column chosen twice adds both of its frequencies
        for j, draws in zip(chosen, self.kernel._frequencies(n, len(chosen), rng).T, strict=True):
            omega[:, j] += draws
        return omega


@dataclass
class Normalized(CompositeKernel):
    """k(x, z) / sqrt(k(x, x) k(z, z)), the cosine of the angle between phi(x) and phi(z).

    A row with k(x, x) = 0 has phi(x) = 0 and no angle: its similarity is 0 to every row, itself
    included. All other rows have exactly 1 on the diagonal.

    Use it where the size of a row is of no interest: texts of different lengths, sets of different sizes. It hides a
    size that carries information.

    >>> from mercer.kernels import Linear
    >>> Linear().normalized()([[3.0, 4.0], [0.0, 0.0]], [[6.0, 8.0]])
    array([[1.],
           [0.]])
    """

    kernel: Kernel

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        gram = self.kernel._gram(X, Y)
        x = self._norms(X)
        z = x if Y is X else self._norms(Y)
        norms = np.multiply.outer(x, z)
        gram /= np.maximum(norms, np.finfo(norms.dtype).tiny, out=norms)
        gram[x == 0] = 0
        gram[:, z == 0] = 0
        if Y is X:
            np.fill_diagonal(gram, x > 0)
        return gram

    def _diag(self, X: KernelInput) -> np.ndarray:
        norms = self._norms(X)
        return (norms > 0).astype(norms.dtype)

    def _norms(self, X: KernelInput) -> np.ndarray:
        squares = self.kernel._diag(X)
        if (squares < 0).any():
            row = int(np.argmin(squares))
            raise ValueError(
                f"{self.kernel} cannot be normalized: k(x, x) = {squares[row]:.3g} < 0 in row {row} "
                f"of {X.name}, so it is not a Mercer kernel (see check_mercer)"
            )
        return np.sqrt(squares)

    @property
    def isotropic(self) -> bool:
        return self.kernel.isotropic

    @property
    def mass(self) -> float:
        return float(self.kernel.mass > 0)

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return self.kernel._frequencies(n, d, rng)

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return self.kernel._spectral_scales(n, rng)


def _combine(operation: np.ufunc, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """operation(a, b), in place if the precision allows it."""
    if a.shape != b.shape:
        raise ValueError(
            f"the parts of a composed kernel gave matrices of shapes {a.shape} and {b.shape}; "
            "with Precomputed(), pass the training matrix as Y"
        )
    return operation(a, b, out=a if a.dtype == np.result_type(a, b) else None)
