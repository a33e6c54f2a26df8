"""One-hot encoding of categorical columns."""

from __future__ import annotations

from collections import Counter
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mercer.normalize.categorical import CategoricalTransformer
from mercer.stats import Counts
from mercer.stats.counts import Levels, distinct

_OTHER, _MISSING = "other", "missing"


class OneHot(CategoricalTransformer):
    """One-hot encoding, one indicator per category: f <- (1[f = c_1], ..., 1[f = c_k]).

    Columns may hold numbers, strings or any mixture; a missing value (None, NaN) is a category of its own.
    Categories are sorted, numbers before strings, missing last. Later calls of `partial_fit` add new categories.

    The indicators of a column sum to one, so they are collinear with an intercept: use a penalty or a minimum-norm
    solution, as the linear models here do, or drop one.

    Use it for columns of few categories; columns of hundreds make as many indicators, for which `TargetEncoding` or
    `FeatureHashing` are shorter. It costs one pass, and memory for the categories.

    Parameters
    ----------
    max_levels : int or None, default None
        Keep this many most frequent categories of a column (ties go to the first in sorted order) and merge the
        other categories seen by `fit` into one more column, "other".
    unseen : "zeros" or "error", default "zeros"
        How `transform` treats a category that `fit` has not seen: all indicators zero, or a ValueError.
    sparse_output : bool, default True
        Return a CSR matrix. False returns an array, which `set_output` needs.

    Attributes
    ----------
    categories_ : list of n_features_in_ arrays
        Categories with their own column; None stands for missing.
    others_ : list of n_features_in_ arrays
        Categories merged into "other"; if empty, there is no such column.

    Examples
    --------
    >>> from mercer.normalize import OneHot
    >>> colors = OneHot().fit([["red"], ["blue"], [None]])
    >>> colors.get_feature_names_out(["color"]).tolist()
    ['color=blue', 'color=red', 'color=missing']
    >>> colors.transform([["red"], ["green"]]).toarray()
    array([[0., 1., 0.],
           [0., 0., 0.]])
    """

    #: Attributes of model files of format 1 that were renamed.
    _former = {"_places": "_code_of"}

    def __init__(self, max_levels: int | None = None, unseen: str = "zeros", sparse_output: bool = True):
        self.max_levels = max_levels
        self.unseen = unseen
        self.sparse_output = sparse_output

    def _check_parameters(self) -> None:
        if self.unseen not in ("zeros", "error"):
            raise ValueError(f"unseen must be 'zeros' or 'error', not {self.unseen!r}.")
        if self.max_levels is not None and (not isinstance(self.max_levels, Integral) or self.max_levels < 1):
            raise ValueError(f"max_levels must be a whole number of at least 1 or None, not {self.max_levels!r}.")

    def _empty(self) -> Counts:
        return Counts()

    def _finish(self, learned: list[Levels]) -> None:
        split = [_most_frequent(column, self.max_levels) for column in learned]
        self.categories_ = [kept for kept, _ in split]
        self.others_ = [others for _, others in split]
        self._number_indicators()

    def _number_indicators(self) -> None:
        split = list(zip(self.categories_, self.others_, strict=True))
        widths = [len(kept) + (len(others) > 0) for kept, others in split]
        self._starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
        self._code_of = [_codes(kept, others) for kept, others in split]

    def _check_loaded(self) -> None:
        if hasattr(self, "categories_"):
            self._number_indicators()

    def _apply(self, X: Any) -> Any:
        codes = np.empty(X.shape, dtype=np.intp)
        for j, code_of in enumerate(self._code_of):
            codes[:, j] = self._codes(X[:, j], code_of, j)
        known = codes >= 0
        indices = (codes + self._starts[:-1])[known]
        indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        shape = (X.shape[0], int(self._starts[-1]))
        result = sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=shape)
        return result if self.sparse_output else result.toarray()

    def _codes(self, column: np.ndarray, code_of: dict[Any, int], j: int) -> np.ndarray:
        """The indicator of each row within column j, or -1 for an unseen category."""
        categories, codes = distinct(column)
        found = np.array([code_of.get(category, -1) for category in categories], dtype=np.intp)[codes]
        if self.unseen == "error" and np.any(found < 0):
            row = int(np.flatnonzero(found < 0)[0])
            raise ValueError(
                f"Column {self._input_names()[j]!r} has the category {column[row]!r} at row {row}, which fit "
                "has not seen. Fit on data that contain it, or use unseen='zeros'."
            )
        return found

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the category of each row and column, as objects; None if missing or all indicators are zero.

        The indicator "other" gives the string "other".
        """
        check_is_fitted(self)
        X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self._starts[-1]:
            width = self._starts[-1]
            raise ValueError(f"inverse_transform expects {width} columns, got an array of shape {X.shape}.")
        result = np.empty((X.shape[0], self.n_features_in_), dtype=object)
        for j, (kept, others) in enumerate(zip(self.categories_, self.others_, strict=True)):
            part = X[:, self._starts[j] : self._starts[j + 1]]
            part = part.toarray() if sparse.issparse(part) else part
            categories = np.empty(part.shape[1] + 1, dtype=object)
            categories[: len(kept)] = kept.tolist()
            if len(others):
                categories[-2] = _OTHER
            strongest = part.argmax(axis=1)
            blank = part[np.arange(len(part)), strongest] <= 0
            result[:, j] = categories[np.where(blank, len(categories) - 1, strongest)]
        return result

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return names such as `color=red`, `color=missing` and `color=other`."""
        names = self._input_names(input_features)
        columns = zip(names, self.categories_, self.others_, strict=True)
        out = [f"{name}={label}" for name, kept, others in columns for label in _labels(kept, others)]
        return np.array(out, dtype=object)


def _most_frequent(column: Levels, max_levels: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The categories to keep and the others, both in sorted order."""
    if max_levels is None or len(column.levels) <= max_levels:
        return column.levels, column.levels[:0]
    kept = np.zeros(len(column.levels), dtype=bool)
    kept[np.argsort(-column.counts, kind="stable")[:max_levels]] = True
    return column.levels[kept], column.levels[~kept]


def _codes(kept: np.ndarray, others: np.ndarray) -> dict[Any, int]:
    """The indicator of each category."""
    codes = {category: i for i, category in enumerate(kept.tolist())}
    return codes | dict.fromkeys(others.tolist(), len(kept))


def _labels(kept: np.ndarray, others: np.ndarray) -> list[str]:
    """The labels of the indicators of a column; strings that would give equal labels are quoted."""
    merged = len(others) > 0
    plain = [_MISSING if each is None else str(each) for each in kept.tolist()] + [_OTHER] * merged
    counts = Counter(plain)
    categories = kept.tolist() + [None] * merged
    return [
        repr(category) if counts[label] > 1 and isinstance(category, str) else label
        for label, category in zip(plain, categories, strict=True)
    ]
