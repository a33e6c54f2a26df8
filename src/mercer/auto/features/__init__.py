"""Blocks of features, one file per kind."""
