"""Target encoding: categories as shrunken means of the target, cross-fitted."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._runtime.checks import check_whole
from mercer.base import seed_of
from mercer.learn.out_of_fold import OutOfFoldTransformer
from mercer.learn.targets import check_task, classes_in, target_names, with_numeric_target
from mercer.normalize.categorical import CategoricalTransformer
from mercer.source import Source
from mercer.stats.counts import distinct
from mercer.stats.folds import FoldPlan
from mercer.stats.target_tables import LevelSums, TargetTables

#: Up to this many rows, categories are looked up one by one, without sorting.
_MAX_SINGLE_ROWS = 32


class TargetEncoding(CategoricalTransformer, OutOfFoldTransformer):
    """Each category as the mean target of its rows, shrunk to the mean of all rows:

        TE(c) = (S_c + a mean) / (n_c + a),

    n_c and S_c the number of rows of category c and their sum of targets. `fit_transform` leaves the fold of each row
    out of S, n, a and the mean, so a row never sees its own target; `transform` uses all rows. An unknown category
    gets the mean.

    The shrinkage a is the ratio of the variance within categories to the variance between them (empirical Bayes),
    estimated for each column by the analysis of variance. Where the estimated variance between categories is zero, a is
    infinite and every category gets the mean.

    Columns may hold numbers, strings or any mixture; a missing value (None, NaN) is a category of its own. A continuous
    target gives one column per input column, two classes the frequency of the second one, more classes a column each.

    The fold of a row is given by the hash of the row for a `Source`, and by that of its number for an array or a frame,
    where many rows may be equal.

    Use it for columns of many categories; indicators (`OneHot`) keep more of a column of few. It costs one pass, and
    memory for one number per category and fold.

    Parameters
    ----------
    shrinkage : "auto" or float >= 0, default="auto"
        a, or "auto" for empirical Bayes.
    n_folds : int, default=5
    task : {"auto", "regression", "classification"}, default="auto"
        "auto" treats strings, booleans and whole numbers of at most 20 distinct values as classes.
    random_state : int, default=0
        Seed of the folds, which are those of `RidgeRegressor` with the same seed.

    Attributes
    ----------
    categories_ : list of n_features_in_ arrays; None stands for missing
    encodings_ : list of n_features_in_ arrays (categories, targets), the values of the categories
    target_mean_ : array, the value of unknown categories
    shrinkages_ : array (n_features_in_, targets), the a of each column
    classes_ : the classes, or None for a continuous target

    References
    ----------
    Micci-Barreca, "A preprocessing scheme for high-cardinality categorical attributes", 2001.

    Examples
    --------
    >>> from mercer.learn import TargetEncoding
    >>> X = [["a"], ["a"], ["b"], ["b"], [None]]
    >>> encoding = TargetEncoding(shrinkage=1.0).fit(X, [1.5, 2.5, 5.5, 6.5, 4.0])
    >>> encoding.transform([["a"], ["b"], ["c"]])
    array([[2.66666667],
           [5.33333333],
           [4.        ]])
    """

    _folds_by_number = True
    _former = {"_places": "_positions", "_without": "_cross_fitted"}

    def __init__(self, shrinkage: Any = "auto", n_folds: int = 5, task: str = "auto", random_state: Any = 0):
        self.shrinkage = shrinkage
        self.n_folds = n_folds
        self.task = task
        self.random_state = random_state

    def _check_parameters(self) -> None:
        is_word = isinstance(self.shrinkage, str)
        if (is_word and self.shrinkage != "auto") or (not is_word and not 0 <= self.shrinkage < np.inf):
            raise ValueError(f"shrinkage must be 'auto' or a finite number of at least 0, not {self.shrinkage!r}.")
        check_whole("n_folds", self.n_folds, 2)
        check_task(self.task)

    def _learn_from(self, source: Source) -> None:
        self.classes_ = classes_in(source, self.task)
        plan = source.fold_plan
        empty = TargetTables(int(self.n_folds) if plan is None else plan.n_parts, seed_of(self.random_state))
        tables = with_numeric_target(source, self.classes_).fold(empty).finish()
        whole = [table.whole() for table in tables]
        encodings, means, shrinkages = zip(*(self._encoded(table) for table in whole), strict=True)
        self.categories_ = [table.levels for table in tables]
        self.encodings_, self.target_mean_ = list(encodings), means[0]
        self.shrinkages_ = np.stack(shrinkages)
        self._positions = [{value: i for i, value in enumerate(values.tolist())} for values in self.categories_]
        self._cross_fitted = [
            [self._encoded(table)[:2] for table in others] for others in cross_fitted(tables, plan, int(self.n_folds))
        ]

    def _encoded(self, table: LevelSums) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The value of each category, the mean of all rows, and the shrinkage."""
        n, total = table.weight[0][:, None], table.target[0]
        mean = total.sum(axis=0) / max(n.sum(), np.finfo(float).tiny)
        a = empirical_bayes(table) if self.shrinkage == "auto" else np.full(len(mean), float(self.shrinkage))
        bound = np.where(np.isfinite(a), a, 0.0)
        shrunk = (total + bound * mean) / np.maximum(n + bound, np.finfo(float).tiny)
        return np.where(np.isfinite(a) & (n > 0), shrunk, mean), mean, a

    def _apply(self, X: Any) -> Any:
        return self._looked_up(X, self.encodings_, [self.target_mean_] * len(self._positions))

    def _held_out(self, X: Any, fold: np.ndarray) -> Any:
        out = np.empty((X.shape[0], self._width))
        for k in np.unique(fold):
            encodings, means = zip(*self._cross_fitted[k], strict=True)
            out[fold == k] = self._looked_up(X[fold == k], encodings, means)
        return out

    @property
    def _width(self) -> int:
        return len(self._positions) * len(self.target_mean_)

    def _looked_up(self, X: np.ndarray, encodings: Any, means: Any) -> np.ndarray:
        parts = []
        for j, positions in enumerate(self._positions):
            single = X.dtype.kind == "i" and len(X) <= _MAX_SINGLE_ROWS
            values, codes = (X[:, j].tolist(), slice(None)) if single else distinct(X[:, j])
            at = np.array([positions.get(value, -1) for value in values], dtype=np.intp)
            known = at >= 0
            found = np.empty((len(at), len(means[j])))
            found[known], found[~known] = encodings[j][at[known]], means[j]
            parts.append(found[codes])
        return np.hstack(parts)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns; with several targets or classes `column_class`."""
        names = self._input_names(input_features)
        shown = target_names(self.classes_, len(self.target_mean_))
        return np.array([f"{name}_{label}" if label else name for name in names for label in shown], dtype=object)


def cross_fitted(tables: list[LevelSums], plan: FoldPlan | None, n_folds: int) -> list[list[LevelSums]]:
    """The sums of the rows that the model of each fold learns from: of all other folds without a plan."""
    if plan is None:
        return [[table.without(k) for table in tables] for k in range(n_folds)]
    return [[table.of_parts(parts) for table in tables] for parts in plan.trains]


def empirical_bayes(table: LevelSums) -> np.ndarray:
    """The variance within categories over the variance between them, for each target; infinite if that is zero.

    Method of moments of the one-way analysis of variance with L groups of unequal size: E SSW = (n - L) within,
    E SSB = (L - 1) within + (n - sum n_c^2 / n) between.
    """
    n = table.weight[0]
    known = n > 0
    n, total, square = n[known][:, None], table.target[0][known], table.square[0][known]
    rows, groups = n.sum(), len(n)
    effective = rows - np.sum(n**2) / max(rows, np.finfo(float).tiny)
    if groups < 2 or not rows > groups or not effective > 0:
        return np.full(total.shape[1], np.inf)
    within = np.maximum(square - total**2 / n, 0.0).sum(axis=0) / (rows - groups)
    mean = total.sum(axis=0) / rows
    between = (np.sum(n * (total / n - mean) ** 2, axis=0) - (groups - 1) * within) / effective
    return np.where(between > 0, within / np.where(between > 0, between, 1.0), np.inf)
