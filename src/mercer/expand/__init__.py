"""Explicit features: coordinates in which a kernel is a plain inner product."""

from mercer.expand.kernel_lift import lift
from mercer.expand.landmarks import Landmarks
from mercer.expand.parabolic import ParabolicLift
from mercer.expand.polynomial import PolynomialLift
from mercer.expand.random_features import RandomFeatures
from mercer.expand.subsets import SubsetLift

__all__ = ["Landmarks", "ParabolicLift", "PolynomialLift", "RandomFeatures", "SubsetLift", "lift"]
