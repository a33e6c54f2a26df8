"""`AdditiveTerms`: one feature for each column and pair, a step function that boosting has learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._runtime.checks import check_whole
from mercer.base import seed_of
from mercer.learn.additive.axes import MAX_LEVELS, Axis, codes_of
from mercer.learn.additive.booster import LevelRows, TermParams
from mercer.learn.additive.boosting import boost_terms
from mercer.learn.additive.purify import purified
from mercer.learn.additive.tables import AdditiveTables
from mercer.learn.gathering import gather
from mercer.learn.out_of_fold import OutOfFoldTransformer
from mercer.learn.targets import check_task, classes_in, numeric_target, target_names
from mercer.learn.trees.losses import LogisticTreeLoss, SquaredTreeLoss, TreeLoss
from mercer.source import Source

#: Levels of a number in a pair, at most.
MAX_PAIR_LEVELS = 64


class AdditiveTerms(OutOfFoldTransformer):
    """The terms of an additive model with pairs, f = b + sum_j f_j(x_j) + sum_(j,k) f_jk(x_j, x_k), as features.

    Terms are step functions over bins of the columns, learned by cyclic boosting of trees that may cut one column, or
    the two of a pair. There is one model per fold, learned without it: `fit_transform` gives each training row the
    points of the model that has not seen it, `transform` the mean of all. A linear model with weights of one adds them
    up; a ridge gives each term a weight of its own.

    Use it through ``mercer.fit(explainable=True)`` for a model whose every step a person can check. Interactions of
    more than two columns are out of its reach: compare with `TreeFeatures`. Time is that of boosted trees, once per
    fold.

    Parameters
    ----------
    n_bins : int from 2 to 250, default=128
        Bins of a column, of about equally many rows each.
    max_pairs : int, default=0
        Pairs of columns, those whose cells explain most of the residual of the columns, out of fold.
    learning_rate : float > 0, default=0.1
    max_cycles : int, default=300
        Cycles of boosting, each with a tree per column and output; boosting stops early by the held-out loss.
    n_folds : int, default=5
    max_rows : int, default=200000
        With more rows, about this many (those of smallest hash) are learned from.
    task : {"auto", "regression", "classification"}, default="auto"
        "auto" treats strings, booleans and whole numbers of at most 20 distinct values as classes.
    random_state : int, default=0

    Attributes
    ----------
    classes_ : the classes, or None for a continuous target
    tables_ : `AdditiveTables`, the points of each level of the columns and each cell of the pairs, purified
    pairs_ : array (n_pairs, 2) of column indices

    References
    ----------
    Lou, Caruana, Gehrke and Hooker, "Accurate intelligible models with pairwise interactions", 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learn import AdditiveTerms
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(600, 3))
    >>> terms = AdditiveTerms(max_pairs=1).fit(X, np.abs(X[:, 0]) + X[:, 1] * X[:, 2])
    >>> terms.get_feature_names_out().tolist()
    ['points_x0', 'points_x1', 'points_x2', 'points_x1 x x2']
    """

    def __init__(
        self,
        n_bins: int = 128,
        max_pairs: int = 0,
        learning_rate: float = 0.1,
        max_cycles: int = 300,
        n_folds: int = 5,
        max_rows: int = 200_000,
        task: str = "auto",
        random_state: Any = 0,
    ):
        self.n_bins = n_bins
        self.max_pairs = max_pairs
        self.learning_rate = learning_rate
        self.max_cycles = max_cycles
        self.n_folds = n_folds
        self.max_rows = max_rows
        self.task = task
        self.random_state = random_state

    @classmethod
    def from_tables(
        cls, tables: AdditiveTables, n_columns: int, classes: np.ndarray | None = None, **params: Any
    ) -> AdditiveTerms:
        """A fitted transformer with given tables."""
        made = cls(**params)
        made.n_features_in_, made.classes_, made._tables, made._per_fold = n_columns, classes, tables, []
        return made

    @property
    def tables_(self) -> AdditiveTables:
        return self._tables

    @property
    def pairs_(self) -> np.ndarray:
        return np.array([[pair.first, pair.second] for pair in self.tables_.pairs], dtype=np.int64).reshape(-1, 2)

    def _check_parameters(self) -> None:
        check_task(self.task)
        for name, minimum in {"n_bins": 2, "max_pairs": 0, "max_cycles": 1, "n_folds": 2, "max_rows": 2}.items():
            check_whole(name, getattr(self, name), minimum)
        if self.n_bins > MAX_LEVELS:
            raise ValueError(f"n_bins must be at most {MAX_LEVELS}, not {self.n_bins!r}.")
        if not 0 < self.learning_rate < np.inf:
            raise ValueError(f"learning_rate must be a positive number, not {self.learning_rate!r}.")

    def _learn_from(self, source: Source) -> None:
        self.classes_ = classes_in(source, self.task)
        rows = gather(source, int(self.max_rows), seed_of(self.random_state))
        folds = self._folds(rows)
        known, folds = np.unique(folds, return_inverse=True)
        if len(known) < 2:
            raise ValueError(
                f"n_samples={len(rows)}, but terms are learned without each fold, and all rows are in one (equal rows "
                "share a fold). Give more distinct rows."
            )
        X = np.asarray(rows.X, dtype=np.float64)
        axes = [Axis.of_number(X, j, -1, int(self.n_bins), rows.weight) for j in range(X.shape[1])]
        data = LevelRows.of(axes, codes_of(axes, X), rows.weight, MAX_PAIR_LEVELS)
        params = TermParams(
            max_cycles=int(self.max_cycles),
            max_pair_cycles=int(self.max_cycles),
            learning_rate=float(self.learning_rate),
        )
        found = boost_terms(data, self._loss(rows), folds, params, int(self.max_pairs))
        self._tables = purified(found.tables, data.codes, rows.weight).tables
        self._per_fold = [purified(each, data.codes, rows.weight).tables for each in found.per_fold]
        self._table_folds = known

    def _loss(self, rows: Block) -> TreeLoss:
        targets = numeric_target(rows.y, self.classes_)
        if self.classes_ is None:
            return SquaredTreeLoss(targets, rows.weight)
        labels = targets.argmax(axis=1) if targets.shape[1] > 1 else targets[:, 0].astype(np.intp)
        return LogisticTreeLoss(labels, max(2, len(self.classes_)), rows.weight)

    def _apply(self, X: np.ndarray) -> np.ndarray:
        return self._points(self.tables_, X)

    def _points(self, tables: AdditiveTables, X: np.ndarray) -> np.ndarray:
        out = np.empty((len(X), tables.n_terms * tables.n_outputs), dtype=X.dtype)
        tables.write(tables.codes(X), out)
        return out

    def _held_out(self, X: np.ndarray, fold: np.ndarray) -> np.ndarray:
        out = self._points(self.tables_, X)
        for tables, k in zip(self._per_fold, self._table_folds, strict=True):
            out[fold == k] = self._points(tables, X[fold == k])
        return out

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as `points_age` and `points_age x income`; several classes or targets follow the name."""
        names = self._input_names(input_features)
        return np.array([f"points_{name}" for name in self.term_names(list(names))], dtype=object)

    def term_names(self, columns: list[str]) -> list[str]:
        """The names of the terms, from those of the columns; for several outputs followed by each of these."""
        tables = self.tables_
        axes = [axis_name([columns[j] for j in axis.columns]) for axis in tables.axes]
        terms = axes + [f"{axes[pair.first]} x {axes[pair.second]}" for pair in tables.pairs]
        outputs = target_names(self.classes_, tables.n_outputs)
        return [f"{term}{name and '_' + name}" for term in terms for name in outputs]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def axis_name(columns: list[str]) -> str:
    """The name of an axis: that of its column, or what its indicators `column=category` have in common."""
    return columns[0] if len(columns) == 1 else columns[0].split("=")[0]
