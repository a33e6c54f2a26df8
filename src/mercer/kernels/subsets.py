"""A kernel on a few columns at a time, averaged over the choice of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from mercer.kernels.algebra import CompositeKernel
from mercer.kernels.base import Kernel
from mercer.kernels.parameters import Need
from mercer.kernels.rows import KernelInput


@dataclass
class OnSubsets(CompositeKernel):
    """k(x, z) = E k(x[S], z[S]), S the set of `order` columns drawn independently with the given probabilities.

    A sum of functions of at most `order` columns each (Duvenaud, Nickisch and Rasmussen 2011): of single columns for
    order 1, of pairs for order 2. A frequency of k becomes one with zeros outside of a drawn S. For shift-invariant k.

    Parameters
    ----------
    kernel : shift-invariant Kernel
    order : int >= 1
    probabilities : list of positive numbers, one per column, in any common unit; None for equal probabilities

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
        return sum(probability * part for probability, part in self._parts_of(X, lambda S: self._on(S)._gram(X, Y)))

    def _diag(self, X: KernelInput) -> np.ndarray:
        return sum(probability * part for probability, part in self._parts_of(X, lambda S: self._on(S)._diag(X)))

    def _parts_of(self, X: KernelInput, value: Callable[[list[int]], np.ndarray]) -> Iterator[tuple[Any, np.ndarray]]:
        """The probability of each set of columns, with a value of it."""
        shares = self._shares(X.numbers.shape[1])
        probabilities: Counter = Counter()
        for drawn in product(range(len(shares)), repeat=self.order):
            probabilities[tuple(sorted(set(drawn)))] += prod(shares[j] for j in drawn)
        dtype = X.numbers.dtype.type
        return ((dtype(probability), value(list(columns))) for columns, probability in probabilities.items())

    def _on(self, columns: list[int]) -> Kernel:
        return self.kernel.on(columns)

    def _shares(self, d: int) -> np.ndarray:
        if self.probabilities is None:
            return np.full(d, 1.0 / d)
        if len(self.probabilities) != d:
            raise ValueError(
                f"OnSubsets was given the probabilities of {len(self.probabilities)} columns, but the data have {d}."
            )
        return np.asarray(self.probabilities, dtype=np.float64) / np.sum(self.probabilities)

    def _resolve(self, X: KernelInput) -> Kernel:
        settled = self.kernel._resolve(X)
        return self if settled is self.kernel else replace(self, kernel=settled)

    @property
    def mass(self) -> float:
        return self.kernel.mass

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        omega = self.kernel._frequencies(n, d, rng)
        drawn = rng.choice(d, size=(n, self.order), p=self._shares(d))
        kept = np.zeros((n, d), dtype=bool)
        np.put_along_axis(kept, drawn, True, axis=1)
        return np.where(kept, omega, 0.0)
