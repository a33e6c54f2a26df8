"""Coordinate descent, matching pursuit and pivoted Cholesky."""
