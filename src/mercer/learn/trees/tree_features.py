"""Ensembles of small trees as features: their leaves, or their score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer._runtime.checks import check_whole
from mercer.base import seed_of
from mercer.learn.gathering import count_rows, gather
from mercer.learn.out_of_fold import OutOfFoldTransformer
from mercer.learn.targets import check_task, classes_in, numeric_target, target_names
from mercer.learn.trees.binning import SAMPLE_ROWS
from mercer.learn.trees.boosting import boost
from mercer.learn.trees.categories import TreeColumns
from mercer.learn.trees.ensemble import TreeEnsemble
from mercer.learn.trees.extra_trees import forests_per_fold
from mercer.learn.trees.leaves import leaf_indicators
from mercer.learn.trees.losses import loss_of_target
from mercer.learn.trees.params import TreeParams
from mercer.learn.trees.score import EnsembleScore, score_scale
from mercer.learn.trees.streamed_boosting import boost_streamed, encoder_of, out_of_fold_scale
from mercer.learn.trees.training_data import TrainingData
from mercer.source import Source

_ENCODINGS = ("leaves", "score")
_ENSEMBLES = ("boosted", "forest")
_N_FOLDS = {"leaves": 2, "score": 5}
#: In small data, the minimum weight of a leaf is at most this fraction of the total weight.
_MAX_LEAF_FRACTION = 0.05
_MAX_BINS = 256


class TreeFeatures(OutOfFoldTransformer):
    """Leaves or scores of an ensemble of small trees, as columns for a linear model.

    There is one ensemble per fold, learned without it. `fit_transform` gives each training row the features of the
    ensemble that has not seen it, so weights fitted to them do not overestimate them; `transform` uses all ensembles.

    ``encoding="leaves"``: a CSR matrix with an indicator for each leaf of each tree. A linear model of these is a sum
    of step functions on boxes, with weights that can be read off. `transform` divides the indicators by the number of
    ensembles.

    ``encoding="score"``: the score of the ensemble, one column per output: the prediction of a continuous target, the
    log-odds of classes (one column for two). `transform` gives the mean of the ensembles. This is the booster of
    `mercer.fit`.

    Use it where the target has steps and interactions of few columns; a linear model then weighs it beside other
    features. Smooth functions of many columns are better served by random features in a learned metric. Time is that of
    gradient boosting once per fold: n times columns times depth, per tree.

    Parameters
    ----------
    encoding : {"leaves", "score"}, default="leaves"
    n_estimators : int, default=100
        Rounds of boosting, with one tree per output each, or trees of a forest. With ``encoding="leaves"``, outputs
        share the rounds, so that the number of trees does not grow with them.
    max_leaf_nodes : int >= 2, default=24
    learning_rate : float > 0, default=0.1
        Factor of the values of boosted trees.
    min_samples_leaf : float > 0, default=20
        Minimum weight of a leaf of boosted trees; at most 5 % of the total weight is required.
    early_stopping_rounds : int or None, default=None
        Stop boosting after this many rounds in which the loss of held-out rows did not fall, and keep the rounds up to
        the lowest loss. None grows all rounds.
    ensemble : {"boosted", "forest"}, default="boosted"
        Gradient-boosted trees on binned columns, or scikit-learn's extremely randomized trees.
    n_folds : int or None, default=None
        None is 2 for leaves and 5 for scores.
    max_rows : int or None, default=200000
        With more rows, about this many (those of smallest hash) are learned from, in memory. None learns boosted trees
        from all rows in bounded memory: with more than 50,000 rows, histograms of gradients are summed over the rows in
        about one pass for each level of the trees of a round, and cuts of the columns come from a sample of rows.
    task : {"auto", "regression", "classification"}, default="auto"
        "auto" treats strings, booleans and whole numbers of at most 20 distinct values as classes.
    one_hot_columns : list of slices or None, default=None
        Columns of indicators, one slice per category. Trees see each slice as one column of codes, ordered by the mean
        target.
    standardize : bool, default=False
        Whether scores are divided by the standard deviation of the out-of-fold scores.
    probabilities : bool, default=False
        Whether scores of classes are followed by four times the probabilities they stand for.
    dtype : str or None, default=None
        Type of the features; None is that of X.
    random_state : int, default=0

    Attributes
    ----------
    classes_ : the classes, or None for a continuous target
    n_features_out_ : int, the number of columns
    ensembles_ : list of `TreeEnsemble`, the ensemble learned without each fold

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
    >>> score = TreeFeatures("score", n_estimators=20).fit_transform(X, y)
    >>> print(f"right out of fold: {np.mean((score[:, 0] > 0) == (y == 'same')):.2f}")
    right out of fold: 0.96
    >>> TreeFeatures("leaves", n_estimators=5, max_leaf_nodes=4).fit_transform(X, y).shape
    (400, 40)
    """

    def __init__(
        self,
        encoding: str = "leaves",
        n_estimators: int = 100,
        max_leaf_nodes: int = 24,
        learning_rate: float = 0.1,
        min_samples_leaf: float = 20,
        early_stopping_rounds: int | None = None,
        ensemble: str = "boosted",
        n_folds: int | None = None,
        max_rows: int | None = 200_000,
        task: str = "auto",
        one_hot_columns: list[slice] | None = None,
        standardize: bool = False,
        probabilities: bool = False,
        dtype: str | None = None,
        random_state: Any = 0,
    ):
        self.encoding = encoding
        self.n_estimators = n_estimators
        self.max_leaf_nodes = max_leaf_nodes
        self.learning_rate = learning_rate
        self.min_samples_leaf = min_samples_leaf
        self.early_stopping_rounds = early_stopping_rounds
        self.ensemble = ensemble
        self.n_folds = n_folds
        self.max_rows = max_rows
        self.task = task
        self.one_hot_columns = one_hot_columns
        self.standardize = standardize
        self.probabilities = probabilities
        self.dtype = dtype
        self.random_state = random_state

    @classmethod
    def from_score(cls, score: EnsembleScore, classes: np.ndarray | None, **params: Any) -> TreeFeatures:
        """A fitted ``TreeFeatures("score")`` of ensembles that were grown by `mercer.learn.trees`."""
        columns = score.columns
        made = cls(
            "score",
            one_hot_columns=list(columns.categories) or None,
            standardize=score.scale is not None,
            probabilities=score.probabilities,
            **params,
        )
        made.n_features_in_, made.classes_ = columns.n_columns, classes
        made._set_score(score, [])
        return made

    @classmethod
    def _from_former(cls, state: dict[str, Any]) -> TreeFeatures:
        """The estimator of a file of format 1, which scored with one ensemble of all rows."""
        renamed = {"n_trees": "n_estimators", "max_leaves": "max_leaf_nodes"}
        names = ("encoding", "n_trees", "max_leaves", "ensemble", "n_folds", "max_rows", "task", "random_state")
        made = cls(**{renamed.get(name, name): state[name] for name in names if name in state})
        for name in (name for name in state if name.endswith("_")):
            setattr(made, name, state[name])
        if made.encoding == "score":
            ensembles = [state["_whole"]]
        else:  # one copy of the trees that serve several outputs
            ensembles = [each.some(np.flatnonzero(each.output == 0)) for each in state["_without"]]
        made._set_score(EnsembleScore(ensembles, TreeColumns.of(state["n_features_in_"])), [])
        return made

    @property
    def score_(self) -> EnsembleScore:
        """The map from rows to scores."""
        return self._score

    @property
    def ensembles_(self) -> list[TreeEnsemble]:
        return self._score.ensembles

    def _check_parameters(self) -> None:
        for name, allowed in (("encoding", _ENCODINGS), ("ensemble", _ENSEMBLES)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {getattr(self, name)!r}.")
        check_task(self.task)
        minima = {"n_estimators": 1, "max_leaf_nodes": 2, "max_rows": 2, "early_stopping_rounds": 1, "n_folds": 2}
        for name, minimum in minima.items():
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), minimum)
        for name in ("learning_rate", "min_samples_leaf"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be a positive number, not {getattr(self, name)!r}.")

    @property
    def _n_folds(self) -> int:
        return _N_FOLDS[self.encoding] if self.n_folds is None else int(self.n_folds)

    def _folds(self, block: Block) -> np.ndarray:
        return fold_of(block.ids, self._n_folds, seed_of(self.random_state))

    def _learn_from(self, source: Source) -> None:
        self.classes_ = classes_in(source, self.task)
        if self.max_rows is None and self.ensemble == "boosted" and count_rows(source) > SAMPLE_ROWS:
            self._learn_streamed(source)
        else:
            self._learn_in_memory(source)

    def _learn_streamed(self, source: Source) -> None:
        """Learn boosted trees from all rows of a source, one pass for about each level of the trees of a round."""
        columns = TreeColumns.of(self.n_features_in_, self.one_hot_columns or ())
        seed = seed_of(self.random_state)
        rows, totals = encoder_of(source, columns, self.classes_, self._n_folds, seed, _MAX_BINS)
        self._refuse_one_fold(rows.folds, int(totals.n.sum()))
        params = self._params(totals.sums.shape[1] - 1, totals.weight)
        result = boost_streamed(source, rows, totals, params)
        scale = out_of_fold_scale(source, result) if self.standardize and self.encoding == "score" else None
        self._keep(result.ensembles, columns, scale, rows.folds)

    def _learn_in_memory(self, source: Source) -> None:
        n = count_rows(source) if self.max_rows is None else int(self.max_rows)
        rows = gather(source, n, seed_of(self.random_state))
        folds = self._folds(rows)
        known = np.unique(folds)
        self._refuse_one_fold(known, len(rows))
        columns = TreeColumns.of(rows.X.shape[1], self.one_hot_columns or ())
        grow = self._boosted if self.ensemble == "boosted" else self._forests
        ensembles, scores = grow(rows, columns, folds, known)
        scale = score_scale(scores, rows.weight) if self.standardize and self.encoding == "score" else None
        self._keep(ensembles, columns, scale, known)

    @staticmethod
    def _refuse_one_fold(folds: np.ndarray, n_rows: int) -> None:
        if len(folds) < 2:
            raise ValueError(
                f"n_samples={n_rows}, but trees are learned without each fold, and all rows are in one (equal rows "
                "share a fold). Give more distinct rows."
            )

    def _keep(
        self, ensembles: list[TreeEnsemble], columns: TreeColumns, scale: np.ndarray | None, folds: np.ndarray
    ) -> None:
        probabilities = bool(self.probabilities) and self.classes_ is not None
        self._set_score(EnsembleScore(ensembles, columns, scale, probabilities), folds.tolist())

    def _set_score(self, score: EnsembleScore, folds: Sequence[int]) -> None:
        """Keep the ensembles and the fold that each has not seen."""
        self._score, self._ensemble_folds = score, list(folds)
        leaves = self.encoding == "leaves"
        self.n_features_out_ = sum(sum(each.n_leaves) for each in score.ensembles) if leaves else score.width

    def _boosted(
        self, rows: Block, columns: TreeColumns, folds: np.ndarray, known: np.ndarray
    ) -> tuple[list[TreeEnsemble], np.ndarray]:
        assert rows.y is not None
        loss = loss_of_target(rows.y, rows.weight, self.classes_)
        data = TrainingData(columns(rows.X), columns.codes)
        params = self._params(loss.targets.shape[1], float(loss.weights().sum()))
        result = boost(data, loss, folds, params)
        return result.ensembles, result.scores

    def _params(self, n_outputs: int, weight: float) -> TreeParams:
        n_outputs = n_outputs if self.encoding == "leaves" else 1
        stop = self.early_stopping_rounds
        return TreeParams(
            n_estimators=-(-int(self.n_estimators) // n_outputs),
            max_leaf_nodes=int(self.max_leaf_nodes),
            learning_rate=float(self.learning_rate),
            min_samples_leaf=min(float(self.min_samples_leaf), _MAX_LEAF_FRACTION * weight),
            max_features=1.0,
            early_stopping_rounds=None if stop is None else int(stop),
            max_bins=_MAX_BINS,
            random_state=seed_of(self.random_state),
        )

    def _forests(
        self, rows: Block, columns: TreeColumns, folds: np.ndarray, known: np.ndarray
    ) -> tuple[list[TreeEnsemble], np.ndarray]:
        X, targets, is_class = columns(rows.X), numeric_target(rows.y, self.classes_), self.classes_ is not None
        params = {
            "n_estimators": int(self.n_estimators),
            "max_leaf_nodes": int(self.max_leaf_nodes),
            "random_state": seed_of(self.random_state),
        }
        n_outputs = 1 if self.encoding == "leaves" else targets.shape[1]

        return forests_per_fold(X, targets, rows.weight, folds, known, is_class, params, n_outputs)

    def _apply(self, X: np.ndarray) -> Any:
        if self.encoding == "leaves":
            everyone = np.ones((len(self.ensembles_), len(X)), dtype=bool)
            return leaf_indicators(self.ensembles_, self._score.columns(X), everyone, self._dtype(X))
        return self._score.features(X, self._dtype(X))

    def _held_out(self, X: np.ndarray, fold: np.ndarray) -> Any:
        folds = np.array(self._ensemble_folds)
        shown = fold == folds[:, None]
        shown[:, ~shown.any(axis=0)] = True  # no ensemble has seen a row of a fold without training rows
        seen = self._score.columns(X)
        if self.encoding == "leaves":
            return leaf_indicators(self.ensembles_, seen, shown, self._dtype(X))
        scores = self._score.scores(X)
        for ensemble, k in zip(self.ensembles_, folds, strict=True):
            scores[fold == k] = ensemble.scores(seen[fold == k])
        return self._score.from_scores(scores, self._dtype(X))

    def _dtype(self, X: np.ndarray) -> np.dtype:
        return X.dtype if self.dtype is None else np.dtype(self.dtype)

    def get_feature_names_out(self, input_features: Iterable[str] | None = None) -> np.ndarray:
        """Names such as `treefeatures_0_tree3_leaf5` (ensemble 0) or `treefeatures_score`."""
        self._input_names(input_features)
        if self.encoding == "score":
            kinds = ("score", "probability") if self._score.probabilities else ("score",)
            names = target_names(self.classes_, self._score.n_outputs)
            return np.array([f"treefeatures_{kind}{n and '_' + n}" for kind in kinds for n in names], dtype=object)
        return np.array(
            [
                f"treefeatures_{k}_tree{t}_leaf{leaf}"
                for k, ensemble in enumerate(self.ensembles_)
                for t, n_leaves in enumerate(ensemble.n_leaves)
                for leaf in range(n_leaves)
            ],
            dtype=object,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
