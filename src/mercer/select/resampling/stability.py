"""Stability selection: what is chosen again and again on halves of the rows."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array, column_or_1d

from mercer import _numeric
from mercer._runtime.checks import check_whole
from mercer.base import seed_of
from mercer.linear.passes import IteratedEstimator
from mercer.linear.ridge.overflow import refuse_overflow
from mercer.select.base import gathered
from mercer.select.lasso.lasso import LassoPath, stacked
from mercer.select.lasso.path import solve_path
from mercer.select.lasso.problem import ColumnProblem
from mercer.select.resampling.threshold import ThresholdSelector


class StabilitySelector(ThresholdSelector, IteratedEstimator):
    """Keep the columns that a selector chooses on at least a share `threshold` of random halves of the rows.

    With q columns chosen per half on average, of d in all, the expected number of columns kept by mistake is at most

        E[V] <= q^2 / ((2 threshold - 1) d)

    if the columns to be left out are exchangeable and not favored by the selector (Meinshausen and Buehlmann 2010). The
    halves come in complementary pairs (Shah and Samworth 2013), by the hashes of the rows. The rows are held in memory.

    Parameters
    ----------
    selector : estimator with `get_support`, default=None
        None is the path of the `Lasso`, of which the first `n_columns` to enter are chosen.
    n_columns : int, default=None
        q, where the selector gives an order: the first columns of a path, the largest `scores_`. None takes as many
        as keep the bound at one mistake. Selectors without an order say themselves what they choose.
    threshold : float in (0.5, 1], default=0.75
    n_pairs : int, default=25
        Pairs of halves.
    random_state : int, default=0

    Attributes
    ----------
    frequencies_ : array, the share of halves on which each column was chosen
    support_ : mask of the columns kept
    expected_mistakes_ : float, the bound above
    n_chosen_ : float, q as it was

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

    def __init__(self, selector=None, n_columns=None, threshold=0.75, n_pairs=25, random_state=0):
        self.selector = selector
        self.n_columns = n_columns
        self.threshold = threshold
        self.n_pairs = n_pairs
        self.random_state = random_state

    def _check_parameters(self):
        check_whole("n_pairs", self.n_pairs)
        if self.n_columns is not None:
            check_whole("n_columns", self.n_columns)
        if not isinstance(self.threshold, Real) or not 0.5 < self.threshold <= 1:
            raise ValueError(f"threshold must be above 0.5 and at most 1, not {self.threshold!r}.")
        if self.selector is not None and not hasattr(self.selector, "get_support"):
            raise ValueError(f"selector must have get_support, which {self.selector!r} has not.")

    def _learn_from(self, source):
        block = gathered(source)
        d = block.X.shape[1]
        wanted = self.n_columns or max(1, int(np.sqrt((2 * self.threshold - 1) * d)))
        counts, chosen = np.zeros(d), 0
        for pair in range(self.n_pairs):
            first = _first_half(block, seed_of(self.random_state) + pair)
            for half in (first, ~first):
                support = self._chosen(block.rows(np.flatnonzero(half)), wanted)
                counts[support] += 1
                chosen += len(support)
        self.frequencies_ = counts / (2 * self.n_pairs)
        self.support_ = self.frequencies_ >= self.threshold
        self.n_chosen_ = chosen / (2 * self.n_pairs)
        self.expected_mistakes_ = float(self.n_chosen_**2 / ((2 * self.threshold - 1) * d))

    def _chosen(self, half, wanted) -> np.ndarray:
        if self.selector is None:
            return _first_to_enter(half, wanted)
        weights = {} if half.weight is None else {"sample_weight": half.weight}
        model = clone(self.selector).fit(half.X, half.y, **weights)
        path, scores = getattr(model, "path_", None), getattr(model, "scores_", None)
        if path is not None and hasattr(path, "entered"):
            return path.entered()[:wanted]
        if scores is not None:
            return np.argsort(-np.asarray(scores), kind="stable")[:wanted]
        return np.flatnonzero(model.get_support())


def _first_half(block, seed) -> np.ndarray:
    """Half of the weight: the rows with the smallest hashes, so that equal rows stay together."""
    keys, code = np.unique(_numeric.splitmix64(block.ids, seed), return_inverse=True)
    if len(keys) < 4:
        raise ValueError(f"n_samples={len(block)}, but halves need at least 4 distinct rows between them.")
    before = np.cumsum(np.bincount(code, block.weight))
    half = np.count_nonzero(before <= 0.5 * before[-1] * (1 + 1e-12))
    return code < np.clip(half, 1, len(keys) - 1)


def _first_to_enter(half, wanted) -> np.ndarray:
    """The first columns on the path of the Lasso."""
    y = check_array(half.y, ensure_2d=False, dtype="numeric", input_name="y")
    problem = ColumnProblem(half.X, column_or_1d(y).astype(np.float64), half.weight)
    refuse_overflow(problem.b)
    most = np.abs(problem.b).max(initial=0.0)
    if most == 0:
        return np.zeros(0, dtype=np.intp)
    alphas = most * np.geomspace(1.0, 1e-2, 50)
    solutions, gaps = solve_path(problem, alphas, 1e-4)
    return LassoPath(alphas, stacked(solutions, len(problem.b)), gaps, None).entered()[:wanted]
