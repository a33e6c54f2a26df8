"""Kernel support vector machines with two kinds of penalties."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mercer import _numeric
from mercer._numeric.block import Block, take_rows
from mercer._numeric.linalg.cholesky import solve_upper, upper_cholesky
from mercer._numeric.linalg.gram import aligned_empty
from mercer._runtime.checks import check_whole
from mercer._runtime.labels import class_labels
from mercer._runtime.pool import for_each, ordered_map
from mercer.kernels import Kernel
from mercer.machines import similarity
from mercer.machines.base import KernelMachine, known_classes, predicted_classes

#: The Gram matrix of more rows exceeds the memory of an ordinary machine.
MAX_ROWS = 30_000
#: Maximum number of free coordinates for a joint Newton step.
_MAX_FREE = 2000
#: Steps per row between two joint steps.
_ROUND = 5


class HingeDual(NamedTuple):
    """beta and f = Q (beta y) / (2 alpha) at the end, the duality gap, the primal value, and the steps taken."""

    beta: np.ndarray
    f: np.ndarray
    gap: float
    primal: float
    steps: int


class KernelHinge(ClassifierMixin, KernelMachine):
    """A support vector machine without intercept, f = sum_i a_i k(., x_i).

        penalty="function":      minimizes  sum_i w_i max(0, 1 - y_i f(x_i)) + alpha ||f||^2,      ||f||^2 = a'Ka
        penalty="coefficients":  minimizes  sum_i w_i max(0, 1 - y_i f(x_i)) + alpha ||a||^2

    The first is the usual one, scikit-learn's ``SVC(C=1/(2 alpha))`` less its intercept; few rows have a_i != 0. The
    second is a linear machine on the similarities to all training rows as features: the
    similarity may be indefinite or asymmetric. A row of weight w counts as w rows in both: the second penalty
    is then alpha sum_i a_i^2 / w_i. Add ``kernels.Constant()`` to the kernel for an intercept.
    Both are solved in the dual, b in [0, w]: a = b y / (2 alpha), or a = K'(b y) / (2 alpha); the duality gap bounds
    how far from the optimum the result is. More than two classes are handled one versus rest.

    Use it for classes on a few thousand rows, or on objects that have a kernel and no columns. Memory is n^2 numbers:
    for more rows use `Landmarks` or `RandomFeatures` and `HingeClassifier`. Cortes and Vapnik, Support-vector networks,
    1995.

    Parameters
    ----------
    kernel : Kernel, str or None, default=None
        A kernel or the name of one; None is ``Gaussian(bandwidth="median")``.
    alpha : float > 0, default=1.0
    penalty : {"function", "coefficients"}, default="function"
    tol : float, default=1e-4
        Stop when the duality gap is at most `tol` times the objective.
    max_iter : int, default=1000
        Maximum number of steps per row.

    Attributes
    ----------
    classes_ : the labels in sorted order
    support_ : row numbers of the training rows kept; `support_vectors_` are those rows
    dual_coef_ : array (1 or classes, support), the coefficients a
    objective_, dual_gap_ : value of what is minimized and how far above the minimum it may be, per problem
    n_iter_ : steps over all problems, per row

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import KernelHinge
    >>> X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    >>> machine = KernelHinge(Gaussian(0.5), alpha=0.1).fit(X, y)
    >>> machine.score(X, y), bool(machine.dual_gap_[0] <= 1e-4 * machine.objective_[0])
    (1.0, True)
    """

    _needs_y = True
    _if_not_mercer = (
        "With penalty='function' the hinge machine then minimizes nothing: ||f||^2 may be negative, the problem is "
        "not convex, and the result is a stationary point whose gap means little. Use penalty='coefficients', which "
        "is convex for any similarity."
    )

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        alpha: float = 1.0,
        penalty: str = "function",
        tol: float = 1e-4,
        max_iter: int = 1000,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.penalty = penalty
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y; the rows of a `Source` are collected first."""
        self._check_parameters()
        block = self._read(X, y, sample_weight)
        if len(block) > MAX_ROWS:
            raise ValueError(
                f"{len(block):,} rows need a Gram matrix of {len(block) ** 2 * 8 / 2**30:.0f} GB; up to {MAX_ROWS:,} "
                "are taken. Use a linear machine on RandomFeatures or Landmarks of the same kernel."
            )
        self.kernel_ = self._resolved_kernel(block.X, block.weight)
        labels = np.asarray(block.y)
        seen = labels if block.weight is None else labels[block.weight > 0]
        self.classes_, _ = known_classes(seen, self)
        upper = np.ones(len(block)) if block.weight is None else block.weight
        K, Q = self._matrices(block.X, block.weight)
        first = 1 if len(self.classes_) == 2 else 0
        signs = [np.where(labels == label, 1.0, -1.0) for label in self.classes_[first:]]
        found = list(ordered_map(lambda y: self._solve(Q, y, upper), signs))
        self._keep(block, K, signs, found)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Score of each class; for two classes one column, positive for the second."""
        check_is_fitted(self)
        coef = np.ascontiguousarray(self.dual_coef_.T)
        scores = self._scores(X, self.support_vectors_, coef, self.support_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score, row by row."""
        return predicted_classes(self.decision_function(X), self.classes_)

    def _check_parameters(self) -> None:
        if self.penalty not in ("function", "coefficients"):
            raise ValueError(f"penalty must be 'function' or 'coefficients', not {self.penalty!r}.")
        if not (isinstance(self.alpha, Real) and 0 < self.alpha < np.inf):
            raise ValueError(f"alpha must be a positive number, not {self.alpha!r}.")
        check_whole("max_iter", self.max_iter)

    def _target(self, y: Any) -> np.ndarray:
        return class_labels(y)

    def _matrices(self, X: Any, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Similarities of the training rows, and the matrix Q of the dual: K itself or KWK'."""
        K = similarity.gram(self.kernel_, X)
        self._convex = True
        if self.penalty == "coefficients":
            return K, row_products(K if weight is None else K * np.sqrt(weight).astype(K.dtype))
        if not similarity.is_mercer_by_construction(self.kernel_):
            self._convex = similarity.warn_unless_mercer(self.kernel_, K, self._if_not_mercer)
            K = similarity.symmetric_part(K)
        return K, K

    def _solve(self, Q: np.ndarray, y: np.ndarray, upper: np.ndarray) -> HingeDual:
        """Rounds of coordinate ascent, each followed by a step on the free coordinates together."""
        n, alpha, taken = len(y), float(self.alpha), 0
        beta, f = np.zeros(n), np.zeros(n)
        while True:
            steps = min(_ROUND * n, self.max_iter * n - taken)
            done, gap = _numeric.hinge_ascent(Q, y, upper, alpha, beta, f, float(self.tol), steps)
            taken += done
            found = HingeDual(beta, f, gap, _primal(y, upper, beta, f), taken)
            joint = joint_step(Q, y, upper, alpha, found)
            if gap <= self.tol * found.primal or done < steps or taken >= self.max_iter * n:
                return joint if joint.gap < gap else found
            beta, f = joint.beta, joint.f

    def _keep(self, block: Block, K: np.ndarray, signs: list[np.ndarray], found: list[HingeDual]) -> None:
        coef = np.stack([d.beta * y for d, y in zip(found, signs, strict=True)]) / (2.0 * self.alpha)
        if self.penalty == "coefficients":
            coef = coef @ K if block.weight is None else (coef @ K) * block.weight
        self.support_ = np.flatnonzero(np.any(coef != 0, axis=0))
        self.support_vectors_ = take_rows(block.X, self.support_)
        kind = K.dtype if K.dtype == np.float32 else np.float64
        self.dual_coef_ = np.ascontiguousarray(coef[:, self.support_], dtype=kind)
        self.objective_ = np.array([d.primal for d in found])
        self.dual_gap_ = np.array([d.gap for d in found])
        self.n_iter_ = max(1, -(-max(d.steps for d in found) // len(block)))
        if self._convex and np.any(self.dual_gap_ > self.tol * self.objective_ + 1e-12):
            warnings.warn(
                f"After {self.max_iter} steps per row the duality gap is still {self.dual_gap_.max():.2g}. "
                "Raise max_iter, alpha or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )


def row_products(K: np.ndarray) -> np.ndarray:
    """KK', each half of the tiles once, on all cores."""
    n, step = len(K), similarity.BLOCK
    out = aligned_empty((n, n), K.dtype)
    tiles = [slice(i, min(i + step, n)) for i in range(0, n, step)]

    def fill(pair: tuple[slice, slice]) -> None:
        i, j = pair
        out[i, j] = K[i] @ K[j].T
        out[j, i] = out[i, j].T

    for_each(fill, [(i, j) for a, i in enumerate(tiles) for j in tiles[a:]])
    return out


def joint_step(Q: np.ndarray, y: np.ndarray, upper: np.ndarray, alpha: float, found: HingeDual) -> HingeDual:
    """Towards the exact solution on the free coordinates (y f = 1 there), as far as the bounds allow."""
    free = np.flatnonzero((found.beta > 0) & (found.beta < upper))
    if not 0 < len(free) <= _MAX_FREE:
        return found
    block = Q[np.ix_(free, free)].astype(np.float64)
    # Repeated rows make the block singular; the step need not be unique, f is.
    block.flat[:: len(block) + 1] += len(block) * np.finfo(np.float64).eps * max(float(block.diagonal().max()), 0.0)
    if not upper_cholesky(block):
        return found
    step = solve_upper(block, (y - found.f)[free, None])[:, 0]
    change = 2.0 * alpha * step * y[free]
    # The dual is concave and best at the full step: every part of the way is an ascent.
    room = np.where(change > 0, upper[free] - found.beta[free], found.beta[free])
    part = float(min(1.0, np.min(room / np.maximum(np.abs(change), np.finfo(float).tiny))))
    beta = found.beta.copy()
    beta[free] = np.clip(beta[free] + part * change, 0.0, upper[free])
    f = found.f + (part * step) @ Q[free]
    primal = _primal(y, upper, beta, f)
    gap = primal + 0.5 * float(np.sum(beta * y * f)) - float(np.sum(beta))
    return HingeDual(beta, f, gap, primal, found.steps)


def _primal(y: np.ndarray, upper: np.ndarray, beta: np.ndarray, f: np.ndarray) -> float:
    return float(np.sum(upper * np.maximum(0.0, 1.0 - y * f)) + 0.5 * np.sum(beta * y * f))
