"""Splits that match the question: keys of groups and times, folds and the holdout that follow from them."""

from mercer.auto.splits.row_splits import RowSplits

__all__ = ["RowSplits"]
