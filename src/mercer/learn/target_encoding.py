"""Categories as the mean target of their level, shrunk to the mean of all and learned out of fold."""

from __future__ import annotations

import numpy as np

from mercer._runtime.checks import check_whole
from mercer.base import seed_of
from mercer.learn.out_of_fold import OutOfFoldTransformer
from mercer.learn.targets import check_task, classes_in, target_names, with_numeric_target
from mercer.normalize.categorical import CategoricalTransformer
from mercer.stats.counts import distinct
from mercer.stats.target_tables import LevelSums, TargetTables

_FEW = 32  # rows that are looked up one by one sooner than sorted


class TargetEncoding(CategoricalTransformer, OutOfFoldTransformer):
    """Each level as the mean target of its rows, shrunk to the mean of all rows:

        TE(c) = (S_c + a mean) / (n_c + a),

    n_c and S_c the number of rows of level c and their sum of targets. `fit_transform` leaves the fold of each row out
    of S, n, a and the mean, so a row never sees its own target; `transform` uses all rows. A level that was not met,
    a new one or one of a single fold, gets the mean.

    The shrinkage a is the ratio of the variance within levels to the variance between them (empirical Bayes), estimated
    for each column by the analysis of variance. Where levels differ no more than chance makes them, a is infinite and
    every level gets the mean: a target of noise leaves nothing to learn from.

    Columns may hold numbers, strings or any mixture; a missing value (None, NaN) is a level of its own. A quantity
    gives one column per input column, two classes the share of the second one, more classes a column for each.

    The fold of a row is a hash of the whole row as read for a `Source`, and of its number for an array or a frame,
    which may hold nothing but a few categories.

    Parameters
    ----------
    shrinkage : "auto" or float >= 0, default="auto"
        a, or "auto" for empirical Bayes.
    n_folds : int, default=5
    task : {"auto", "regression", "classification"}, default="auto"
        "auto" takes strings, truth values and whole numbers of at most 20 different values for classes.
    random_state : int, default=0
        Seed of the assignment to folds: those of `RidgeRegressor` with the same seed.

    Attributes
    ----------
    categories_ : list of n_features_in_ arrays, the levels; None stands for missing
    encodings_ : list of n_features_in_ arrays (levels, targets), what `transform` gives each level
    target_mean_ : array, what it gives to others
    shrinkages_ : array (n_features_in_, targets), the a of each column
    classes_ : the classes, or None for a quantity

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

    def __init__(self, shrinkage="auto", n_folds=5, task="auto", random_state=0):
        self.shrinkage = shrinkage
        self.n_folds = n_folds
        self.task = task
        self.random_state = random_state

    def _check_parameters(self):
        is_word = isinstance(self.shrinkage, str)
        if (is_word and self.shrinkage != "auto") or (not is_word and not 0 <= self.shrinkage < np.inf):
            raise ValueError(f"shrinkage must be 'auto' or a finite number of at least 0, not {self.shrinkage!r}.")
        check_whole("n_folds", self.n_folds, 2)
        check_task(self.task)

    def _learn_from(self, source):
        self.classes_ = classes_in(source, self.task)
        empty = TargetTables(int(self.n_folds), seed_of(self.random_state))
        tables = with_numeric_target(source, self.classes_).fold(empty).finish()
        whole = [table.whole() for table in tables]
        encodings, means, shrinkages = zip(*(self._encoded(table) for table in whole), strict=True)
        self.categories_ = [table.levels for table in tables]
        self.encodings_, self.target_mean_ = list(encodings), means[0]
        self.shrinkages_ = np.stack(shrinkages)
        self._places = [{level: i for i, level in enumerate(levels.tolist())} for levels in self.categories_]
        self._without = [[self._encoded(table.without(k))[:2] for table in tables] for k in range(self.n_folds)]

    def _encoded(self, table: LevelSums) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The value of each level, the mean of all, and the shrinkage."""
        n, total = table.weight[0][:, None], table.target[0]
        mean = total.sum(axis=0) / max(n.sum(), np.finfo(float).tiny)
        a = empirical_bayes(table) if self.shrinkage == "auto" else np.full(len(mean), float(self.shrinkage))
        bound = np.where(np.isfinite(a), a, 0.0)
        shrunk = (total + bound * mean) / np.maximum(n + bound, np.finfo(float).tiny)
        return np.where(np.isfinite(a) & (n > 0), shrunk, mean), mean, a

    def _apply(self, X):
        return self._looked_up(X, self.encodings_, [self.target_mean_] * len(self._places))

    def _held_out(self, X, fold):
        out = np.empty((X.shape[0], self._width))
        for k in np.unique(fold):
            encodings, means = zip(*self._without[k], strict=True)
            out[fold == k] = self._looked_up(X[fold == k], encodings, means)
        return out

    @property
    def _width(self) -> int:
        return len(self._places) * len(self.target_mean_)

    def _looked_up(self, X, encodings, means) -> np.ndarray:
        parts = []
        for j, places in enumerate(self._places):
            few = X.dtype.kind == "i" and len(X) <= _FEW
            levels, codes = (X[:, j].tolist(), slice(None)) if few else distinct(X[:, j])
            at = np.array([places.get(level, -1) for level in levels], dtype=np.intp)
            met = at >= 0
            found = np.empty((len(at), len(means[j])))
            found[met], found[~met] = encodings[j][at[met]], means[j]
            parts.append(found[codes])
        return np.hstack(parts)

    def get_feature_names_out(self, input_features=None):
        """The names of the columns; with several targets or classes `column_class`."""
        names = self._input_names(input_features)
        shown = target_names(self.classes_, len(self.target_mean_))
        return np.array([f"{name}_{label}" if label else name for name in names for label in shown], dtype=object)


def empirical_bayes(table: LevelSums) -> np.ndarray:
    """The variance within levels over the variance between them, for each target; infinite if there is none between.

    Method of moments of the one-way analysis of variance with levels of unequal size: E SSW = (n - L) within,
    E SSB = (L - 1) within + (n - sum n_c^2 / n) between.
    """
    n = table.weight[0]
    met = n > 0
    n, total, square = n[met][:, None], table.target[0][met], table.square[0][met]
    rows, levels = n.sum(), len(n)
    spread = rows - np.sum(n**2) / max(rows, np.finfo(float).tiny)
    if levels < 2 or not rows > levels or not spread > 0:
        return np.full(total.shape[1], np.inf)
    within = np.maximum(square - total**2 / n, 0.0).sum(axis=0) / (rows - levels)
    mean = total.sum(axis=0) / rows
    between = (np.sum(n * (total / n - mean) ** 2, axis=0) - (levels - 1) * within) / spread
    return np.where(between > 0, within / np.where(between > 0, between, 1.0), np.inf)
