"""The search behind `mercer.fit`: features, penalties and their evaluation on held-out rows."""

from typing import TYPE_CHECKING

from mercer._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from mercer.auto.budget.progress import Steps
    from mercer.auto.estimators import MercerClassifier, MercerRegressor
    from mercer.auto.explain.explanation import Explanation, Explanations
    from mercer.auto.fitting import fit
    from mercer.auto.holdout.evaluate import Comparison, evaluate
    from mercer.auto.lifting import LiftSearch, LiftTrial, compare_lifts
    from mercer.auto.model import Model
    from mercer.auto.shift.compare import compare
    from mercer.auto.shift.comparison import DataComparison

__all__ = [
    "Comparison",
    "DataComparison",
    "Explanation",
    "Explanations",
    "LiftSearch",
    "LiftTrial",
    "MercerClassifier",
    "MercerRegressor",
    "Model",
    "Steps",
    "compare",
    "compare_lifts",
    "evaluate",
    "fit",
]

if not TYPE_CHECKING:  # the messages of progress need no search
    _HOMES = {
        "budget.progress": "Steps",
        "estimators": "MercerClassifier MercerRegressor",
        "explain.explanation": "Explanation Explanations",
        "fitting": "fit",
        "holdout.evaluate": "Comparison evaluate",
        "lifting": "LiftSearch LiftTrial compare_lifts",
        "model": "Model",
        "shift.compare": "compare",
        "shift.comparison": "DataComparison",
    }
    __getattr__ = lazy_names(__name__, {name: home for home, names in _HOMES.items() for name in names.split()})


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
