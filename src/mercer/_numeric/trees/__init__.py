"""Binned columns, regression trees, rounds of boosting, and sums over trees."""
