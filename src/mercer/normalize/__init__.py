"""Column-wise transformations: scaling, clipping, ranks, one-hot encoding, imputation."""

from mercer.normalize.affine import Center, Standardize, UnitRange
from mercer.normalize.impute import Impute
from mercer.normalize.onehot import OneHot
from mercer.normalize.quantile import Quantile
from mercer.normalize.squash import Clip, Log, Sigmoid

__all__ = ["Center", "Clip", "Impute", "Log", "OneHot", "Quantile", "Sigmoid", "Standardize", "UnitRange"]
