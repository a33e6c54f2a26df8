"""A statistic is a monoid: an empty one, the one of a block, merge, and a pure finish.

For statistics a, b, c and the empty one e of the same kind

    e.merge(a) == a == a.merge(e),   a.merge(b).merge(c) == a.merge(b.merge(c)),

so a data set may be split anywhere, its parts processed anywhere, and their statistics merged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import Any, Self

from mercer._numeric.block import Block


class Statistic(ABC):
    """Base class. An instance holds its settings and the sums over the rows seen so far.

    A new instance is the empty statistic. `n` counts the rows seen. No method changes an argument, and only `absorb`
    may reuse the memory of `self`.
    """

    n: int = 0

    #: True if `absorb` itself uses all cores: a fold then feeds it one block after the other.
    parallel_inside = False

    @abstractmethod
    def of(self, block: Block) -> Self:
        """Return the statistic of one block, with the settings of this one."""

    @abstractmethod
    def _merge(self, other: Self) -> Self:
        """Return the statistic of the rows of both, neither of which is empty."""

    @abstractmethod
    def finish(self) -> Any:
        """Return the result; a pure function of the state."""

    def merge(self, other: Self) -> Self:
        """Return the statistic of the rows of both."""
        if other.n == 0:
            return self
        if self.n == 0:
            return other
        return self._merge(other)

    def absorb(self, block: Block) -> Self:
        """Return `self.merge(self.of(block))`, perhaps in the memory of `self`, which must not be used afterwards."""
        return self.merge(self.of(block)) if len(block) else self

    def fresh(self) -> Self:
        """Return an equal statistic whose `absorb` leaves this one unchanged."""
        return copy(self)


class Together(Statistic):
    """Several statistics in one pass; `finish` returns a dict of their results.

    Use it to learn several statistics from one pass over a file; a single one needs no wrapper.

    >>> import numpy as np
    >>> from mercer._numeric.block import Block
    >>> from mercer.stats import LabelCounts, Moments
    >>> both = Together(moments=Moments(), labels=LabelCounts())
    >>> seen = both.of(Block(np.array([[1.0], [3.0]]), y=np.array(["a", "b"]))).finish()
    >>> seen["moments"].mean.tolist(), seen["labels"].levels.tolist()
    ([2.0], ['a', 'b'])
    """

    def __init__(self, **statistics: Statistic):
        self.statistics = statistics

    @property
    def n(self) -> int:  # type: ignore[override]
        return max((s.n for s in self.statistics.values()), default=0)

    def of(self, block: Block) -> Together:
        return Together(**{name: s.of(block) for name, s in self.statistics.items()})

    def _merge(self, other: Together) -> Together:
        return Together(**{name: s.merge(other.statistics[name]) for name, s in self.statistics.items()})

    def finish(self) -> dict[str, Any]:
        return {name: s.finish() for name, s in self.statistics.items()}
