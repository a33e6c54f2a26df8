"""Linear maps to fewer dimensions that keep lengths, and features by hashing."""

from mercer.project.gaussian import GaussianProjection
from mercer.project.hadamard import HadamardProjection
from mercer.project.hashing import FeatureHashing
from mercer.project.sparse import SparseProjection

__all__ = ["FeatureHashing", "GaussianProjection", "HadamardProjection", "SparseProjection"]
