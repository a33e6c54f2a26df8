"""`fit`, `partial_fit` and `merge`, written once.

An estimator states `_empty()`, the statistic it learns from, and `_finish(learned)`, what follows from it. Everything
else is here: checking input, folding over arrays, files and streams, feature names.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import as_float
from mercer._runtime.checks import check_weight, refuse_missing
from mercer.source import Accumulator, MemorySource, Source


class NotSaved:
    """Stands in a loaded model for what its file does not hold: the statistics of the rows it has seen."""


class StreamingEstimator(BaseEstimator):
    """An estimator that learns from one pass over rows, wherever they are.

    `fit(X)` equals `fit` on a source of the same rows in any blocks, equals `partial_fit` on pieces of any length,
    bit for bit. `merge` adds what another estimator has seen.
    """

    #: How `validate_data` should treat X.
    _check_X: dict[str, Any] = {"dtype": [np.float64, np.float32], "accept_sparse": "csr"}
    _needs_y = False
    _allow_missing = False
    #: Attributes that a model file does without.
    _transient = ("_accumulator",)

    def _empty(self):
        """The empty statistic to be folded over the data, or None if the data do not matter."""
        return

    def _finish(self, learned) -> None:
        """Set the learned attributes from what the finished statistic says (None if there was none)."""

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Learn from the rows of X: an array, CSR matrix, data frame or `Source`.

        Parameters
        ----------
        X : array, CSR matrix, data frame or Source of n rows
        y : array of n targets; a `Source` brings its own
        sample_weight : array of n non-negative weights; a `Source` brings its own

        Returns
        -------
        self
        """
        self._check_parameters()
        self._learn_from(self._open(X, y, sample_weight))
        return self

    def _learn_from(self, source: Source) -> None:
        """Set the learned attributes from the rows of a source of checked blocks: one pass, if any."""
        self.__dict__.pop("_accumulator", None)  # a fit that fails leaves nothing to be continued
        empty = self._empty()
        self._accumulator = None if empty is None else source.accumulate(empty)
        self._learn()

    def partial_fit(self, X, y=None, sample_weight=None) -> Self:
        """Learn from more rows. After any cut of the data into calls the result is that of one `fit` on all."""
        self._check_parameters()
        self._refuse_loaded(self)
        empty = self._empty()
        first = not hasattr(self, "_accumulator") or (self._accumulator is None and empty is not None)
        block = self._checked_block(X, y, sample_weight, reset=first)
        if first:
            self._accumulator = None if empty is None else Accumulator(empty)
        if self._accumulator is not None:
            self._accumulator.add(block)
        self._learn()
        return self

    def merge(self, other: Self) -> Self:
        """Add what `other`, fitted with the same parameters on other rows, has seen."""
        check_is_fitted(self)
        check_is_fitted(other)
        if type(other) is not type(self) or other.n_features_in_ != self.n_features_in_:
            raise ValueError(
                f"Only a {type(self).__name__} fitted on {self.n_features_in_} columns can be merged into this one."
            )
        self._refuse_loaded(self)
        self._refuse_loaded(other)
        if self._accumulator is not None and other._accumulator is not None:
            self._accumulator = self._accumulator.merge(other._accumulator)
            self._learn()
        return self

    @staticmethod
    def _refuse_loaded(estimator) -> None:
        if isinstance(getattr(estimator, "_accumulator", None), NotSaved):
            raise ValueError(
                f"This {type(estimator).__name__} was loaded from a file, which holds what was learned but not the "
                "statistics to go on from. Fit it anew, or continue before saving."
            )

    def _learn(self) -> None:
        self._finish(None if self._accumulator is None else self._accumulator.result().finish())

    def _open(self, X, y, sample_weight) -> Source:
        """The rows as a source of checked blocks, after setting `n_features_in_` and feature names."""
        if not isinstance(X, Source):
            return self._from_memory(X, y, sample_weight)
        if y is not None or sample_weight is not None:
            raise ValueError("A Source brings its own target and weights: give them to the source, not to fit.")
        blocks = (task.read() for task in X.tasks())
        first = next((block for block in blocks if len(block)), None)
        if first is None:
            raise ValueError("The source has no rows.")
        self._check_read(first, reset=True)
        # As in a pipeline over arrays, only the first step is told names: the others will be given arrays in `predict`.
        if X.names is not None and not X.derived and len(X.names) == self.n_features_in_:
            self.feature_names_in_ = np.array(X.names, dtype=object)
        return X.map(lambda block: self._check_read(block, reset=False))

    def _from_memory(self, X, y, sample_weight) -> Source:
        block = self._checked_block(X, y, sample_weight, reset=True)
        return MemorySource(block.X, block.y, block.weight)

    def _check_read(self, block: Block, reset: bool) -> Block:
        if len(block) == 0:  # a source may have kept none of the rows of a block
            return block
        X = self._checked_X(block.X, reset, block.start) if reset else self._checked_rows(block)
        y = self._checked_y(block.y) if self._needs_y else None
        weight = check_weight(block.weight, len(block))
        checked = Block(X, y, weight, block.start, block.raw)
        return checked if weight is None or np.all(weight > 0) else checked.rows(weight > 0)

    def _checked_block(self, X, y, sample_weight, reset, start=0) -> Block:
        X = self._checked_X(X, reset, start)
        if self._needs_y:
            y = self._checked_y(y)
            if len(y) != X.shape[0]:
                raise ValueError(f"X has {X.shape[0]} rows but y has {len(y)} entries.")
        else:
            y = None
        block = Block(X, y, check_weight(sample_weight, X.shape[0]), start)
        if block.weight is None or np.all(block.weight > 0):
            return block
        if reset and not np.any(block.weight > 0):
            raise ValueError("All sample weights are zero: there is nothing to learn from.")
        return block.rows(block.weight > 0)  # a row of weight zero is a row that is not there

    def _checked_X(self, X, reset, start=0):
        """X as a checked array. `reset`: True learns width and names, False compares both, None only the width."""
        if reset is None:
            X = self._of_known_width(check_array(X, ensure_all_finite=False, **self._check_X))
        else:
            # scikit-learn's own check of infinities and NaN does not say where they are; ours does.
            X = validate_data(self, X, reset=reset, ensure_all_finite=False, **self._check_X)
        if hasattr(X, "tocsr") and not X.has_canonical_format:  # an entry stored in two pieces is one entry
            X = X.copy()
            X.sum_duplicates()
        if not self._allow_missing:
            refuse_missing(X, getattr(self, "feature_names_in_", None), start)
        return X

    def _checked_rows(self, block: Block):
        """The rows of a block of a source. Unless it is a frame it carries no names, and none are asked for."""
        if len(block) == 0:  # a filter may have kept none of its rows
            return block.X
        return self._checked_X(block.X, False if hasattr(block.X, "columns") else None, block.start)

    def _of_known_width(self, X):
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )
        return X

    def _input_names(self, input_features=None) -> list[str]:
        """The names of the columns of X: as given, as seen by `fit`, or x0, x1, ..."""
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            return [f"x{j}" for j in range(self.n_features_in_)] if known is None else [str(name) for name in known]
        check_input_names(input_features, self.n_features_in_, known)
        return [str(name) for name in input_features]

    def _checked_y(self, y):
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        return np.asarray(y)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._check_X.get("accept_sparse"))
        tags.input_tags.allow_nan = self._allow_missing
        tags.target_tags.required = self._needs_y
        return tags


