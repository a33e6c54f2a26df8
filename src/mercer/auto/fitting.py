"""`mercer.fit`: from a table to a model and its score on held-out rows."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from mercer._runtime.blas import on_one_blas_thread
from mercer._runtime.checks import check_whole
from mercer._runtime.errors import Message, ParameterError, Setting
from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import EFFORTS, Effort
from mercer.auto.budget.memory import gigabytes
from mercer.auto.budget.progress import Steps
from mercer.auto.checkpointing import resumable
from mercer.auto.diagnostics.gather import gather
from mercer.auto.model import Model
from mercer.auto.options import ModelShape, Objective, Splitting
from mercer.auto.rows.task import TargetProfile, profile_target
from mercer.auto.run import FitRun, Learned
from mercer.auto.search.state import Candidate
from mercer.auto.shift.reference import training_reference
from mercer.auto.splits import RowSplits
from mercer.auto.text.sparse_model import model_of
from mercer.auto.updates.state import check_updatable, update_state
from mercer.base import seed_of
from mercer.io import read_table
from mercer.source import Source


@on_one_blas_thread
@resumable
def fit(
    data: Any,
    target: Any = None,
    *,
    weight: Any = None,
    task: str | None = None,
    effort: str = "normal",
    time_budget: float | None = None,
    max_features: int | None = None,
    memory: float | str | None = 4.0,
    holdout: float = 0.2,
    roles: dict[str, str] | None = None,
    random_state: Any = 0,
    progress: Callable[[str], None] | None = None,
    n_seeds: int = 1,
    report: bool = True,
    report_rows: int = 3,
    engine: Any = None,
    metric: Any = None,
    loss: str = "squared",
    quantiles: Any = None,
    class_weight: Any = None,
    costs: Any = None,
    groups: Any = None,
    time: Any = None,
    gap: Any = None,
    cv: Any = None,
    monotone: Any = None,
    explainable: bool = False,
    max_pairs: int = 10,
    max_classes: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    updatable: bool | None = None,
    keep_hashes: bool = True,
) -> Model:
    """Fit a linear model on features found for the data, and evaluate it on rows it has never seen.

    The table is encoded: roles of columns are guessed, target encodings are out of fold. Then five folds, the same
    throughout, choose among the out-of-fold score of boosted trees, piecewise-linear bins, products of pairs of
    columns, ratios and deviations within categories, and random features of kernels in a learned metric, each block
    with its own ridge penalty. The result is evaluated once on the holdout, beside the linear model of the encoded
    columns, and refitted on all rows.

    Use it for tables of numbers, categories, dates and text with up to millions of rows. Inside cross-validation,
    pipelines and stacking use `MercerRegressor` and `MercerClassifier`; if the features are known, an estimator of
    `mercer.linear` on them is faster. A fit takes seconds on thousands of rows; `effort="fast"` takes about a tenth of
    that.

    Parameters
    ----------
    data : path, frame, dict of columns, array or Source
    target : name of the target column, or an array for data in memory
        A missing target is an error that names the row; `mercer.io.read_table(..., on_bad_rows="skip")` skips them.
    weight : name of a column (or an array, for data in memory), default=None
        Sample weights: a row of weight 2 counts as two rows. Encoders, search, probabilities and the score on the
        holdout are weighted. Bin edges of trees, median distances of kernels and frequencies of categories are not.
        Weights with a mean below one are scaled to mean one.
    task : {"classification", "regression"} or None
        "classify" and "regress" are accepted as well. None takes strings, booleans and integers of at most 20 distinct
        values that repeat for classes.
    effort : {"fast", "normal", "high"}, default="normal"
    time_budget : float, default=None
        Seconds for the whole fit. Stages that would not fit are left out, and the report says which were tried. If
        there is no time for the refit on all rows, the model is that of the training rows, and the report says so.
    max_features : int, default=None
        Maximum number of features of the model.
    memory : float or str such as "500MB", default=4.0
        Gigabytes that the search may take in addition to the data; None is no limit. If the table is larger, the search
        uses a random sample by the hashes of the rows, and below 4 GB it tries fewer features at a time. The linear
        weights still come from all rows, which are streamed: in one pass for regression, in a few for classes.
    holdout : float, default=0.2
        Fraction of the rows that are held out; 0 trains on all rows and reports no score.
    roles : dict of column names to roles, default=None
    random_state : int, default=0
    progress : callable taking a str, default=None
        Called with a message as each step starts. The message is a str with the attributes `step` (its id), `fraction`
        (part of the fit done before the step, from 0 to 1; it never falls) and `best_loss` (the lowest cross-validated
        loss so far as a fraction of the target's variance, None before the first).
    n_seeds : int, default=1
        Average `n_seeds` models with independently drawn random features. The result is one linear model on all their
        features: less variance, for `n_seeds` final fits and as many times the random features. Fewer models are
        averaged where `max_features` or `time_budget` requires it, and one where the search keeps no random features.
    report : bool, default=True
        Compute what `Model.report_html` shows besides the scores: effects of columns, errors, calibration, a learning
        curve and more, on the holdout. That takes about a second, or 15 % of the time of the fit.
    report_rows : int, default=3
        Held-out rows that the report shows as the worst, and as typical ones; 0 keeps no values of rows in the model.
    engine : "threads", an executor of `concurrent.futures` or a `dask.distributed.Client`, default=None
        Where passes over the rows run: None is the engine of the source, by default the threads of this process. The
        search itself, on rows in memory, runs in this process. The model has the same bits on every engine.
    metric : str or scorer of scikit-learn, default=None
        What matters: "r2", "rmse", "mae" or "pinball" for regression; "accuracy", "balanced_accuracy", "auc",
        "log_loss", "brier" or "f1" for classes. It leads the report, and decisions between classes maximize it.
    loss : {"squared", "absolute", "huber", "quantile", "poisson", "gamma", "tweedie"}, default="squared"
        What the final linear model and the boosted trees minimize. Any loss but the default means regression. Poisson,
        gamma and Tweedie (of power 1.5) have a logarithmic link.
    quantiles : list of numbers between 0 and 1, default=None
        For `loss="quantile"`: None is [0.1, 0.5, 0.9]. `Model.predict_quantiles` returns all of them, which never
        cross, `predict` the median, or the one next to it.
    class_weight : "balanced" or dict of classes to weights, default=None
        Factors on the weights of rows. Probabilities are corrected back: they stay those of the data.
    costs : matrix [true class, predicted class] in sorted order of the classes, or dict, default=None
        Costs of decisions; {"false_positive": 1, "false_negative": 5} for two classes. `predict` minimizes them.
    groups : name of a column, or an array, default=None
        Rows of a group stay together: the holdout, all folds and all encodings divide whole groups. The column is a
        feature only if it has a role in `roles`.
    time : name of a column of dates or numbers, or an array, default=None
        The holdout is the last fifth of the rows (the fraction `holdout`), and each fold is predicted from earlier
        rows. The column is a feature only if it has a role in `roles`.
    gap : int or str such as "7d", default=None
        Rows, or the duration, between the end of training rows and the start of test rows, for `time`.
    cv : int, splitter of scikit-learn or list of (train, test) indices, default=None
        Folds, whose test sets must not overlap. Rows that are never tested still are training rows. The holdout goes by
        the hashes of rows unless `groups` or `time` is given; splits of all rows are asked for, and rows of the holdout
        are left out of them.
    monotone : dict of columns of numbers to +1 or -1, default=None
        Predictions (for two classes, the log-odds of the second) never fall, or never rise, as the column grows and all
        others stay: exactly, for every row.
    explainable : bool, default=False
        Only what a person can read: the score is a sum of points, one for the bin or category of each column and one
        for each of a few pairs of columns. No scores of trees, no random features; columns of text are left out, and
        dates are numbers. `Model.scorecard` is the table of points, `Model.explain` is exact.
    max_pairs : int, default=10
        Pairs of columns in an explainable model, at most; 0 for columns alone.
    max_classes : int, default=None
        Confirm a target of up to so many classes: each has weights and scores of its own. None allows 100 classes of
        numbers, which may rather be a quantity, and 1000 of text. Beyond 100 classes no trees are grown.
    checkpoint : path of a folder, default=None
        Keep the progress of a long fit there, for data in files. If the fit is interrupted, the same call continues
        and gives the same bits, on the same or another engine. The folder is removed when the fit is complete.
    updatable : bool, default=None
        Keep the sums over the rows that `Model.update` and `Model.forget` need, in the model file as well. None keeps
        them up to 8 MB, which is enough for about 600 features; True keeps them at any size.
    keep_hashes : bool, default=True
        Keep a hash of 8 bytes of each row, by which `Model.forget` recognizes it.

    Returns
    -------
    Model

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import mercer
    >>> X, y = load_iris(return_X_y=True)
    >>> model = mercer.fit(X, y, effort="fast")
    >>> model.predict(X[:3]).tolist()
    [0, 0, 0]
    >>> sorted(model.report()["holdout"])
    ['baseline', 'gain', 'gains', 'interval', 'linear', 'metric', 'metrics', 'model', 'n', 'naive']
    """
    sizes, steps, clock = effort_of(effort, max_features, n_seeds), Steps(progress), Clock(time_budget)
    random_state, limit = seed_of(random_state), gigabytes(memory)
    _check_budgets(time_budget, limit)
    _check_numbers(holdout, report_rows, max_classes)
    check_updatable(updatable)
    run = FitRun(
        roles, sizes, random_state, steps, clock, report=bool(report), report_rows=int(report_rows),
        objective=Objective(metric, loss, quantiles, class_weight, costs),
        splitting=Splitting(groups, time, gap, cv),
        shape=ModelShape(monotone, explainable, max_pairs),
    )  # fmt: skip
    run.check_options()
    with steps("read"):
        source = read_table(data, target, weight, engine=engine)
        _refuse_no_columns(source)
        profile, source = _profiled(run, source, task, max_classes)
    learned, scores = run.run(source, holdout, limit)
    found: dict[str, Any] = {"task": profile.task, "effort": effort, "target": source.target, "rows": run.n_rows}
    named = {"weight": weight, "groups": groups, "time": time}
    found |= {name: given for name, given in named.items() if isinstance(given, str)}
    found |= run.asked() | ({} if scores is None else {"holdout": scores})
    _note_many_features(run, learned, max_features)
    given = {
        "task": task, "effort": effort, "time_budget": time_budget, "max_features": max_features, "memory": memory,
        "holdout": holdout, "roles": roles, "random_state": random_state, "n_seeds": n_seeds,
        "metric": metric, "loss": loss, "quantiles": quantiles, "class_weight": class_weight, "costs": costs,
        "groups": groups, "time": time, "gap": gap,
        "cv": cv, "monotone": monotone, "explainable": explainable, "max_pairs": max_pairs, "max_classes": max_classes,
        "updatable": updatable, "keep_hashes": keep_hashes,
    }  # fmt: skip
    options = {name: value for name, value in given.items() if _differs(value, _DEFAULTS[name])}
    found |= gather(run, learned, source, scores, (data, target, options), holdout)
    found |= {"notes": run.notes} | search_report(learned, steps)
    model = model_of(profile.task, learned.encoder, learned.predictor, learned.rows.X, found, random_state)
    model.reference = training_reference(learned.encoder, source, random_state, clock)
    model.state = update_state(run, learned, updatable, bool(keep_hashes))
    return model


_DEFAULTS = {name: parameter.default for name, parameter in inspect.signature(fit).parameters.items()}


def _profiled(run: FitRun, source: Source, task: str | None, max_classes: int | None) -> tuple[TargetProfile, Source]:
    """Learn the task and the sizes of the data, check options that depend on them, and give rows the keys of splits."""
    profile = profile_target(source, run.objective.task(task), max_classes, run.objective.loss)
    run.know(profile, source)
    run.splits, source = RowSplits.of(run.splitting, source, run.roles, run.seed)
    return profile, source


def _differs(value: Any, default: Any) -> bool:
    """Whether an option was given; arrays differ from any default."""
    return value is not default and (np.ndim(value) > 0 or value != default)


def _note_many_features(run: FitRun, learned: Learned, max_features: int | None) -> None:
    width = learned.predictor.features.width
    if max_features is not None and width > max_features:
        run.notes.append(
            Message(
                f"The encoded columns alone are {width} features, more than ",
                Setting("max_features", max_features),
                " allows: leave some out (mercer select ranks them).",
            )
        )


def _check_budgets(time_budget: float | None, memory: float | None) -> None:
    for name, value in (("time_budget", time_budget), ("memory", memory)):
        if value is not None and not (_is_number(value) and value > 0):
            raise ParameterError(name, value, "must be positive, or None for no limit")


def _check_numbers(holdout: Any, report_rows: Any, max_classes: Any) -> None:
    if not _is_number(holdout) or not 0 <= holdout < 1:
        raise ParameterError("holdout", holdout, "must be a fraction of at least 0 and below 1")
    check_whole("report_rows", report_rows, minimum=0)
    if max_classes is not None:
        check_whole("max_classes", max_classes)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def effort_of(effort: str, max_features: int | None = None, n_seeds: int = 1) -> Effort:
    """The sizes of a named effort, limited to a number of features, for the mean over a number of seeds."""
    if effort not in EFFORTS:
        raise ParameterError("effort", effort, f"must be one of {', '.join(EFFORTS)}")
    check_whole("n_seeds", n_seeds)
    sizes = replace(EFFORTS[effort], n_fourier_seeds=int(n_seeds))
    if max_features is None:
        return sizes
    check_whole("max_features", max_features)
    return replace(sizes, max_features=int(max_features))


def _refuse_no_columns(source: Source) -> None:
    if source.schema is not None and not source.schema:
        raise ValueError(
            f"There is no column beside the target {getattr(source, 'target', None)!r}: nothing to predict it from."
        )


def search_report(learned: Learned, steps: Steps) -> dict[str, Any]:
    """What was tried, what was kept and what it cost."""
    tried = [*getattr(learned.encoder, "candidates", []), *learned.predictor.candidates]
    return {
        "candidates": [_candidate_report(each) for each in tried],
        "seconds": dict(steps.log),
        "columns": list(learned.encoder.notes_),
    }


def _candidate_report(tried: Candidate) -> dict[str, Any]:
    return {
        "stage": tried.stage,
        "name": tried.name,
        "measure": "log-loss" if tried.stage == "final" else "squared error",
        "on_all_rows": bool(tried.on_all_rows),
        "loss": float(tried.loss),
        "seconds": float(tried.seconds),
        "width": int(tried.width),
        "kept": bool(tried.kept),
        "why": tried.why,
    }
