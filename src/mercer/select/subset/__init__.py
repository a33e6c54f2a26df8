"""The best subset of a given size."""
