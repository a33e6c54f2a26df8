"""Categories as indicator columns."""

from __future__ import annotations

from collections import Counter
from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mercer.normalize.levels import LevelTransformer
from mercer.stats import Counts
from mercer.stats.counts import Levels, distinct

_OTHER, _MISSING = "other", "missing"


class OneHot(LevelTransformer):
    """One indicator column per level: f <- (1[f = l_1], ..., 1[f = l_k]).

    Columns may hold numbers, strings or any mixture; a missing value (None, NaN) is a level of its own.
    Levels are sorted, numbers before strings, missing last. Levels that turn up in later calls of
    `partial_fit` are added.

    The indicators of one column sum to one, so next to an intercept they are linearly dependent: use a
    penalty or a minimum-norm solution, as the linear models here do, or leave one out.

    Parameters
    ----------
    max_levels : int or None, default None
        Keep this many most frequent levels of a column (ties go to the first in sorted order) and collect the
        other levels seen by `fit` in one column more, "other".
    unseen : "zeros" or "error", default "zeros"
        What `transform` does with a level that `fit` has not seen: all indicators zero, or a ValueError.
    sparse_output : bool, default True
        Give a CSR matrix. False gives an array, which `set_output` needs.

    Attributes
    ----------
    categories_ : list of n_features_in_ arrays
        The levels with a column of their own; None stands for missing.
    others_ : list of n_features_in_ arrays
        The levels collected under "other"; without any there is no such column.

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

    def __init__(self, max_levels=None, unseen="zeros", sparse_output=True):
        self.max_levels = max_levels
        self.unseen = unseen
        self.sparse_output = sparse_output

    def _check_parameters(self):
        if self.unseen not in ("zeros", "error"):
            raise ValueError(f"unseen must be 'zeros' or 'error', not {self.unseen!r}.")
        if self.max_levels is not None and (not isinstance(self.max_levels, Integral) or self.max_levels < 1):
            raise ValueError(f"max_levels must be a whole number of at least 1 or None, not {self.max_levels!r}.")

    def _empty(self):
        return Counts()

    def _finish(self, learned: list[Levels]):
        split = [_most_frequent(column, self.max_levels) for column in learned]
        self.categories_ = [kept for kept, _ in split]
        self.others_ = [others for _, others in split]
        widths = [len(kept) + (len(others) > 0) for kept, others in split]
        self._starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
        self._places = [_places(kept, others) for kept, others in split]

    def _apply(self, X):
        codes = np.empty(X.shape, dtype=np.intp)
        for j, places in enumerate(self._places):
            codes[:, j] = self._codes(X[:, j], places, j)
        known = codes >= 0
        indices = (codes + self._starts[:-1])[known]
        indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        shape = (X.shape[0], int(self._starts[-1]))
        result = sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=shape)
        return result if self.sparse_output else result.toarray()

    def _codes(self, column, places, j):
        """The indicator of each row within column j, or -1 for an unseen level."""
        levels, codes = distinct(column)
        found = np.array([places.get(level, -1) for level in levels], dtype=np.intp)[codes]
        if self.unseen == "error" and np.any(found < 0):
            row = int(np.flatnonzero(found < 0)[0])
            raise ValueError(
                f"Column {self._input_names()[j]!r} has the level {column[row]!r} at row {row}, which fit "
                "has not seen. Fit on data that have it, or use unseen='zeros'."
            )
        return found

    def inverse_transform(self, X):
        """The level of each row and column, as objects; None where it was missing or all indicators are zero.

        The indicator "other" gives the string "other": which level it was is not kept.
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
            levels = np.empty(part.shape[1] + 1, dtype=object)
            levels[: len(kept)] = kept.tolist()
            if len(others):
                levels[-2] = _OTHER
            strongest = part.argmax(axis=1)
            blank = part[np.arange(len(part)), strongest] <= 0
            result[:, j] = levels[np.where(blank, len(levels) - 1, strongest)]
        return result

    def get_feature_names_out(self, input_features=None):
        """Names such as `color=red`, `color=missing` and `color=other`."""
        names = self._input_names(input_features)
        levels = zip(names, self.categories_, self.others_, strict=True)
        out = [f"{name}={label}" for name, kept, others in levels for label in _labels(kept, others)]
        return np.array(out, dtype=object)


def _most_frequent(column: Levels, most):
    """The levels to keep and the others, both in sorted order."""
    if most is None or len(column.levels) <= most:
        return column.levels, column.levels[:0]
    kept = np.zeros(len(column.levels), dtype=bool)
    kept[np.argsort(-column.counts, kind="stable")[:most]] = True
    return column.levels[kept], column.levels[~kept]


def _places(kept, others) -> dict:
    """{level: its indicator}."""
    places = {level: i for i, level in enumerate(kept.tolist())}
    return places | dict.fromkeys(others.tolist(), len(kept))


def _labels(kept, others) -> list[str]:
    """What the indicators of a column are called; levels that read alike are quoted."""
    plain = [_MISSING if level is None else str(level) for level in kept.tolist()] + [_OTHER] * (len(others) > 0)
    often = Counter(plain)
    levels = kept.tolist() + [None] * (len(others) > 0)
    return [
        repr(level) if often[label] > 1 and isinstance(level, str) else label
        for label, level in zip(plain, levels, strict=True)
    ]
