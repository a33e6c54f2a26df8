"""Choices made by the data: which features, how wide, how strong a penalty, and an honest score of the result."""

from mercer.auto.estimators import MercerClassifier, MercerRegressor
from mercer.auto.explain import Explanation
from mercer.auto.fitting import fit
from mercer.auto.judge import Judgment, judge
from mercer.auto.lifting import Search, Trial, compare_lifts
from mercer.auto.model import Model
from mercer.auto.steps import Steps

__all__ = [
    "Explanation",
    "Judgment",
    "MercerClassifier",
    "MercerRegressor",
    "Model",
    "Search",
    "Steps",
    "Trial",
    "compare_lifts",
    "fit",
    "judge",
]
