"""Filters: score every column on its own against the target."""
