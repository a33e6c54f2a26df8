"""Orthogonal matching pursuit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mercer.select.greedy.selector import GreedySelector


class OrthogonalMatchingPursuit(GreedySelector):
    """Orthogonal matching pursuit: the next column is the one most correlated with the residual.

        argmax_j <x_j, r>^2 / ||x_j||^2,   r = y - the least-squares fit on the selected columns.

    The rule of `GreedySelector` divides by the orthogonal component of the *column*, ||u_j||^2, which gives the exact
    decrease of the error; on correlated columns the two select differently. This is ``GreedySelector(step="line")``.

    Use it where columns are nearly orthogonal, as atoms of a dictionary are; on correlated columns `GreedySelector`
    decreases the error more per step. A step costs one product of the data with a vector. Pati, Rezaiifar and
    Krishnaprasad, Orthogonal matching pursuit, 1993.

    Parameters
    ----------
    k : int, default=10
        Maximum number of columns to select, besides those of `include`.
    include, stop, n_folds, fit_intercept, solver, random_state : as in `GreedySelector`

    Attributes
    ----------
    support_, path_, n_steps_, ranking_, coef_, intercept_ : as in `GreedySelector`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.select import GreedySelector, OrthogonalMatchingPursuit
    >>> X = np.array([[2, 4, 0], [2, 0, 4], [2, 0, 4], [5, 2, 1], [3, 2, 0]])
    >>> y = np.array([5, 0, 1, 2, 1])
    >>> OrthogonalMatchingPursuit(k=2).fit(X, y).path_.feature.tolist()
    [1, 0]
    >>> GreedySelector(k=2).fit(X, y).path_.feature.tolist()
    [1, 2]

    References
    ----------
    Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad (1993). Orthogonal matching pursuit: recursive function
    approximation with applications to wavelet decomposition. Asilomar Conference on Signals, Systems and Computers.
    """

    loss, step, refit, interactions, groups, alpha = "squared", "line", True, 1, None, 1.0
    candidates, target = None, "auto"

    def __init__(
        self,
        k: int = 10,
        include: Sequence[Any] = (),
        stop: str | None = None,
        n_folds: int = 5,
        fit_intercept: bool = True,
        solver: str = "auto",
        random_state: Any = 0,
    ):
        self.k = k
        self.include = include
        self.stop = stop
        self.n_folds = n_folds
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.random_state = random_state
