"""Columns derived from other columns of a table: aggregates, frequencies, ratios, differences, crosses."""
