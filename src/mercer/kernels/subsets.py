"""A kernel on a few columns at a time, averaged over the choice of columns."""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from mercer.kernels.algebra import Node
from mercer.kernels.base import Kernel
from mercer.kernels.parameters import Need


@dataclass
class OnSubsets(Node):
    """k(x, z) = E k(x[S], z[S]), S the set of `order` columns drawn independently with the given chances.

    A sum of functions of at most `order` columns each (Duvenaud, Nickisch and Rasmussen 2011): of single columns for
    order 1, of pairs for order 2. A frequency of k becomes one with zeros outside of a drawn S. For shift-invariant k.

    Parameters
    ----------
    kernel : shift-invariant Kernel
    order : int >= 1
    chances : list of positive numbers, one per column, in any common unit; None for equal chances

    >>> from mercer.kernels import Gaussian
    >>> from mercer.kernels.subsets import OnSubsets
    >>> OnSubsets(Gaussian(), order=1, chances=[3.0, 1.0])([[0.0, 0.0]], [[0.0, 9.0]]).round(2)
    array([[0.75]])
    """

    kernel: Kernel
    order: int = 2
    chances: Any = None

    _needs = {"order": Need(low=1, low_included=True, whole=True)}

    def _validate(self):
        super()._validate()
        if self.chances is not None and not (np.all(np.isfinite(self.chances)) and np.min(self.chances) > 0):
            raise ValueError(f"chances must be positive finite numbers, one per column, got {self.chances!r}")

    def _gram(self, X, Y):
        return sum(chance * part for chance, part in self._parts_of(X, lambda S: self._on(S)._gram(X, Y)))

    def _diag(self, X):
        return sum(chance * part for chance, part in self._parts_of(X, lambda S: self._on(S)._diag(X)))

    def _parts_of(self, X, value):
        """The chance of each set of columns, with a value of it."""
        shares = self._shares(X.numbers.shape[1])
        chances: Counter = Counter()
        for drawn in product(range(len(shares)), repeat=self.order):
            chances[tuple(sorted(set(drawn)))] += prod(shares[j] for j in drawn)
        dtype = X.numbers.dtype.type
        return ((dtype(chance), value(list(columns))) for columns, chance in chances.items())

    def _on(self, columns):
        return self.kernel.on(columns)

    def _shares(self, d):
        if self.chances is None:
            return np.full(d, 1.0 / d)
        if len(self.chances) != d:
            raise ValueError(f"OnSubsets was given the chances of {len(self.chances)} columns, but the data have {d}.")
        return np.asarray(self.chances, dtype=np.float64) / np.sum(self.chances)

    def _resolve(self, X):
        settled = self.kernel._resolve(X)
        return self if settled is self.kernel else replace(self, kernel=settled)

    @property
    def mass(self):
        return self.kernel.mass

    def _frequencies(self, n, d, rng):
        omega = self.kernel._frequencies(n, d, rng)
        drawn = rng.choice(d, size=(n, self.order), p=self._shares(d))
        kept = np.zeros((n, d), dtype=bool)
        np.put_along_axis(kept, drawn, True, axis=1)
        return np.where(kept, omega, 0.0)
