"""Which columns to keep: filters, greedy searches, boosting, l1 paths, best subsets."""

from mercer.select.boosting import AdaBoost
from mercer.select.greedy import GreedySelector
from mercer.select.pursuit import OrthogonalMatchingPursuit
from mercer.select.subset import BestSubset

__all__ = [
    "AdaBoost",
    "BestSubset",
    "GreedySelector",
    "OrthogonalMatchingPursuit",
]
