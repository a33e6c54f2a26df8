"""Ridge paths on plain columns and on random features of several bandwidths, compared by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.pipeline import Pipeline

from mercer._runtime.blas import on_one_blas_thread
from mercer.auto.budget.progress import Steps
from mercer.auto.rows.task import checked_task
from mercer.expand import RandomFeatures
from mercer.kernels import Gaussian
from mercer.linear import RidgeClassifier, RidgeRegressor
from mercer.normalize import Standardize
from mercer.source import Source

#: Candidate bandwidths, as multiples of the median distance between rows.
MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)
_RIDGE = {"classification": RidgeClassifier, "regression": RidgeRegressor}


@dataclass(frozen=True)
class LiftTrial:
    """One candidate: a fitted pipeline, and the cross-validated squared error of its best penalty.

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
class LiftSearch:
    """All candidates, compared by cross-validation on the training rows."""

    trials: list[LiftTrial]

    @property
    def plain(self) -> LiftTrial:
        return next(trial for trial in self.trials if trial.plain)

    @property
    def lifted(self) -> LiftTrial:
        """The best candidate with random features."""
        return min((trial for trial in self.trials if not trial.plain), key=lambda trial: trial.loss)

    @property
    def best(self) -> LiftTrial:
        """The candidate with the lowest cross-validated error; ties go to the simpler one."""
        return min(self.trials, key=lambda trial: trial.loss)


@on_one_blas_thread
def compare_lifts(
    rows: Source,
    task: str,
    n_components: int = 512,
    multiples: Sequence[float] = MULTIPLES,
    random_state: int = 0,
    steps: Steps | None = None,
) -> LiftSearch:
    """Fit ridge paths on standardized columns, plain and mapped to Gaussian random features.

    Candidates are compared by the exact K-fold squared error of their best penalty. The folds depend on the rows alone,
    so they are the same for all candidates.

    Use it to see whether random features help at all, and at what bandwidth. `mercer.fit` searches far more (trees,
    products, metrics); this is one comparison that can be read.

    Parameters
    ----------
    rows : Source of training rows with a target
    task : {"classification", "regression"}
    n_components : int, number of random features
    multiples : candidate bandwidths, in units of the median distance between rows
    random_state : int, seed of the frequencies and of the folds
    steps : Steps, which logs each step

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from mercer import read
    >>> X, y = make_circles(300, noise=0.05, factor=0.5, random_state=0)
    >>> search = compare_lifts(read(X, target=y), "classification", n_components=64)
    >>> search.best.plain, search.lifted.loss < search.plain.loss / 3
    (False, True)
    """
    task = checked_task(task) or "regression"
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
            features = RandomFeatures(Gaussian(multiple * median), n_components=n_components, random_state=random_state)
            trials.append(_trial(scale, features.fit(scaled), scaled, task, random_state, multiple))
    return LiftSearch(trials)


def _trial(
    scale: Standardize,
    features: RandomFeatures | None,
    scaled: Source,
    task: str,
    random_state: int,
    multiple: float | None = None,
) -> LiftTrial:
    ridge = _RIDGE[task](random_state=random_state)
    ridge.fit(scaled if features is None else features.transform(scaled))
    fitted = {"standardize": scale, "random features": features, "ridge": ridge}
    model = Pipeline([(name, step) for name, step in fitted.items() if step is not None])
    bandwidth = None if features is None else float(features.kernel_.bandwidth)
    chosen = list(ridge.alphas_).index(ridge.alpha_)
    return LiftTrial(model, float(np.asarray(ridge.losses_)[chosen]), multiple, bandwidth)
