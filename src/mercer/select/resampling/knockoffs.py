"""Knockoff filter: a synthetic copy of every column estimates the number of false discoveries."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer.base import seed_of
from mercer.linear.ridge.overflow import refuse_extremes
from mercer.select.base import Selector, checked_target
from mercer.select.lasso.cross_validation import GramCrossValidation
from mercer.select.lasso.datafit import GramDatafit
from mercer.select.lasso.path import solve_path
from mercer.stats import Gram
from mercer.stats.gram import GramPerFold

_PENALTIES = np.geomspace(1.0, 1e-3, 100)


class KnockoffSelector(Selector):
    """The knockoff filter: keep the columns that enter before their knockoffs, at a false discovery rate of `fdr`.

    A knockoff is a synthetic column: swapping it with its original changes no inner product between columns, and given
    the columns it is independent of the target. A null column is then as likely to enter a Lasso path after its
    knockoff as before it. With W_j the penalty at which the first of the two enters, negative if that is the knockoff,
    the columns with W_j >= t are kept for the smallest t with

        (1 + #{W_j <= -t}) / max(1, #{W_j >= t}) <= fdr.

    Only X'X, X'y, y'y and n are needed, so one pass, a stream or merged fits suffice: knockoffs enter through X'X,
    which is known, and their products with y, which are drawn from their exact distribution. For a linear model with
    normal noise and at least 2 d + 1 rows the rate is controlled exactly (Barber and Candes 2015). With fewer rows the
    columns are modeled as normal with a shrunk covariance, and control is approximate (He et al. 2022, GhostKnockoffs).

    Use it where a list of columns is to be believed: at most a fraction `fdr` of it is false on average. It keeps
    nothing where the signal is weak, and is not made for prediction. It costs one pass and d^3 operations.

    Parameters
    ----------
    fdr : float, default=0.1
    random_state : int, default=0
        Seed of the knockoffs.

    Attributes
    ----------
    statistics_ : array, W
    threshold_ : float, t (infinity if no column is kept)
    support_ : mask of the selected columns
    exact_ : bool, whether control is exact

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.select import KnockoffSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 40))
    >>> y = X[:, :12].sum(axis=1) + rng.normal(size=400)
    >>> found = KnockoffSelector(fdr=0.1).fit(X, y).support_
    >>> int(found[:12].sum()), int(found[12:].sum())
    (12, 1)
    """

    _warns_if_empty = False

    def __init__(self, fdr: float = 0.1, random_state: Any = 0):
        self.fdr = fdr
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if not isinstance(self.fdr, Real) or not 0 < self.fdr < 1:
            raise ValueError(f"fdr must lie between 0 and 1, not {self.fdr!r}.")

    def _checked_y(self, y: Any) -> np.ndarray:
        return checked_target(super()._checked_y(y), classification=False)

    def _empty(self) -> Gram:
        return Gram(1)

    def _finish(self, learned: GramPerFold) -> None:
        refuse_extremes(learned, self._input_names())
        problem = GramCrossValidation(learned).all_rows()
        G, b, yy = problem.datafit.G, problem.datafit.b, problem.datafit.yy
        useful = np.flatnonzero(np.diag(G) > 0)
        norm = np.sqrt(np.diag(G)[useful])
        corr = G[np.ix_(useful, useful)] / np.outer(norm, norm)
        self.exact_ = bool(problem.weight >= 2 * len(useful) + 1)
        rng = np.random.default_rng(seed_of(self.random_state))
        joint, products = with_knockoffs(corr, b[useful] / norm, yy, problem.weight, self.exact_, rng)
        self.statistics_ = np.zeros(len(b))
        self.statistics_[useful] = entry_differences(joint, products, yy)
        self.threshold_ = knockoff_threshold(self.statistics_, self.fdr)
        self.support_ = self.statistics_ >= self.threshold_


def with_knockoffs(
    corr: np.ndarray, b: np.ndarray, yy: float, n: float, exact: bool, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return [X, K]'[X, K] and [X, K]'y for unit columns X, X'X = corr, X'y = b, and equicorrelated knockoffs K."""
    d = len(b)
    if not exact:
        shrinkage = d / (d + n)
        corr = (1 - shrinkage) * corr + shrinkage * np.eye(d)
    values, vectors = dense.eigh(corr)
    s = min(1.0, 2.0 * max(values[0], 0.0) * (1 - 1e-6)) if d else 0.0
    keep = values > 1e-10
    inverse = (vectors[:, keep] / values[keep]) @ vectors[:, keep].T
    noise, axes = dense.eigh(2 * s * np.eye(d) - s**2 * inverse)
    root = axes * np.sqrt(np.maximum(noise, 0.0)) @ axes.T
    draw = rng.standard_normal(d)
    if exact:
        # The component of y outside the span of the columns, along d random directions there.
        outside = max(yy - b @ inverse @ b, 0.0)
        others = rng.chisquare(n - 1 - 2 * d) if n - 1 - 2 * d > 0 else 0.0
        draw *= np.sqrt(outside / max(draw @ draw + others, 1e-300))
    else:
        draw *= np.sqrt(yy / n)
    products = b - s * (inverse @ b) + root @ draw
    joint = np.block([[corr, corr - s * np.eye(d)], [corr - s * np.eye(d), corr]])
    return joint, np.concatenate([b, products])


def entry_differences(joint: np.ndarray, products: np.ndarray, yy: float) -> np.ndarray:
    """Return W: the largest penalty at which a column or its knockoff enters, negative if the knockoff is stronger."""
    d = len(products) // 2
    penalty_max = np.abs(products).max(initial=0.0)
    W = np.zeros(d)
    if penalty_max <= 0:
        return W
    solutions, _ = solve_path(GramDatafit(joint, products, yy), penalty_max * _PENALTIES, 1e-6)
    for penalty, (columns, w) in zip(penalty_max * _PENALTIES, solutions, strict=True):
        size = np.zeros(2 * d)
        size[columns] = np.abs(w)
        first = (W == 0) & (size[:d] != size[d:])
        W[first] = penalty * np.sign(size[:d] - size[d:])[first]
    return W


def knockoff_threshold(W: np.ndarray, fdr: float) -> float:
    """Return the smallest t at which the estimated false discovery proportion is at most `fdr`.

    >>> knockoff_threshold(np.array([9.0, 8.0, 7.0, 6.0, 5.0, -1.0]), 0.2)
    5.0
    """
    for t in np.unique(np.abs(W[W != 0])):
        if (1 + np.sum(-t >= W)) / max(1, np.sum(t <= W)) <= fdr:
            return float(t)
    return float("inf")
