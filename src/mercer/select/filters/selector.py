"""Filter selection: score every column on its own, keep the best."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from mercer._runtime.checks import check_whole, refuse_missing
from mercer._runtime.errors import DataError
from mercer.base import StreamingEstimator
from mercer.linear.passes import one_pass
from mercer.select.base import Selector, checked_target
from mercer.select.filters.association import Association
from mercer.select.filters.category_codes import (
    categorical_columns,
    categorical_table,
    encode_categories,
    take_columns,
)
from mercer.select.filters.cross_moments import ContingencyTables, CrossMoments
from mercer.select.filters.false_discovery import discoveries
from mercer.select.filters.scoring import score_by_histograms, score_by_pairs, score_by_ranks
from mercer.source import Columns, Source
from mercer.stats import Together

ONE_PASS = ("pearson", "squared")
SCORES = ("pearson", "spearman", "mutual_information", "pair_information", "squared", "logistic", "hinge")
_CLASSIFICATION_LOSSES = ("logistic", "hinge")


class _Parameter:
    """A parameter that is stored but cannot be read as an attribute.

    scikit-learn treats any attribute `score` of an estimator as its scoring method, which a filter does not have.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        raise AttributeError(f"{self.name!r} is a parameter here, not a method: read it from get_params().")

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)[self.name] = value


