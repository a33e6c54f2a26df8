"""Gather a plain dict, then render it."""
