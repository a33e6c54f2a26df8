"""Forward greedy selection for any loss, from rows or from one pass of statistics."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.utils.metaestimators import available_if

from mercer.base import StreamingEstimator, seed_of
from mercer.linear.passes import one_pass
from mercer.select import stopping
from mercer.select.base import LinearPredictor, Selector, gathered, two_classes
from mercer.select.candidates import Columns, Pairs, column_term
from mercer.select.forward import forward, pursue
from mercer.select.geometry import FromGram, FromRows
from mercer.select.parameters import check_greedy, column_numbers, groups_of
from mercer.select.risks import RISKS
from mercer.select.stagewise import Task, climb
from mercer.select.terms import as_terms, term_columns, term_names
from mercer.source import MemorySource
from mercer.stats import Gram

#: Up to here a Gram matrix costs no more than the steps it saves; wider arrays are looked at column by column.
GRAM_COLUMNS = 512


class GreedySelector(LinearPredictor, Selector):
    """Forward greedy selection: features join one at a time, each the one that helps the chosen ones most.

    With the squared loss and refits it is orthogonal least squares: the next feature is

        argmax_j <u_j, y>^2 / ||u_j||^2,

    u_j being what is left of column j when its projection on the chosen ones is taken away, so that after every step
    the least-squares fit on the chosen columns is the best that one more column can give. A logistic, hinge or
    exponential loss makes it a classifier of two classes (the exponential one lowers log mean exp(-y f), as AdaBoost);
    rows of a source are then brought into memory. Whoever is `mercer.source.listening` hears of every step.

    Parameters
    ----------
    k : int, default=10
        The most features (or groups of columns) to choose, besides those of `include`.
    loss : {"squared", "logistic", "hinge", "exponential"}, default="squared"
    step : {"refit", "line", "gradient"}, default="refit"
        What a candidate is judged by: the loss after fitting all weights anew, after the best step along it alone, or
        what one Newton step along it promises, g_j^2 / H_jj (for the hinge, which has no curvature, g_j^2 / ||x_j||^2).
    refit : bool, default=True
        Fit the weights of all chosen features anew after each step. Without it only the chosen weight moves, features
        may be chosen again, and k counts steps: matching pursuit, or AdaBoost for the exponential loss.
    interactions : {1, 2}, default=1
        With 2 the products of two columns are candidates too. They are never written out.
    include : columns, by number or name, that are in from the start
    groups : one label per column, or None
        Columns of one label are chosen together, such as the one-hot columns of one variable.
    stop : {None, "folds", "bic", "aic"}, default=None
        Keep all steps, those with the least loss on held-out folds (the selection is repeated without each fold), or
        those with the least information criterion. At least one step is kept.
    n_folds : int, default=5
        Folds for stop="folds"; rows fall into them by their hash.
    fit_intercept : bool, default=True
    alpha : float, default=1e-3
        Penalty on the sum of squared weights (of columns scaled to unit spread) in refits of losses other than the
        squared one: data that a plane separates have no best fit without.
    solver : {"auto", "gram", "rows"}, default="auto"
        For the squared loss: from a Gram matrix (one pass over any source, then none; `partial_fit`, `merge`) or from
        rows in memory (one product X'q per step). "auto" takes the rows of an array of more than 512 columns.
    random_state : int, default=0
        Seed of the assignment to folds.

    Attributes
    ----------
    support_ : mask of the columns chosen (with interactions=2: that occur in a chosen feature)
    path_ : record array with one entry per step: feature, risk, gain, score
        The feature (a column, the place of a group in `groups_`, or with interactions=2 a pair of columns, the second
        -1 for a column alone), the mean loss after the step, what the rule expected to gain, and what `stop` judges by.
    n_steps_ : int, the steps kept
    ranking_ : for each column the step that chose it, 0 for `include`, one more than the last step for the others
    coef_, intercept_ : one weight per column, zero for those not chosen (interactions=2: per column of `transform`)
    terms_ : with interactions=2, the features that `transform` makes: pairs of columns
    groups_ : the labels of the groups in sorted order
    classes_ : the two labels, for classifiers

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.select import GreedySelector
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GreedySelector(k=3).fit(X, y)
    >>> model.path_.feature.tolist(), model.get_feature_names_out().tolist()
    ([2, 8, 3], ['bmi', 'bp', 's5'])
    >>> round(model.score(X, y), 2)
    0.48

    References
    ----------
    S. Chen, S. A. Billings and W. Luo (1989). Orthogonal least squares methods and their application to non-linear
    system identification. International Journal of Control 50(5).
    """

    def __init__(
        self,
        k=10,
        loss="squared",
        step="refit",
        refit=True,
        interactions=1,
        include=(),
        groups=None,
        stop=None,
        n_folds=5,
        fit_intercept=True,
        alpha=1e-3,
        solver="auto",
        random_state=0,
    ):
        self.k = k
        self.loss = loss
        self.step = step
        self.refit = refit
        self.interactions = interactions
        self.include = include
        self.groups = groups
        self.stop = stop
        self.n_folds = n_folds
        self.fit_intercept = fit_intercept
        self.alpha = alpha
        self.solver = solver
        self.random_state = random_state

    @property
    def _looks_again(self) -> bool:
        return self.loss != "squared" or self.interactions != 1 or self.solver == "rows"

    partial_fit = one_pass(StreamingEstimator.partial_fit)

    @one_pass
    def merge(self, other):
        """Add what `other`, fitted with the same parameters on other rows, has seen; both learned from statistics."""
        if getattr(self, "_accumulator", None) is None or getattr(other, "_accumulator", None) is None:
            raise ValueError(
                "Only selections learned from statistics merge, and this one looked at the rows. Set solver='gram'."
            )
        return super().merge(other)

    def _check_parameters(self):
        check_greedy(self)

    def _empty(self):
        return Gram(self.n_folds if self.stop == "folds" else 1, seed_of(self.random_state))

    def _learn_from(self, source):
        narrow = self.solver == "gram" or self.n_features_in_ <= GRAM_COLUMNS or not isinstance(source, MemorySource)
        if narrow and not self._looks_again:
            super()._learn_from(source)
            return
        self._accumulator = None
        block = gathered(source)
        self._prepare()
        if self._classifies:
            self._learn_labels(block)
        else:
            self._learn_rows(block)

    def _prepare(self):
        """Forced columns and groups, as numbers of columns."""
        self._forced = column_numbers(self.include, getattr(self, "feature_names_in_", None), self.n_features_in_)
        self.groups_, self._members = groups_of(self.groups, self.n_features_in_)

    def _grow(self, geometry):
        if not self.refit:
            return pursue(geometry, self.k)
        return forward(geometry, self.k, self._forced, self._members, omp=self.step != "refit")

    def _finish(self, learned):
        self._prepare()
        size = np.linalg.norm(learned.total.G)
        error = learned.error / size if size > 0 else 0.0
        origins = {"z_origin": learned.z_origin, "y_origin": learned.y_origin}
        geometry = partial(FromGram, error=error, centered=self.fit_intercept, **origins)
        whole = geometry(learned.total)
        trail = self._grow(whole)
        scores = None
        if self.stop == "folds":
            scores = stopping.held_out_from_gram(learned, self._grow, geometry)
        mean, y_mean = whole.mean + learned.z_origin, whole.y_mean + float(learned.y_origin[0])
        self._settle_squares(trail, scores, whole.weight, mean, y_mean, column_term)

    def _learn_rows(self, block):
        candidates = self._candidates(block.X)
        geometry = FromRows(candidates, block.y, block.weight, self.fit_intercept)
        trail = self._grow(geometry)
        scores = None
        if self.stop == "folds":
            folds = stopping.fold_of_each(block, self.n_folds, seed_of(self.random_state))
            rows = candidates, block.y, block.weight, folds
            scores = stopping.held_out_squares(*rows, self._grow, self.fit_intercept)
        self._settle_squares(trail, scores, geometry.weight, geometry.mean, geometry.y_mean, candidates.term)

    def _learn_labels(self, block):
        self.classes_, y = two_classes(block.y, type(self).__name__)
        w = np.ones(len(y)) if block.weight is None else block.weight
        task = Task(
            self._candidates(block.X),
            y,
            w,
            RISKS[self.loss](),
            rule=self.step,
            refit=self.refit,
            intercept=self.fit_intercept,
            alpha=self.alpha,
            include=tuple(self._forced),
            groups=self._members,
        )
        trail, scores = climb(task, self.k), None
        if self.stop == "folds":
            folds = stopping.fold_of_each(block, self.n_folds, seed_of(self.random_state))
            scores = stopping.held_out_risks(task, folds, self.k)
        self._settle(trail, scores, float(w.sum()), trail.intercept, task.candidates.term)

    def _candidates(self, X):
        return Columns(X) if self.interactions == 1 else Pairs(X)

    def _settle_squares(self, trail, scores, weight, mean, y_mean, term):
        def intercept(t):
            return y_mean - mean[trail.chosen[: trail.lengths[t]]] @ trail.weights(t) if self.fit_intercept else 0.0

        self._settle(trail, scores, weight, intercept, term)

    def _settle(self, trail, scores, weight, intercept, term_of):
        """Decide how many steps to keep, and set what was learned."""
        if self.stop in ("bic", "aic"):
            scores = stopping.information(trail, self.stop, self.loss, weight, int(self.fit_intercept))
        steps = len(trail.units)
        kept = steps if scores is None or steps == 0 else 1 + int(np.argmin(scores[:steps]))
        self.n_steps_ = kept
        terms = [term_of(j) for j in trail.chosen]
        self._set_path(trail, scores, term_of)
        chosen, weights = terms[: trail.lengths[kept]], trail.weights(kept)
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[[j for term in chosen for j in term]] = True
        self._set_ranking(trail, terms)
        if self.interactions == 1:
            coef = np.zeros(self.n_features_in_)
            np.add.at(coef, [term[0] for term in chosen], weights)
        else:
            self.terms_ = as_terms(list(set(chosen)))
            place = {(i, j): at for at, (i, j) in enumerate(self.terms_.tolist())}
            coef = np.zeros(len(self.terms_))
            np.add.at(coef, [place[(*term, -1)[:2]] for term in chosen], weights)
        self._set_weights(coef, intercept(kept))

    def _set_path(self, trail, scores, term_of):
        steps = len(trail.units)
        feature = ("feature", np.int64) if self.interactions == 1 else ("feature", np.int64, (2,))
        self.path_ = np.recarray(steps, dtype=[feature, ("risk", float), ("gain", float), ("score", float)])
        if self.interactions == 1:
            self.path_.feature[:] = trail.units
        else:
            units = [(*term_of(j), -1)[:2] for j in trail.units]
            self.path_.feature[:] = np.array(units, dtype=np.int64).reshape(-1, 2)
        self.path_.risk[:], self.path_.gain[:] = trail.risks, trail.gains
        self.path_.score[:] = np.nan
        if scores is not None:
            self.path_.score[: len(scores)] = scores[:steps]

    def _set_ranking(self, trail, terms):
        self.ranking_ = np.full(self.n_features_in_, len(trail.units) + 1)
        for t in reversed(range(len(trail.lengths))):
            for term in terms[trail.lengths[t - 1] if t else 0 : trail.lengths[t]]:
                self.ranking_[list(term)] = t

    def _apply(self, X):
        return super()._apply(X) if self.interactions == 1 else term_columns(X, self.terms_)

    def get_feature_names_out(self, input_features=None):
        """Names of the chosen features, in the order of `transform`."""
        names = self._input_names(input_features)
        if self.interactions != 1:
            return term_names(names, self.terms_)
        return np.asarray(names, dtype=object)[self.support_]

    def _scores(self, X):
        if self.interactions == 1:
            return super()._scores(X)
        features = self.transform(X)
        return np.asarray(features @ np.ravel(self.coef_).astype(features.dtype)) + np.ravel(self.intercept_)[0]

    @available_if(lambda self: self.interactions == 1)
    def inverse_transform(self, X):
        """Rows with the chosen columns as given and zeros elsewhere; products have no way back, so not for them."""
        return super().inverse_transform(X)
