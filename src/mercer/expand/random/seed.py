"""A tree of independent random streams, one for each node of a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Separates these streams from `default_rng(0)`, so that data drawn from it are independent of the frequencies.
_OWN = 0x6D657263


@dataclass(frozen=True)
class Seed:
    """A seed and a path in the tree. The stream of one node does not depend on any other."""

    number: int
    path: tuple[int, ...] = ()

    def child(self, i: int) -> Seed:
        """The i-th child."""
        return Seed(self.number, (*self.path, i))

    def rng(self) -> np.random.Generator:
        """The random stream of this node, from its beginning."""
        return np.random.default_rng(np.random.SeedSequence(self.number, spawn_key=(_OWN, *self.path)))
