"""Explainable models: columns and a few pairs as tables of points, which a person can read."""
