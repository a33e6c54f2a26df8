"""The best subset of a given size, exactly."""

from __future__ import annotations

from math import comb

import numpy as np

from mercer._runtime.checks import check_whole
from mercer.base import seed_of
from mercer.select.base import LinearPredictor, Selector
from mercer.select.greedy.forward import forward
from mercer.select.greedy.geometry import FromGram
from mercer.select.subset.leaps import best_subset, enumerated
from mercer.stats import Gram

#: The widest problem taken on: at worst the tree doubles with each column.
MOST_COLUMNS = 50
#: Columns whose correlation matrix has an eigenvalue below this depend on each other.
_DEPENDENT = 1e-9
#: Sets that are enumerated where columns depend on each other and nothing can be ruled out.
_MOST_SETS = 300_000


class BestSubset(LinearPredictor, Selector):
    """The k columns on which least squares errs least, among all subsets of that size.

    Branch and bound on the Gram matrix (Furnival and Wilson 1974): one pass over the rows, however large, then subsets
    are ruled out in bulk. It is the yardstick for the faster selections, for up to 50 columns. Where columns depend on
    each other, as with fewer rows than columns, nothing can be ruled out and sets are enumerated, if they are few.

    Parameters
    ----------
    k : int, default=5
        How many columns.
    fit_intercept : bool, default=True

    Attributes
    ----------
    support_ : mask of the columns
    coef_, intercept_ : the least-squares fit on them, one weight per column, zero for those left out
    risk_ : float, its mean squared error
    n_nodes_ : int, how many sets were looked at

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.select import BestSubset
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> BestSubset(k=4).fit(X, y).get_feature_names_out().tolist()
    ['bmi', 'bp', 's1', 's5']

    References
    ----------
    G. M. Furnival and R. W. Wilson (1974). Regressions by leaps and bounds. Technometrics 16(4).
    """

    def __init__(self, k=5, fit_intercept=True):
        self.k = k
        self.fit_intercept = fit_intercept

    def _check_parameters(self):
        check_whole("k", self.k)

    def _empty(self):
        return Gram(1, seed_of(0))

    def _finish(self, learned):
        origins = {"z_origin": learned.z_origin, "y_origin": learned.y_origin}
        geometry = FromGram(learned.total, error=0.0, centered=self.fit_intercept, **origins)
        usable = np.flatnonzero(geometry.squares > geometry.least)
        if len(usable) > MOST_COLUMNS:
            raise ValueError(
                f"BestSubset is exact for up to {MOST_COLUMNS} columns, and there are {len(usable)}. Select some "
                "first, for example with GreedySelector(k=40)."
            )
        k = min(self.k, len(usable))
        chosen, self.n_nodes_ = _search(geometry, usable, k)
        weights, self.risk_ = _fit(geometry, chosen)
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[chosen] = True
        coef = np.zeros(self.n_features_in_)
        coef[chosen] = weights
        mean, y_mean = geometry.mean + learned.z_origin, float(geometry.y_mean[0] + learned.y_origin[0])
        self._set_weights(coef, y_mean - mean @ coef if self.fit_intercept else 0.0)


def _search(geometry, usable, k):
    """The best k of the usable columns, starting from what a forward selection and exchanges find."""
    if k == len(usable):
        return usable, 1
    scale = 1.0 / np.sqrt(geometry.squares[usable])
    G = geometry.block(usable) * np.outer(scale, scale)
    b = geometry.products[0, usable] * scale
    if np.linalg.eigvalsh(G)[0] < _DEPENDENT:
        if comb(len(usable), k - 1) > _MOST_SETS:
            raise ValueError(
                f"Columns depend on each other, so all sets of {k} of {len(usable)} would have to be tried. Leave out "
                "columns that others explain, choose a smaller k, or use GreedySelector."
            )
        places, nodes = enumerated(G, b, k, geometry.least[usable] * scale**2)
        return usable[places], nodes
    A = np.linalg.inv(G)
    w = A @ b
    explained = float(b @ w)
    start = _exchanged(G, b, _first(geometry, usable, k))
    gap = max(explained - _explains(G, b, start), 0.0)
    places, nodes = best_subset(A, w, k, start, gap * (1 - 1e-12))
    return usable[places], nodes


def _first(geometry, usable, k):
    """k places in `usable`, by forward selection, filled up if that ended early."""
    chosen = forward(geometry, k).chosen
    rest = [j for j in usable if j not in chosen]
    return sorted(np.searchsorted(usable, [*chosen, *rest][:k]).tolist())


def _exchanged(G, b, start):
    """Exchange one column for another as long as that explains more."""
    best, value = start, _explains(G, b, start)
    while True:
        trials = [[*best[:i], *best[i + 1 :], j] for i in range(len(best)) for j in range(len(b)) if j not in best]
        values = [_explains(G, b, trial) for trial in trials]
        place = int(np.argmax(values))
        if not values[place] > value * (1 + 1e-12):
            return sorted(best)
        best, value = trials[place], values[place]


def _explains(G, b, columns):
    """How much of the target's squares a fit on some columns explains; minus infinity where it has no answer."""
    try:
        return float(b[columns] @ np.linalg.solve(G[np.ix_(columns, columns)], b[columns]))
    except np.linalg.LinAlgError:
        return -np.inf


def _fit(geometry, columns):
    """Least squares on some columns, and the mean squared error left."""
    trail = forward(geometry, 0, include=list(columns))
    weights = trail.weights(0)[:, 0]
    return weights, max(geometry.target - float(np.sum(np.square(trail.theta))), 0.0) / geometry.weight
