"""The effort of a search: how much work it may do."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mercer.auto.constants import COARSE_BINS, FEW_ROWS, FEW_TREE_ROWS, MAX_SCREENED_COLUMNS
from mercer.learn.trees.params import TreeParams, full_intervals


@dataclass(frozen=True)
class Effort:
    """Sizes of a search.

    One fold chooses among several `tree_params`; `tree_folds` is the number of ensembles, each grown without one fold.
    """

    tree_params: tuple[TreeParams, ...]
    #: Tried as well where the last of several `tree_params` does much better than the first.
    larger_trees: TreeParams | None = None
    tree_folds: int = 5
    #: Ensembles of trees with different random states, whose scores are averaged.
    n_seeds: int = 1
    #: Piecewise-linear bins of a column, at most; none below 2.
    n_bins: int = 16
    #: Random features and rows that kernels are compared with.
    search_features: int = 256
    search_rows: int = 4000
    #: Random features of the model, at most.
    max_fourier: int = 2048
    #: Landmarks of the model in place of random features, at most; none with 0.
    max_landmarks: int = 2048
    #: Rows that the score of kernel ridge regression is fitted on, at most; none with 0.
    max_kernel_rows: int = 20_000
    #: Bandwidths, as multiples of the median distance.
    multiples: tuple[float, ...] = (0.35, 0.7, 1.4)
    kernels: tuple[str, ...] = ("Gaussian", "Laplace")
    #: Whether kernels on a few columns at a time are tried.
    subsets: bool = True
    #: Rows, random features and rounds that a metric is learned with.
    metric_rows: int = 4000
    metric_features: int = 256
    n_rounds: int = 3
    #: Relative gain on the rows of the search from which on a metric is learned for random features.
    min_fourier_gain: float = 2e-3
    #: Whether what matters is evaluated twice: kernels with more random features, a metric from more rows, classes
    #: without trees, several penalties of the logistic loss.
    sharpen: bool = True
    max_features: int = 1_000_000
    #: Products of two columns, at most.
    max_products: int = 16
    #: Ratios, differences and deviations within categories, at most.
    max_derived: int = 8
    #: Features that bins and random features may not exceed, where memory is short.
    max_width: int = 1_000_000
    #: Models with random features of their own that are averaged.
    n_fourier_seeds: int = 1
    #: Entries of a table (rows times columns) that a search processes in a second, about, on two cores.
    entries_per_second: float = 2e5


EFFORTS = {
    "fast": Effort(
        (TreeParams(n_estimators=100, learning_rate=0.15, early_stopping_rounds=10),),
        tree_folds=3,
        n_bins=0,
        search_features=128,
        search_rows=2000,
        max_fourier=512,
        max_landmarks=0,
        max_kernel_rows=0,
        multiples=(0.5,),
        kernels=("Gaussian",),
        subsets=False,
        metric_rows=2000,
        metric_features=128,
        n_rounds=2,
        min_fourier_gain=0.02,
        sharpen=False,
        max_products=0,
        max_derived=0,
        entries_per_second=5e5,
    ),
    "normal": Effort(
        (TreeParams(n_estimators=600), TreeParams(n_estimators=600, max_leaf_nodes=63, min_samples_leaf=5.0)),
        TreeParams(n_estimators=600, max_leaf_nodes=255, min_samples_leaf=2.0),
    ),
    "high": Effort(
        (
            TreeParams(n_estimators=900, learning_rate=0.04, early_stopping_rounds=50),
            TreeParams(
                n_estimators=900,
                learning_rate=0.04,
                early_stopping_rounds=50,
                max_leaf_nodes=63,
                min_samples_leaf=5.0,
            ),
        ),
        TreeParams(
            n_estimators=900, learning_rate=0.04, early_stopping_rounds=50, max_leaf_nodes=255, min_samples_leaf=2.0
        ),
        n_seeds=3,
        n_bins=24,
        max_fourier=4096,
        max_landmarks=4096,
        max_kernel_rows=24_000,
        multiples=(0.25, 0.5, 1.0, 2.0),
        kernels=("Gaussian", "Laplace", "Matern"),
        metric_rows=12_000,
        metric_features=768,
        min_fourier_gain=0.0,
        entries_per_second=5e4,
    ),
}


def sized(effort: Effort, n: int, n_outputs: int, wide: bool = False) -> Effort:
    """The effort for data of this size.

    Few rows cannot separate many candidates, many classes need many trees in each round, and where rows are fewer than
    columns (`wide`) only small trees are worth growing.
    """
    tree_params = effort.tree_params
    if n_outputs > 2:  # rounds cost a tree per class: fewer and longer steps, and nothing to compare them with
        fraction = max(0.25, 2.0 / n_outputs)
        first = tree_params[0]
        n_rounds, learning_rate = max(60, int(first.n_estimators * fraction)), min(0.2, first.learning_rate / fraction)
        tree_params = (replace(first, n_estimators=full_intervals(n_rounds), learning_rate=learning_rate),)
    few = n < FEW_ROWS
    if few or wide:
        small = _small(tree_params[0])
        tree_params = (
            replace(small, max_bins=COARSE_BINS, max_screened_columns=MAX_SCREENED_COLUMNS) if wide else small,
        )
        folds, width = (10, 64) if few else (effort.tree_folds, effort.search_features)
        folds = folds if effort.sharpen or not wide else min(folds, 5)
        return replace(
            effort, tree_params=tree_params, tree_folds=folds, search_features=min(width, 128), max_fourier=2 * width,
            multiples=(1.0,), kernels=("Gaussian",), n_rounds=0, min_fourier_gain=0.0,
        )  # fmt: skip
    more = 2 if n < FEW_TREE_ROWS and n_outputs <= 2 else 1
    return replace(effort, tree_params=tree_params, tree_folds=more * effort.tree_folds)


def _small(params: TreeParams) -> TreeParams:
    n_rounds = min(params.n_estimators, 60)
    return replace(params, n_estimators=n_rounds, min_samples_leaf=5.0, max_leaf_nodes=8, early_stopping_rounds=10)
