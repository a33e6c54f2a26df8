"""`mercer.fit`: from a table to a model and an honest score."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace

import numpy as np
from scipy import sparse

from mercer._numeric.checks import check_whole
from mercer.auto.baselines import Encoding, baseline
from mercer.auto.effort import EFFORTS, Clock, Effort
from mercer.auto.judge import judge
from mercer.auto.larger import bytes_per_row, sample_of, with_all_rows
from mercer.auto.model import Model
from mercer.auto.predictor import Predictor, learn, learn_again
from mercer.auto.steps import Steps
from mercer.auto.targets import checked_task
from mercer.auto.wide_model import WidePredictor, learn_terms, learned_rows, model_of
from mercer.io import read_table
from mercer.source import Source, split_holdout
from mercer.source.table import first_block

#: The share of a time budget that the search may use: learning again repeats the dearest part of it.
_SEARCH = 0.45
#: How much longer a step may take than it took before.
_MARGIN = 1.2
#: What learning again repeats of the steps of a search; waves and terms are no longer searched for.
REPEATED = {
    "encode": 1.0,
    "boosted trees, out of fold": 1.0,
    "number of waves": 0.4,
    "penalty of the terms": 0.1,
    "final weights": 0.7,
}


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
    weight : name of a column (or an array, for data in memory), default=None
        How much each row counts: a row of weight 2 is there twice. Encoders, search, probabilities and the score on the
        holdout are weighted; the edges of the trees' bins, the kernels' median distance and the frequencies of levels
        go by rows. Weights below one on average are scaled up to that.
    task : {"classify", "regress"} or None
        None takes strings, truth values and whole numbers of at most 20 different values for classes.
    effort : {"fast", "normal", "high"}, default="normal"
    time_budget : float, default=None
        Seconds for all of it. Stages that would not fit are left out, and the report says which were tried. If there is
        no time to learn again from all rows, the model is that of the rows not kept aside, and the report says so.
    max_features : int, default=None
        The most features of the model.
    memory : float, default=4.0
        Gigabytes that the rows of the search may take; None is no limit. Of a larger table the search sees an even
        sample, by the hashes of the rows; the linear weights of a quantity still come from all rows, which stream by.
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
    if not 0 <= holdout < 1:
        raise ValueError(f"holdout must be a share of at least 0 and below 1, not {holdout!r}.")
    with steps("read"):
        source = read_table(data, target, weight)
        _refuse_no_columns(source)
        job = _Job(roles, chosen, int(random_state), steps, clock)
        told: dict = {"task": checked_task(source, task, job), "effort": effort}
    told |= {"target": getattr(source, "target", None), "rows": job.n_rows, "said": job.notes}
    job.classify = told["task"] == "classify"
    train, kept = split_holdout(source, holdout, random_state) if holdout else (source, None)
    if kept is not None and (first_block(kept) is None or first_block(train) is None):
        job.notes.append(f"{job.n_rows} rows are too few to keep some aside: nothing is said about new ones.")
        train, kept = source, None
    share = job.share(memory, getattr(source, "schema", None) or {}, 1 - holdout)
    encoder, rows, predictor = job.learn(_part(train, share, random_state))
    if kept is not None:
        with steps("holdout"):
            name, plain = baseline(encoder, rows, job.classify, random_state)
            told["holdout"] = _judged(name, plain, Encoding(encoder, predictor), kept, told["task"], random_state)
        if job.has_time_to_learn_again(holdout):
            encoder, rows, predictor = job.learn_again(_part(source, share, random_state), encoder, predictor)
    if share < 1:
        with steps("weights from all rows"):
            predictor = job.weights_from_all(predictor, encoder, rows, sample_of(source, share, random_state)[1], share)
    told |= account(predictor, steps, encoder)
    return model_of(told["task"], encoder, predictor, rows.X, told, random_state)


def _part(source: Source, share: float, seed) -> Source:
    return source if share >= 1 else sample_of(source, share, seed)[0]


def sizes(effort, max_features=None, n_seeds=1) -> Effort:
    """The sizes of a named effort, held to a number of features, for the mean over a number of seeds."""
    if effort not in EFFORTS:
        raise ValueError(f"effort must be one of {', '.join(EFFORTS)}, not {effort!r}.")
    check_whole("n_seeds", n_seeds)
    chosen = replace(EFFORTS[effort], wave_seeds=int(n_seeds))
    if max_features is None:
        return chosen
    if max_features < 1:
        raise ValueError(f"max_features must be positive, not {max_features!r}.")
    return replace(chosen, most_features=int(max_features))


def _refuse_no_columns(source) -> None:
    schema = getattr(source, "schema", None)
    if schema is not None and not schema:
        raise ValueError(f"There is no column beside the target {source.target!r}: nothing to predict it from.")


@dataclass
class _Job:
    """What all steps of a fit need to know, and `notes` of what the reader of the report should know."""

    roles: dict | None
    effort: Effort
    seed: int
    steps: Steps
    clock: Clock
    classify: bool = False
    n_rows: int = 0
    notes: list[str] = field(default_factory=list)

    def share(self, memory: float | None, schema, train: float) -> float:
        """The share of the rows that the search can keep in memory."""
        most = np.inf if memory is None else memory * 1e9 / bytes_per_row(len(schema), self.effort)
        if self.n_rows * train <= most:
            return 1.0
        share = float(most / self.n_rows)
        self.notes.append(
            f"{self.n_rows:,} rows are more than {memory:g} GB of memory hold: the search saw an even sample of about "
            f"{share * self.n_rows:,.0f} of them, the holdout was judged as a whole."
        )
        return share

    def learn(self, source: Source):
        """Encoder, encoded rows and model of a source."""
        clock = self.clock.part(_SEARCH)
        with self.steps("encode"):
            encoder, rows = learned_rows(
                source, self.roles, self.classify, self.seed, self.effort.most_features, clock.part(0.6)
            )
        if sparse.issparse(rows.X):
            with self.steps("penalty of the terms"):
                return encoder, rows, learn_terms(rows, self.classify, self.seed, clock=clock)
        return encoder, rows, learn(rows, self.classify, self.effort, clock, self.seed, self.steps)

    def has_time_to_learn_again(self, holdout: float) -> bool:
        """Whether what took `seconds` for the training rows can be repeated for all of them in the time left."""
        needed = _MARGIN / (1 - holdout) * repeated_seconds(self.steps.log, REPEATED)
        if needed <= self.clock.left():
            return True
        self.notes.append(
            f"Learning again from all rows would have taken about {needed:.0f} s, more than the time budget left: the "
            "model has learned from the rows that were not kept aside."
        )
        return False

    def learn_again(self, source: Source, encoder, predictor: Predictor):
        """Encoder, encoded rows and model of all rows, configured like those of some of them."""
        with self.steps("learn again from all rows"):
            before = {name: place for place, name in enumerate(encoder.get_feature_names_out())}
            clock = self.clock.part(0.95)
            encoder, rows = learned_rows(
                source, self.roles, self.classify, self.seed, self.effort.most_features, clock, encoder
            )
            places = np.array([before.get(name, -1) for name in encoder.get_feature_names_out()])
            return encoder, rows, self._again(predictor, rows, places, clock)

    def _again(self, predictor, rows, places, clock) -> Predictor:
        """The configuration of a model on all rows; if these are too wide, or no longer so, it is found anew."""
        before = isinstance(predictor, WidePredictor)
        if sparse.issparse(rows.X):
            return learn_terms(rows, self.classify, self.seed, predictor if before else None, clock)
        if before:
            return learn(rows, self.classify, self.effort, clock, self.seed, Steps())
        return learn_again(predictor, rows, self.effort, self.seed, places)

    def weights_from_all(self, predictor, encoder, rows, rest: Source, share: float) -> Predictor:
        """Weights from the rows outside of the sample too, where normal equations are all they take."""
        why = ""
        if self.classify:
            why = "weights of classes take more than one pass"
        elif predictor.found is None or rows.weight is not None:
            why = "rows have weights" if rows.weight is not None else "the model has one block of sparse terms"
        elif (1 - share) / share * repeated_seconds(
            self.steps.log, {"encode": 1.0, "number of waves": 0.5}
        ) > self.clock.left():
            why = "the time budget left no room for more"
        if why:
            self.notes.append(f"The linear weights come from the sample as well: {why}.")
            return predictor
        self.notes.append("Trees, bins and waves come from the sample, the linear weights from all rows.")
        return with_all_rows(predictor, encoder, rows, rest, self.seed)


def repeated_seconds(log, shares: dict[str, float]) -> float:
    """The seconds of those steps of a search that are repeated, each by a share of it.

    >>> repeated_seconds([("encode", 2.0), ("read", 1.0)], REPEATED)
    2.0
    """
    return sum(shares.get(name, 0.0) * seconds for name, seconds in log)


def _judged(name, plain, model, rows, task, seed) -> dict:
    verdict = judge(plain, model, rows, task, random_state=seed)
    return {
        "metric": verdict.metric,
        "n": verdict.n,
        "model": asdict(verdict.second),
        "linear": asdict(verdict.first),
        "baseline": name,
        "gain": asdict(verdict.gain),
        "interval": verdict.interval,
    }


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
