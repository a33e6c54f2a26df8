"""Additive models with pairs: levels of columns, boosting of single columns and pairs, purified tables."""
