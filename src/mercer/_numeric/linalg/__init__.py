"""Sums, products and distances of tall blocks of rows."""
