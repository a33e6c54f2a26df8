"""Kernels with an algebra, and a check that a similarity is a Mercer kernel."""

from mercer.kernels.algebra import Normalized, Product, Restricted, Scaled, Sum
from mercer.kernels.base import Kernel
from mercer.kernels.custom import Custom, Precomputed
from mercer.kernels.discrete.overlap import Overlap
from mercer.kernels.discrete.strings import Mismatch, Spectrum, WeightedDegree
from mercer.kernels.discrete.subsequence import Subsequence
from mercer.kernels.discrete.trees import SubsetTree
from mercer.kernels.dot import AllSubsets, Anova, Constant, Linear, Polynomial
from mercer.kernels.kernel_parameter import KernelParameter, kernel_by_name
from mercer.kernels.norms import ExponentialPower, Laplace, Sinc
from mercer.kernels.radial import Cauchy, Gaussian, Matern, RationalQuadratic
from mercer.kernels.stationary import Stationary
from mercer.kernels.subsets import OnSubsets
from mercer.kernels.through import Through
from mercer.kernels.validity import MercerReport, check_mercer, repair

__all__ = [
    "AllSubsets",
    "Anova",
    "Cauchy",
    "Constant",
    "Custom",
    "ExponentialPower",
    "Gaussian",
    "Kernel",
    "KernelParameter",
    "Laplace",
    "Linear",
    "Matern",
    "MercerReport",
    "Mismatch",
    "Normalized",
    "OnSubsets",
    "Overlap",
    "Polynomial",
    "Precomputed",
    "Product",
    "RationalQuadratic",
    "Restricted",
    "Scaled",
    "Sinc",
    "Spectrum",
    "Stationary",
    "Subsequence",
    "SubsetTree",
    "Sum",
    "Through",
    "WeightedDegree",
    "check_mercer",
    "kernel_by_name",
    "repair",
]
