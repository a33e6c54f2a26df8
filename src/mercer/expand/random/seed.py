"""A tree of independent random streams: every node of a kernel draws from its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: A key that no caller uses: data drawn from `default_rng(0)` must not meet their own numbers as frequencies.
_OWN = 0x6D657263


@dataclass(frozen=True)
class Seed:
    """A seed and a place in the tree. What one place draws does not depend on what any other draws."""

    number: int
    place: tuple[int, ...] = ()

    def child(self, i: int) -> Seed:
        """The i-th place below this one."""
        return Seed(self.number, (*self.place, i))

    def rng(self) -> np.random.Generator:
        """The stream of this place, from its beginning."""
        return np.random.default_rng(np.random.SeedSequence(self.number, spawn_key=(_OWN, *self.place)))
