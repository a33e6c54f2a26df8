"""The search behind `mercer.fit`: features, penalties and their evaluation on held-out rows."""

from mercer.auto.budget.progress import Steps
from mercer.auto.estimators import MercerClassifier, MercerRegressor
from mercer.auto.explain.contributions import Explanation
from mercer.auto.fitting import fit
from mercer.auto.holdout.evaluate import Comparison, evaluate
from mercer.auto.lifting import LiftSearch, LiftTrial, compare_lifts
from mercer.auto.model import Model

__all__ = [
    "Comparison",
    "Explanation",
    "LiftSearch",
    "LiftTrial",
    "MercerClassifier",
    "MercerRegressor",
    "Model",
    "Steps",
    "compare_lifts",
    "evaluate",
    "fit",
]
