"""Feature maps, and maps composed of other maps.

A map is drawn once (`prepare` in `compose`) and then applied. It writes the features of a block of rows into a given
array, so it needs no memory beyond a block and the output.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._numeric.linalg.distances import is_sparse
from mercer.kernels.through import linear_image


class FeatureMap:
    """z with E <z(x), z(x')> = k(x, x'): `n_components` columns for every row.

    `how` names the sampling methods of its columns, in order of appearance.
    """

    n_components: int
    how: tuple[str, ...] = ()
    #: Rows per block: fewer for maps with large intermediate results.
    rows = 64
    #: The frequencies, where the map is one set of Fourier features.
    frequencies: Any = None
    #: The phases of the frequencies that are not paired.
    shift: Any = None

    def ready(self, dtype: np.dtype, sparse: bool) -> None:
        """Prepare what `apply` needs for such input, before several threads use the map."""

    def check(self, X: Any) -> None:
        """Raise for rows outside the domain of the map, with their position."""

    def apply(self, X: Any, out: np.ndarray) -> None:
        """Write the features of the rows of X, an array or CSR matrix, into `out`, which may be a view."""
        raise NotImplementedError


class IdentityMap(FeatureMap):
    """sqrt(weight) times the columns as they are: the linear kernel, exactly. Unused columns are zero."""

    how = ("exact",)
    rows = 256

    def __init__(self, d: int, n_components: int, weight: float) -> None:
        self.d, self.n_components, self.weight = d, n_components, weight

    def apply(self, X: Any, out: np.ndarray) -> None:
        values = X.toarray() if hasattr(X, "tocsr") else X
        np.multiply(values, np.sqrt(self.weight), out=out[:, : self.d], dtype=out.dtype)
        out[:, self.d :] = 0


class ConstantMap(FeatureMap):
    """sqrt(value/n) in each of n columns: the constant kernel, exactly."""

    how = ("exact",)
    rows = 256

    def __init__(self, n_components: int, value: float) -> None:
        self.n_components, self.value = n_components, value

    def apply(self, X: Any, out: np.ndarray) -> None:
        out[...] = np.sqrt(self.value / self.n_components)


class RestrictedMap(FeatureMap):
    """A map that sees some columns only."""

    def __init__(self, part: FeatureMap, columns: list[int], d: int) -> None:
        self.part, self.columns, self.d = part, columns, d
        self.n_components, self.how, self.rows, self.shift = part.n_components, part.how, part.rows, part.shift

    @property
    def frequencies(self) -> np.ndarray | None:
        if self.part.frequencies is None:
            return None
        everywhere = np.zeros((len(self.part.frequencies), self.d))
        np.add.at(everywhere, (slice(None), self.columns), self.part.frequencies)  # type: ignore[arg-type]  # a column may be chosen twice
        return everywhere

    def ready(self, dtype: np.dtype, sparse: bool) -> None:
        self.part.ready(dtype, sparse)

    def check(self, X: Any) -> None:
        self.part.check(X[:, self.columns])

    def apply(self, X: Any, out: np.ndarray) -> None:
        chosen = X[:, self.columns]
        self.part.apply(chosen if hasattr(X, "tocsr") else np.ascontiguousarray(chosen), out)


class LinearImageMap(FeatureMap):
    """A map of the rows x A, or of x diag(a) for a vector a."""

    def __init__(self, part: FeatureMap, matrix: np.ndarray) -> None:
        self.part, self.matrix = part, matrix
        self.n_components, self.how, self.rows = part.n_components, part.how, part.rows

    def ready(self, dtype: np.dtype, sparse: bool) -> None:
        self.part.ready(dtype, sparse and self.matrix.ndim == 1)

    def check(self, X: Any) -> None:
        self.part.check(self._image(X))

    def apply(self, X: Any, out: np.ndarray) -> None:
        self.part.apply(self._image(X), out)

    def _image(self, X: Any) -> Any:
        image = linear_image(X, self.matrix)
        return image if is_sparse(image) else np.ascontiguousarray(image)


class ConcatenatedMap(FeatureMap):
    """The columns of several maps: the sum of their kernels."""

    def __init__(self, parts: list[FeatureMap]) -> None:
        self.parts = parts
        self.n_components = sum(part.n_components for part in parts)
        self.how = tuple(dict.fromkeys(name for part in parts for name in part.how))
        self.rows = min(part.rows for part in parts)

    def ready(self, dtype: np.dtype, sparse: bool) -> None:
        for part in self.parts:
            part.ready(dtype, sparse)

    def check(self, X: Any) -> None:
        for part in self.parts:
            part.check(X)

    def apply(self, X: Any, out: np.ndarray) -> None:
        start = 0
        for part in self.parts:
            part.apply(X, out[:, start : start + part.n_components])
            start += part.n_components


class ProductMap(FeatureMap):
    """sqrt(n) z_i(x) z'_perm(i)(x), i = 1..n: the product of two kernels from independent maps of n columns each.

    With a uniformly random permutation the mean over it of sum_i n z_i(x) z_i(y) z'_perm(i)(x) z'_perm(i)(y) is
    <z(x), z(y)> <z'(x), z'(y)>, the product of the two estimates, so any two unbiased independent maps will do.
    """

    def __init__(self, left: FeatureMap, right: FeatureMap, order: np.ndarray) -> None:
        self.left, self.right, self.order = left, right, order
        self.n_components = left.n_components
        self.how = tuple(dict.fromkeys(left.how + right.how))

    def ready(self, dtype: np.dtype, sparse: bool) -> None:
        self.left.ready(dtype, sparse)
        self.right.ready(dtype, sparse)

    def check(self, X: Any) -> None:
        self.left.check(X)
        self.right.check(X)

    def apply(self, X: Any, out: np.ndarray) -> None:
        other = np.empty((X.shape[0], self.n_components), dtype=out.dtype)
        self.left.apply(X, out)
        self.right.apply(X, other)
        out *= other[:, self.order]
        out *= out.dtype.type(np.sqrt(self.n_components))


class NormalizedMap(FeatureMap):
    """sqrt(weight / k(x, x)) z(x): the normalized kernel. A row with k(x, x) = 0 has no features."""

    def __init__(self, part: FeatureMap, kernel: Any, weight: float) -> None:
        self.part, self.kernel, self.weight = part, kernel, weight
        self.n_components, self.how = part.n_components, part.how

    def ready(self, dtype: np.dtype, sparse: bool) -> None:
        self.part.ready(dtype, sparse)

    def check(self, X: Any) -> None:
        self.part.check(X)

    def apply(self, X: Any, out: np.ndarray) -> None:
        self.part.apply(X, out)
        squares = self.kernel.diag(X).astype(np.float64)
        factors = np.sqrt(np.divide(self.weight, squares, out=np.zeros_like(squares), where=squares > 0))
        out *= factors[:, None].astype(out.dtype)
