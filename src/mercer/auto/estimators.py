"""The search of `mercer.fit` as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._runtime.blas import SingleThreadedVerbs
from mercer._runtime.labels import class_labels
from mercer.auto.budget.clock import Clock
from mercer.auto.budget.progress import Steps
from mercer.auto.conformal.predictions import interval_function, quantile_function, set_function
from mercer.auto.diagnostics.model_score import score_of
from mercer.auto.final.loaded import check_searched
from mercer.auto.fitting import effort_of, search_report
from mercer.auto.holdout.scores import ModelPredictions
from mercer.auto.options import ModelShape, Objective, Splitting
from mercer.auto.options.losses import check_target
from mercer.auto.run import FitRun
from mercer.auto.shift.reference import training_reference
from mercer.auto.splits.estimators import columns_left, keyed_rows
from mercer.auto.text.sparse_model import model_of
from mercer.auto.updates.state import check_updatable, update_state
from mercer.base import seed_of
from mercer.source import Columns
from mercer.source.arrow import columns_of_rows


class SearchedEstimator(SingleThreadedVerbs, BaseEstimator):
    """Encode, search, fit. No holdout: callers evaluate on their own data."""

    _task: str

    def __init__(
        self,
        effort: str = "normal",
        time_budget: float | None = None,
        max_features: int | None = None,
        random_state: Any = 0,
        n_seeds: int = 1,
        metric: Any = None,
        class_weight: Any = None,
        costs: Any = None,
        groups: Any = None,
        time: Any = None,
        gap: Any = None,
        cv: Any = None,
        explainable: bool = False,
        max_pairs: int = 10,
        monotone: Any = None,
        updatable: bool | None = None,
        keep_hashes: bool = True,
    ):
        self.effort = effort
        self.time_budget = time_budget
        self.max_features = max_features
        self.random_state = random_state
        self.n_seeds = n_seeds
        self.metric = metric
        self.class_weight = class_weight
        self.costs = costs
        self.groups = groups
        self.time = time
        self.gap = gap
        self.cv = cv
        self.explainable = explainable
        self.max_pairs = max_pairs
        self.monotone = monotone
        self.updatable = updatable
        self.keep_hashes = keep_hashes

    def _objective(self) -> Objective:
        return Objective(metric=self.metric, class_weight=self.class_weight, costs=self.costs)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None) -> Self:
        """Fit to a frame or array X of mixed columns and a target y.

        A row of `sample_weight` 2 counts as two equal rows, a row of weight 0 as none. `groups` and `time` are one
        value per row, instead of the parameters of that name.

        Returns
        -------
        self
        """
        clock, steps, seed = Clock(self.time_budget), Steps(), seed_of(self.random_state)
        effort = effort_of(self.effort, self.max_features, self.n_seeds)
        y = self._checked_target(y)
        table = Columns.of(self._checked(X, reset=True))
        if len(table) != len(y):
            raise ValueError(f"X has {len(table)} rows but y has {len(y)} entries.")
        classify = self._task == "classification"
        given = [self.groups if groups is None else groups, self.time if time is None else time]
        splitting = Splitting(given[0], given[1], self.gap, self.cv)
        splits, source = keyed_rows(table, y, sample_weight, splitting, seed)
        n_classes = len(np.unique(y)) if classify else 0
        run = FitRun(
            None, effort, seed, steps, clock, classify, source.n_rows or 0, n_classes,
            objective=self._objective(), splitting=splitting, splits=splits,
            shape=ModelShape(self.monotone, self.explainable, self.max_pairs),
        )  # fmt: skip
        run.objective.check_task(self._task)
        check_target(y, run.objective.loss, "y")
        run.check_options()
        check_updatable(self.updatable)
        learned, _ = run.run(source, 0.0, None)
        report: dict[str, Any] = {"task": self._task, "effort": self.effort, "target": None, "rows": source.n_rows}
        named = {"groups": given[0], "time": given[1]}
        report |= {name: value for name, value in named.items() if isinstance(value, str)}
        report |= run.asked() | {"notes": run.notes, **run.sections, **search_report(learned, steps)}
        self.model_ = model_of(self._task, learned.encoder, learned.predictor, learned.rows.X, report, seed)
        self.model_.reference = training_reference(learned.encoder, source, seed, clock)
        self.model_.state = update_state(run, learned, self.updatable, bool(self.keep_hashes))
        return self

    def _checked_target(self, y: Any) -> np.ndarray:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        return y

    def _checked(self, X: Any, reset: bool) -> Any:
        """X after the checks of scikit-learn: an array, or a frame as it is."""
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)

    def _mapped(self, X: Any, function: Callable) -> np.ndarray:
        """function(encoded rows), as the model does it."""
        if not self._is_as_in_fit(X):
            X = self._checked(X, reset=False)
        if hasattr(X, "columns") and not hasattr(self, "feature_names_in_"):  # the columns are those of fit
            X = Columns(Columns.of(X).table.rename_columns(list(self.model_.encoder.schema_)))
        X = columns_left(X, self)
        return self.model_.map_encoded(X, function)

    def _is_as_in_fit(self, X: Any) -> bool:
        """Whether the checks of scikit-learn, which take longer than a row, are not needed.

        That is so for plain arrays if `fit` had an array, and if it had names for pandas frames with the same names and
        for dicts, in which names are looked up.
        """
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiuO"
            return plain and X.shape[1] == self.n_features_in_ and len(X) > 0
        if isinstance(X, Mapping) or columns_of_rows(X) is not None:
            return not hasattr(X, "tocsr")  # a sparse matrix may be a dict of its entries
        frame = type(X).__module__.startswith("pandas") and hasattr(X, "columns")
        return frame and X.columns.tolist() == names.tolist()

    _check_applies = check_searched

    def predict(self, X: Any) -> np.ndarray:
        """Predictions, one for each row of X; if `fit` had names, X may also be rows or columns in dicts."""
        if not hasattr(self, "model_"):
            check_is_fitted(self)
        return self._mapped(X, self.model_.predictor.predict)

    def _metric_score(self, X: Any, y: Any, sample_weight: Any) -> float:
        """The metric that was asked for, greater is better."""
        check_is_fitted(self)
        if callable(self.metric):
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            return float(self.metric(self, X, y, **weights))
        predictor = self.model_.predictor
        probabilities = None if self.model_.classes_ is None else self._mapped(X, predictor.probabilities)
        made = ModelPredictions("model", self.predict(X), probabilities)
        return score_of(self._objective(), np.asarray(y), made, self.model_.classes_, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags


class MercerRegressor(RegressorMixin, SearchedEstimator):
    """Linear regression on features found by a search: scores of trees, bins, random features in a learned metric.

    The search of `mercer.fit` without a holdout. Frames may mix numbers, categories and dates, with missing values. The
    target may have several columns.

    Use it where scikit-learn expects an estimator: cross-validation, pipelines, stacking. For one table and a report
    use `mercer.fit`, which also holds rows out. A fit takes seconds to minutes (`effort`, `time_budget`).

    Parameters
    ----------
    effort : {"fast", "normal", "high"}, default="normal"
    time_budget : float, default=None
        Seconds; stages that would not fit are left out. If all rows are too many to search with, the search uses a
        random sample of them, and the weights come from all rows.
    max_features : int, default=None
        Maximum number of features of the model.
    random_state : int, default=0
    n_seeds : int, default=1
        Average `n_seeds` models with independently drawn random features: one linear model on all their features.
    metric, class_weight, costs, groups, time, gap, cv : as in `mercer.fit`
        `groups` and `time` name columns of X, or give one value for each row.
    explainable, max_pairs, monotone, updatable, keep_hashes : as in `mercer.fit`
    loss, quantiles : as in `mercer.fit`
        `predict_quantiles` returns all quantiles of `loss="quantile"`.

    Attributes
    ----------
    model_ : the `Model`, with `transform`, `explain`, `importance` and `report`

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.auto import MercerRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> print(f"R2 {MercerRegressor(effort='fast').fit(X[::2], y[::2]).score(X[1::2], y[1::2]):.1f}")
    R2 0.4
    """

    _task = "regression"

    def __init__(
        self,
        effort: str = "normal",
        time_budget: float | None = None,
        max_features: int | None = None,
        random_state: Any = 0,
        n_seeds: int = 1,
        metric: Any = None,
        class_weight: Any = None,
        costs: Any = None,
        groups: Any = None,
        time: Any = None,
        gap: Any = None,
        cv: Any = None,
        explainable: bool = False,
        max_pairs: int = 10,
        monotone: Any = None,
        updatable: bool | None = None,
        keep_hashes: bool = True,
        loss: str = "squared",
        quantiles: Any = None,
    ):
        super().__init__(
            effort, time_budget, max_features, random_state, n_seeds, metric, class_weight, costs, groups, time, gap,
            cv, explainable, max_pairs, monotone, updatable, keep_hashes,
        )  # fmt: skip
        self.loss = loss
        self.quantiles = quantiles

    def _objective(self) -> Objective:
        return Objective(self.metric, self.loss, self.quantiles, self.class_weight, self.costs)

    def _checked_target(self, y: Any) -> np.ndarray:
        values = np.asarray(y)
        if values.ndim == 2 and values.shape[1] > 1:
            return check_array(values, dtype=np.float64, input_name="y")
        return super()._checked_target(y).astype(np.float64)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R2, or the metric that was asked for, errors negated: greater is better."""
        default = self.metric in (None, "r2")
        return super().score(X, y, sample_weight) if default else self._metric_score(X, y, sample_weight)

    def predict_quantiles(self, X: Any) -> np.ndarray:
        """The quantiles of a model with `loss="quantile"`, in increasing order: an array (rows, quantiles)."""
        check_is_fitted(self)
        return self._mapped(X, quantile_function(self.model_.predictor))

    def predict_interval(self, X: Any, level: float = 0.9) -> np.ndarray:
        """Lower and upper ends that contain the target of a new row with probability `level`, as `Model` has them."""
        check_is_fitted(self)
        return self._mapped(X, interval_function(self.model_.predictor, level))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class MercerClassifier(ClassifierMixin, SearchedEstimator):
    """Logistic regression on features found by a search: scores of trees, bins, random features in a learned metric.

    The search of `mercer.fit` without a holdout. Frames may mix numbers, categories and dates, with missing values.

    Use it where scikit-learn expects an estimator: cross-validation, pipelines, stacking. For one table and a report
    use `mercer.fit`, which also holds rows out. A fit takes seconds to minutes (`effort`, `time_budget`).

    Parameters
    ----------
    effort, time_budget, max_features, random_state, n_seeds : as in `MercerRegressor`
    metric, class_weight, costs, groups, time, gap, cv : as in `mercer.fit`
        `groups` and `time` name columns of X, or give one value for each row.
    explainable, max_pairs, monotone, updatable, keep_hashes : as in `mercer.fit`

    Attributes
    ----------
    classes_ : the labels in sorted order
    model_ : the `Model`, with `transform`, `explain`, `importance` and `report`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.auto import MercerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"accuracy {MercerClassifier(effort='fast').fit(X[::2], y[::2]).score(X[1::2], y[1::2]):.2f}")
    accuracy 0.96
    """

    _task = "classification"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None) -> Self:
        """Fit to a frame or array X of mixed columns and labels y.

        A row of `sample_weight` 2 counts as two equal rows, a row of weight 0 as none. `groups` and `time` are one
        value per row, instead of the parameters of that name.

        Returns
        -------
        self
        """
        super().fit(X, y, sample_weight, groups, time)
        self.classes_ = self.model_.classes_
        return self

    def _checked_target(self, y: Any) -> np.ndarray:
        return class_labels(super()._checked_target(y))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, one column per class."""
        if not hasattr(self, "model_"):
            check_is_fitted(self)
        return self._mapped(X, self.model_.predictor.probabilities)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or the metric or minus the mean cost that was asked for: greater is better."""
        default = self.metric in (None, "accuracy") and (self.metric is not None or self.costs is None)
        return super().score(X, y, sample_weight) if default else self._metric_score(X, y, sample_weight)

    def predict_set(self, X: Any, level: float = 0.9, per_class: bool = False) -> np.ndarray:
        """Classes that contain that of a new row with probability `level`: booleans (rows, classes), see `Model`."""
        check_is_fitted(self)
        return self._mapped(X, set_function(self.model_.predictor, level, per_class))
