"""Supervised discretization: bins whose edges follow the target."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from mercer._runtime.checks import check_whole
from mercer._runtime.pool import ordered_map
from mercer.base import seed_of
from mercer.learn.bins.piecewise import PiecewiseEncoding, encode, locate
from mercer.learn.bins.segmentation import Segmentation, entropy_costs, squared_costs
from mercer.learn.out_of_fold import OutOfFoldTransformer
from mercer.learn.targets import check_task, classes_in, with_numeric_target
from mercer.normalize.ranks import balanced_edges, columns_of
from mercer.source import Source
from mercer.stats import Sample
from mercer.stats.target_tables import LevelSums, TargetTables

#: Number of quantile bins that segments are made of.
_FINE_BINS = 256


class SupervisedBins(OutOfFoldTransformer, PiecewiseEncoding):
    """`PiecewiseLinear` with edges where the target changes most.

    Each column is cut into up to 256 quantile bins, and these are joined to segments: the exact minimum, by dynamic
    programming, of

        sum over segments of (squared deviations, or minus the log likelihood of the classes) + penalty per segment.

    `fit_transform` encodes each row by edges learned without its fold. Their number is that of all rows, so a column
    keeps its meaning from fold to fold.

    Use it in place of `PiecewiseLinear` where edges should be few and stand where the effect changes. The search looks
    at the target, so transform training rows by `fit_transform` only. It costs one pass, and 256^2 steps per column.

    Parameters
    ----------
    n_bins : int, default=16
        Maximum number of bins per column.
    encoding : {"piecewise", "indicators"}, default="piecewise"
        The basis of `PiecewiseLinear`, or indicators of the bins: step functions.
    penalty : float >= 0, default=1.0
        In units of the Bayesian information criterion: log(n) / 2 for each parameter that a segment adds.
    n_folds : int, default=5
    task : {"auto", "regression", "classification"}, default="auto"
        "auto" treats strings, booleans and whole numbers of at most 20 distinct values as classes.
    random_state : int, default=0

    Attributes
    ----------
    bins_ : list of n_features_in_ arrays, the edges of each column
    classes_ : the classes, or None for a continuous target

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learn import SupervisedBins
    >>> x = np.linspace(0.0, 1.0, 1001)
    >>> y = np.where(x < 0.3, 1.0, 2.5) + np.sin(1000 * x)
    >>> SupervisedBins().fit(x[:, None], y).bins_[0].round(2)
    array([0. , 0.3, 1. ])
    """

    _former = {"_without": "_cross_fitted"}

    def __init__(
        self,
        n_bins: int = 16,
        encoding: str = "piecewise",
        penalty: float = 1.0,
        n_folds: int = 5,
        task: str = "auto",
        random_state: Any = 0,
    ):
        self.n_bins = n_bins
        self.encoding = encoding
        self.penalty = penalty
        self.n_folds = n_folds
        self.task = task
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_whole("n_bins", self.n_bins)
        check_whole("n_folds", self.n_folds, 2)
        check_task(self.task)
        if self.encoding not in ("piecewise", "indicators"):
            raise ValueError(f"encoding must be 'piecewise' or 'indicators', not {self.encoding!r}.")
        if not isinstance(self.penalty, Real) or not 0 <= float(self.penalty) < np.inf:
            raise ValueError(f"penalty must be a finite number of at least 0, not {self.penalty!r}.")

    def _learn_from(self, source: Source) -> None:
        self.classes_ = classes_in(source, self.task)
        sampled = source.fold(Sample()).finish()
        fine = [fine_edges(column, sampled.weight) for column in columns_of(sampled.X)]
        coded = with_numeric_target(source, self.classes_).map(lambda block: block.with_X(_codes(block.X, fine)))
        tables = coded.fold(TargetTables(int(self.n_folds), seed_of(self.random_state))).finish()
        pairs = list(ordered_map(lambda pair: self._cut(*pair), zip(fine, tables, strict=True)))
        self.bins_ = [edges for edges, _ in pairs]
        self._cross_fitted = [[others[k] for _, others in pairs] for k in range(self.n_folds)]

    def _cut(self, fine: np.ndarray, table: LevelSums) -> tuple[np.ndarray, list[np.ndarray]]:
        """Edges from all rows, and as many edges from the rows outside each fold."""
        index = table.levels.astype(np.intp)
        if len(fine) < 2 or len(index) < 2:
            return fine, [fine] * self.n_folds
        whole = self._segmentation(table.whole())
        number = whole.number(self._penalty(table.whole()))
        cuts = [whole.cuts(number)]
        cuts += [self._segmentation(table.without(k)).cuts(number) for k in range(self.n_folds)]
        edges = [np.concatenate([fine[:1], fine[index[cut]], fine[-1:]]) for cut in cuts]
        return edges[0], edges[1:]

    def _segmentation(self, table: LevelSums) -> Segmentation:
        weight, target, square = table.weight[0], table.target[0], table.square[0]
        if self.classes_ is None:
            return Segmentation(squared_costs(weight, target, square), self.n_bins)
        return Segmentation(entropy_costs(weight, _all_classes(weight, target)), self.n_bins)

    def _penalty(self, table: LevelSums) -> float:
        """The penalty of a segment: log(n) / 2 for its start and each of its means, times twice the noise variance."""
        weight, target, square = table.weight[0], table.target[0], table.square[0]
        n, numbers = weight.sum(), target.shape[1] + 1
        if self.classes_ is not None:
            return float(self.penalty * 0.5 * np.log(max(n, 2.0)) * max(numbers, 2))
        within = np.maximum(square - target**2 / np.where(weight > 0, weight, 1.0)[:, None], 0.0).sum()
        noise = within / max(n - len(weight), 1.0) / target.shape[1]
        return float(self.penalty * noise * np.log(max(n, 2.0)) * numbers)

    def _apply(self, X: Any) -> Any:
        return self._encoded(X, self.bins_)

    def _held_out(self, X: Any, fold: np.ndarray) -> Any:
        out = np.empty((len(X), sum(len(edges) - 1 for edges in self.bins_)), dtype=X.dtype)
        for k in np.unique(fold):
            out[fold == k] = self._encoded(X[fold == k], self._cross_fitted[k])
        return out

    def _encoded(self, X: np.ndarray, bins: list[np.ndarray]) -> np.ndarray:
        if self.encoding == "piecewise":
            return encode(X, bins)
        parts = [
            np.eye(len(edges) - 1, dtype=X.dtype)[locate(X[:, j], edges)[0]]
            for j, edges in enumerate(bins)
            if len(edges) > 1
        ]
        return np.hstack(parts) if parts else np.empty((len(X), 0), dtype=X.dtype)


def fine_edges(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Edges of the fine bins: the ends, and midpoints between neighbors at quantiles. A constant has one edge."""
    edges = balanced_edges(values, weight, _FINE_BINS)
    if len(edges) < 3:
        return edges if len(edges) < 2 else np.array([edges[0], _between(edges[0], edges[1]), edges[1]])
    distinct = np.unique(values + 0.0)
    before = distinct[np.searchsorted(distinct, edges[1:]) - 1]
    return np.unique(np.concatenate([edges[:1], _between(before, edges[1:]), edges[-1:]]))


def _between(low: Any, high: Any) -> Any:
    return 0.5 * low + 0.5 * high


def _codes(X: np.ndarray, fine: list[np.ndarray]) -> np.ndarray:
    """The fine bin of each value; values beyond the sample are in the first or last bin."""
    columns = [np.searchsorted(edges[1:-1], X[:, j], side="right") for j, edges in enumerate(fine)]
    return np.stack(columns, axis=1)


def _all_classes(weight: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The weights of all classes; of two classes the table holds the second alone."""
    return np.column_stack([np.maximum(weight - target[:, 0], 0.0), target]) if target.shape[1] == 1 else target
