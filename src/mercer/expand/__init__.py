"""Explicit features: coordinates in which a kernel is a plain inner product."""

from mercer.expand.landmarks import Landmarks
from mercer.expand.random_features import RandomFeatures

__all__ = ["Landmarks", "RandomFeatures"]
