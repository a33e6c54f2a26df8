"""Which columns to keep: filters, greedy searches, boosting, l1 paths, best subsets."""

from mercer.select.boosting import AdaBoost
from mercer.select.discoveries import discoveries
from mercer.select.filters import FilterSelector
from mercer.select.greedy import GreedySelector
from mercer.select.hypotheses import compare_hypotheses
from mercer.select.knockoffs import KnockoffSelector
from mercer.select.l1_constrained import L1Constrained
from mercer.select.lasso import Lasso, lasso_path
from mercer.select.mutual_information import knn_mutual_information
from mercer.select.pursuit import OrthogonalMatchingPursuit
from mercer.select.sparsify import sparsify, sparsify_risk
from mercer.select.stability import StabilitySelector
from mercer.select.subset import BestSubset

__all__ = [
    "AdaBoost",
    "BestSubset",
    "FilterSelector",
    "GreedySelector",
    "KnockoffSelector",
    "L1Constrained",
    "Lasso",
    "OrthogonalMatchingPursuit",
    "StabilitySelector",
    "compare_hypotheses",
    "discoveries",
    "knn_mutual_information",
    "lasso_path",
    "sparsify",
    "sparsify_risk",
]
