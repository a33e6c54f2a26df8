"""Stability selection: columns that are selected on most random halves of the rows."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer import _numeric
from mercer._numeric.block import Block
from mercer._runtime.checks import check_whole
from mercer.base import seed_of
from mercer.linear.passes import IteratedEstimator
from mercer.linear.ridge.overflow import refuse_overflow, scaled_to_one
from mercer.select.base import Selector, checked_target
from mercer.select.lasso.datafit import ColumnDatafit
from mercer.select.lasso.lasso import LassoPath, coefficient_rows
from mercer.select.lasso.path import solve_path
from mercer.source import Source


class StabilitySelector(Selector, IteratedEstimator):
    """Keep the columns that a selector selects on at least a fraction `threshold` of random halves of the rows.

    With q columns selected per half on average, of d in all, the expected number of false positives is at most

        E[V] <= q^2 / ((2 threshold - 1) d)

    if the null columns are exchangeable and not favored by the selector (Meinshausen and Buehlmann 2010). The halves
    are complementary pairs (Shah and Samworth 2013), drawn by the hashes of the rows. The rows are collected in memory.

    Use it to see which choices of a selector would survive other rows. It costs as many fits of the selector as there
    are halves, and says nothing of prediction.

    Parameters
    ----------
    selector : estimator with `get_support`, default=None
        None takes the first `n_columns` to enter the path of the `Lasso`.
    n_columns : int, default=None
        q, for selectors that rank columns: the first columns of a path, the largest `scores_`. None takes as many as
        keep the bound at one false positive. Selectors without a ranking decide themselves.
    threshold : float in (0.5, 1], default=0.75
    n_pairs : int, default=25
        Number of pairs of halves.
    random_state : int, default=0

    Attributes
    ----------
    frequencies_ : array, the fraction of halves on which each column was selected
    support_ : mask of the selected columns
    expected_false_positives_ : float, the bound above
    n_selected_ : float, the average q

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.select import StabilitySelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 30))
    >>> y = X[:, 3] - X[:, 7] + 0.5 * rng.normal(size=200)
    >>> np.flatnonzero(StabilitySelector().fit(X, y).support_).tolist()
    [3, 7]
    """

    _warns_if_empty = False
    _former = {"expected_mistakes_": "expected_false_positives_", "n_chosen_": "n_selected_"}

    def __init__(
        self,
        selector: Any = None,
        n_columns: int | None = None,
        threshold: float = 0.75,
        n_pairs: int = 25,
        random_state: Any = 0,
    ):
        self.selector = selector
        self.n_columns = n_columns
        self.threshold = threshold
        self.n_pairs = n_pairs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_whole("n_pairs", self.n_pairs)
        if self.n_columns is not None:
            check_whole("n_columns", self.n_columns)
        if not isinstance(self.threshold, Real) or not 0.5 < self.threshold <= 1:
            raise ValueError(f"threshold must be above 0.5 and at most 1, not {self.threshold!r}.")
        if self.selector is not None and not hasattr(self.selector, "get_support"):
            raise ValueError(f"selector must be an estimator with get_support, not {self.selector!r}.")

    def _learn_from(self, source: Source) -> None:
        block = source.collect()
        d = block.X.shape[1]
        q = self.n_columns or max(1, int(np.sqrt((2 * self.threshold - 1) * d)))
        counts, n_selected = np.zeros(d), 0
        for pair in range(self.n_pairs):
            first = _first_half(block, seed_of(self.random_state) + pair)
            for half in (first, ~first):
                support = self._selected(block.rows(np.flatnonzero(half)), q)
                counts[support] += 1
                n_selected += len(support)
        self.frequencies_ = counts / (2 * self.n_pairs)
        self.support_ = self.frequencies_ >= self.threshold
        self.n_selected_ = n_selected / (2 * self.n_pairs)
        self.expected_false_positives_ = float(self.n_selected_**2 / ((2 * self.threshold - 1) * d))

    def _selected(self, half: Block, q: int) -> np.ndarray:
        if self.selector is None:
            return _first_to_enter(half, q)
        weights = {} if half.weight is None else {"sample_weight": half.weight}
        model = clone(self.selector).fit(half.X, half.y, **weights)
        path, scores = getattr(model, "path_", None), getattr(model, "scores_", None)
        if path is not None and hasattr(path, "entered"):
            return path.entered()[:q]
        if scores is not None:
            return np.argsort(-np.asarray(scores), kind="stable")[:q]
        return np.flatnonzero(model.get_support())


def _first_half(block: Block, seed: int) -> np.ndarray:
    """Return the mask of half of the weight: the rows with the smallest hashes, so that equal rows stay together."""
    keys, code = np.unique(_numeric.splitmix64(block.ids, seed), return_inverse=True)
    if len(keys) < 4:
        raise ValueError(f"n_samples={len(block)}, but stability selection needs at least 4 distinct rows.")
    cumulative = np.cumsum(np.bincount(code, block.weight))
    half = np.count_nonzero(cumulative <= 0.5 * cumulative[-1] * (1 + 1e-12))
    return code < np.clip(half, 1, len(keys) - 1)


def _first_to_enter(half: Block, q: int) -> np.ndarray:
    """Return the first q columns on the path of the Lasso."""
    y = scaled_to_one(checked_target(half.y, classification=False))  # columns enter in the same order in any units
    datafit = ColumnDatafit(scaled_to_one(half.X), y, half.weight)
    refuse_overflow(datafit.b)
    penalty_max = np.abs(datafit.b).max(initial=0.0)
    if penalty_max == 0:
        return np.zeros(0, dtype=np.intp)
    alphas = penalty_max * np.geomspace(1.0, 1e-2, 50)
    solutions, gaps = solve_path(datafit, alphas, 1e-4)
    return LassoPath(alphas, coefficient_rows(solutions, len(datafit.b)), gaps, None).entered()[:q]
