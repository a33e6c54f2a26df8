"""The kernel contract: public verbs that check their input once and call the private hooks."""

from __future__ import annotations

from dataclasses import fields
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from mercer._runtime.blas import SingleThreadedVerbs
from mercer.kernels.parameters import check_parameters
from mercer.kernels.rows import KernelInput, input_pair


class Kernel(SingleThreadedVerbs):
    """A symmetric similarity k(x, z) = <phi(x), phi(z)>.

    A leaf is a dataclass whose fields are its parameters, with two hooks: ``_gram(X, Y)``, which
    returns a fresh array and may rely on ``Y is X`` for the symmetric case, and ``_diag(X)``. Hooks
    receive :class:`~mercer.kernels.rows.KernelInput` and a kernel without data-dependent parameters.

    Parameters follow scikit-learn (``get_params``, ``set_params``, ``clone``), so that grid search
    reaches ``kernel__bandwidth`` and, in composites, ``kernel__left__bandwidth``.
    """

    _needs: ClassVar[dict[str, Any]] = {}
    __dataclass_fields__: ClassVar[dict[str, Any]]
    __array_ufunc__ = None  # so that numpy_scalar * kernel calls __rmul__

    # the verbs

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """Gram matrix of k(x, z) for the rows x of X and z of Y (of X when Y is None), shape (n, m).

        Data-dependent parameters (``bandwidth="median"``) are resolved on the rows of X.
        """
        X, Y = input_pair(X, Y)
        ready = self._ready(X)
        with np.errstate(all="ignore"):
            return _finite(ready._gram(X, Y), self)

    def diag(self, X: Any) -> np.ndarray:
        """k(x, x) for every row of X, shape (n,)."""
        X = KernelInput(X)
        ready = self._ready(X)
        with np.errstate(all="ignore"):
            return _finite(ready._diag(X), self)

    def distance(self, X: Any, Y: Any = None) -> np.ndarray:
        """||phi(x) - phi(z)|| = sqrt(k(x, x) + k(z, z) - 2 k(x, z)) for all pairs of rows, never NaN.

        Negative rounding counts as 0, and the distance of a row to itself is exactly 0.
        """
        X, Y = input_pair(X, Y)
        ready = self._ready(X)
        with np.errstate(all="ignore"):
            gram = _finite(ready._gram(X, Y), self)
            x = _finite(ready._diag(X), self)
            z = x if Y is X else _finite(ready._diag(Y), self)
            half = (x / 2)[:, None] - gram  # halves, so that large finite values do not overflow
            half += z / 2
            np.maximum(half, 0, out=half)
            result = np.sqrt(half) * half.dtype.type(np.sqrt(2))
        if Y is X:
            np.fill_diagonal(result, 0)
        return result

    def resolve(self, X: Any) -> Kernel:
        """The same kernel with every data-dependent parameter (``bandwidth="median"``) made a number.

        Returns the kernel itself when nothing depends on data.
        """
        return self._ready(KernelInput(X))

    @property
    def is_data_dependent(self) -> bool:
        """Whether a parameter (``bandwidth="median"``) depends on data."""
        return any(isinstance(value, str) and value == "median" for value in self.get_params(deep=True).values())

    # the algebra

    def __add__(self, other: Any) -> Kernel:
        from mercer.kernels.algebra import Sum
        from mercer.kernels.dot import Constant

        if isinstance(other, Kernel):
            return Sum(self, other)
        if not isinstance(other, Real):
            return NotImplemented
        if other == 0:
            return self  # so that sum([k1, k2]) is k1 + k2
        return Sum(self, Constant(_weight(other, "add")))

    __radd__ = __add__

    def __mul__(self, other: Any) -> Kernel:
        from mercer.kernels.algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        if not isinstance(other, Real):
            return NotImplemented
        return Scaled(self, _weight(other, "multiply by"))

    __rmul__ = __mul__

    def normalized(self) -> Kernel:
        """k(x, z) / sqrt(k(x, x) k(z, z)): the cosine of phi(x) and phi(z)."""
        from mercer.kernels.algebra import Normalized

        return Normalized(self)

    def on(self, columns: Any) -> Kernel:
        """The kernel on some columns only: numbers, names of a data frame, a slice or a mask."""
        from mercer.kernels.algebra import Restricted

        return Restricted(self, columns.tolist() if isinstance(columns, np.ndarray) else columns)

    def through(self, matrix: Any) -> Kernel:
        """k(x A, z A): the kernel in the metric A A'; a vector stands for a diagonal matrix A."""
        from mercer.kernels.through import Through

        return Through(self, matrix)

    # mathematical properties used by feature maps

    @property
    def isotropic(self) -> bool:
        """Whether k is a function of ||x - z||_2 that is a kernel in every dimension.

        By Schoenberg's theorem such a kernel is a mixture of Gaussians, and ``spectral_scales`` samples it.
        """
        return False

    @property
    def mass(self) -> float:
        """k(x, x) of a shift-invariant kernel: the same for every x, the mass of its spectral measure."""
        raise TypeError(f"{self} is not shift-invariant: it has no spectral measure")

    def frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        """n i.i.d. draws omega in R^d of the spectral law: k(x, z) = mass * E cos<omega, x - z>."""
        self._validate()
        self.require_resolved()
        return self._frequencies(n, d, rng)

    def spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """n i.i.d. s >= 0 such that omega = s g, g ~ N(0, I_d), has the spectral law in any dimension d."""
        self._validate()
        self.require_resolved()
        return self._spectral_scales(n, rng)

    def series(self, order: int) -> np.ndarray:
        """Coefficients a_0, ..., a_order of k(x, z) = sum_n a_n <x, z>^n."""
        self._validate()
        return self._series(order)

    # the hooks

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        raise NotImplementedError

    def _diag(self, X: KernelInput) -> np.ndarray:
        raise NotImplementedError

    def _resolve(self, X: KernelInput) -> Kernel:
        return self

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        raise TypeError(f"{self} is not shift-invariant: it has no frequencies to sample")

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        raise TypeError(f"{self} is not a mixture of Gaussians in every dimension: it has no spectral scales")

    def _series(self, order: int) -> np.ndarray:
        raise TypeError(f"{self} is not a function of the inner product alone: it has no Maclaurin series")

    def _validate(self) -> None:
        """Check the parameters; composites check their parts."""
        check_parameters(self, self._needs)

    def require_resolved(self) -> None:
        """Raise if a parameter still depends on data (``bandwidth="median"``)."""

    def _ready(self, X: KernelInput) -> Kernel:
        self._validate()
        return self._resolve(X)

    # scikit-learn's parameter protocol

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, with those of nested kernels as ``part__name`` when deep."""
        params = {}
        for field in fields(self):
            value = params[field.name] = getattr(self, field.name)
            if deep and isinstance(value, Kernel):
                params.update({f"{field.name}__{key}": v for key, v in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, nested ones as ``part__name``; returns the kernel."""
        names = [field.name for field in fields(self)]
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in names:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {names}")
            if rest:
                nested.setdefault(name, {})[rest] = value
            else:
                setattr(self, name, value)
        for name, values in nested.items():
            getattr(self, name).set_params(**values)
        return self


def _weight(value: Any, verb: str) -> Any:
    if not 0 <= value < np.inf:
        raise ValueError(
            f"cannot {verb} {value!r}: only finite, non-negative scalars keep a kernel positive semidefinite"
        )
    return value if isinstance(value, int) else float(value)


def _finite(values: np.ndarray, kernel: Kernel) -> np.ndarray:
    """The values; raises if one of them is not finite."""
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return values
    rows = " and ".join(f"row {i}" for i in np.argwhere(~np.isfinite(values))[0])
    raise ValueError(
        f"{kernel} exceeds the range of {values.dtype} at {rows}: "
        "bring the columns to a common scale first (for example unit variance)"
    )
