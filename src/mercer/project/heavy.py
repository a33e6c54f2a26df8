"""The heaviest names of a stream in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer.project.tokens import Tokens
from mercer.stats import Statistic


@dataclass(frozen=True)
class HeavyKeys(Statistic):
    """Names with their total absolute values, at most `capacity` of them (Misra and Gries 1982).

    When there are more, the weight of the heaviest one too many is taken off all. So a kept weight is too small
    by at most (sum of all weights)/(capacity + 1), and every name heavier than that is kept; merged summaries keep
    the promise (Agarwal et al., "Mergeable summaries", 2013).
    """

    capacity: int
    tokens_of: Callable[..., Tokens]
    n: int = 0
    weights: dict[str, float] = field(default_factory=dict)

    def of(self, block: Block) -> HeavyKeys:
        tokens = self.tokens_of(block.X)
        return self._with(len(block), dict(zip(tokens.names, tokens.weights().tolist(), strict=True)))

    def _merge(self, other: HeavyKeys) -> HeavyKeys:
        total = dict(self.weights)
        for name, weight in other.weights.items():
            total[name] = total.get(name, 0.0) + weight
        return self._with(self.n + other.n, total)

    def _with(self, n: int, weights: dict[Any, float]) -> HeavyKeys:
        if len(weights) > self.capacity:
            excess = -np.partition(-np.fromiter(weights.values(), float), self.capacity)[self.capacity]
            weights = {name: weight - excess for name, weight in weights.items() if weight > excess}
        return HeavyKeys(self.capacity, self.tokens_of, n, weights)

    def finish(self) -> list[tuple[str, float]]:
        """(name, weight), the heaviest first, ties in the order of names."""
        return sorted(self.weights.items(), key=lambda item: (-item[1], item[0]))
