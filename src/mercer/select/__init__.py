"""Which columns to keep: filters, greedy searches, boosting, l1 paths, best subsets."""

from mercer.select.lasso import Lasso

__all__ = [
    "Lasso",
]
