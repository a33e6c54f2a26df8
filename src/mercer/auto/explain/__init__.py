"""Contributions of columns to a prediction, and their importance."""
