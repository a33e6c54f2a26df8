"""Kernels averaged over random subsets of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import factorial, prod
from typing import Any

import numpy as np

from mercer.kernels.algebra import CompositeKernel
from mercer.kernels.base import Kernel
from mercer.kernels.parameters import Need
from mercer.kernels.radial import Gaussian
from mercer.kernels.rows import KernelInput
from mercer.kernels.stationary import Stationary


@dataclass
class OnSubsets(CompositeKernel):
    """k(x, z) = E k(x[S], z[S]), S the set of `order` columns drawn independently with the given probabilities.

    Functions in its space are sums of functions of at most `order` columns each (Duvenaud, Nickisch and Rasmussen
    2011): additive for order 1, with pairwise interactions for order 2. Its frequencies are those of k set to zero
    outside of a random S.

    Use it where few columns act together: its functions need fewer rows than those of a kernel of all columns. It
    cannot express interactions of more than `order` columns. For `Gaussian` the time is that of `order` kernels of
    single columns, for others that of one kernel per set of columns.

    Parameters
    ----------
    kernel : shift-invariant Kernel
    order : int >= 1
    probabilities : list of positive numbers, one per column, proportional to the probabilities; None for equal ones

    >>> from mercer.kernels import Gaussian
    >>> from mercer.kernels.subsets import OnSubsets
    >>> OnSubsets(Gaussian(), order=1, probabilities=[3.0, 1.0])([[0.0, 0.0]], [[0.0, 9.0]]).round(2)
    array([[0.75]])
    """

    kernel: Kernel
    order: int = 2
    probabilities: Any = None

    _needs = {"order": Need(low=1, low_included=True, whole=True)}

    def _validate(self) -> None:
        super()._validate()
        if self.probabilities is not None and not (
            np.all(np.isfinite(self.probabilities)) and np.min(self.probabilities) > 0
        ):
            raise ValueError(
                f"probabilities must be positive finite numbers, one per column, got {self.probabilities!r}"
            )

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        if isinstance(self.kernel, Gaussian):
            return self._gram_of_products(X, Y)
        return sum(probability * part for probability, part in self._parts_of(X, lambda S: self._on(S)._gram(X, Y)))

    def _diag(self, X: KernelInput) -> np.ndarray:
        if isinstance(self.kernel, Stationary):  # 1, whatever the columns are
            return self.kernel._diag(X)
        return sum(probability * part for probability, part in self._parts_of(X, lambda S: self._on(S)._diag(X)))

    def _gram_of_products(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        """The Gram matrix for k = the product over the columns j of g_j: no sum over sets of columns is needed.

        E of the product of g_j over the distinct columns of m draws is m! times the coefficient of t^m in the product
        over j of 1 + g_j (exp(p_j t) - 1).
        """
        coefficients: list[Any] = [1.0, *[0.0] * self.order]
        for j, p in enumerate(self._column_probabilities(X.numbers.shape[1]).tolist()):
            g = self._on([j])._gram(X, Y)
            for k in range(self.order, 0, -1):  # downward: lower coefficients are still those before this column
                terms = (coefficients[k - r] * (p**r / factorial(r)) for r in range(1, k + 1))
                coefficients[k] = coefficients[k] + g * sum(terms)
        return coefficients[self.order] * float(factorial(self.order))

    def _parts_of(self, X: KernelInput, value: Callable[[list[int]], np.ndarray]) -> Iterator[tuple[Any, np.ndarray]]:
        """(probability, value) of every set of columns."""
        single = self._column_probabilities(X.numbers.shape[1])
        probabilities: Counter = Counter()
        for drawn in product(range(len(single)), repeat=self.order):
            probabilities[tuple(sorted(set(drawn)))] += prod(single[j] for j in drawn)
        dtype = X.numbers.dtype.type
        return ((dtype(probability), value(list(columns))) for columns, probability in probabilities.items())

    def _on(self, columns: list[int]) -> Kernel:
        return self.kernel.on(columns)

    def _column_probabilities(self, d: int) -> np.ndarray:
        if self.probabilities is None:
            return np.full(d, 1.0 / d)
        if len(self.probabilities) != d:
            raise ValueError(
                f"OnSubsets was given the probabilities of {len(self.probabilities)} columns, but the data have {d}."
            )
        return np.asarray(self.probabilities, dtype=np.float64) / np.sum(self.probabilities)

    def _resolve(self, X: KernelInput) -> Kernel:
        resolved = self.kernel._resolve(X)
        return self if resolved is self.kernel else replace(self, kernel=resolved)

    @property
    def mass(self) -> float:
        return self.kernel.mass

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        omega = self.kernel._frequencies(n, d, rng)
        drawn = rng.choice(d, size=(n, self.order), p=self._column_probabilities(d))
        kept = np.zeros((n, d), dtype=bool)
        np.put_along_axis(kept, drawn, True, axis=1)
        return np.where(kept, omega, 0.0)
