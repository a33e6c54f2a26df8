"""Filters: every column is scored alone, the best are kept."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils.validation import validate_data

from mercer._runtime.checks import check_whole, refuse_missing
from mercer.base import StreamingEstimator
from mercer.linear.passes import one_pass
from mercer.select.base import checked_target
from mercer.select.filters.association import Association
from mercer.select.filters.cross_moments import CrossMoments, LevelTables
from mercer.select.filters.discoveries import discoveries
from mercer.select.filters.named_levels import coded_levels, level_columns, level_table, some_columns
from mercer.select.filters.passes import by_histogram, by_pairs, by_ranks
from mercer.select.resampling.threshold import ThresholdSelector
from mercer.source import Columns, Source
from mercer.stats import Together

ONE_PASS = ("pearson", "squared")
SCORES = ("pearson", "spearman", "mutual_information", "pair_information", "squared", "logistic", "hinge")
_LOSSES_OF_CLASSES = ("logistic", "hinge")


class _Parameter:
    """A parameter that is stored but cannot be read as an attribute.

    scikit-learn takes whatever an estimator calls `score` for its method of scoring, which a filter does not have.
    """

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        raise AttributeError(f"{self.name!r} is a parameter here, not a method: read it from get_params().")

    def __set__(self, instance, value):
        vars(instance)[self.name] = value


class FilterSelector(ThresholdSelector):
    """Score each column alone against the target, and keep the best k, or all whose score cannot be chance.

    The scores, for a column v and a target y:

    - "pearson": |r|, the absolute correlation of v and y. For classes (or a categorical v) the correlation ratio, the
      root of the share of variance between groups; two classes give |r| again. For both, Cramer's V.
    - "spearman": the same after ranking both v and y, ties at the middle of their ranks. It sees every monotone
      relation.
    - "mutual_information": I(v; y) in nats from counts, exact for discrete variables, else over quantile bins, less
      the bias of counting. It sees every relation.
    - "pair_information": max over the other columns u of I(v; y | u), and I(v; y): what v tells alone or in the company
      of one other, over a few bins of each, less the bias. It sees columns that work in pairs only, such as the two
      of y = [u v > 0], at the price of a table for every pair. (Three that work in threes only it does not see.)
    - "squared", "logistic", "hinge": 1 - (least loss of a predictor a v + c) / (least loss of a constant); for
      "squared" that is r^2. A categorical v may give each of its levels a value. More than two classes are
      predicted one against the others, and the losses added.

    A score says how good the column is *alone and for that class of predictors*: a column of score zero may be
    indispensable together with others, and all scores but "pair_information" are blind to that.

    Columns of text or of a categorical type of a table (pandas, polars, pyarrow, or a source of tables) are
    categorical, a missing level being a level of its own. Then `transform` gives a table as well.

    "pearson" and "squared" take one pass, with `partial_fit` and `merge`. The informations and the two losses of
    classes take two (bins from a sample of rows, then counts over all; "pair_information" more from some 700
    columns on). "spearman" sorts all rows in memory; from a source it sorts the sample.

    Parameters
    ----------
    score : str, default="pearson"
    k : int or "all", default=10
        How many columns to keep, the largest scores first. Not used with `fdr`.
    fdr : float, default=None
        Keep all columns found by a test at this expected share of false ones (there is none for "hinge").
    fdr_method : {"bh", "by"}, default="bh"
        Benjamini and Hochberg, or Benjamini and Yekutieli for any dependence; see `discoveries`.
    categorical : None, mask, indices or names of columns, default=None
        Columns of numbers that are names of levels, not amounts.
    target : {"auto", "numbers", "classes"}, default="auto"
        "auto": labels that are not numbers are classes, and so is whatever the logistic and hinge losses are given.
    n_bins : int, default=None
        Most bins of a column that is not categorical; None for 256 for the losses, and for mutual information 16, or
        so few that a cell may expect five rows. Columns with no more distinct values than that are treated exactly.
        For "pair_information" 4, or so few that a cell may expect ten rows; there a categorical column keeps its most
        frequent levels, and the others share the last bin.

    Attributes
    ----------
    scores_ : array, one per column, none negative; a constant column has 0
    correlations_ : array, the signed correlations ("pearson", "spearman"; where there is no sign, as `scores_`)
    pvalues_ : array of p-values of independence, None for "hinge"; for "pair_information" the least of the tests alone
        and beside each other column, times their number
    partners_ : for "pair_information" the column beside which each tells most, -1 if alone
    level_columns_ : list of the columns of text or categories, if fitted on a table that has some
    support_ : mask of the columns kept

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
        score="pearson",
        k=10,
        fdr=None,
        fdr_method="bh",
        categorical=None,
        target="auto",
        n_bins=None,
    ):
        self.score = score
        self.k = k
        self.fdr = fdr
        self.fdr_method = fdr_method
        self.categorical = categorical
        self.target = target
        self.n_bins = n_bins

    score = _Parameter()

    @property
    def _kind(self) -> str:
        return vars(self)["score"]

    def get_params(self, deep=True):
        """The parameters by name."""
        return {name: vars(self)[name] for name in self._get_param_names()}

    @property
    def _multi_pass(self) -> bool:
        return self._kind not in ONE_PASS

    def _checked_X(self, X, reset, start=0):
        table = level_table(X)
        if reset:
            self.__dict__.pop("level_columns_", None)
        if table is None:
            if hasattr(self, "level_columns_"):
                raise ValueError("FilterSelector was fitted on a table with columns of text: give it such a table.")
            return super()._checked_X(X, reset, start)
        self._check_names(X, bool(reset))
        found = level_columns(X, table) if reset else []
        if found:
            self.level_columns_ = found
        X = coded_levels(table, getattr(self, "level_columns_", []))
        refuse_missing(X, getattr(self, "feature_names_in_", None), start)
        return X

    def _check_names(self, X, reset):
        if not isinstance(X, Columns):
            validate_data(self, X, reset=reset, skip_check_array=True)
        elif reset:
            self.n_features_in_, self.feature_names_in_ = len(X.columns), np.array(X.columns, dtype=object)
        elif X.columns != self._input_names():
            raise ValueError(f"The table has the columns {X.columns}, but was fitted with {self._input_names()}.")

    def transform(self, X):
        """The selected columns of X: an array gives an array (or CSR matrix), a `Source` a `Source`.

        A table with columns of text or categories gives a table of its own library, its columns as they are.
        """
        if not hasattr(self, "level_columns_"):
            return super().transform(X)
        kept = np.flatnonzero(self._get_support_mask())
        if not isinstance(X, Source):
            self._checked_X(X, reset=False)
            return some_columns(X, kept)
        mapped = X.map(lambda block: block.with_X(some_columns(block.X, kept)))
        mapped.names, mapped.derived = self.get_feature_names_out().tolist(), True
        return mapped

    @one_pass
    def partial_fit(self, X, y=None, sample_weight=None):
        """Learn from more rows. After any cut of the data into calls the result is that of one `fit` on all."""
        if not hasattr(self, "_accumulator"):
            self._checked_X(X, reset=True)  # names of columns come first: some may be said to be categorical
        return super().partial_fit(X, y, sample_weight)

    merge = one_pass(StreamingEstimator.merge)

    def _check_parameters(self):
        if self._kind not in SCORES:
            raise ValueError(f"score must be one of {', '.join(SCORES)}, not {self._kind!r}.")
        if self.k != "all":
            check_whole("k", self.k)
        if self.fdr is not None:
            if not isinstance(self.fdr, Real) or not 0 < self.fdr < 1:
                raise ValueError(f"fdr must lie between 0 and 1, not {self.fdr!r}.")
            if self._kind == "hinge":
                raise ValueError("The hinge score has no test: use score='logistic' with fdr, or k.")
        if self.fdr_method not in ("bh", "by"):
            raise ValueError(f"fdr_method must be 'bh' or 'by', not {self.fdr_method!r}.")
        if self.target not in ("auto", "numbers", "classes"):
            raise ValueError(f"target must be 'auto', 'numbers' or 'classes', not {self.target!r}.")
        if self.target == "numbers" and self._kind in _LOSSES_OF_CLASSES:
            raise ValueError(f"The {self._kind} loss needs classes; for numbers use score='squared'.")
        if self.n_bins is not None:
            check_whole("n_bins", self.n_bins, 2)

    @property
    def _by_class(self) -> bool:
        return self.target == "classes" or self._kind in _LOSSES_OF_CLASSES

    def _checked_y(self, y):
        y = super()._checked_y(y)
        return checked_target(y, self._by_class or not (self.target == "numbers" or _all_numbers(y)))

    def _empty(self):
        levels = LevelTables(tuple(self._categorical_columns()), self._by_class)
        return Together(moments=CrossMoments(self._by_class), levels=levels)

    def _learn_from(self, source):
        if not self._multi_pass:
            super()._learn_from(source)
            return
        self.__dict__.pop("_accumulator", None)
        categorical = self._categorical_columns()
        if self._kind == "spearman":
            self._set_scores(by_ranks(source, categorical, self._by_class))
            return
        if self._kind == "pair_information":
            found = by_pairs(source, categorical, self._by_class, self.n_bins)
            self.partners_ = found.partners
            self._set_scores(found.association)
            return
        self._set_scores(by_histogram(source, self._kind, categorical, self._by_class, self.n_bins))

    def _finish(self, learned):
        share = self._kind == "squared"
        found = learned["moments"].association(share)
        score, pvalue, signed = (np.array(part, dtype=np.float64) for part in found)
        for place, j in enumerate(learned["levels"].columns):
            alone = learned["levels"].association(place, share)
            score[j], pvalue[j], signed[j] = alone.score[0], alone.pvalue[0], alone.signed[0]
        self._set_scores(Association(score, pvalue, signed))

    def _set_scores(self, found: Association):
        self.scores_ = found.score
        self.pvalues_ = None if self._kind == "hinge" else found.pvalue
        if self._kind in ("pearson", "spearman"):
            self.correlations_ = found.signed
        if self.fdr is not None:
            self.support_ = discoveries(found.pvalue, self.fdr, self.fdr_method)
            return
        self.support_ = np.zeros(len(self.scores_), dtype=bool)
        most = len(self.scores_) if self.k == "all" else self.k
        self.support_[np.argsort(-self.scores_, kind="stable")[:most]] = True

    def _categorical_columns(self) -> list[int]:
        names = getattr(self, "feature_names_in_", None)
        said = columns_named(self.categorical, range(self.n_features_in_) if names is None else names.tolist())
        return sorted({*said, *getattr(self, "level_columns_", ())})


def columns_named(named, names) -> list[int]:
    """The indices of columns given by a mask, by indices or by names."""
    if named is None:
        return []
    asked = np.asarray(named)
    if asked.dtype.kind == "b":
        if len(asked) != len(names):
            raise ValueError(f"The mask of categorical columns has {len(asked)} entries for {len(names)} columns.")
        return np.flatnonzero(asked).tolist()
    places = {name: j for j, name in enumerate(names)}
    found = []
    for name in asked.ravel().tolist():
        if isinstance(name, str) and name in places:
            found.append(places[name])
        elif not isinstance(name, str) and float(name).is_integer() and 0 <= name < len(names):
            found.append(int(name))
        else:
            raise ValueError(f"There is no column {name!r} to be categorical.")
    return sorted(set(found))


def _all_numbers(y) -> bool:
    if y.dtype.kind in "iuf":
        return True
    return y.dtype.kind == "O" and all(isinstance(v, Real) and not isinstance(v, bool) for v in y.ravel().tolist())
