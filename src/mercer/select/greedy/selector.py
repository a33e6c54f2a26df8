"""Forward greedy selection for any loss, from rows or from one pass of statistics."""

from __future__ import annotations

from functools import partial

import numpy as np

from mercer.base import seed_of
from mercer.linear.classes import at_least_two
from mercer.linear.passes import one_pass
from mercer.select.base import gathered
from mercer.select.greedy import stopping
from mercer.select.greedy.candidates import Columns
from mercer.select.greedy.chosen import ChosenFeatures
from mercer.select.greedy.forward import forward, pursue
from mercer.select.greedy.geometry import FromGram, FromRows
from mercer.select.greedy.lifted import Lifted
from mercer.select.greedy.parameters import check_greedy, column_numbers, groups_of
from mercer.select.greedy.products import Products
from mercer.select.greedy.risks import RISKS
from mercer.select.greedy.stagewise import Task, climb
from mercer.source import MemorySource
from mercer.stats import Gram, LabelGram

#: Up to here a Gram matrix costs no more than the steps it saves; wider arrays are looked at column by column.
GRAM_COLUMNS = 512


class GreedySelector(ChosenFeatures):
    """Forward greedy selection: features join one at a time, each the one that helps the chosen ones most.

    With the squared loss and refits it is orthogonal least squares: the next feature is

        argmax_j <u_j, y>^2 / ||u_j||^2,

    u_j being what is left of column j when its projection on the chosen ones is taken away, so that after every step
    the least-squares fit on the chosen columns is the best that one more column can give. With target="classes" the
    indicators of all classes are fitted at once, and the squared errors added. A logistic, hinge or exponential loss
    makes it a classifier too (the exponential one lowers log mean exp(-y f), as AdaBoost); each of more than two
    classes is told from all others, and a feature is judged by the sum over the classes. Rows of a source are then
    brought into memory. Whoever is `mercer.source.listening` hears of every step.

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
        With 2 the products of two columns are candidates too: a short way to say candidates="pairs".
    candidates : None, "pairs", "quadratic" or a lift, default=None
        What is selected from: the columns; columns and products of two, or also squares, none of which is ever written
        out; or the columns of a lift, any transformer of rows (``PolynomialLift(3)``, ``PiecewiseLinear()``, one of
        scikit-learn), of which a clone is fitted first. Rows are lifted a few at a time whenever sums over them are
        needed (where all of it has no more than 8 million entries, once). A lift should not learn from the target: it
        would know the rows it is judged on.
    target : {"auto", "numbers", "classes"}, default="auto"
        Whether the squared loss predicts numbers ("auto" does) or classes. The other losses are for classes.
    include : columns (or candidates), by number or name, that are in from the start
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
    support_ : mask of the columns chosen (with candidates: that a chosen feature depends on)
    path_ : record array with one entry per step: feature, risk, gain, score
        The feature (a column, the place of a group in `groups_`, for products a pair of columns, the second -1 for a
        column alone, or the number of a column of the lift), the mean loss after the step, what the rule expected to
        gain, and what `stop` judges by.
    n_steps_ : int, the steps kept
    ranking_ : for each column the step that chose it, 0 for `include`, one more than the last step for the others
    coef_, intercept_ : one weight per column, zero for those not chosen (with candidates: per column of `transform`);
        for more than two classes a row of them for each
    terms_ : with candidates, the features that `transform` makes: pairs of columns, or columns of the lift
    lift_ : the fitted lift, if one was given
    groups_ : the labels of the groups in sorted order
    classes_ : the labels in sorted order, for classifiers

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
        candidates=None,
        target="auto",
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
        self.candidates = candidates
        self.target = target

    @property
    def _multi_pass(self) -> bool:
        return self.loss != "squared" or self._kind is not None or self.solver == "rows"

    @one_pass
    def partial_fit(self, X, y=None, sample_weight=None, classes=None):
        """Learn from more rows. `classes` may name classes in advance; others are added when they come."""
        self._known_classes = None if classes is None else np.unique(classes)
        return super().partial_fit(X, y, sample_weight)

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
        folds, seed = self.n_folds if self.stop == "folds" else 1, seed_of(self.random_state)
        if self._classifies:
            return LabelGram(folds, seed, labels=getattr(self, "_known_classes", None))
        return Gram(folds, seed)

    def _learn_from(self, source):
        self.__dict__.pop("_known_classes", None)
        narrow = self.solver == "gram" or self.n_features_in_ <= GRAM_COLUMNS or not isinstance(source, MemorySource)
        if narrow and not self._multi_pass:
            super()._learn_from(source)
            return
        self._accumulator = None
        block = gathered(source)
        family = self._family_for(block)
        candidates = Columns(block.X) if family is None else family.over(block.X)
        self._prepare(family, candidates.size)
        learn = self._learn_rows if self.loss == "squared" else self._learn_labels
        learn(block, candidates)

    def _family_for(self, block):
        self.__dict__.pop("lift_", None)
        if self._kind is None:
            return None
        if self._kind in ("pairs", "quadratic"):
            return Products(self._kind == "quadratic")
        family = Lifted.fitted(self.candidates, block.X, block.y)
        self.lift_ = family.lift
        return family

    def _prepare(self, family=None, size=None):
        """Forced candidates and groups, as numbers."""
        names = getattr(self, "feature_names_in_", None)
        if isinstance(family, Lifted):
            names = family.names_of_all(self._input_names())
        known = size if isinstance(family, Lifted) else self.n_features_in_
        self._forced = column_numbers(self.include, names, known)
        self.groups_, self._members = groups_of(self.groups, self.n_features_in_)

    def _grow(self, geometry):
        if not self.refit:
            return pursue(geometry, self.k)
        return forward(geometry, self.k, self._forced, self._members, omp=self.step != "refit")

    def _finish(self, learned):
        self._prepare()
        if self._classifies:
            self.classes_ = learned.labels
        size = np.linalg.norm(learned.total.G)
        error = learned.error / size if size > 0 else 0.0
        origins = {"z_origin": learned.z_origin, "y_origin": learned.y_origin}
        geometry = partial(FromGram, error=error, centered=self.fit_intercept, **origins)
        whole = geometry(learned.total)
        trail = self._grow(whole)
        scores = None
        if self.stop == "folds":
            scores = stopping.held_out_from_gram(learned, self._grow, geometry)
        mean, y_mean = whole.mean + learned.z_origin, whole.y_mean + learned.y_origin
        self._settle_squares(trail, scores, whole.weight, mean, y_mean)

    def _learn_rows(self, block, candidates):
        targets = block.y
        if self._classifies:
            self.classes_, codes = np.unique(block.y, return_inverse=True)
            targets = np.eye(len(self.classes_))[codes]
        geometry = FromRows(candidates, targets, block.weight, self.fit_intercept)
        trail = self._grow(geometry)
        scores = None
        if self.stop == "folds":
            folds = stopping.fold_of_each(block, self.n_folds, seed_of(self.random_state))
            rows = candidates, targets, block.weight, folds
            scores = stopping.held_out_squares(*rows, self._grow, self.fit_intercept)
        mean, y_mean = geometry.mean, geometry.y_mean
        self._settle_squares(trail, scores, geometry.weight, mean, y_mean, block.X, candidates)

    def _learn_labels(self, block, candidates):
        self.classes_, codes = np.unique(block.y, return_inverse=True)
        at_least_two(self.classes_, type(self).__name__)
        w = np.ones(len(codes)) if block.weight is None else block.weight
        tasks = [
            Task(
                candidates,
                np.where(codes == c, 1.0, -1.0),
                w,
                RISKS[self.loss](),
                rule=self.step,
                refit=self.refit,
                intercept=self.fit_intercept,
                alpha=self.alpha,
                include=tuple(self._forced),
                groups=self._members,
            )
            for c in (range(len(self.classes_)) if len(self.classes_) > 2 else [1])
        ]
        trail, scores = climb(tasks, self.k), None
        if self.stop == "folds":
            folds = stopping.fold_of_each(block, self.n_folds, seed_of(self.random_state))
            scores = stopping.held_out_risks(tasks, folds, self.k)
        self._settle(trail, scores, float(w.sum()), trail.intercept, block.X, candidates)

    def _settle_squares(self, trail, scores, weight, mean, y_mean, X=None, candidates=None):
        def intercept(t):
            if not self.fit_intercept:
                return np.zeros(len(y_mean))
            return y_mean - mean[trail.chosen[: trail.lengths[t]]] @ trail.weights(t)

        self._settle(trail, scores, weight, intercept, X, candidates)
