"""Knockoffs: a made-up rival for every column, so that those chosen by mistake can be counted."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import check_array, column_or_1d

from mercer.base import seed_of
from mercer.linear.ridge.overflow import refuse_overflow
from mercer.select.lasso.folds import FromGram
from mercer.select.lasso.path import solve_path
from mercer.select.lasso.problem import GramProblem
from mercer.select.resampling.threshold import ThresholdSelector
from mercer.stats import Gram

_PENALTIES = np.geomspace(1.0, 1e-3, 100)


class KnockoffSelector(ThresholdSelector):
    """Keep the columns that beat their knockoffs, with a false discovery rate of at most `fdr`.

    A knockoff is a column made so that swapping it with its original changes no inner product between columns, and
    that has nothing to say about the target beyond them. A column of no use is then as likely to enter a Lasso path
    after its knockoff as before it. With W_j the penalty at which the first of the two enters, negative if that is the
    knockoff, the columns with W_j >= t are kept for the least t with

        (1 + #{W_j <= -t}) / max(1, #{W_j >= t}) <= fdr.

    Nothing but X'X, X'y, y'y and n is needed, so one pass, a stream or merged pieces will do: knockoffs enter through
    X'X, which is known, and their products with y, which are drawn from their exact distribution. For a linear model
    with normal noise and at least 2 d + 1 rows the rate is then held exactly (Barber and Candes 2015). With fewer rows
    the columns are taken for normal with the shrunk covariance seen, and the rate is held approximately (He et al.
    2022, GhostKnockoffs); `exact_` says which.

    Parameters
    ----------
    fdr : float, default=0.1
    random_state : int, default=0
        Seed of the knockoffs.

    Attributes
    ----------
    statistics_ : array, W
    threshold_ : float, t (infinity if nothing is kept)
    support_ : mask of the columns kept
    exact_ : bool

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

    def __init__(self, fdr=0.1, random_state=0):
        self.fdr = fdr
        self.random_state = random_state

    def _check_parameters(self):
        if not isinstance(self.fdr, Real) or not 0 < self.fdr < 1:
            raise ValueError(f"fdr must lie between 0 and 1, not {self.fdr!r}.")

    def _checked_y(self, y):
        y = check_array(super()._checked_y(y), ensure_2d=False, dtype="numeric", input_name="y")
        return column_or_1d(y, warn=True).astype(np.float64, copy=False)

    def _empty(self):
        return Gram(1)

    def _finish(self, learned):
        refuse_overflow(learned.total.G)
        part = FromGram(learned).whole()
        G, b, yy = part.problem.G, part.problem.b, part.problem.yy
        useful = np.flatnonzero(np.diag(G) > 0)
        norm = np.sqrt(np.diag(G)[useful])
        corr = G[np.ix_(useful, useful)] / np.outer(norm, norm)
        self.exact_ = bool(part.weight >= 2 * len(useful) + 1)
        rng = np.random.default_rng(seed_of(self.random_state))
        joint, products = with_knockoffs(corr, b[useful] / norm, yy, part.weight, self.exact_, rng)
        self.statistics_ = np.zeros(len(b))
        self.statistics_[useful] = entry_differences(joint, products, yy)
        self.threshold_ = knockoff_threshold(self.statistics_, self.fdr)
        self.support_ = self.statistics_ >= self.threshold_


def with_knockoffs(corr, b, yy, n, exact, rng) -> tuple[np.ndarray, np.ndarray]:
    """[X, K]'[X, K] and [X, K]'y for unit columns X with X'X = corr, X'y = b, and equicorrelated knockoffs K."""
    d = len(b)
    if not exact:
        share = d / (d + n)
        corr = (1 - share) * corr + share * np.eye(d)
    values, vectors = np.linalg.eigh(corr)
    s = min(1.0, 2.0 * max(values[0], 0.0) * (1 - 1e-6)) if d else 0.0
    keep = values > 1e-10
    inverse = (vectors[:, keep] / values[keep]) @ vectors[:, keep].T
    spread = 2 * s * np.eye(d) - s**2 * inverse
    noise, axes = np.linalg.eigh(spread)
    root = axes * np.sqrt(np.maximum(noise, 0.0)) @ axes.T
    draw = rng.standard_normal(d)
    if exact:
        # The part of y outside of the columns, seen from d directions drawn there at random.
        outside = max(yy - b @ inverse @ b, 0.0)
        others = rng.chisquare(n - 1 - 2 * d) if n - 1 - 2 * d > 0 else 0.0
        draw *= np.sqrt(outside / max(draw @ draw + others, 1e-300))
    else:
        draw *= np.sqrt(yy / n)
    products = b - s * (inverse @ b) + root @ draw
    joint = np.block([[corr, corr - s * np.eye(d)], [corr - s * np.eye(d), corr]])
    return joint, np.concatenate([b, products])


def entry_differences(joint, products, yy) -> np.ndarray:
    """W: the largest penalty at which a column or its knockoff has a weight, with the sign of the stronger one."""
    d = len(products) // 2
    most = np.abs(products).max(initial=0.0)
    W = np.zeros(d)
    if most <= 0:
        return W
    solutions, _ = solve_path(GramProblem(joint, products, yy), most * _PENALTIES, 1e-6)
    for penalty, (places, w) in zip(most * _PENALTIES, solutions, strict=True):
        size = np.zeros(2 * d)
        size[places] = np.abs(w)
        first = (W == 0) & (size[:d] != size[d:])
        W[first] = penalty * np.sign(size[:d] - size[d:])[first]
    return W


def knockoff_threshold(W, fdr) -> float:
    """The least t at which the estimated false discovery proportion is at most `fdr`.

    >>> knockoff_threshold(np.array([9.0, 8.0, 7.0, 6.0, 5.0, -1.0]), 0.2)
    5.0
    """
    for t in np.unique(np.abs(W[W != 0])):
        if (1 + np.sum(-t >= W)) / max(1, np.sum(t <= W)) <= fdr:
            return float(t)
    return float("inf")
