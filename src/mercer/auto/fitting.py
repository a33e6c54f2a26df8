"""`mercer.fit`: from a table to a model and an honest score."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real

from mercer._runtime.checks import check_whole
from mercer.auto.budget.effort import EFFORTS, Clock, Effort
from mercer.auto.budget.progress import Steps
from mercer.auto.final.all_rows import sample_of
from mercer.auto.final.predictor import Predictor
from mercer.auto.job import SEARCH, Job
from mercer.auto.model import Model
from mercer.auto.rows.task import checked_task
from mercer.auto.text.sparse_model import model_of
from mercer.base import seed_of
from mercer.io import read_table
from mercer.source.table import first_block

#: The fewest rows of which some are kept aside.
_SPLIT = 10


def fit(
    data,
    target=None,
    *,
    weight=None,
    task=None,
    effort="normal",
    time_budget=None,
    max_features=None,
    memory=4.0,
    holdout=0.2,
    roles=None,
    random_state=0,
    progress=None,
    n_seeds=1,
) -> Model:
    """Learn a linear model on features found for the data, and score it on rows it has never seen.

    The table is encoded (roles of columns are guessed, target encodings are out of fold). Then five folds, the same
    throughout, choose among boosted trees (one column: their out-of-fold score), piecewise-linear bins, products of
    pairs of columns, and random features of kernels in a learned metric, each block with its own penalty. The result is
    judged once on the holdout, beside the linear model of the plain columns, and learned again on all rows.

    Parameters
    ----------
    data : path, frame, dict of columns, array or Source
    target : name of the target column, or an array for data in memory
        A row without it is an error that says where; `mercer.io.read_table(..., on_bad_rows="skip")` leaves such out.
    weight : name of a column (or an array, for data in memory), default=None
        How much each row counts: a row of weight 2 is there twice. Encoders, search, probabilities and the score on the
        holdout are weighted; the edges of the trees' bins, the kernels' median distance and the frequencies of levels
        go by rows. Weights below one on average are scaled up to that.
    task : {"classify", "regress"} or None
        None takes strings, truth values and whole numbers of at most 20 different values that repeat for classes.
    effort : {"fast", "normal", "high"}, default="normal"
    time_budget : float, default=None
        Seconds for all of it. Stages that would not fit are left out, and the report says which were tried. If there is
        no time to learn again from all rows, the model is that of the rows not kept aside, and the report says so.
    max_features : int, default=None
        The most features of the model.
    memory : float, default=4.0
        Gigabytes that the search may take, beside what the data already do; None is no limit. Of a larger table the
        search sees an even sample, by the hashes of the rows, and below 4 GB it tries fewer features at a time; the
        linear weights still come from all rows, which stream by: in one pass for a quantity, in a few for classes.
    holdout : float, default=0.2
        Share of the rows to judge by; 0 learns from all and reports no score.
    roles : dict of column names to roles, default=None
    random_state : int, default=0
    progress : callable taking a str, default=None
        Told of each step as it starts.
    n_seeds : int, default=1
        Take the mean of so many models, each with waves of a seed of its own. The result is one linear model on the
        waves of all: steadier, at the price of so many final fits and, where the model has waves, as many times the
        features. Fewer where `max_features` or `time_budget` says so; no others where the search keeps no waves.

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
    ['baseline', 'gain', 'interval', 'linear', 'metric', 'model', 'n']
    """
    chosen, steps, clock = sizes(effort, max_features, n_seeds), Steps(progress), Clock(time_budget)
    random_state = seed_of(random_state)
    _check_budgets(time_budget, memory)
    if not _is_number(holdout) or not 0 <= holdout < 1:
        raise ValueError(f"holdout must be a share of at least 0 and below 1, not {holdout!r}.")
    with steps("read"):
        source = read_table(data, target, weight)
        _refuse_no_columns(source)
        job = Job(roles, chosen, random_state, steps, clock)
        job.notes += source.notes
        told: dict = {"task": checked_task(source, task, job), "effort": effort}
    told |= {"target": source.target, "rows": job.n_rows, "said": job.notes}
    told |= {"weight": weight} if isinstance(weight, str) else {}
    job.classify = told["task"] == "classify"
    train, kept = job.split(source, holdout) if holdout else (source, None)
    if kept is not None and (job.n_rows < _SPLIT or first_block(kept) is None or first_block(train) is None):
        job.notes.append(f"{job.n_rows} rows are too few to keep some aside: nothing is said about new ones.")
        train, kept = source, None
    share = job.share(memory, source, 1 - holdout)
    share = job.share_in_time(train, share, 1 - holdout)
    encoder, rows, predictor = job.learn(job.part(train, share), clock.part(SEARCH))
    rest = sample_of(source, share, random_state, holdout if kept is not None else 0)[1] if share < 1 else None
    if kept is not None:
        with steps("holdout"):
            told["holdout"] = job.judged(encoder, rows, predictor, kept, holdout, told["task"])
        again = job.learned_again(lambda: job.part(source, share), encoder, predictor, holdout)
        if again is not None:
            encoder, rows, predictor = again
            rest = sample_of(source, share, random_state)[1] if share < 1 else None
    if rest is not None:
        predictor = job.weights_from(rest, encoder, rows, predictor)
    if max_features is not None and predictor.dictionary.width > max_features:
        job.notes.append(
            f"The columns alone become {predictor.dictionary.width} features, more than the {max_features} asked for: "
            "leave some out (mercer select ranks them)."
        )
    told |= account(predictor, steps, encoder)
    return model_of(told["task"], encoder, predictor, rows.X, told, random_state)


def _check_budgets(time_budget, memory) -> None:
    for name, value in (("time_budget", time_budget), ("memory", memory)):
        if value is not None and not (_is_number(value) and value > 0):
            raise ValueError(f"{name} must be positive, or None for no limit, not {value!r}.")


def _is_number(value) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def sizes(effort, max_features=None, n_seeds=1) -> Effort:
    """The sizes of a named effort, held to a number of features, for the mean over a number of seeds."""
    if effort not in EFFORTS:
        raise ValueError(f"effort must be one of {', '.join(EFFORTS)}, not {effort!r}.")
    check_whole("n_seeds", n_seeds)
    chosen = replace(EFFORTS[effort], wave_seeds=int(n_seeds))
    if max_features is None:
        return chosen
    check_whole("max_features", max_features)
    return replace(chosen, most_features=int(max_features))


def _refuse_no_columns(source) -> None:
    if source.schema is not None and not source.schema:
        raise ValueError(f"There is no column beside the target {source.target!r}: nothing to predict it from.")


def account(predictor: Predictor, steps: Steps, encoder) -> dict:
    """What was tried, what was kept and what it cost."""
    fields = ("stage", "name", "loss", "seconds", "width", "kept", "why")
    blocks = [
        {"kind": block.kind, "width": block.width, "penalty": float(penalty), "note": getattr(block, "note", "")}
        for block, penalty in zip(predictor.dictionary.blocks, predictor.penalties, strict=True)
    ]
    tried = [*getattr(encoder, "candidates", []), *predictor.candidates]
    return {
        "model": f"linear on {predictor.dictionary.width} explicit features",
        "blocks": blocks,
        "candidates": [{name: getattr(each, name) for name in fields} for each in tried],
        "seconds": dict(steps.log),
        "columns": list(encoder.notes_),
    }
