"""Linear predictors learned from mergeable statistics, in passes over a source, or row by row."""

from mercer.linear.hinge import HingeClassifier
from mercer.linear.logistic import LogisticClassifier
from mercer.linear.perceptron import Perceptron
from mercer.linear.ridge.ridge import RidgeClassifier, RidgeRegressor

__all__ = ["HingeClassifier", "LogisticClassifier", "Perceptron", "RidgeClassifier", "RidgeRegressor"]