class FilterSelector(Selector):
    """Score each column on its own against the target; keep the best k, or all that pass a test.

    The scores, for a column v and a target y:

    - "pearson": |r|, the absolute correlation of v and y. For classes (or a categorical v) the correlation ratio, the
      root of the fraction of variance between groups; two classes give |r| again. For both, Cramer's V.
    - "spearman": the same on the ranks of v and y, ties averaged. It detects every monotone relation.
    - "mutual_information": I(v; y) in nats from counts, exact for discrete variables, else over quantile bins,
      corrected for the bias of the plug-in estimate. It detects every relation.
    - "pair_information": max over the other columns u of I(v; y | u), and I(v; y), over a few bins of each and
      bias-corrected. It detects columns that matter only in pairs, such as the two of y = [u v > 0], at the price of
      a table per pair. (It does not detect three columns that matter only together.)
    - "squared", "logistic", "hinge": 1 - (minimum loss of a predictor a v + c) / (minimum loss of a constant); for
      "squared" that is r^2. A categorical v may give each of its categories a value. More than two classes are
      predicted one against the rest, and the losses added.

    A score describes the column *alone and for that class of predictors*: a column of score zero may be indispensable
    together with others, which all scores but "pair_information" miss.

    Columns of text or of a categorical type of a table (pandas, polars, pyarrow, or a source of tables) are
    categorical, and missing values are a category of their own. `transform` then returns a table as well.

    "pearson" and "squared" take one pass and support `partial_fit` and `merge`. The information scores and the two
    classification losses take two passes (bins from a sample of rows, then counts over all; "pair_information" more
    for over some 700 columns). "spearman" sorts all rows in memory; from a source it sorts a sample.

    Use it first, on many columns, to leave out the hopeless ones. A score of single columns does not see that two
    columns repeat each other (`GreedySelector` does), nor, but for "pair_information", that they matter only together.
    It costs one pass, and a table of pairs for "pair_information".

    Parameters
    ----------
    score : str, default="pearson"
    k : int or "all", default=10
        How many columns to keep, the largest scores first. Not used with `fdr`.
    fdr : float, default=None
        Keep all columns that a test finds at this false discovery rate ("hinge" has no test).
    fdr_method : {"bh", "by"}, default="bh"
        Benjamini and Hochberg, or Benjamini and Yekutieli for any dependence; see `discoveries`.
    categorical : None, mask, indices or names of columns, default=None
        Columns of numbers that are codes of categories.
    target : {"auto", "numbers", "classes"}, default="auto"
        "auto": labels that are not numbers are classes, and so is every target of the logistic and hinge losses.
    n_bins : int, default=None
        Maximum number of bins of a column that is not categorical. None is 256 for the losses; for mutual information
        16, or fewer so that a cell expects at least five rows. Columns with no more distinct values are treated
        exactly. For "pair_information" it is 4, or fewer so that a cell expects at least ten rows; a categorical
        column then keeps its most frequent categories, and the others share the last bin.

    Attributes
    ----------
    scores_ : array, one nonnegative score per column; a constant column has 0
    correlations_ : array of signed correlations ("pearson", "spearman"; equal to `scores_` where there is no sign)
    pvalues_ : array of p-values of independence, None for "hinge"
        For "pair_information" the smallest p-value of the unconditional and conditional tests, times their number.
    partners_ : array, for "pair_information" the conditioning column of the score, -1 if unconditional
    categorical_columns_ : list of the columns of text or categories, if fitted on a table that has some
    support_ : mask of the selected columns

    References
    ----------
    Guyon and Elisseeff (2003); Benjamini and Hochberg (1995); Miller (1955); Fleuret (2004) for conditional
    mutual information.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.select import FilterSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> best = FilterSelector("mutual_information", k=2).fit(X, y)
    >>> best.get_feature_names_out().tolist()
    ['petal length (cm)', 'petal width (cm)']
    """

    def __init__(
        self,
        score: str = "pearson",
        k: int | str = 10,
        fdr: float | None = None,
        fdr_method: str = "bh",
        categorical: Any = None,
        target: str = "auto",
        n_bins: int | None = None,
    ):
        self.score = score
        self.k = k
        self.fdr = fdr
        self.fdr_method = fdr_method
        self.categorical = categorical
        self.target = target
        self.n_bins = n_bins

    score = _Parameter()
    _warns_if_empty = False
    _former = {"level_columns_": "categorical_columns_"}

    @property
    def _kind(self) -> str:
        return vars(self)["score"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: vars(self)[name] for name in self._get_param_names()}

    @property
    def _multi_pass(self) -> bool:
        return self._kind not in ONE_PASS

    def _checked_X(self, X: Any, reset: bool | None, start: int = 0) -> Any:
        table = categorical_table(X)
        if reset:
            self.__dict__.pop("categorical_columns_", None)
        if table is None:
            if hasattr(self, "categorical_columns_"):
                raise DataError("FilterSelector was fitted on a table with columns of text: give it such a table.")
            return super()._checked_X(X, reset, start)
        self._check_names(X, bool(reset))
        found = categorical_columns(X, table) if reset else []
        if found:
            self.categorical_columns_ = found
        X = encode_categories(table, getattr(self, "categorical_columns_", []))
        refuse_missing(X, getattr(self, "feature_names_in_", None), start)
        return X

    def _check_names(self, X: Any, reset: bool) -> None:
        if not isinstance(X, Columns):
            validate_data(self, X, reset=reset, skip_check_array=True)
        elif reset:
            self.n_features_in_, self.feature_names_in_ = len(X.columns), np.array(X.columns, dtype=object)
        elif X.columns != self._input_names():
            raise ValueError(f"The table has the columns {X.columns}, but was fitted with {self._input_names()}.")

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X: an array gives an array (or CSR matrix), a `Source` a `Source`.

        A table with columns of text or categories gives a table of the same library, its columns unchanged.
        """
        if not hasattr(self, "categorical_columns_"):
            return super().transform(X)
        kept = np.flatnonzero(self._get_support_mask())
        if not isinstance(X, Source):
            self._checked_X(X, reset=False)
            return take_columns(X, kept)
        mapped = X.map(lambda block: block.with_X(take_columns(block.X, kept)))
        mapped.names, mapped.derived = self.get_feature_names_out().tolist(), True
        return mapped

    @one_pass
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> FilterSelector:
        """Learn from more rows. However the rows are split into calls, the result is that of one `fit` on all."""
        if not hasattr(self, "_accumulator"):
            self._checked_X(X, reset=True)  # sets the column names, by which columns may be declared categorical
        return super().partial_fit(X, y, sample_weight)

    merge = one_pass(StreamingEstimator.merge)

    def _check_parameters(self) -> None:
        if self._kind not in SCORES:
            raise ValueError(f"score must be one of {', '.join(SCORES)}, not {self._kind!r}.")
        if self.k != "all":
            check_whole("k", self.k)
        if self.fdr is not None:
            if not isinstance(self.fdr, Real) or not 0 < self.fdr < 1:
                raise ValueError(f"fdr must lie between 0 and 1, not {self.fdr!r}.")
            if self._kind == "hinge":
                raise ValueError("score='hinge' has no test for fdr: use score='logistic' with fdr, or k.")
        if self.fdr_method not in ("bh", "by"):
            raise ValueError(f"fdr_method must be 'bh' or 'by', not {self.fdr_method!r}.")
        if self.target not in ("auto", "numbers", "classes"):
            raise ValueError(f"target must be 'auto', 'numbers' or 'classes', not {self.target!r}.")
        if self.target == "numbers" and self._kind in _CLASSIFICATION_LOSSES:
            raise ValueError(f"score={self._kind!r} needs classes; for target='numbers' use score='squared'.")
        if self.n_bins is not None:
            check_whole("n_bins", self.n_bins, 2)

    @property
    def _classification(self) -> bool:
        return self.target == "classes" or self._kind in _CLASSIFICATION_LOSSES

    def _checked_y(self, y: Any) -> np.ndarray:
        y = super()._checked_y(y)
        return checked_target(y, self._classification or not (self.target == "numbers" or _all_numbers(y)))

    def _empty(self) -> Together:
        tables = ContingencyTables(tuple(self._categorical_columns()), self._classification)
        return Together(moments=CrossMoments(self._classification), tables=tables)

    def _learn_from(self, source: Source) -> None:
        if not self._multi_pass:
            super()._learn_from(source)
            return
        self.__dict__.pop("_accumulator", None)
        categorical = self._categorical_columns()
        if self._kind == "spearman":
            self._set_scores(score_by_ranks(source, categorical, self._classification))
            return
        if self._kind == "pair_information":
            found = score_by_pairs(source, categorical, self._classification, self.n_bins)
            self.partners_ = found.partners
            self._set_scores(found.association)
            return
        self._set_scores(score_by_histograms(source, self._kind, categorical, self._classification, self.n_bins))

    def _finish(self, learned: Any) -> None:
        explained = self._kind == "squared"
        found = learned["moments"].association(explained)
        score, pvalue, signed = (np.array(part, dtype=np.float64) for part in found)
        for index, j in enumerate(learned["tables"].columns):
            one = learned["tables"].association(index, explained)
            score[j], pvalue[j], signed[j] = one.score[0], one.pvalue[0], one.signed[0]
        self._set_scores(Association(score, pvalue, signed))

    def _set_scores(self, found: Association) -> None:
        self.scores_ = found.score
        self.pvalues_ = None if self._kind == "hinge" else found.pvalue
        if self._kind in ("pearson", "spearman"):
            self.correlations_ = found.signed
        if self.fdr is not None:
            self.support_ = discoveries(found.pvalue, self.fdr, self.fdr_method)
            return
        self.support_ = np.zeros(len(self.scores_), dtype=bool)
        k = len(self.scores_) if self.k == "all" else self.k
        self.support_[np.argsort(-self.scores_, kind="stable")[:k]] = True

    def _categorical_columns(self) -> list[int]:
        names = getattr(self, "feature_names_in_", None)
        declared = column_indices(self.categorical, range(self.n_features_in_) if names is None else names.tolist())
        return sorted({*declared, *getattr(self, "categorical_columns_", ())})


def column_indices(categorical: Any, names: Sequence[Any]) -> list[int]:
    """Return the indices of columns given by a mask, by indices or by names."""
    if categorical is None:
        return []
    given = np.asarray(categorical)
    if given.dtype.kind == "b":
        if len(given) != len(names):
            raise ValueError(f"The mask of categorical columns has {len(given)} entries for {len(names)} columns.")
        return np.flatnonzero(given).tolist()
    index_of = {name: j for j, name in enumerate(names)}
    found = []
    for name in given.ravel().tolist():
        if isinstance(name, str) and name in index_of:
            found.append(index_of[name])
        elif not isinstance(name, str) and float(name).is_integer() and 0 <= name < len(names):
            found.append(int(name))
        else:
            raise ValueError(f"categorical names {name!r}, but there is no column {name!r}.")
    return sorted(set(found))


def _all_numbers(y: np.ndarray) -> bool:
    if y.dtype.kind in "iuf":
        return True
    return y.dtype.kind == "O" and all(isinstance(v, Real) and not isinstance(v, bool) for v in y.ravel().tolist())
