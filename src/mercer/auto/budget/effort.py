"""How much work a search may do."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from mercer.learn.trees.params import TreeParams, full_intervals


@dataclass(frozen=True)
class Effort:
    """Sizes of a search: trees, waves to search with and to end with, rows to search on, multiples of the median.

    Of several `tree_params` one fold chooses; `tree_folds` is the number of ensembles, each grown without one fold.
    """

    tree_params: tuple[TreeParams, ...]
    tree_folds: int = 5
    n_seeds: int = 1
    n_bins: int = 16
    search_waves: int = 256
    search_rows: int = 4000
    most_waves: int = 2048
    multiples: tuple[float, ...] = (0.35, 0.7, 1.4)
    kernels: tuple[str, ...] = ("Gaussian", "Laplace")
    masked: bool = True
    metric_rows: int = 4000
    metric_waves: int = 256
    n_rounds: int = 3
    #: What waves must gain on the rows of the search, as a share of the loss, for a metric to be learned for them.
    hope: float = 2e-3
    #: Whether what matters is looked at twice: kernels at more waves, a metric from more rows, classes without trees,
    #: several penalties of the logistic loss.
    sharpen: bool = True
    most_features: int = 1_000_000
    #: Products of two columns, at most.
    most_products: int = 16
    #: Features that bins and waves may not go beyond, where memory is short.
    widest: int = 1_000_000
    #: Models to take the mean of, each with waves of its own.
    wave_seeds: int = 1
    #: Entries of a table (rows times columns) that a search gets through in a second, about, on two cores.
    pace: float = 2e5


#: Where rows are few, an ensemble should miss as few of them as possible: below so many, there are twice the folds.
_FEW_ROWS = 2500

EFFORTS = {
    "fast": Effort(
        (TreeParams(n_estimators=100, learning_rate=0.15, early_stopping_rounds=10),),
        tree_folds=3,
        n_bins=0,
        search_waves=128,
        search_rows=2000,
        most_waves=512,
        multiples=(0.5,),
        kernels=("Gaussian",),
        masked=False,
        metric_rows=2000,
        metric_waves=128,
        n_rounds=2,
        hope=0.02,
        sharpen=False,
        most_products=0,
        pace=5e5,
    ),
    "normal": Effort(
        (TreeParams(n_estimators=600), TreeParams(n_estimators=600, max_leaf_nodes=63, min_samples_leaf=5.0))
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
        n_seeds=3,
        n_bins=24,
        most_waves=4096,
        multiples=(0.25, 0.5, 1.0, 2.0),
        kernels=("Gaussian", "Laplace", "Matern"),
        metric_rows=12_000,
        metric_waves=768,
        hope=0.0,
        pace=5e4,
    ),
}


#: Columns that a tree looks at, and bins of each, where there are fewer rows than columns.
_SCREENED, _COARSE = 512, 32


def sized(effort: Effort, n: int, n_outputs: int, wide: bool = False) -> Effort:
    """The effort that data of this size deserve: few rows cannot tell many candidates apart, many classes need many
    trees each round, and where rows are fewer than columns (`wide`) small trees are all that they can tell."""
    tree_params = effort.tree_params
    if n_outputs > 2:  # rounds cost a tree per class: fewer and longer steps, and nothing to compare them with
        share = max(0.25, 2.0 / n_outputs)
        first = tree_params[0]
        n_rounds, learning_rate = max(60, int(first.n_estimators * share)), min(0.2, first.learning_rate / share)
        tree_params = (replace(first, n_estimators=full_intervals(n_rounds), learning_rate=learning_rate),)
    few = n < 500
    if few or wide:
        small = _small(tree_params[0])
        tree_params = (replace(small, max_bins=_COARSE, max_screened_columns=_SCREENED) if wide else small,)
        folds, waves = (10, 64) if few else (effort.tree_folds, effort.search_waves)
        folds = folds if effort.sharpen or not wide else min(folds, 5)
        return replace(
            effort, tree_params=tree_params, tree_folds=folds, search_waves=min(waves, 128), most_waves=2 * waves,
            multiples=(1.0,), kernels=("Gaussian",), n_rounds=0, hope=0.0,
        )  # fmt: skip
    more = 2 if n < _FEW_ROWS and n_outputs <= 2 else 1
    return replace(effort, tree_params=tree_params, tree_folds=more * effort.tree_folds)


def _small(params: TreeParams) -> TreeParams:
    n_rounds = min(params.n_estimators, 60)
    return replace(params, n_estimators=n_rounds, min_samples_leaf=5.0, max_leaf_nodes=8, early_stopping_rounds=10)


class Clock:
    """A time budget in seconds, None without end; `now` tells the time.

    >>> clock = Clock(10.0, now=iter([0.0, 4.0, 4.0]).__next__)
    >>> clock.left(), clock.allows(0.3)
    (6.0, False)
    """

    def __init__(self, budget: float | None = None, now=time.perf_counter):
        self.budget, self.now = budget, now
        self.start = now()

    def spent(self) -> float:
        return self.now() - self.start

    def left(self) -> float:
        """Seconds until the end, infinite without a budget."""
        return math.inf if self.budget is None else self.budget - self.spent()

    def part(self, share: float) -> Clock:
        """A clock that started with this one and has a share of its time."""
        other = Clock(None if self.budget is None else share * self.budget, self.now)
        other.start = self.start
        return other

    def rest(self, share: float = 1.0) -> Clock:
        """A clock that starts now and has a share of the time that is left."""
        return Clock(None if self.budget is None else share * self.left(), self.now)

    def allows(self, share: float) -> bool:
        """True while less than this share of the budget is spent."""
        return self.budget is None or self.spent() < share * self.budget
