"""Ensembles of small trees as features: their leaves, or their score."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from mercer._numeric.block import Block
from mercer._runtime.checks import check_whole
from mercer._runtime.pool import ordered_map
from mercer.base import seed_of
from mercer.learn.gathering import gather
from mercer.learn.out_of_fold import OutOfFoldTransformer, fold_of
from mercer.learn.targets import check_task, classes_in, numeric_target, target_names
from mercer.learn.trees.ensembles import ensemble_of

_ENCODINGS = ("leaves", "score")
_ENSEMBLES = ("boosted", "forest")
_FOLDS = {"leaves": 2, "score": 5}


class TreeFeatures(OutOfFoldTransformer):
    """What trees know, as columns for a linear model.

    ``encoding="leaves"``: an indicator for each leaf of each small tree, a CSR matrix. A linear model of them is a sum
    of step functions of boxes, with weights that can be read off. There is one ensemble per fold, learned without it:
    `fit_transform` shows a row the leaves of the one that has not seen it, `transform` those of all, divided by their
    number, so weights fitted to the leaves do not trust them too much.

    ``encoding="score"``: the score of the ensemble, one column per output: the prediction for a quantity, the margin
    (log odds) for classes (one column for two). `fit_transform` gives scores of ensembles that have not seen the fold
    of the row, `transform` those of an ensemble of all rows. One opaque column, but it holds all the trees found.

    Parameters
    ----------
    encoding : {"leaves", "score"}, default="leaves"
    n_trees : int, default=100
        Trees of an ensemble (for boosted scores of several outputs or classes: of each).
    max_leaves : int >= 2, default=24
        Leaves of a tree.
    ensemble : {"boosted", "forest"}, default="boosted"
        Trees grown on gradients one after the other, from histograms of binned columns, or scikit-learn's extremely
        randomized trees on the target.
    n_folds : int or None, default=None
        None is 2 for leaves and 5 for scores.
    max_rows : int, default=200000
        With more rows, about this many (those of smallest hash) are learned from.
    task : {"auto", "regression", "classification"}, default="auto"
        "auto" takes strings, truth values and whole numbers of at most 20 different values for classes.
    random_state : int, default=0

    Attributes
    ----------
    classes_ : the classes, or None for a quantity
    n_features_out_ : int, the number of columns

    References
    ----------
    He et al., "Practical lessons from predicting clicks on ads at Facebook", 2014; Friedman and Popescu, "Predictive
    learning via rule ensembles", 2008; Wolpert, "Stacked generalization", 1992.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learn import TreeFeatures
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(400, 3))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    >>> score = TreeFeatures("score", n_trees=20).fit_transform(X, y)
    >>> bool(np.mean((score[:, 0] > 0) == (y == "same")) > 0.9)
    True
    >>> TreeFeatures("leaves", n_trees=5, max_leaves=4).fit_transform(X, y).shape
    (400, 40)
    """

    def __init__(
        self,
        encoding="leaves",
        n_trees=100,
        max_leaves=24,
        ensemble="boosted",
        n_folds=None,
        max_rows=200_000,
        task="auto",
        random_state=0,
    ):
        self.encoding = encoding
        self.n_trees = n_trees
        self.max_leaves = max_leaves
        self.ensemble = ensemble
        self.n_folds = n_folds
        self.max_rows = max_rows
        self.task = task
        self.random_state = random_state

    def _check_parameters(self):
        for name, allowed in (("encoding", _ENCODINGS), ("ensemble", _ENSEMBLES)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {getattr(self, name)!r}.")
        check_task(self.task)
        for name, least in (("n_trees", 1), ("max_leaves", 2), ("max_rows", 2)):
            check_whole(name, getattr(self, name), least)
        if self.n_folds is not None:
            check_whole("n_folds", self.n_folds, 2)

    @property
    def _n_folds(self) -> int:
        return _FOLDS[self.encoding] if self.n_folds is None else int(self.n_folds)

    def _folds(self, block: Block) -> np.ndarray:
        return fold_of(block, self._n_folds, seed_of(self.random_state))

    def _learn_from(self, source):
        self.__dict__.pop("_without", None)
        self.classes_ = classes_in(source, self.task)
        rows = self._gathered(source)
        self._n_targets = numeric_target(rows.y[:1], self.classes_).shape[1]
        if self.encoding == "score":
            self._whole = self._fitted(rows)
            self.n_features_out_ = self._n_targets
        else:
            self._without = self._fitted_without_folds(rows)
            self._starts = np.cumsum([0, *(width for leaves in self._without for width in leaves.widths)])
            self.n_features_out_ = int(self._starts[-1])

    def _learn_without_folds(self, source):
        if self.encoding == "score":
            self._without = self._fitted_without_folds(self._gathered(source))

    def _gathered(self, source) -> Block:
        return gather(source, int(self.max_rows), seed_of(self.random_state))

    def _fitted_without_folds(self, rows: Block) -> list:
        fold = self._folds(rows)
        if len(np.unique(fold)) < 2:
            raise ValueError(
                f"n_samples={len(rows)}, but trees are learned without each fold, and all rows are in one (equal rows "
                "share a fold). Give more distinct rows."
            )
        return list(ordered_map(lambda k: self._fitted(rows.rows(fold != k)), range(self._n_folds)))

    def _fitted(self, rows: Block):
        shape = (int(self.n_trees), int(self.max_leaves))
        # Leaves are columns, and a tree for each class would make too many; scores are better from trees of their own.
        ensemble = ensemble_of(self.ensemble, *shape, self.encoding == "leaves", seed_of(self.random_state))
        return ensemble.fit(rows.X, numeric_target(rows.y, self.classes_), rows.weight, self.classes_ is not None)

    def _apply(self, X):
        if self.encoding == "score":
            return self._scores(self._whole, X)
        return self._indicators(X, np.ones((self._n_folds, len(X)), dtype=bool), 1.0 / self._n_folds)

    def _held_out(self, X, fold):
        if self.encoding == "leaves":
            return self._indicators(X, fold == np.arange(self._n_folds)[:, None], 1.0)
        out = np.empty((len(X), self.n_features_out_), dtype=X.dtype)
        for k in np.unique(fold):
            out[fold == k] = self._scores(self._without[k], X[fold == k])
        return out

    def _scores(self, ensemble, X) -> np.ndarray:
        if len(X) == 0:
            return np.empty((0, self.n_features_out_), dtype=X.dtype)
        return ensemble.predict(X).astype(X.dtype, copy=False)

    def _indicators(self, X, shown: np.ndarray, value: float):
        """CSR indicators of the leaves of each ensemble, for the rows it is shown."""
        parts = []
        for k, leaves in enumerate(self._without):
            rows = np.flatnonzero(shown[k])
            width = sum(leaves.widths)
            starts = np.cumsum([0, *leaves.widths[:-1]])
            counts = np.zeros(len(X) + 1, dtype=np.int64)
            counts[rows + 1] = len(starts)
            columns = (leaves.number(X[rows]) + starts).ravel() if len(rows) else np.zeros(0, dtype=np.int64)
            data = np.full(len(columns), value, dtype=X.dtype)
            parts.append(sparse.csr_matrix((data, columns, np.cumsum(counts)), shape=(len(X), width)))
        return sparse.hstack(parts, format="csr")

    def get_feature_names_out(self, input_features=None):
        """Names such as `treefeatures_0_tree3_leaf5` (ensemble 0) or `treefeatures_score`."""
        self._input_names(input_features)
        if self.encoding == "score":
            names = target_names(self.classes_, self._n_targets)
            return np.array([f"treefeatures_score{name and '_' + name}" for name in names], dtype=object)
        return np.array(
            [
                f"treefeatures_{k}_tree{t}_leaf{leaf}"
                for k, leaves in enumerate(self._without)
                for t, width in enumerate(leaves.widths)
                for leaf in range(width)
            ],
            dtype=object,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
