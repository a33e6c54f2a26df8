"""Base of kernel machines: reading rows of any kind, resolving the kernel, scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._numeric.block import Block, concatenate, take_rows
from mercer._runtime.blas import SingleThreadedVerbs
from mercer._runtime.checks import check_weight, refuse_missing
from mercer.kernels import Kernel, KernelParameter
from mercer.machines import similarity
from mercer.source import MemorySource, Source
from mercer.stats import Sample

#: Distinct rows on which a bandwidth is resolved.
_SAMPLE_ROWS = 2048


class KernelMachine(KernelParameter, SingleThreadedVerbs, BaseEstimator):
    """A predictor f(x) = sum_i a_i k(x, x_i): it sees rows through a kernel only.

    Rows are arrays, CSR matrices, frames or a `Source`; sequences of any objects where the kernel reads objects
    (`Custom`, `Overlap`); the square matrix of similarities for `Precomputed()`, and later the similarities of new
    rows to the training rows.
    """

    _needs_y = False
    #: Consequence of a similarity that is not Mercer, for the warning.
    _if_not_mercer = ""

    def _checked_rows(self, X: Any, reset: bool, start: int = 0) -> Any:
        """X as a checked array, CSR matrix or frame, or a one-dimensional array of objects."""
        kernel = self._kernel()
        if similarity.names_columns(kernel) and hasattr(X, "columns"):
            return validate_data(self, X, reset=reset, skip_check_array=True)
        if similarity.reads_objects(kernel) and not _is_numeric_table(X):
            return _objects(X)
        given, kinds = X, [np.float64, np.float32]
        X = check_array(X, dtype=kinds, accept_sparse="csr", ensure_all_finite=False, estimator=self, input_name="X")
        if hasattr(X, "tocsr") and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        refuse_missing(X, list(given.columns) if hasattr(given, "columns") else None, start)
        validate_data(self, given if hasattr(given, "columns") else X, reset=reset, skip_check_array=True)
        if reset and similarity.is_pairwise(kernel) and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed similarities of the training rows to each other are a square matrix, not {X.shape}."
            )
        return X

    def _read(self, X: Any, y: Any = None, sample_weight: Any = None) -> Block:
        """All rows in memory, checked; those of a source are collected."""
        if isinstance(X, Source):
            refuse_contradiction(y, sample_weight)
            rows = X.collect()
            X, y, sample_weight = rows.X, rows.y, rows.weight
        X = self._checked_rows(X, reset=True)
        y = self._checked_y(y, X.shape[0]) if self._needs_y else None
        weight = check_weight(sample_weight, X.shape[0])
        if weight is not None and not np.any(weight > 0):
            raise ValueError("All sample weights are zero: there is nothing to learn from.")
        return Block(X, y, weight)

    def _checked_y(self, y: Any, n: int) -> np.ndarray:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        y = self._target(y)
        if len(y) != n:
            raise ValueError(f"X has {n} rows but y has {len(y)} entries.")
        return y

    def _target(self, y: Any) -> np.ndarray:
        raise NotImplementedError

    def _resolved_kernel(self, X: Any, weight: np.ndarray | None = None) -> Kernel:
        """The kernel with every parameter a number; repeated rows and rows of weight zero have no influence."""
        if self._is_data_dependent and _is_numeric_table(X):
            return self._kernel_resolved_in(MemorySource(X, weight=weight))
        return self._kernel_resolved_on(X)

    def _kernel_resolved_in(self, source: Source) -> Kernel:
        """The same from the rows of a source."""
        if not self._is_data_dependent:
            return self._kernel()
        return self._kernel_resolved_on(source.fold(Sample(_SAMPLE_ROWS)).finish().X)

    def _kernel_resolved_on(self, sample: Any) -> Kernel:
        return self._kernel().resolve(take_rows(sample, slice(0, _SAMPLE_ROWS)))

    @property
    def _is_data_dependent(self) -> bool:
        return self._kernel().is_data_dependent

    def _new_rows(self, X: Any) -> Any:
        """Rows to predict for, as the kernel wants to see them beside the rows kept."""
        check_is_fitted(self)
        return self._checked_rows(X, reset=False)

    def _scores(self, X: Any, kept: Any, dual_coef: np.ndarray, support: np.ndarray | None = None) -> np.ndarray:
        """sum_i a_i k(x, x_i) for each row x of X; `support` are the indices of the training rows kept."""
        X = self._new_rows(X)
        if support is not None and similarity.is_pairwise(self.kernel_):
            X = X[:, support]
        return similarity.products(self.kernel_, X, kept, dual_coef)

    def _check_applies(self) -> None:
        """Apply a loaded machine to a row that it keeps, which parts that do not fit together cannot be."""
        kept = getattr(self, "X_fit_", getattr(self, "support_vectors_", None))
        verb = getattr(self, "predict", None) or getattr(self, "transform", None)
        if kept is not None and verb is not None:
            verb(take_rows(kept, slice(0, 1)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = similarity.is_pairwise(self._kernel_if_valid())
        tags.target_tags.required = self._needs_y
        return tags


def numeric_target(y: Any) -> np.ndarray:
    """A vector or matrix of numbers as float64."""
    y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y")
    return y.astype(np.float64, copy=False)


def known_classes(y: np.ndarray, learner: Any) -> tuple[np.ndarray, np.ndarray]:
    """The sorted labels and the code of each entry of y; at least two labels are needed."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{type(learner).__name__} needs at least two classes, but y has only one class: {classes[0]!r}."
        )
    return classes, codes


def predicted_classes(scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The class with the largest score, or by the sign of a single score."""
    return classes[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]


def refuse_contradiction(y: Any, sample_weight: Any) -> None:
    """Raise if target or weights are given beside a source."""
    if y is not None or sample_weight is not None:
        raise ValueError("A Source brings its own target and weights: give them to the source, not to fit.")


def stacked(first: Any, second: Any) -> Any:
    """The rows of both, in order."""
    if hasattr(first, "columns"):
        import narwhals

        both = narwhals.concat([narwhals.from_native(first), narwhals.from_native(second)])
        return narwhals.to_native(both)
    return concatenate(Block(first), Block(second)).X


def are_objects(X: Any) -> bool:
    """Whether the checked rows are objects or a frame of mixed columns, not numbers."""
    return hasattr(X, "columns") or getattr(X, "dtype", None) == np.dtype(object)


def _is_numeric_table(X: Any) -> bool:
    if hasattr(X, "tocsr"):
        return True
    try:
        array = np.asarray(X)
    except ValueError:  # rows of different lengths
        return False
    # One-dimensional numbers are refused later, with a message.
    return array.dtype.kind in "fiubc"


def _objects(X: Any) -> np.ndarray:
    if hasattr(X, "columns") or (isinstance(X, np.ndarray) and X.dtype == object):
        return X
    rows = np.empty(len(X), dtype=object)
    for i, row in enumerate(X):
        rows[i] = row
    return rows
