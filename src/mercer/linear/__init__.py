"""Linear predictors learned from mergeable statistics."""

from mercer.linear.logistic import LogisticClassifier
from mercer.linear.ridge import RidgeClassifier, RidgeRegressor

__all__ = ["LogisticClassifier", "RidgeClassifier", "RidgeRegressor"]
