"""Feature selection: filters, greedy selection, boosting, the Lasso, best subsets, false discovery control."""

from mercer.select.boosting.adaboost import AdaBoost
from mercer.select.filters.false_discovery import discoveries
from mercer.select.filters.hypotheses import compare_hypotheses
from mercer.select.filters.mutual_information import knn_mutual_information
from mercer.select.filters.selector import FilterSelector
from mercer.select.greedy.pursuit import OrthogonalMatchingPursuit
from mercer.select.greedy.selector import GreedySelector
from mercer.select.lasso.l1_constrained import L1Constrained
from mercer.select.lasso.lasso import Lasso, lasso_path
from mercer.select.lasso.sparsify import sparsify, sparsify_risk
from mercer.select.resampling.knockoffs import KnockoffSelector
from mercer.select.resampling.stability import StabilitySelector
from mercer.select.subset.best_subset import BestSubset

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
