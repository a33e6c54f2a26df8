"""`fit`, `partial_fit` and `merge`, written once.

An estimator defines `_empty()`, the statistic it learns from, and `_finish(learned)`, which sets its learned
attributes. Everything else is here: checking input, folding over arrays, files and streams, feature names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import as_float
from mercer._runtime.blas import SingleThreadedVerbs
from mercer._runtime.checks import check_weight, refuse_missing
from mercer._runtime.errors import MercerError
from mercer._runtime.loaded import require
from mercer.source import Accumulator, MemorySource, Source
from mercer.source.table import first_block

#: Entries (rows times columns) of a source beyond which its rows are not collected where passes can replace that.
MAX_COLLECTED_ENTRIES = 10**8
#: Loaded estimators of more columns are not tried on a row.
_MAX_TRIED_COLUMNS = 10**5


def is_too_large_to_collect(source: Source, n_columns: int) -> bool:
    """Whether the rows of a source should not be brought into memory; rows of an array are there already."""
    if isinstance(source, MemorySource) or source.n_rows is None:
        return False
    return source.n_rows * n_columns > MAX_COLLECTED_ENTRIES


class NotSaved:
    """Placeholder in a loaded model for the statistics of its rows, which a model file does not hold."""


class StreamingEstimator(SingleThreadedVerbs, BaseEstimator):
    """An estimator that learns from one pass over rows in memory, in files or in a stream.

    `fit(X)` equals `fit` on a source of the same rows in any blocks, and `partial_fit` on pieces of any length, bit for
    bit. `merge` adds the rows of another estimator.
    """

    #: Parameters of `validate_data` for X.
    _check_X: dict[str, Any] = {"dtype": [np.float64, np.float32], "accept_sparse": "csr"}
    _needs_y = False
    _allow_missing = False
    #: Attributes that are not saved to a model file.
    _transient: tuple[str, ...] = ("_accumulator",)

    def _empty(self) -> Any:
        """The empty statistic to be folded over the data, or None if nothing is learned from the data."""
        return

    def _finish(self, learned: Any) -> None:
        """Set the learned attributes from the finished statistic (None if there was none)."""

    def _check_parameters(self) -> None:
        """Refuse invalid parameters."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the rows of X: an array, CSR matrix, data frame or `Source`.

        Parameters
        ----------
        X : array, CSR matrix, data frame or Source of n rows
        y : array of n targets; a `Source` has its own
        sample_weight : array of n non-negative weights; a `Source` has its own

        Returns
        -------
        self
        """
        self._check_parameters()
        self._learn_from(self._open(X, y, sample_weight))
        return self

    def _learn_from(self, source: Source) -> None:
        """Set the learned attributes from the rows of a source of checked blocks: one pass, if any."""
        self.__dict__.pop("_accumulator", None)  # a failed fit cannot be continued
        empty = self._empty()
        self._accumulator = None if empty is None else source.accumulate(empty)
        self._learn()

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows. Any split of the data into calls gives the result of one `fit` on all rows."""
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
        """Add the rows of `other`, which was fitted with the same parameters."""
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

    def _check_applies(self) -> None:
        """Apply a loaded estimator to one row, which parts that do not fit together cannot be."""
        n = getattr(self, "n_features_in_", None)
        if n is None:
            return
        require(isinstance(n, int) and n > 0, f"it was fitted to {n!r} columns")
        row = self._row_to_try(n)
        verb = getattr(self, "predict", None) or getattr(self, "transform", None)
        if row is None or verb is None:
            return
        try:
            verb(row)
        except MercerError:
            return  # it works, and refuses this row

    def _row_to_try(self, n: int) -> Any:
        """One row of n columns; None where there is none that any estimator of this class should take."""
        if n > _MAX_TRIED_COLUMNS or self.__sklearn_tags__().input_tags.string:
            return None
        return np.full((1, n), 0.5)

    @staticmethod
    def _refuse_loaded(estimator: Any) -> None:
        if isinstance(getattr(estimator, "_accumulator", None), NotSaved):
            raise MercerError(
                f"This {type(estimator).__name__} was loaded from a file, which holds what was learned but not the "
                "statistics to go on from.",
                remedy="Fit it anew, or continue before saving.",
            )

    def _learn(self) -> None:
        self._finish(None if self._accumulator is None else self._accumulator.result().finish())

    def _open(self, X: Any, y: Any, sample_weight: Any) -> Source:
        """The rows as a source of checked blocks, after setting `n_features_in_` and feature names."""
        if not isinstance(X, Source):
            return self._from_memory(X, y, sample_weight)
        if y is not None or sample_weight is not None:
            raise MercerError(
                "A Source brings its own target and weights:", remedy="give them to the source, not to fit."
            )
        first = first_block(X)
        if first is None:
            raise ValueError("The source has no rows.")
        self._check_read(first, reset=True)
        # As in a pipeline over arrays, only the first step learns names: later steps get arrays in `predict`.
        if X.names is not None and not X.derived and len(X.names) == self.n_features_in_:
            self.feature_names_in_ = np.array(X.names, dtype=object)
        return X.map(lambda block: self._check_read(block, reset=False))

    def _from_memory(self, X: Any, y: Any, sample_weight: Any) -> Source:
        return MemorySource.of(self._checked_block(X, y, sample_weight, reset=True))

    def _check_read(self, block: Block, reset: bool) -> Block:
        if len(block) == 0:  # a filter may have dropped all rows of a block
            return block
        X = self._checked_X(block.X, reset, block.start) if reset else self._checked_rows(block)
        y = self._checked_y(block.y) if self._needs_y else None
        weight = check_weight(block.weight, len(block))
        checked = Block(X, y, weight, block.start, block.raw)
        return checked if weight is None or np.all(weight > 0) else checked.rows(weight > 0)

    def _checked_block(self, X: Any, y: Any, sample_weight: Any, reset: bool | None, start: int = 0) -> Block:
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
        return block.rows(block.weight > 0)  # rows of weight zero do not count

    def _checked_X(self, X: Any, reset: bool | None, start: int = 0) -> Any:
        """X as a checked array. `reset`: True learns width and names, False compares both, None only the width."""
        if reset is None:
            X = self._of_known_width(check_array(X, ensure_all_finite=False, **self._check_X))
        else:
            # Unlike the check of scikit-learn, `refuse_missing` locates infinities and NaN.
            X = validate_data(self, X, reset=reset, ensure_all_finite=False, **self._check_X)
        if hasattr(X, "tocsr") and not X.has_canonical_format:  # duplicate entries are summed
            X = X.copy()
            X.sum_duplicates()
        if not self._allow_missing:
            refuse_missing(X, getattr(self, "feature_names_in_", None), start)
        return X

    def _checked_rows(self, block: Block) -> Any:
        """The checked rows of a block of a source. Names are compared only if it is a frame."""
        if len(block) == 0:  # a filter may have dropped all of its rows
            return block.X
        return self._checked_X(block.X, False if hasattr(block.X, "columns") else None, block.start)

    def _of_known_width(self, X: Any) -> Any:
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )
        return X

    def _input_names(self, input_features: Any = None) -> list[str]:
        """The names of the columns of X: as given, as seen in `fit`, or x0, x1, ..."""
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            return [f"x{j}" for j in range(self.n_features_in_)] if known is None else [str(name) for name in known]
        check_input_names(input_features, self.n_features_in_, known)
        return [str(name) for name in input_features]

    def _checked_y(self, y: Any) -> np.ndarray:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        return np.asarray(y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._check_X.get("accept_sparse"))
        tags.input_tags.allow_nan = self._allow_missing
        tags.target_tags.required = self._needs_y
        return tags


