"""Explicit features: coordinates in which a kernel is a plain inner product."""

from mercer.expand.random_features import RandomFeatures

__all__ = ["RandomFeatures"]
