"""The metric a target asks for, learned from the gradients of a random-features model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from mercer._runtime.checks import check_whole
from mercer.base import seed_of
from mercer.kernels import KernelParameter
from mercer.kernels.stationary import Stationary, median_distance
from mercer.learn.gathering import gather
from mercer.learn.metric.scored_rounds import Bench, Form, Trial
from mercer.learn.out_of_fold import TargetLearner
from mercer.learn.targets import check_task, classes_in, numeric_target
from mercer.source import Source, StreamSource

MODES = ("full", "diagonal")
#: Directions in which the model is flat keep this share of the mean eigenvalue, lest later rounds be blind to them.
_FLOOR = 1e-3
#: The bandwidths tried reach this many doublings from the median distance.
_DOUBLINGS = 4
_SAMPLE_ROWS = 2048
#: The part of the choices of masked features that is made evenly.
_EVEN = 0.1
#: What a bandwidth must gain, as a share of the loss, for the walk to go on.
_GAIN = 1e-3
#: What a round must gain for another one to follow.
_ROUND_GAIN = 0.01
#: A mode whose loss exceeds the best by this factor is not followed further.
_HOPELESS = 1.25
#: Where the loss is above this share of the variance, bandwidths cannot be told apart.
_NOTHING_SEEN = 0.99


class LearnedMetric(KernelParameter, ClassNamePrefixFeaturesOutMixin, TargetLearner):
    """The linear map x -> x M^(1/2) after which distances say what matters for the target.

    M is the average gradient outer product of a regression function f,

        M = E[grad f(x) grad f(x)'] d / trace,

    long in directions along which f changes and short where it does not. f is ridge regression on random Fourier
    features of the kernel in the current metric, M follows from the Gram matrix of that fit with no further pass, and
    a few rounds sharpen it: features in the metric M show f better, and a better f gives a better M. Gradients are
    those of f smoothed over a short length, for with heavy-tailed kernels (Laplace, Cauchy, Matern) raw ones are noise.

    Each round tries the full M and its diagonal and walks to a better bandwidth; everything tried is scored by exact
    K-fold cross-validation of the ridge path, and the best is kept, the plain metric of round 0 included. (The metric
    has seen all folds: a surcharge for the numbers it chose keeps a noise target from choosing any.) Several outputs
    and classes (by their indicators) add up. Columns should be on comparable scales at the start.

    Parameters
    ----------
    kernel : shift-invariant kernel with a bandwidth, or None, default=None
        None is `Gaussian`. Bandwidths tried are multiples of its own number, or of the median distance in the metric.
    n_rounds : int >= 0, default=5
        At most so many; a round that gains less than a hundredth is the last.
    mode : {"auto", "full", "diagonal", "masked"}, default="auto"
        "full" turns and stretches; "diagonal" only weighs the columns; "auto" tries both in each round. "masked" leaves
        the metric as it is and makes the kernel a mean over small sets of columns, those that matter drawn more often
        (`OnSubsets`): for sums of functions of up to three columns. It shows in `kernel_` only.
    n_components : int, default=512
        Random features of the model that is differentiated; one more if the number is odd (cosines and sines).
    smoothing : float >= 0, default=0.5
        Length over which f is smoothed, in units of a column's standard deviation.
    max_rows : int, default=20000
        With more rows, about this many (those of smallest hash) are learned from.
    n_folds : int, default=5
    task : {"auto", "regression", "classification"}, default="auto"
        "auto" takes strings, truth values and whole numbers of at most 20 different values for classes.
    random_state : int, default=0

    Attributes
    ----------
    metric_ : array (d, d), M with trace d
    root_ : array (d, d), the symmetric M^(1/2)
    kernel_ : the kernel in this metric, for `RandomFeatures(kernel_)` and every other user of kernels
    history_ : structured array, one row per metric and bandwidth tried: round, mode, bandwidth, alpha, loss (the
        cross-validated squared error as a share of the target's variance)
    loss_ : float, the loss of the metric that was kept
    classes_ : the classes, or None for a quantity

    References
    ----------
    Radhakrishnan, Beaglehole, Pandit and Belkin, "Mechanism for feature learning in neural networks and
    backpropagation-free machine learning models", Science 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learn import LearnedMetric
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> y = np.sin(2 * X[:, 0] + X[:, 1])
    >>> learned = LearnedMetric(n_components=128).fit(X, y)
    >>> direction = np.linalg.eigh(learned.metric_)[1][:, -1]
    >>> (abs(direction) * np.sqrt(5)).round(1)
    array([2., 1., 0., 0.])
    """

    def __init__(
        self,
        kernel=None,
        n_rounds=5,
        mode="auto",
        n_components=512,
        smoothing=0.5,
        max_rows=20_000,
        n_folds=5,
        task="auto",
        random_state=0,
    ):
        self.kernel = kernel
        self.n_rounds = n_rounds
        self.mode = mode
        self.n_components = n_components
        self.smoothing = smoothing
        self.max_rows = max_rows
        self.n_folds = n_folds
        self.task = task
        self.random_state = random_state

    def _check_parameters(self):
        if self.mode not in ("auto", *MODES, "masked"):
            raise ValueError(f"mode must be one of auto, {', '.join(MODES)}, masked, not {self.mode!r}.")
        check_task(self.task)
        for name, least in (("n_rounds", 0), ("n_components", 1), ("max_rows", 2), ("n_folds", 2)):
            check_whole(name, getattr(self, name), least)
        if not np.isscalar(self.smoothing) or not 0 <= self.smoothing < np.inf:
            raise ValueError(f"smoothing must be a finite number of at least 0, not {self.smoothing!r}.")
        if not isinstance(self._kernel(), Stationary):
            raise TypeError(f"kernel must be a shift-invariant kernel with a bandwidth, not {self.kernel!r}.")

    def _learn_from(self, source: Source):
        self.classes_ = classes_in(source, self.task)
        rows = gather(source, self.max_rows, seed_of(self.random_state))
        rows = replace(rows, y=_centered(numeric_target(rows.y, self.classes_), rows.weight))
        if len(np.unique(rows.ids)) < 2:
            raise ValueError(f"n_samples={len(rows)}, but cross-validation needs at least two distinct rows.")
        sample = rows.X[:_SAMPLE_ROWS]
        again = StreamSource(lambda: iter([replace(rows)]), n_rows=len(rows))
        n_components = self.n_components + self.n_components % 2
        bench = Bench(again, sample, self._kernel(), n_components, self.n_folds, seed_of(self.random_state))
        self._keep(self._rounds(bench, sample))

    def _rounds(self, bench: Bench, sample: np.ndarray) -> list[Trial]:
        """Everything tried. Each mode follows its own gradients, a full metric also those of a better diagonal one."""
        walk = Walk(bench, sample, self._kernel().bandwidth, self.smoothing)
        best = walk.best_bandwidth(0, Form("identity", np.eye(sample.shape[1])), 0)
        last = dict.fromkeys(MODES if self.mode == "auto" else (self.mode,), best)
        for number in range(1, self.n_rounds + 1):
            last = {
                mode: walk.best_bandwidth(number, form_of(origin.gradients, mode), origin.doublings)
                for mode, origin in _origins(last).items()
            }
            before, best = best, _least([best, *last.values()])
            if before.loss < _NOTHING_SEEN and best.criterion > before.criterion * (1 - _ROUND_GAIN):
                break
        return walk.trials

    def _keep(self, trials: list[Trial]):
        best = _least(trials)
        self.root_, self.loss_ = best.root, best.loss
        self.metric_ = best.root @ best.root
        self.kernel_ = best.kernel
        fields = [("round", "i8"), ("mode", "U8"), ("bandwidth", "f8"), ("alpha", "f8"), ("loss", "f8")]
        rows = [(trial.round, trial.mode, trial.bandwidth, trial.alpha, trial.loss) for trial in trials]
        self.history_ = np.array(rows, dtype=fields)

    def _apply(self, X):
        return X @ self.root_.astype(X.dtype)

    @property
    def _n_features_out(self):
        return len(self.root_)


class Walk:
    """A walk over bandwidths, by doublings and halvings of the median distance in each metric."""

    def __init__(self, bench: Bench, sample: np.ndarray, bandwidth, smoothing: float):
        self.bench, self.sample, self.bandwidth, self.smoothing = bench, sample, bandwidth, smoothing
        self.trials: list[Trial] = []

    def step(self, number: int, form: Form, doublings: int) -> Trial:
        """Try one metric at one bandwidth."""
        median = median_distance(self.sample @ form.root)
        start = median * np.sqrt(form.typical_share) if self.bandwidth == "median" else float(self.bandwidth)
        width = self.smoothing * median / np.sqrt(2.0 * len(form.root))  # of independent columns, their deviation
        trial = self.bench.trial(number, form, doublings, float(start * 2.0**doublings), width)
        self.trials.append(trial)
        return trial

    def best_bandwidth(self, number: int, form: Form, doublings: int) -> Trial:
        """From a first bandwidth down or, if that does not help, up, as long as the loss falls."""
        first = best = self.step(number, form, doublings)
        for direction in (-1, 1):
            while best.loss < _NOTHING_SEEN and abs(best.doublings + direction) <= _DOUBLINGS:
                trial = self.step(number, form, best.doublings + direction)
                if not trial.loss < best.loss * (1 - _GAIN):
                    break
                best = trial
            if best is not first:
                break
        return best


def _least(trials) -> Trial:
    return min(trials, key=lambda trial: trial.criterion)


def _origins(last: dict[str, Trial]) -> dict[str, Trial]:
    """Whose gradients each mode that is still worth following builds on."""
    best = _least(last.values())
    worth = (mode for mode, trial in last.items() if trial.criterion <= _HOPELESS * best.criterion)
    return {mode: best if mode == "full" else last[mode] for mode in worth}


def form_of(gradients: np.ndarray, mode: str) -> Form:
    """What the gradients of a model ask for: a metric, or for masked features chances of the columns."""
    if mode != "masked":
        return Form(mode, root_of(gradients, mode))
    diagonal = np.maximum(np.diag(gradients), 0.0)
    d, total = len(diagonal), diagonal.sum()
    shares = diagonal / total if total > 0 else np.full(d, 1.0 / d)
    return Form(mode, np.eye(d), (1 - _EVEN) * shares + _EVEN / d)


def root_of(gradients: np.ndarray, mode: str) -> np.ndarray:
    """The symmetric square root of the gradients' outer product (or of its diagonal), scaled to trace d and floored."""
    d = len(gradients)
    if mode == "diagonal":
        return np.diag(np.sqrt(_floored(np.diag(gradients), d)))
    values, vectors = np.linalg.eigh(gradients)
    return (vectors * np.sqrt(_floored(values, d))) @ vectors.T


def _floored(values: np.ndarray, d: int) -> np.ndarray:
    values = np.maximum(values, 0.0)
    total = values.sum()
    shares = values * (d / total) if total > 0 else np.ones(d)
    return (shares + _FLOOR) / (1 + _FLOOR)


def _centered(targets: np.ndarray, weight) -> np.ndarray:
    return targets - np.average(targets, axis=0, weights=weight)
