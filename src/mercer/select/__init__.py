"""Which columns to keep: filters, greedy searches, boosting, l1 paths, best subsets."""

from mercer.select.discoveries import discoveries
from mercer.select.filters import FilterSelector
from mercer.select.lasso import Lasso
from mercer.select.mutual_information import knn_mutual_information

__all__ = [
    "FilterSelector",
    "Lasso",
    "discoveries",
    "knn_mutual_information",
]
