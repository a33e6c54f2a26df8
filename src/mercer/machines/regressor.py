"""Kernel least squares and kernel ridge regression."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mercer._numeric.block import Block
from mercer._runtime.checks import check_weight, check_whole
from mercer.base import seed_of
from mercer.kernels import Kernel
from mercer.linear.ridge.overflow import refuse_overflow
from mercer.machines import exact, falkon, similarity
from mercer.machines.base import KernelMachine, are_objects, numeric_target, refuse_contradiction
from mercer.source import MemorySource, Source, StreamSource

#: Up to this many rows "auto" solves with the whole Gram matrix.
EXACT_ROWS = 5000

#: Relative error of predictions from which on rounding is warned about.
_MAX_LOSS = 1e-2


class KernelRegressor(MultiOutputMixin, RegressorMixin, KernelMachine):
    """Kernel ridge regression: minimizes sum_i w_i (y_i - f(x_i))^2 + alpha ||f||^2.

    f = sum_i a_i k(., x_i) with (K + alpha) a = y: scikit-learn's ``KernelRidge(alpha)``. With alpha=0 it is kernel
    OLS, a = K^+ y: the least-squares solution of minimum norm, also with repeated rows and rank deficiency. There is no
    intercept: add ``kernels.Constant()`` to the kernel for one.

    Use it for regression on up to about ten thousand rows: the exact solution takes n^3 / 3 operations and n^2 numbers.
    With ``solver="falkon"`` it goes to millions of rows with centers. A smooth target in many rows is as well served by
    `RandomFeatures` and `RidgeRegressor`.

    Parameters
    ----------
    kernel : Kernel, str or None, default=None
        A kernel or the name of one; None is ``Gaussian(bandwidth="median")``.
    alpha : float, "loo" or list of floats, default=1.0
        The penalty; 0 gives the solution of minimum norm. "loo" tries sixty penalties, a list those given, and the
        exact leave-one-out error (closed form, one eigendecomposition) chooses.
    solver : {"auto", "exact", "falkon"}, default="auto"
        "exact" holds the n x n Gram matrix. "falkon" (Rudi, Carratino and Rosasco 2017) represents f on `n_centers`
        rows and needs memory for those only: a few passes over the data, which may be a `Source` larger than memory.
        Up to 2,048 centers it forms their normal equations in one pass where that costs less than the other passes,
        and checks the solution in a second one.
        "auto" is exact up to 5,000 rows and for leave-one-out, falkon beyond.
    n_centers : int, default=2000
        Centers of falkon: pivots of a randomly pivoted Cholesky factorization (Chen et al. 2023) of a sample of the
        distinct rows, fewer if the others are linear combinations of these; drawn uniformly for a user-defined
        similarity.
    max_iter, tol : int, default=50, and float, default=1e-6
        Falkon stops after that many steps (one pass each), or when its residual is `tol` times the first one. With
        normal equations the first step usually suffices.
    random_state : int, RandomState or None, default=0
        Draws the centers.

    Attributes
    ----------
    dual_coef_ : array (rows kept,) or (rows kept, targets), the coefficients a
    X_fit_ : the rows kept: all training rows, or the centers
    kernel_ : the kernel with every parameter a number
    alpha_ : the penalty used. Falkon raises it to the smallest penalty that rounding allows.
    rank_ : rank of the Gram matrix (exact, alpha=0)
    alphas_, loo_ : the penalties tried and their mean squared leave-one-out error (alpha="loo" or a list)
    n_iter_, residuals_ : steps of falkon and the relative residual after each; 1 and None for exact

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import KernelRegressor
    >>> x = np.linspace(0, 6, 50)[:, None]
    >>> model = KernelRegressor(Gaussian(1.0), alpha=1e-6).fit(x, np.sin(x[:, 0]))
    >>> print(f"{model.predict([[2.5]])[0]:.4f}, {np.sin(2.5):.4f}")
    0.5985, 0.5985
    """

    _needs_y = True
    _if_not_mercer = (
        "Kernel least squares then still solves (K + alpha) a = y, with the symmetric part of K, but there is no "
        "norm ||f|| that it keeps small, and a penalty near a negative eigenvalue makes the solution explode. "
        "Use alpha above the magnitude of the smallest eigenvalue, mercer.kernels.repair, or another similarity."
    )

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        alpha: Any = 1.0,
        solver: str = "auto",
        n_centers: int = 2000,
        max_iter: int = 50,
        tol: float = 1e-6,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.solver = solver
        self.n_centers = n_centers
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows X with targets y (one column or several), or from a `Source` that brings both."""
        self._check_parameters()
        if isinstance(X, Source):
            refuse_contradiction(y, sample_weight)
            if self._wants_falkon(X):
                return self._fit_falkon(self._checked_source(X))
        block = self._read(X, y, sample_weight)
        self._one_target = np.asarray(block.y).ndim == 1
        if self._wants_falkon(block.X):
            return self._fit_falkon(MemorySource(block.X, block.y, block.weight))
        return self._fit_exact(block)

    def predict(self, X: Any) -> np.ndarray:
        """f(x) for each row x of X."""
        check_is_fitted(self)
        scores = self._scores(X, self.X_fit_, self.dual_coef_.reshape(self.X_fit_.shape[0], -1))
        return scores[:, 0] if self.dual_coef_.ndim == 1 else scores

    def _check_parameters(self) -> None:
        if self.solver not in ("auto", "exact", "falkon"):
            raise ValueError(f"solver must be 'auto', 'exact' or 'falkon', not {self.solver!r}.")
        check_whole("n_centers", self.n_centers)
        check_whole("max_iter", self.max_iter)
        if isinstance(self.alpha, str):
            good = self.alpha == "loo"
        else:
            given = np.asarray(self.alpha, dtype=np.float64)
            good = bool(
                given.size > 0 and np.isfinite(given).all() and (given >= 0).all() and (given.ndim == 0 or given.all())
            )
        if not good:
            raise ValueError(
                f"alpha must be a number of at least 0, a list of positive numbers or 'loo', not {self.alpha!r}."
            )
        if self.solver == "falkon" and self._scores_penalties:
            raise ValueError(
                "solver='falkon' takes one penalty: leave-one-out needs the whole Gram matrix. "
                "Give a number for alpha, or use solver='exact'."
            )

    @property
    def _scores_penalties(self) -> bool:
        return isinstance(self.alpha, str) or np.ndim(self.alpha) > 0

    def _wants_falkon(self, X: Any) -> bool:
        if similarity.is_pairwise(self._kernel()):
            if self.solver == "falkon":
                raise ValueError("solver='falkon' computes similarities itself: Precomputed() needs solver='exact'.")
            return False
        if self.solver != "auto" or self._scores_penalties:
            return self.solver == "falkon"
        return _is_longer(X, EXACT_ROWS)

    def _target(self, y: Any) -> np.ndarray:
        return numeric_target(y)

    # exact

    def _fit_exact(self, block: Block) -> Self:
        self.kernel_ = self._resolved_kernel(block.X, block.weight)
        K = self._training_gram(block.X)
        Y = np.reshape(block.y, (len(block), -1))  # type: ignore[arg-type]
        if block.weight is not None:
            # Rows scaled by the root of their weight make the weighted problem an ordinary one.
            root = np.sqrt(block.weight)
            Y = root[:, None] * Y
            K *= root[:, None].astype(K.dtype)
            K *= root.astype(K.dtype)
        with np.errstate(over="ignore"):
            refuse_overflow(Y.astype(K.dtype))  # float64 targets of float32 rows
        coef = self._solve_exact(K, Y, np.ones(len(block)) if block.weight is None else block.weight)
        if block.weight is not None:
            coef *= root[:, None]
        self.n_iter_: int = 1
        self.residuals_: np.ndarray | None = None
        return self._keep(block.X, coef)

    def _training_gram(self, X: Any) -> np.ndarray:
        K = similarity.gram(self.kernel_, X)
        if similarity.is_mercer_by_construction(self.kernel_):
            return K
        similarity.warn_unless_mercer(self.kernel_, K, self._if_not_mercer)
        return similarity.symmetric_part(K)

    def _solve_exact(self, K: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        if self._scores_penalties:
            alphas = None if isinstance(self.alpha, str) else np.asarray(self.alpha, dtype=np.float64)
            path = exact.loo_path(K, Y, alphas, weight)
            self.alphas_, self.loo_, self.alpha_ = path.alphas, path.loo, float(path.alphas[path.best])
            return path.coef
        self.alpha_ = float(self.alpha)
        if self.alpha_ > 0:
            _warn_of_lost_digits(K, self.alpha_)
            return exact.ridge(K, Y, self.alpha_)
        coef, self.rank_ = exact.minimum_norm(K, Y)
        return coef

    # falkon

    def _checked_source(self, source: Source) -> Source:
        first = next((block for block in (task.read() for task in source.tasks()) if len(block)), None)
        if first is None:
            raise ValueError("The source has no rows.")
        self._checked_rows(first.X, reset=True, start=first.start)
        self._one_target = self._checked_y(first.y, len(first)).ndim == 1

        def check(block: Block) -> Block:
            if len(block) == 0:
                return block
            X = self._checked_rows(block.X, reset=False, start=block.start)
            weight = check_weight(block.weight, len(block))
            return Block(X, self._checked_y(block.y, len(block)), weight, block.start, block.raw)

        return source.map(check)

    def _fit_falkon(self, source: Source) -> Self:
        seed = seed_of(self.random_state)
        rows = getattr(source, "X", None)
        if are_objects(rows):
            self.kernel_ = self._resolved_kernel(rows)
            rows, weight = falkon.sample_objects(rows, self.n_centers, seed)
        else:
            rows, weight = falkon.sample(source, self.n_centers, seed)
            self.kernel_ = self._kernel_resolved_on(rows)
        chosen = falkon.choose(self.kernel_, rows, weight, self.n_centers, seed)
        K = similarity.gram(self.kernel_, chosen.centers)
        similarity.warn_unless_mercer(self.kernel_, K, self._if_not_mercer)
        self.alpha_ = max(float(self.alpha), self._min_penalty(K))
        found = falkon.solve(falkon.FalkonPasses(source, self.kernel_, chosen), self.alpha_, self.max_iter, self.tol)
        self.n_iter_, self.residuals_ = found.n_iter, found.residuals
        if found.n_iter and found.residuals[-1] > self.tol:
            warnings.warn(
                f"Falkon stopped after {found.n_iter} steps with a relative residual of {found.residuals[-1]:.2g}. "
                "Raise max_iter, alpha or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self._keep(chosen.centers, found.coef)

    @staticmethod
    def _min_penalty(K: np.ndarray) -> float:
        """What rounding of the similarities amounts to in the normal equations."""
        return float(len(K) * np.finfo(K.dtype).eps * max(np.abs(K.diagonal()).max(), np.finfo(float).tiny))

    def _keep(self, rows: Any, coef: np.ndarray) -> Self:
        dtype = getattr(rows, "dtype", np.float64)
        coef = coef.astype(dtype if dtype in (np.float32, np.float64) else np.float64)
        self.X_fit_ = rows
        self.dual_coef_ = coef[:, 0] if self._one_target else coef
        return self


def _warn_of_lost_digits(K: np.ndarray, alpha: float) -> None:
    """Warn if rounding changes predictions: relatively by ||E|| / alpha for an error E of the similarities.

    In float32 these are the rounded similarities, eps max |K| sqrt(n), for residuals are in float64; in float64 the
    factorization, eps ||K||.
    """
    eps = float(np.finfo(K.dtype).eps)
    if eps * float(np.trace(K)) <= _MAX_LOSS * alpha:  # the trace bounds the norm
        return
    is_single = K.dtype == np.float32
    error = eps * float(np.abs(K).max() * np.sqrt(len(K)) if is_single else np.abs(K).sum(axis=1).max())
    if error <= _MAX_LOSS * alpha:
        return
    better = "Use float64, or " if is_single else "Use "
    warnings.warn(
        f"alpha={alpha:.3g} is so small against the similarities that rounding in {K.dtype} leaves about "
        f"{max(0, int(-np.log10(error / alpha)))} digits of the predictions. {better}alpha of at least "
        f"{error / _MAX_LOSS:.1g}, or alpha=0 for the minimum-norm solution.",
        ConvergenceWarning,
        stacklevel=4,
    )


def _is_longer(X: Any, n: int) -> bool:
    if not isinstance(X, Source):
        return X.shape[0] > n
    if X.n_rows is not None and not isinstance(X, StreamSource):
        return X.n_rows > n
    seen = 0
    for task in X.tasks():
        seen += task.rows
        if seen > n:
            return True
    return False
