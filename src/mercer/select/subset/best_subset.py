"""Best subset selection: the exact best subset of a given size."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from mercer._numeric.linalg import dense
from mercer._runtime.checks import check_whole
from mercer.base import seed_of
from mercer.linear.ridge.overflow import refuse_extremes
from mercer.select.base import LinearPredictor, Selector
from mercer.select.greedy.forward import forward_selection
from mercer.select.greedy.inner_products import GramInnerProducts
from mercer.select.subset.branch_and_bound import best_subset, enumerate_subsets
from mercer.stats import Gram
from mercer.stats.gram import GramPerFold

#: Maximum number of columns: at worst the search tree doubles with each.
MAX_COLUMNS = 50
#: Columns whose correlation matrix has an eigenvalue below this are linearly dependent.
_DEPENDENT = 1e-9
#: Maximum number of subsets to enumerate if columns are dependent and no bound applies.
_MAX_SUBSETS = 300_000


class BestSubset(LinearPredictor, Selector):
    """The k columns with the smallest least-squares error among all subsets of that size.

    Branch and bound on the Gram matrix (Furnival and Wilson 1974): one pass over the rows, then whole subtrees of
    subsets are pruned. It is the exact reference for the faster selections, for up to 50 columns. If columns depend on
    each other, as with fewer rows than columns, nothing can be pruned and all subsets are enumerated, if they are few.

    Use it for up to some thirty columns, and to see how far greedy choices are from the best. Beyond that use
    `GreedySelector`: the time may double with every column. With noise the best subset of the training rows is not the
    best for new ones.

    Parameters
    ----------
    k : int, default=5
        Number of columns.
    fit_intercept : bool, default=True

    Attributes
    ----------
    support_ : mask of the columns
    coef_, intercept_ : the least-squares fit on them, one weight per column, zero for those not selected
    risk_ : float, its mean squared error
    n_nodes_ : int, the number of nodes visited in the search tree

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

    def __init__(self, k: int = 5, fit_intercept: bool = True):
        self.k = k
        self.fit_intercept = fit_intercept

    def _check_parameters(self) -> None:
        check_whole("k", self.k)

    def _empty(self) -> Gram:
        return Gram(1, seed_of(0))

    def _finish(self, learned: GramPerFold) -> None:
        refuse_extremes(learned, self._input_names())
        origins = {"z_origin": learned.z_origin, "y_origin": learned.y_origin}
        products = GramInnerProducts(learned.total, error=0.0, centered=self.fit_intercept, **origins)
        usable = np.flatnonzero(products.squares > products.min_squares)
        if len(usable) > MAX_COLUMNS:
            raise ValueError(
                f"BestSubset is exact for up to {MAX_COLUMNS} columns, and there are {len(usable)}. Select some "
                "first, for example with GreedySelector(k=40)."
            )
        k = min(self.k, len(usable))
        selected, self.n_nodes_ = _search(products, usable, k)
        weights, self.risk_ = _fit(products, selected)
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[selected] = True
        coef = np.zeros(self.n_features_in_)
        coef[selected] = weights
        mean, y_mean = products.mean + learned.z_origin, float(products.y_mean[0] + learned.y_origin[0])
        self._set_weights(coef, y_mean - mean @ coef if self.fit_intercept else 0.0)


def _search(products: GramInnerProducts, usable: np.ndarray, k: int) -> tuple[np.ndarray, int]:
    """Return the best k of the usable columns, starting from a forward selection with exchanges, and the nodes."""
    if k == len(usable):
        return usable, 1
    scale = 1.0 / np.sqrt(products.squares[usable])
    G = products.block(usable) * np.outer(scale, scale)
    b = products.target_products[0, usable] * scale
    if dense.eigvalsh(G)[0] < _DEPENDENT:
        if comb(len(usable), k - 1) > _MAX_SUBSETS:
            raise ValueError(
                f"Columns depend on each other, so all subsets of {k} of {len(usable)} would have to be tried. Drop "
                "columns that others explain, choose a smaller k, or use GreedySelector."
            )
        indices, nodes = enumerate_subsets(G, b, k, products.min_squares[usable] * scale**2)
        return usable[indices], nodes
    A = dense.inv(G)
    w = A @ b
    explained = float(b @ w)
    start = _exchanged(G, b, _forward_start(products, usable, k))
    gap = max(explained - _explained_squares(G, b, start), 0.0)
    indices, nodes = best_subset(A, w, k, start, gap * (1 - 1e-12))
    return usable[indices], nodes


def _forward_start(products: GramInnerProducts, usable: np.ndarray, k: int) -> list[int]:
    """Return k indices into `usable` by forward selection, filled up if that ended early."""
    selected = forward_selection(products, k).selected
    rest = [j for j in usable if j not in selected]
    return sorted(np.searchsorted(usable, [*selected, *rest][:k]).tolist())


def _exchanged(G: np.ndarray, b: np.ndarray, start: list[int]) -> list[int]:
    """Exchange one column for another as long as that explains more."""
    best, value = start, _explained_squares(G, b, start)
    while True:
        trials = [[*best[:i], *best[i + 1 :], j] for i in range(len(best)) for j in range(len(b)) if j not in best]
        values = [_explained_squares(G, b, trial) for trial in trials]
        i = int(np.argmax(values))
        if not values[i] > value * (1 + 1e-12):
            return sorted(best)
        best, value = trials[i], values[i]


def _explained_squares(G: np.ndarray, b: np.ndarray, columns: list[int]) -> float:
    """Return the explained sum of squares of a fit on some columns; minus infinity if it is singular."""
    try:
        return float(b[columns] @ dense.solve(G[np.ix_(columns, columns)], b[columns]))
    except np.linalg.LinAlgError:
        return -np.inf


def _fit(products: GramInnerProducts, columns: Sequence[int] | np.ndarray) -> tuple[np.ndarray, float]:
    """Return the least-squares weights of some columns, and the mean squared error."""
    path = forward_selection(products, 0, include=list(columns))
    weights = path.weights(0)[:, 0]
    return weights, max(products.target_squares - float(np.sum(np.square(path.theta))), 0.0) / products.weight
