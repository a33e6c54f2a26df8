"""Explicit features: coordinates in which a kernel is a plain inner product."""

from mercer.expand.landmarks.landmarks import Landmarks
from mercer.expand.lifts.kernel_lift import lift
from mercer.expand.lifts.parabolic import ParabolicLift
from mercer.expand.lifts.polynomial import PolynomialLift
from mercer.expand.lifts.subsets import SubsetLift
from mercer.expand.random.random_features import RandomFeatures

__all__ = ["Landmarks", "ParabolicLift", "PolynomialLift", "RandomFeatures", "SubsetLift", "lift"]
