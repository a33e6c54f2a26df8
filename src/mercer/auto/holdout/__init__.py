"""Evaluation on the holdout, with intervals."""
