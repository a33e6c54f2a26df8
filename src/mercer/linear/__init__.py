"""Linear predictors learned from mergeable statistics."""

from mercer.linear.ridge import RidgeClassifier, RidgeRegressor

__all__ = ["RidgeClassifier", "RidgeRegressor"]
