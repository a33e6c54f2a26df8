"""Gradient boosting with out-of-fold scores."""
