"""The parameter `kernel` of an estimator: a kernel, the name of one, or None for the default."""

from __future__ import annotations

import re
from difflib import get_close_matches
from numbers import Real
from typing import Any, Self

from mercer.kernels.base import Kernel
from mercer.kernels.custom import Precomputed
from mercer.kernels.discrete.overlap import Overlap
from mercer.kernels.discrete.strings import Mismatch, Spectrum, WeightedDegree
from mercer.kernels.discrete.subsequence import Subsequence
from mercer.kernels.discrete.trees import SubsetTree
from mercer.kernels.dot import AllSubsets, Anova, Constant, Linear, Polynomial
from mercer.kernels.norms import ExponentialPower, Laplace, Sinc
from mercer.kernels.radial import Cauchy, Gaussian, Matern, RationalQuadratic
from mercer.kernels.stationary import Stationary

_CLASSES: tuple[type[Kernel], ...] = (
    AllSubsets,
    Anova,
    Cauchy,
    Constant,
    ExponentialPower,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Mismatch,
    Overlap,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sinc,
    Spectrum,
    Subsequence,
    SubsetTree,
    WeightedDegree,
)
#: Kernel classes by name: the class name in lower case, its words joined by hyphens.
KERNELS = {re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower(): kind for kind in _CLASSES}

#: Names of other libraries, for the error message.
_ELSEWHERE = {"rbf": "gaussian", "squared-exponential": "gaussian", "poly": "polynomial", "laplacian": "laplace"}


def kernel_by_name(name: str) -> Kernel:
    """The kernel of that name with default parameters, bandwidths set to "median".

    Names are those of the classes in lower case, with hyphens or underscores between words.

    Use it for names from a configuration file. Estimators take the name itself, so call the class instead of this
    function in code.

    >>> kernel_by_name("rational-quadratic")
    RationalQuadratic(bandwidth='median', alpha=1.0)
    """
    key = name.lower().replace("_", "-")
    if key not in KERNELS:
        near = [_ELSEWHERE[key]] if key in _ELSEWHERE else get_close_matches(key, KERNELS, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"There is no kernel named {name!r}. {hint}The names are {', '.join(KERNELS)}.")
    kind = KERNELS[key]
    return kind(bandwidth="median") if issubclass(kind, Stationary) else kind()  # type: ignore[call-arg]


class KernelParameter:
    """Mixin for estimators with a parameter `kernel`: place it before the base classes.

    ``kernel=None`` is ``Gaussian(bandwidth="median")``, a string names a kernel (see `kernel_by_name`). Nested
    parameters such as ``kernel__bandwidth`` can be read and set in all three cases; setting one replaces None or the
    name by the kernel.
    """

    kernel: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; if deep, with those of the kernel as ``kernel__name``."""
        params = super().get_params(deep=deep)  # type: ignore[misc]
        if deep and not isinstance(self.kernel, Kernel):
            kernel = self._kernel_if_valid()
            params |= {} if kernel is None else {f"kernel__{key}": value for key, value in kernel.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of the kernel as ``kernel__name``; returns the estimator."""
        if any(name.startswith("kernel__") for name in params):
            given = params.get("kernel", self.kernel)
            if given is None or isinstance(given, str):
                params["kernel"] = _as_kernel(given)
        return super().set_params(**params)  # type: ignore[misc]

    def _kernel(self) -> Any:
        """The kernel, default or named ones made; refuses everything else."""
        if isinstance(self.kernel, Real) and "n_components" in self.get_params(deep=False):
            raise TypeError(f"kernel must be a kernel, not {self.kernel!r}. Did you mean n_components={self.kernel!r}?")
        return _as_kernel(self.kernel)

    def _kernel_if_valid(self) -> Kernel | None:
        """The kernel, or None where the parameter is none: for questions asked before `fit` has checked it."""
        try:
            return _as_kernel(self.kernel)
        except (TypeError, ValueError):
            return None


def _as_kernel(kernel: Any) -> Kernel:
    if isinstance(kernel, Kernel):
        return kernel
    if kernel is None:
        return Gaussian(bandwidth="median")
    if isinstance(kernel, str):
        return kernel_by_name(kernel)
    raise TypeError(
        f"kernel must be one of mercer.kernels, its name or None, not {kernel!r}. "
        "Wrap a function of two rows in Custom."
    )
