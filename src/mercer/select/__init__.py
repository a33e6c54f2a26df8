"""Which columns to keep: filters, greedy searches, boosting, l1 paths, best subsets."""

__all__: list[str] = []