class StreamingTransformer(TransformerMixin, StreamingEstimator):
    """A map of rows: `_apply` rewrites an array or CSR matrix, `transform` does it to whatever it is given."""

    def transform(self, X):
        """Map the rows of X: an array gives an array (or CSR matrix), a `Source` a `Source` that maps as it reads."""
        return self._mapped(X, self._apply)

    def _apply(self, X):
        raise NotImplementedError

    def _mapped(self, X, function):
        check_is_fitted(self)
        if isinstance(X, Source):
            mapped = X.map(lambda block: block.with_X(function(self._checked_rows(block))))
            mapped.names = [str(name) for name in self.get_feature_names_out()]
            mapped.derived = True
            return mapped
        return function(self._checked_X(X, reset=False))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class InvertibleTransformer(StreamingTransformer):
    """A map with a way back, over columns that correspond one to one."""

    def inverse_transform(self, X):
        """Map rows back to where they came from."""
        check_is_fitted(self)
        X = X.tocsr() if hasattr(X, "tocsr") else as_float(np.asarray(X))
        if X.ndim != 2 or X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"inverse_transform expects {self.n_features_in_} columns, got an array of shape {X.shape}."
            )
        return self._invert(X)

    def _invert(self, X):
        raise NotImplementedError


def check_input_names(given: Sequence, n_features: int, known: np.ndarray | None) -> None:
    """Refuse names of input columns that are not those of fit, in the words of scikit-learn."""
    if len(given) != n_features:
        raise ValueError(
            f"input_features should have length equal to number of features ({n_features}), got {len(given)}"
        )
    if known is not None and not np.array_equal(known, np.asarray(given, dtype=object)):
        raise ValueError("input_features is not equal to feature_names_in_")


def seed_of(random_state) -> int:
    """A whole number from an int, a RandomState or None."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))
