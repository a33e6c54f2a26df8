"""Choices made by the data: which features, how wide, how strong a penalty, and an honest score of the result."""

from mercer.auto.budget.progress import Steps
from mercer.auto.estimators import MercerClassifier, MercerRegressor
from mercer.auto.explain.contributions import Explanation
from mercer.auto.fitting import fit
from mercer.auto.holdout.evaluate import Judgment, judge
from mercer.auto.lifting import LiftSearch, LiftTrial, compare_lifts
from mercer.auto.model import Model

__all__ = [
    "Explanation",
    "Judgment",
    "LiftSearch",
    "LiftTrial",
    "MercerClassifier",
    "MercerRegressor",
    "Model",
    "Steps",
    "compare_lifts",
    "fit",
    "judge",
]
