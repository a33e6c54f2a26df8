"""Explicit features: coordinates in which a kernel is a plain inner product."""

from mercer.expand.landmarks.landmarks import Landmarks
from mercer.expand.lifts.column_picker import ColumnPicker
from mercer.expand.lifts.kernel_lift import lift
from mercer.expand.lifts.parabolic import ParabolicLift
from mercer.expand.lifts.polynomial import PolynomialLift
from mercer.expand.lifts.product_lift import ProductLift
from mercer.expand.lifts.subsets import SubsetLift
from mercer.expand.random.random_features import RandomFeatures

__all__ = [
    "ColumnPicker",
    "Landmarks",
    "ParabolicLift",
    "PolynomialLift",
    "ProductLift",
    "RandomFeatures",
    "SubsetLift",
    "lift",
]
