"""Filters: every column scored alone."""
