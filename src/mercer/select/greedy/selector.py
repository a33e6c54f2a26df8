"""Forward greedy selection for any loss, from rows or from Gram matrices of one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer.base import seed_of
from mercer.linear.classes import at_least_two
from mercer.linear.passes import one_pass
from mercer.linear.ridge.overflow import refuse_extremes
from mercer.select.base import row_weights
from mercer.select.greedy import stopping
from mercer.select.greedy.candidates import ColumnCandidates
from mercer.select.greedy.forward import InnerProducts, SelectionPath, forward_selection, matching_pursuit
from mercer.select.greedy.inner_products import GramInnerProducts, RowInnerProducts
from mercer.select.greedy.lift_candidates import LiftFamily
from mercer.select.greedy.parameters import check_greedy, group_members, include_indices
from mercer.select.greedy.product_candidates import ProductFamily
from mercer.select.greedy.risks import RISKS
from mercer.select.greedy.selected_features import SelectedFeatures
from mercer.select.greedy.stagewise import BinaryProblem, stagewise_selection
from mercer.source import MemorySource, Source
from mercer.stats import Gram, LabelGram
from mercer.stats.gram import GramPerFold, Normal, frobenius_norm

#: Up to this many columns a Gram matrix costs no more than the steps it saves; wider arrays are processed by rows.
GRAM_COLUMNS = 512


class GreedySelector(SelectedFeatures):
    """Forward greedy selection: features are added one at a time, each the one that improves the fit most.

    With the squared loss and refits it is orthogonal least squares: the next feature is

        argmax_j <u_j, y>^2 / ||u_j||^2,

    u_j being the component of column j orthogonal to the selected ones, so that every step gives the best least-squares
    fit that one more column allows. With target="classes" the indicators of all classes are fitted at once, and the
    squared errors added. A logistic, hinge or exponential loss makes it a classifier too (the exponential one minimizes
    log mean exp(-y f), as AdaBoost does); more than two classes are separated one against the rest, and a feature is
    scored by the sum over the classes. Rows of a source are then collected in memory. Every step is reported to the
    listener of `mercer.source.listening`.

    Use it for few columns out of many that should complement each other. A step is never taken back: columns that help
    only together may be missed (give pairs as `candidates`). A step costs one product of the data with a vector, or d k
    operations on a Gram matrix.

    Parameters
    ----------
    k : int, default=10
        Maximum number of features (or groups of columns) to select, besides those of `include`.
    loss : {"squared", "logistic", "hinge", "exponential"}, default="squared"
    step : {"refit", "line", "gradient"}, default="refit"
        How a candidate is scored: by the loss after refitting all weights, after the best step along it alone, or by
        the decrease that one Newton step along it predicts, g_j^2 / H_jj (for the hinge, which has no curvature,
        g_j^2 / ||x_j||^2).
    refit : bool, default=True
        Refit the weights of all selected features after each step. Without it only the selected weight changes,
        features may be selected again, and k counts steps: matching pursuit, or AdaBoost for the exponential loss.
    interactions : {1, 2}, default=1
        2 adds products of two columns to the candidates: short for candidates="pairs".
    candidates : None, "pairs", "quadratic" or a lift, default=None
        What is selected from: the columns; columns and products of two, or also squares, none of which is ever written
        out; or the columns of a lift, any transformer of rows (``PolynomialLift(3)``, ``PiecewiseLinear()``, one of
        scikit-learn), of which a clone is fitted first. Rows are lifted in chunks whenever sums over them are needed
        (only once if all of them have at most 8 million entries). A lift should not learn from the target: it would
        have seen the held-out rows.
    target : {"auto", "numbers", "classes"}, default="auto"
        Whether the squared loss predicts numbers (as "auto" does) or classes. The other losses are for classes.
    include : columns (or candidates), by index or name, that are selected from the start
    groups : one label per column, or None
        Columns with the same label are selected together, such as the one-hot columns of one variable.
    stop : {None, "folds", "bic", "aic"}, default=None
        Keep all steps, those with the smallest loss on held-out folds (the selection is repeated without each fold), or
        those with the smallest information criterion. At least one step is kept.
    n_folds : int, default=5
        Folds for stop="folds"; rows are assigned to them by their hash.
    fit_intercept : bool, default=True
    alpha : float, default=1e-3
        Penalty on the sum of squared weights (of columns scaled to unit variance) in refits of losses other than the
        squared one: without it separable data have no best fit.
    solver : {"auto", "gram", "rows"}, default="auto"
        For the squared loss: from a Gram matrix (one pass over any source; `partial_fit`, `merge`) or from rows in
        memory (one product X'q per step). "auto" takes the rows of an array of more than 512 columns.
    random_state : int, default=0
        Seed of the assignment to folds.

    Attributes
    ----------
    support_ : mask of the selected columns (with candidates: those that a selected feature depends on)
    path_ : record array with one entry per step: feature, risk, gain, score
        The feature (a column, the index of a group in `groups_`, for products a pair of columns, the second -1 for a
        single column, or the index of a column of the lift), the mean loss after the step, the gain that the rule
        predicted, and the criterion of `stop`.
    n_steps_ : int, the number of steps kept
    ranking_ : for each column the step that selected it, 0 for `include`, one more than the last step for the others
    coef_, intercept_ : one weight per column, zero for those not selected (with candidates: per column of `transform`);
        for more than two classes one row per class
    terms_ : with candidates, the features that `transform` computes: pairs of columns, or columns of the lift
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
        k: int = 10,
        loss: str = "squared",
        step: str = "refit",
        refit: bool = True,
        interactions: int = 1,
        include: Sequence[Any] = (),
        groups: Any = None,
        stop: str | None = None,
        n_folds: int = 5,
        fit_intercept: bool = True,
        alpha: float = 1e-3,
        solver: str = "auto",
        random_state: Any = 0,
        candidates: Any = None,
        target: str = "auto",
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
        return self.loss != "squared" or self._candidate_kind is not None or self.solver == "rows"

    @one_pass
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, classes: Any = None) -> GreedySelector:
        """Learn from more rows. `classes` may list classes in advance; others are added when they occur."""
        self._known_classes = None if classes is None else np.unique(classes)
        return super().partial_fit(X, y, sample_weight)

    @one_pass
    def merge(self, other: GreedySelector) -> GreedySelector:
        """Add the statistics of `other`, fitted with the same parameters on other rows."""
        if getattr(self, "_accumulator", None) is None or getattr(other, "_accumulator", None) is None:
            raise ValueError(
                "Only selections learned from Gram matrices can be merged; this one used the rows. Set solver='gram'."
            )
        return super().merge(other)

    def _check_parameters(self) -> None:
        check_greedy(self, columns=self._candidate_kind is None)

    def _empty(self) -> Gram:
        folds, seed = self.n_folds if self.stop == "folds" else 1, seed_of(self.random_state)
        if self._classifies:
            return LabelGram(folds, seed, labels=getattr(self, "_known_classes", None))
        return Gram(folds, seed)

    def _learn_from(self, source: Source) -> None:
        self.__dict__.pop("_known_classes", None)
        narrow = self.solver == "gram" or self.n_features_in_ <= GRAM_COLUMNS or not isinstance(source, MemorySource)
        if narrow and not self._multi_pass:
            super()._learn_from(source)
            return
        self._accumulator = None
        block = source.collect()
        family = self._fitted_family(block)
        candidates = ColumnCandidates(block.X) if family is None else family.over(block.X)
        self._prepare(family, candidates.size)
        learn = self._learn_squares if self.loss == "squared" else self._learn_risks
        learn(block, candidates)

    def _fitted_family(self, block: Block) -> ProductFamily | LiftFamily | None:
        self.__dict__.pop("lift_", None)
        if self._candidate_kind is None:
            return None
        if self._candidate_kind in ("pairs", "quadratic"):
            return ProductFamily(self._candidate_kind == "quadratic")
        family = LiftFamily.fitted(self.candidates, block.X, block.y)
        self.lift_ = family.lift
        return family

    def _prepare(self, family: ProductFamily | LiftFamily | None = None, size: int = 0) -> None:
        """Resolve `include` and `groups` to indices."""
        names, n_candidates = getattr(self, "feature_names_in_", None), self.n_features_in_
        if isinstance(family, LiftFamily):
            names, n_candidates = family.candidate_names(self._input_names()), size
        self._forced = include_indices(self.include, names, n_candidates)
        self.groups_, self._members = group_members(self.groups, self.n_features_in_)

    def _select(self, products: InnerProducts) -> SelectionPath:
        if not self.refit:
            return matching_pursuit(products, self.k)
        return forward_selection(products, self.k, self._forced, self._members, omp=self.step != "refit")

    def _finish(self, learned: GramPerFold) -> None:
        refuse_extremes(learned, self._input_names())
        self._prepare()
        if self._classifies:
            self.classes_ = learned.labels
        size = frobenius_norm(learned.total.G)
        error = learned.error / size if size > 0 else 0.0

        def products_of(normal: Normal) -> GramInnerProducts:
            return GramInnerProducts(normal, error, self.fit_intercept, learned.z_origin, learned.y_origin)

        products = products_of(learned.total)
        path = self._select(products)
        scores = None
        if self.stop == "folds":
            scores = stopping.held_out_from_gram(learned, self._select, products_of)
        mean, y_mean = products.mean + learned.z_origin, products.y_mean + learned.y_origin
        self._set_squares(path, scores, products.weight, mean, y_mean)

    def _learn_squares(self, block: Block, candidates: ColumnCandidates) -> None:
        targets = np.asarray(block.y)
        if self._classifies:
            self.classes_, codes = np.unique(targets, return_inverse=True)
            targets = np.eye(len(self.classes_))[codes]
        products = RowInnerProducts(candidates, targets, block.weight, self.fit_intercept)
        path = self._select(products)
        scores = None
        if self.stop == "folds":
            folds = stopping.folds_of(block, self.n_folds, seed_of(self.random_state))
            weight, centered = block.weight, self.fit_intercept
            scores = stopping.held_out_squares(candidates, targets, weight, folds, self._select, centered)
        self._set_squares(path, scores, products.weight, products.mean, products.y_mean, block.X, candidates)

    def _learn_risks(self, block: Block, candidates: ColumnCandidates) -> None:
        self.classes_, codes = np.unique(np.asarray(block.y), return_inverse=True)
        at_least_two(self.classes_, type(self).__name__)
        w = row_weights(block)
        problems = [
            BinaryProblem(
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
        path, scores = stagewise_selection(problems, self.k), None
        if self.stop == "folds":
            folds = stopping.folds_of(block, self.n_folds, seed_of(self.random_state))
            scores = stopping.held_out_risks(problems, folds, self.k)
        self._set_result(path, scores, float(w.sum()), path.intercept, block.X, candidates)

    def _set_squares(
        self,
        path: SelectionPath,
        scores: np.ndarray | None,
        weight: float,
        mean: np.ndarray,
        y_mean: np.ndarray,
        X: Any = None,
        candidates: ColumnCandidates | None = None,
    ) -> None:
        def intercept(t: int) -> np.ndarray:
            if not self.fit_intercept:
                return np.zeros(len(y_mean))
            return y_mean - mean[path.selected[: path.sizes[t]]] @ path.weights(t)

        self._set_result(path, scores, weight, intercept, X, candidates)