class StreamingTransformer(TransformerMixin, StreamingEstimator):
    """A map of rows: `_apply` maps an array or CSR matrix, `transform` any supported input."""

    def transform(self, X: Any) -> Any:
        """Map the rows of X: an array gives an array (or CSR matrix), a `Source` a `Source` that maps as it reads."""
        return self._mapped(X, self._apply)

    def _apply(self, X: Any) -> Any:
        raise NotImplementedError

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        """Write the features of rows that are known to be valid into an array: `transform` for inner loops."""
        out[:] = self._apply(X)

    def _mapped(self, X: Any, function: Callable[[Any], Any]) -> Any:
        check_is_fitted(self)
        if isinstance(X, Source):
            mapped = X.map(lambda block: block.with_X(function(self._checked_rows(block))))
            mapped.names = [str(name) for name in self.get_feature_names_out()]
            mapped.derived = True
            return mapped
        return function(self._checked_X(X, reset=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class MixedTransformer(StreamingTransformer):
    """A transformer of columns of numbers, strings or any mixture, with missing values."""

    _check_X = {"dtype": None}
    _allow_missing = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


class InvertibleTransformer(StreamingTransformer):
    """An invertible map whose input and output columns correspond one to one."""

    def inverse_transform(self, X: Any) -> Any:
        """Invert the map: transformed rows in, original rows out."""
        check_is_fitted(self)
        X = X.tocsr() if hasattr(X, "tocsr") else as_float(np.asarray(X))
        if X.ndim != 2 or X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"inverse_transform expects {self.n_features_in_} columns, got an array of shape {X.shape}."
            )
        return self._invert(X)

    def _invert(self, X: Any) -> Any:
        raise NotImplementedError


def check_input_names(given: Sequence, n_features: int, known: np.ndarray | None) -> None:
    """Refuse names of input columns that are not those of fit, in the words of scikit-learn."""
    if len(given) != n_features:
        raise ValueError(
            f"input_features should have length equal to number of features ({n_features}), got {len(given)}"
        )
    if known is not None and not np.array_equal(known, np.asarray(given, dtype=object)):
        raise ValueError("input_features is not equal to feature_names_in_")


def seed_of(random_state: Any) -> int:
    """An integer seed from an int, a RandomState or None."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))
