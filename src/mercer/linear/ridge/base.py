"""Choice of ridge penalties from Gram matrices per fold: one pass, then every penalty without another."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer.base import StreamingEstimator, seed_of
from mercer.linear.alpha import Alpha, check_alpha
from mercer.linear.passes import one_pass
from mercer.linear.ridge import blocks as block_ridge
from mercer.linear.ridge import least_squares, path
from mercer.linear.ridge.factor import Centered, Spectral, Tridiagonal
from mercer.linear.ridge.fold_loss import FoldLoss, GramFoldLoss
from mercer.linear.ridge.loo import LeaveOneOut
from mercer.linear.ridge.overflow import refuse_extremes, refuse_overflow
from mercer.linear.ridge.penalties import best_penalties
from mercer.source import MemorySource, Source
from mercer.stats.gram import GramPerFold

#: Gradient evaluations of the search for block penalties, at most, and its tolerance.
_MAX_ITER, _TOL = 100, 1e-9
_MAX_ERROR = 1e-6  # relative error of least squares, above which fewer than six digits hold


class BaseRidge(StreamingEstimator):
    """Choose penalties and solve for the weights, from Gram statistics per fold."""

    _needs_y = True
    _transient = ("_accumulator", "_deferred_rows")
    _former = {"alphas": "alpha"}

    alpha_: float
    alphas_: np.ndarray
    losses_: np.ndarray | None
    penalties_: np.ndarray
    floor_: Any

    def __init__(
        self,
        alpha: Alpha = "path",
        blocks: block_ridge.Blocks | None = None,
        scoring: str = "folds",
        n_folds: int = 5,
        block_penalties: block_ridge.BlockPenalties | None = None,
        random_state: Any = 0,
    ):
        self.alpha = alpha
        self.blocks = blocks
        self.scoring = scoring
        self.n_folds = n_folds
        self.block_penalties = block_penalties
        self.random_state = random_state

    @classmethod
    def _from_former(cls, state: dict[str, Any]) -> Self:
        """Read format 1, in which a list of block penalties was a grid and learned ones were relative to alpha."""
        if not isinstance(state.get("block_penalties"), dict):
            state["block_penalties"] = None
        if "block_penalties_" in state:
            state["penalties_"] = state["alpha_"] * state.pop("block_penalties_")
        made: Any = object.__new__(cls)
        vars(made).update(state)
        return made

    @property
    def _multi_pass(self) -> bool:
        return self.scoring == "loo"

    @one_pass
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows. After any cut of the data into calls the result is that of one `fit` on all."""
        self._fold_deferred_rows()
        return super().partial_fit(X, y, sample_weight)

    @one_pass
    def merge(self, other: Self) -> Self:
        """Add what `other`, fitted with the same parameters on other rows, has seen."""
        for each in (self, other):
            if isinstance(each, BaseRidge):
                each._fold_deferred_rows()
        return super().merge(other)

    def _check_parameters(self) -> None:
        if self.scoring not in ("folds", "gcv", "loo"):
            raise ValueError(f"scoring must be 'folds', 'gcv' or 'loo', not {self.scoring!r}.")
        if not isinstance(self.n_folds, (int, np.integer)) or self.n_folds < 2:
            raise ValueError(f"n_folds must be a whole number of at least 2, not {self.n_folds!r}.")
        check_alpha(self.alpha, zero=True)
        if self.blocks is not None and self.block_penalties is not None:
            block_ridge.check_block_penalties(self.block_penalties)

    def _learn_from(self, source: Source) -> None:
        self.__dict__.pop("_deferred_rows", None)
        if self._searches_penalties and isinstance(source, MemorySource) and source.n_rows < source.X.shape[1]:
            self._learn_in_row_space(source)
            return
        self._rows = source  # for a second pass
        try:
            super()._learn_from(source)
        finally:
            self.__dict__.pop("_rows", None)

    @property
    def _searches_penalties(self) -> bool:
        """Whether the penalties of the blocks are all that is chosen, and by K-fold losses."""
        searched = self.blocks is not None and self.block_penalties is None
        return searched and self.scoring == "folds" and isinstance(self.alpha, str)

    def _learn_in_row_space(self, source: MemorySource) -> None:
        """Fit by systems of the size of the rows; Gram matrices are formed when `partial_fit` or `merge` asks."""
        assert self.blocks is not None
        rows = source.read(0, source.n_rows)
        self.blocks_, index = block_ridge.block_indices(self.blocks, rows.X.shape[1])
        labels, Y = self._targets(np.asarray(rows.y))
        problem = block_ridge.RowSpaceBlocks(rows, Y, index, self.n_folds, seed_of(self.random_state))
        self._refuse_single_fold(len(rows), problem.losses.n_folds)
        self._search_penalties(problem.losses)
        coef, intercept = problem.weights(self.penalties_)
        self._set_outputs(coef, intercept, labels)
        self._accumulator, self._deferred_rows = None, source

    def _fold_deferred_rows(self) -> None:
        rows = self.__dict__.pop("_deferred_rows", None)
        if isinstance(rows, Source):
            self._accumulator = rows.accumulate(self._empty())

    def _finish(self, learned: GramPerFold) -> None:
        refuse_overflow(learned.total.G, self._input_names())
        if isinstance(self.alpha, str) or np.min(self.alpha) == 0:  # else the penalty outweighs what underflows
            refuse_extremes(learned, self._input_names())
        factors, scale, index = None, None, None
        if self.blocks is not None:
            self.blocks_, index = block_ridge.block_indices(self.blocks, len(learned.total.z))
            if self.block_penalties is None:
                self._refuse_single_fold(learned.n, len(learned.folds))
                losses = GramFoldLoss(learned, index)
                self._search_penalties(losses)
                if self._searches_penalties:
                    coef, intercept = losses.weights(self.penalties_)
                    self._set_outputs(coef, intercept, learned.labels)
                    return
                factors = self.penalties_ / self.alpha_
            else:
                factors = block_ridge.relative_penalties(self.block_penalties, self.blocks_)
            scale = 1.0 / np.sqrt(factors[index])
        self._finish_path(learned, scale)
        if factors is not None:
            self.penalties_ = self.alpha_ * factors

    def _search_penalties(self, losses: FoldLoss) -> None:
        """Set the penalties of smallest K-fold loss; alpha is their geometric mean."""
        self.penalties_, score = best_penalties(losses, max_iter=_MAX_ITER, tol=_TOL)
        self.alpha_ = block_ridge.geometric_mean(self.penalties_)
        self.alphas_, self.losses_, self.floor_ = np.array([self.alpha_]), np.array([score.loss]), losses.floor()

    def _finish_path(self, learned: GramPerFold, scale: np.ndarray | None) -> None:
        """Choose alpha for columns multiplied by `scale`, and solve."""
        seen = learned if scale is None else block_ridge.scaled(learned, scale)
        total, trained = self._factors(seen)
        self.floor_ = path.floor(seen, total)
        self.alphas_ = self._alphas(total)
        scored = self._scored(seen, total, trained, scale)
        best = 0 if scored is None else path.choose(self.alphas_, *scored)
        self.losses_ = None if scored is None else scored[0]
        self.alpha_ = float(self.alphas_[best])
        self._set_weights(learned, total, 1.0 if scale is None else scale)

    def _factors(self, learned: GramPerFold) -> tuple[Any, list[Centered]]:
        """Factor the normal equations of all rows and, where folds are scored, of all rows but those of each fold."""
        positive = isinstance(self.alpha, str) or bool(np.all(np.asarray(self.alpha) > 0))
        if np.size(self.alpha) == 1 and not isinstance(self.alpha, str):
            return path.factor([learned.total], Tridiagonal if positive else Spectral)[0], []
        if self.scoring != "folds":
            if self.scoring == "loo" and learned.n < 2:
                raise ValueError(f"n_samples={learned.n}, but leaving one out must leave another. Give one penalty.")
            return path.factor([learned.total], Spectral)[0], []
        self._refuse_single_fold(learned.n, len(learned.folds))
        if positive:
            return path.factor_folds(learned, path.lowest(learned, self.alpha))
        others = [learned.total - fold for fold in learned.folds]
        total, *trained = path.factor([learned.total, *others], Spectral)
        return total, list(trained)

    @staticmethod
    def _refuse_single_fold(n_rows: int, n_folds: int) -> None:
        if n_folds < 2:
            raise ValueError(
                f"n_samples={n_rows}, but cross-validation needs at least two distinct rows in different folds "
                "(equal rows share a fold). Give one penalty, as in alpha=1.0, or use scoring='gcv'."
            )

    def _alphas(self, total: path.Factored) -> np.ndarray:
        if isinstance(self.alpha, str):
            return path.default_alphas(total, self.floor_)
        asked = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        low = (asked < self.floor_) & (asked > 0)
        if np.any(low):
            warnings.warn(
                f"Penalties below {self.floor_:.3g} are lost to the rounding of this Gram matrix and are raised to it. "
                "Standardize the columns or use float64 to go lower.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return np.where(low, self.floor_, asked)

    def _scored(
        self, learned: GramPerFold, total: Any, trained: list[Centered], scale: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the loss and error bar of each penalty, None if there is only one."""
        if len(self.alphas_) == 1:
            return None
        if self.scoring == "gcv":
            return path.gcv_losses(total, self.alphas_)
        if self.scoring == "loo":
            return self._left_out(learned, total, 1.0 if scale is None else scale), np.zeros(len(self.alphas_))
        return path.fold_losses(learned, trained, self.alphas_)

    def _left_out(self, learned: GramPerFold, total: Spectral, scale: np.ndarray | float) -> np.ndarray:
        center = total.z_mean / scale + learned.z_origin
        y_center = total.y_mean + learned.y_origin
        empty = LeaveOneOut(total, self.alphas_, center, y_center, scale, learned.labels)
        return self._rows.fold(empty).finish()

    def _set_weights(self, learned: GramPerFold, total: Centered, scale: np.ndarray | float) -> None:
        if self.alpha_ == 0 and learned.triangle is not None and self.blocks is None:
            coef, intercept = self._least_squares(learned)
        else:
            coef = total.solutions(np.array([self.alpha_]))[0] * np.reshape(scale, (-1, 1))
            intercept = total.y_mean + learned.y_origin - (total.z_mean / scale + learned.z_origin) @ coef
        self._set_outputs(coef, intercept, learned.labels)

    def _least_squares(self, learned: GramPerFold) -> tuple[np.ndarray, np.ndarray]:
        """The weights without a penalty, from the triangular factor of the rows and, if need be, from the rows."""
        found = least_squares.solve(learned, self.__dict__.get("_rows"))
        if found.error > _MAX_ERROR:
            digits = max(int(-np.log10(found.error)), 0)
            warnings.warn(
                f"The columns are nearly dependent (condition number {found.condition:.1g}): about {digits} digits of "
                "the weights hold. Leave out or combine columns, or give alpha a positive value.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return found.coef, found.intercept

    def _targets(self, y: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the labels, if targets are classes, and columns of numbers."""
        raise NotImplementedError

    def _set_outputs(self, coef: np.ndarray, intercept: np.ndarray, labels: np.ndarray | None) -> None:
        """Set the learned weights from one column per target."""
        raise NotImplementedError
