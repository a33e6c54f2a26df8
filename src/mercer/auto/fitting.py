"""`mercer.fit`: from a table to a model and an honest score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from numbers import Real

import numpy as np
from scipy import sparse

from mercer._numeric.checks import check_whole
from mercer.auto.baselines import Encoding, Once, baseline
from mercer.auto.effort import EFFORTS, Clock, Effort
from mercer.auto.judge import judge
from mercer.auto.larger import AllRows, bytes_per_row, fewer_waves, sample_of, weights_from_all
from mercer.auto.learning import learn, learn_again
from mercer.auto.model import Model
from mercer.auto.pace import MARGIN, TimeUp
from mercer.auto.pilot import gathered, predicting_seconds, seconds_per_row, some_of
from mercer.auto.predictor import Predictor
from mercer.auto.steps import Steps
from mercer.auto.targets import checked_task
from mercer.auto.wide_model import WidePredictor, learn_terms, learned_rows, model_of
from mercer.base import seed_of
from mercer.io import read_table
from mercer.source import Source, split_holdout
from mercer.source.holdout import split_by_place
from mercer.source.table import first_block

#: The share of a time budget that the search may use: learning again repeats the dearest part of it.
_SEARCH = 0.45
#: The share of the time left that encoding may take, and the fewest rows to search with.
_ENCODE, _FEWEST = 0.2, 500
#: Encoding takes many times as long as reading: if so many times are not left, nothing has to be tried to know that.
_READ = 5.0
#: The fewest rows of which some are kept aside.
_SPLIT = 10
#: When the holdout should have been judged, as a share of the time budget.
_JUDGED = 0.6
#: When the last step should have ended.
_ALMOST = 0.95
#: What learning again repeats of the steps of a search; waves and terms are no longer searched for.
REPEATED = {
    "sample": 1.0,
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
        Gigabytes that the rows of the search may take; None is no limit. Of a larger table the search sees an even
        sample, by the hashes of the rows; the linear weights still come from all rows, which stream by: in one pass for
        a quantity, in a few for classes.
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
        job = _Job(roles, chosen, random_state, steps, clock)
        job.notes += getattr(source, "notes", [])
        told: dict = {"task": checked_task(source, task, job), "effort": effort}
    told |= {"target": getattr(source, "target", None), "rows": job.n_rows, "said": job.notes}
    told |= {"weight": weight} if isinstance(weight, str) else {}
    job.classify = told["task"] == "classify"
    train, kept = job.split(source, holdout) if holdout else (source, None)
    if kept is not None and (job.n_rows < _SPLIT or first_block(kept) is None or first_block(train) is None):
        job.notes.append(f"{job.n_rows} rows are too few to keep some aside: nothing is said about new ones.")
        train, kept = source, None
    share = job.share(memory, getattr(source, "schema", None) or {}, 1 - holdout)
    share = job.share_in_time(train, share, 1 - holdout)
    encoder, rows, predictor = job.learn(job.part(train, share))
    rest = sample_of(source, share, random_state, holdout if kept is not None else 0)[1] if share < 1 else None
    if kept is not None:
        with steps("holdout"):
            told["holdout"] = job.judged(encoder, rows, predictor, kept, holdout, told["task"])
        again = job.learned_again(lambda: job.part(source, share), encoder, predictor, holdout)
        if again is not None:
            encoder, rows, predictor = again
            rest = sample_of(source, share, random_state)[1] if share < 1 else None
    if rest is not None:
        with steps("weights from all rows"):
            every = AllRows(predictor, encoder, rows, rest, job.n_rows, job.seed, clock.part(_ALMOST))
            predictor = weights_from_all(every, repeated_seconds(steps.log, {"final weights": 0.3}), job.notes)
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
    n_classes: int = 0
    few: int | None = None
    notes: list[str] = field(default_factory=list)

    def share(self, memory: float | None, schema, train: float) -> float:
        """The share of the rows that the search can keep in memory."""
        most = np.inf if memory is None else memory * 1e9 / bytes_per_row(len(schema), self.effort)
        if self.n_rows * train <= most:
            return 1.0
        share = float(most / self.n_rows)
        self.effort = fewer_waves(self.effort, memory) if memory is not None else self.effort
        self.notes.append(
            f"{self.n_rows:,} rows are more than {memory:g} GB of memory hold: the search saw an even sample of about "
            f"{share * self.n_rows:,.0f} of them, the holdout was judged as a whole."
        )
        return share

    def part(self, source: Source, share: float) -> Source:
        """A share of the rows of a source, in memory."""
        if share >= 1:
            return source
        with self.steps("sample"):
            return gathered(sample_of(source, share, self.seed)[0])

    def share_in_time(self, train: Source, share: float, trained: float) -> float:
        """The share of the rows that can be encoded in a part of the time, by a trial with the first of them."""
        if self.clock.budget is None:
            return share
        most = _FEWEST / trained
        if self.clock.left() > _READ * self.clock.spent():
            with self.steps("a look ahead"):
                seconds = seconds_per_row(train, self.n_classes if self.classify else 0, self._encode, self.clock)
            most = max(most, _ENCODE * self.clock.left() / max(seconds, 1e-12) / trained)
        if most >= share * self.n_rows:
            return share
        self.notes.append(
            f"The time budget is short for {self.n_rows:,} rows: the search saw an even sample of about {most:,.0f}."
        )
        return float(most / self.n_rows)

    def _encode(self, source: Source):
        """With one penalty for each text, and few steps."""
        none = Clock(0.0)
        return learned_rows(source, self.roles, self.classify, self.seed, self.effort.most_features, none)

    def split(self, source: Source, holdout: float) -> tuple[Source, Source]:
        """The rows to learn from and those kept aside: equal rows together, unless there are hardly any others."""
        if self.few is None or self.few > self.n_rows // 2:
            return split_holdout(source, holdout, self.seed)
        self.notes.append(
            f"There are only {self.few} different rows among {self.n_rows:,}: rows kept aside repeat others, and the "
            "score says how well the target of such rows is known."
        )
        return split_by_place(source, holdout, self.seed)

    def learn(self, source: Source):
        """Encoder, encoded rows and model of a source."""
        clock = self.clock.part(_SEARCH)
        with self.steps("encode"):
            encoder, rows = learned_rows(
                source, self.roles, self.classify, self.seed, self.effort.most_features, clock.part(0.6)
            )
        clock = clock.rest()
        if sparse.issparse(rows.X):
            with self.steps("penalty of the terms"):
                return encoder, rows, learn_terms(rows, self.classify, self.seed, clock=clock)
        return encoder, rows, learn(rows, self.classify, self.effort, clock, self.seed, self.steps)

    def judged(self, encoder, rows, predictor, kept: Source, holdout: float, task: str) -> dict:
        """The score on the rows kept aside; on a part of them if all would take too much of the time left."""
        name, plain = baseline(encoder, rows, self.classify, self.seed, self.clock.part(_JUDGED))
        model = Encoding(Once(encoder), predictor)
        plain = replace(plain, encoder=model.encoder) if isinstance(plain, Encoding) else plain
        if self.clock.budget is not None:
            seconds = predicting_seconds(kept, model, holdout * self.n_rows, self.clock)
            allowed = max(self.clock.part(_JUDGED).left(), 0.1 * self.clock.left())
            if seconds > allowed:
                share = float(np.clip(allowed / seconds, min(_FEWEST / (holdout * self.n_rows), 0.999), 0.999))
                kept = some_of(kept, share, self.seed)
                self.notes.append(
                    f"The holdout was judged by about {100 * share:.2g} % of its rows: the time budget was short."
                )
        return judge(plain, model, kept, task, random_state=self.seed).told() | {"baseline": name}

    def learned_again(self, source: Callable[[], Source], encoder, predictor: Predictor, holdout: float):
        """Encoder, encoded rows and model of all rows; None, and a note, if the time left is too short for that."""
        needed = MARGIN / (1 - holdout) * repeated_seconds(self.steps.log, REPEATED)
        if needed <= self.clock.left():
            try:
                return self._learn_again(source(), encoder, predictor)
            except TimeUp:
                needed = np.inf
        long = "more" if np.isinf(needed) else f"about {needed:.2g} s, more"
        self.notes.append(
            f"Learning again from all rows would have taken {long} than the time budget left: the "
            "model has learned from the rows that were not kept aside."
        )
        return None

    def _learn_again(self, source: Source, encoder, predictor: Predictor):
        """Encoder, encoded rows and model of all rows, configured like those of some of them."""
        with self.steps("learn again from all rows"):
            before = {name: place for place, name in enumerate(encoder.get_feature_names_out())}
            clock = self.clock.part(_ALMOST)
            before_it = MARGIN * repeated_seconds(self.steps.log, {"encode": 1.0})
            brief = clock.rest(min(1.0, before_it / max(clock.left(), 1e-9)))  # texts would take all the time there is
            encoder, rows = learned_rows(
                source, self.roles, self.classify, self.seed, self.effort.most_features, brief, encoder
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
        return learn_again(predictor, rows, self.effort, self.seed, places, clock)


def repeated_seconds(log, shares: dict[str, float]) -> float:
    """The seconds of those steps of a search that are repeated, each by a share of it.

    >>> repeated_seconds([("encode", 2.0), ("read", 1.0)], REPEATED)
    2.0
    """
    return sum(shares.get(name, 0.0) * seconds for name, seconds in log)


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
