"""Simple maps of single columns that make a linear predictor's work easier."""

from mercer.normalize.affine import Center, Standardize, UnitRange

__all__ = ["Center", "Standardize", "UnitRange"]
