"""Piecewise-linear and supervised bins."""
