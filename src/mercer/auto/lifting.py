"""Does lifting help? The same ridge path on the columns as they are and on random features of several bandwidths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.pipeline import Pipeline

from mercer.auto.budget.progress import Steps
from mercer.expand import RandomFeatures
from mercer.kernels import Gaussian
from mercer.linear import RidgeClassifier, RidgeRegressor
from mercer.normalize import Standardize
from mercer.source import Source

#: Bandwidths worth trying, as multiples of the median distance between rows.
MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)
TASKS = {"classify": RidgeClassifier, "regress": RidgeRegressor}


@dataclass(frozen=True)
class Trial:
    """One candidate: a fitted pipeline, and the squared error its best penalty reached on the folds.

    `multiple` and `bandwidth` are None for the plain columns.
    """

    model: Pipeline
    loss: float
    multiple: float | None = None
    bandwidth: float | None = None

    @property
    def plain(self) -> bool:
        return self.bandwidth is None

    @property
    def alpha(self) -> float:
        return float(self.model[-1].alpha_)


@dataclass(frozen=True)
class Search:
    """What was tried. The folds choose; no trial has seen anything but the rows to learn from."""

    trials: list[Trial]

    @property
    def plain(self) -> Trial:
        return next(trial for trial in self.trials if trial.plain)

    @property
    def lifted(self) -> Trial:
        """The best of the random features."""
        return min((trial for trial in self.trials if not trial.plain), key=lambda trial: trial.loss)

    @property
    def best(self) -> Trial:
        """The candidate with the least squared error on the folds; a tie goes to the simpler one."""
        return min(self.trials, key=lambda trial: trial.loss)


def compare_lifts(
    rows: Source, task: str, n_components=512, multiples=MULTIPLES, random_state=0, steps: Steps | None = None
) -> Search:
    """Fit standardized columns, plain and lifted by Gaussian random features, each with its whole ridge path.

    Every candidate is judged by the exact K-fold squared error of its best penalty on `rows`. The folds depend on the
    rows alone, so all candidates are judged on the same ones.

    Parameters
    ----------
    rows : Source with a target; the holdout must not be among them
    task : {"classify", "regress"}
    n_components : int, number of random features
    multiples : bandwidths to try, in units of the median distance between rows
    random_state : int, seed of the frequencies and of the folds
    steps : Steps, told of each step as it starts

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from mercer import read
    >>> X, y = make_circles(300, noise=0.05, factor=0.5, random_state=0)
    >>> search = compare_lifts(read(X, target=y), "classify", n_components=64)
    >>> search.best.plain, search.lifted.loss < search.plain.loss / 3
    (False, True)
    """
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, not {task!r}.")
    steps = steps or Steps()
    with steps("standardize"):
        scale = Standardize().fit(rows)
        scaled = scale.transform(rows)
    with steps("median distance"):
        median = RandomFeatures(Gaussian("median"), n_components=2).fit(scaled).kernel_.bandwidth
    with steps("plain columns"):
        trials = [_trial(scale, None, scaled, task, random_state)]
    for multiple in multiples:
        with steps(f"random features, {multiple:g} x median"):
            waves = RandomFeatures(Gaussian(multiple * median), n_components=n_components, random_state=random_state)
            trials.append(_trial(scale, waves.fit(scaled), scaled, task, random_state, multiple))
    return Search(trials)


def _trial(scale, waves, scaled, task, random_state, multiple=None) -> Trial:
    ridge = TASKS[task](random_state=random_state)
    ridge.fit(scaled if waves is None else waves.transform(scaled))
    fitted = {"standardize": scale, "random features": waves, "ridge": ridge}
    model = Pipeline([(name, step) for name, step in fitted.items() if step is not None])
    bandwidth = None if waves is None else float(waves.kernel_.bandwidth)
    chosen = list(ridge.alphas_).index(ridge.alpha_)
    return Trial(model, float(np.asarray(ridge.losses_)[chosen]), multiple, bandwidth)
