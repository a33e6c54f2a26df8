"""Which columns to keep: filters, greedy searches, boosting, l1 paths, best subsets."""

from mercer.select.greedy import GreedySelector

__all__ = [
    "GreedySelector",
]
