"""Exact finite feature maps."""
