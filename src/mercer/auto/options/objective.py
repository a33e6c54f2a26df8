"""The objective of a fit: the metric that matters, the loss of the final model, weights and costs of classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer_names

from mercer._runtime.errors import MercerError, ParameterError, Setting
from mercer.auto.options.losses import checked_loss

#: Metrics by name and task.
METRICS = {
    "regression": ("r2", "rmse", "mae", "pinball"),
    "classification": ("accuracy", "balanced_accuracy", "auc", "log_loss", "brier", "f1"),
}
#: How names of scorers of scikit-learn begin: those of numbers (but for some of classes), and those of clusterings.
_OF_NUMBERS = ("neg_", "max_error", "explained_variance", "d2_absolute", "d2_pinball", "d2_tweedie", "r2")
_OF_CLASSES = ("neg_log_loss", "neg_brier_score", "neg_negative_likelihood_ratio")
_CLUSTERINGS = (
    "adjusted_", "completeness", "fowlkes", "homogeneity", "mutual_info", "normalized_mutual", "rand_score",
    "v_measure",
)  # fmt: skip
_TWO_COSTS = ("false_positive", "false_negative")


@dataclass(frozen=True)
class Objective:
    """Options `metric`, `loss`, `quantiles`, `class_weight` and `costs` of `mercer.fit`."""

    metric: Any = None
    loss: str = "squared"
    quantiles: Any = None
    class_weight: Any = None
    costs: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantiles", checked_loss(self.loss, self.quantiles))
        self._check_metric()
        self._check_class_weight()
        self._check_costs()

    def _check_metric(self) -> None:
        if self.metric is None or callable(self.metric):
            return
        known = [name for names in METRICS.values() for name in names]
        if not isinstance(self.metric, str) or (self.metric not in known and self.metric not in get_scorer_names()):
            scorer = "a scorer of scikit-learn or its name"
            raise ParameterError("metric", self.metric, f"must be one of {', '.join(known)}, or {scorer}")

    def _check_class_weight(self) -> None:
        given = self.class_weight
        if given is None or (isinstance(given, str) and given == "balanced"):
            return
        if not isinstance(given, Mapping) or not given:
            raise ParameterError("class_weight", given, "must be 'balanced' or a dict of classes to weights")
        for label, weight in given.items():
            if not _is_finite(weight) or weight <= 0:
                raise ParameterError(Setting("class_weight", key=str(label)), weight, "must be a positive number")

    def _check_costs(self) -> None:
        given = self.costs
        if given is None:
            return
        if isinstance(given, Mapping):
            if set(given) != set(_TWO_COSTS) or not all(_is_finite(each) and each >= 0 for each in given.values()):
                two = "{'false_positive': 1, 'false_negative': 5}"
                raise ParameterError("costs", given, f"must be a matrix or two numbers of at least zero such as {two}")
            given = [[0.0, given["false_positive"]], [given["false_negative"], 0.0]]
        matrix = _matrix(given)
        if np.all(matrix == matrix[:, :1]):
            raise ParameterError("costs", self.costs, "must differ: otherwise no decision matters")

    @classmethod
    def of_report(cls, report: Mapping[str, Any]) -> Objective:
        """The objective of a fit as far as its report says: a metric given as a function is not known."""
        asked = {name: report.get(name) for name in ("metric", "quantiles", "costs")}
        return cls(loss=report.get("loss", "squared"), **asked)

    def asked(self) -> dict[str, Any]:
        """What differs from the defaults, for the report."""
        found: dict[str, Any] = {"metric": self.metric} if isinstance(self.metric, str) else {}
        if self.costs is not None:
            found["costs"] = dict(self.costs) if isinstance(self.costs, Mapping) else _matrix(self.costs).tolist()
        return found | ({} if self.loss == "squared" else {"loss": self.loss, "quantiles": list(self.quantiles)})

    @property
    def is_scorer(self) -> bool:
        """Whether the metric is a scorer of scikit-learn, not one of `METRICS`."""
        return self.metric is not None and not any(self.metric in names for names in METRICS.values())

    def headline(self, task: str) -> str:
        """The key of the metric that leads the report: the one asked for, else the cost if there are costs."""
        if self.metric is None:
            return "cost" if self.costs is not None else "accuracy" if task == "classification" else "r2"
        if isinstance(self.metric, str):
            return self.metric
        inner = getattr(self.metric, "_score_func", self.metric)
        return str(getattr(inner, "__name__", type(self.metric).__name__))

    @property
    def pinball_level(self) -> float | None:
        """The level of the pinball loss: the quantile that `predict` gives; None if the metric is another one."""
        if self.metric != "pinball":
            return None
        return 0.5 if not self.quantiles or 0.5 in self.quantiles else float(self.quantiles[0])

    def check_task(self, task: str) -> None:
        """Refuse a metric, class weights or costs that do not fit the task."""
        if isinstance(self.metric, str) and not _fits(self.metric, task):
            names = ", ".join(METRICS[task])
            raise ParameterError("metric", self.metric, f"must be one of {names}, or a scorer, for {task}")
        for name in ("class_weight", "costs"):
            if task == "regression" and getattr(self, name) is not None:
                remedy = "Leave it out, or set task='classification'."
                raise ParameterError(name, getattr(self, name), "is for classification", remedy=remedy)

    def task(self, task: str | None) -> str | None:
        """The task: any loss but the default means regression."""
        if self.loss == "squared":
            return task
        if task in ("classification", "classify"):
            problem = (Setting("loss", self.loss), " is for regression, not for ", Setting("task", task), ":")
            raise MercerError(*problem, remedy="give one of them.")
        return "regression"

    def cost_matrix(self, n_classes: int) -> np.ndarray | None:
        """Costs [true class, predicted class] in the order of the classes; None if none were given."""
        given = self.costs
        if given is None:
            return None
        if isinstance(given, Mapping):
            given = [[0.0, given["false_positive"]], [given["false_negative"], 0.0]]
        matrix = _matrix(given)
        if len(matrix) != n_classes:
            shape = f"must be a matrix [true class, predicted class] of shape {(n_classes, n_classes)}"
            raise ParameterError("costs", self.costs, f"{shape} for the {n_classes} classes")
        return matrix


def _fits(metric: str, task: str) -> bool:
    """Whether a metric or a scorer of scikit-learn is one of a task."""
    if any(metric in names for names in METRICS.values()):
        return metric in METRICS[task]
    if metric.startswith(_CLUSTERINGS):
        return False
    return (metric.startswith(_OF_NUMBERS) and not metric.startswith(_OF_CLASSES)) == (task == "regression")


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and bool(np.isfinite(value))


def _matrix(given: Any) -> np.ndarray:
    """The costs as a square matrix of finite numbers of at least zero."""
    try:
        matrix = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise ParameterError("costs", given, "must be a square matrix [true class, predicted class]")
    if not np.all(np.isfinite(matrix)) or np.any(matrix < 0):
        raise ParameterError("costs", given, "must be finite numbers of at least zero")
    return matrix
