"""What the steps of a fit share: how much time and memory there is, and what the reader of its report should know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from mercer._runtime.pool import n_threads
from mercer.auto.budget.effort import Clock, Effort
from mercer.auto.budget.memory import AMPLE, bytes_of_reading, narrower, rows_alone, rows_in, usable
from mercer.auto.budget.probe import gathered, predicting_seconds, seconds_per_row, some_of
from mercer.auto.budget.progress import Steps
from mercer.auto.budget.time_model import MARGIN, TimeUp
from mercer.auto.final.all_rows import AllRows, sample_of, weights_from_all
from mercer.auto.final.baselines import Encoding, Once, baseline
from mercer.auto.final.predictor import Predictor
from mercer.auto.holdout.evaluate import judge
from mercer.auto.search.learning import learn, learn_again
from mercer.auto.text.sparse_model import WidePredictor, learn_terms, learned_rows
from mercer.source import Source, split_holdout
from mercer.source.holdout import split_by_position
from mercer.source.table import first_block

#: The share of a time budget that the search may use: learning again repeats the dearest part of it.
SEARCH = 0.45
#: The share of the time left that encoding may take, and the fewest rows to search with.
_ENCODE, _FEWEST = 0.2, 500
#: The fewest rows of a sample, however little memory there is.
_SAMPLED = 100
#: Encoding takes many times as long as reading: if so many times are not left, nothing has to be tried to know that.
_READ = 5.0
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


@dataclass
class Job:
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

    def share(self, memory: float | None, source, train: float) -> float:
        """The share of the rows that the search can keep in memory."""
        if memory is None:
            return 1.0
        room = usable(memory, bytes_of_reading(source, n_threads()))
        schema = source.schema or {}
        if memory < AMPLE:
            most = rows_in(room, schema, self.effort, self.n_classes if self.classify else 0)
        else:
            most = rows_alone(memory, len(schema), self.effort)
        enough = self.n_rows * train <= most
        if memory < AMPLE or not enough:
            self.effort = narrower(self.effort, room)
        if enough or self.n_rows <= _SAMPLED:
            return 1.0
        share = float(max(most, _SAMPLED) / self.n_rows)
        self.notes.append(
            f"{self.n_rows:,} rows are more than {memory:g} GB of memory hold: the search saw an even sample of about "
            f"{share * self.n_rows:,.0f} of them{', the holdout was judged as a whole' if train < 1 else ''}."
        )
        return share

    def part(self, source: Source, share: float) -> Source:
        """A share of the rows of a source, in memory."""
        if share >= 1:
            return source
        with self.steps("sample"):
            return gathered(sample_of(source, share, self.seed)[0])

    def share_in_time(self, train: Source, share: float, trained: float) -> float:
        """The share of the rows that can be encoded in a part of the time, by a trial with the first of them, and that
        a search gets through in another part: more would leave it without trees and waves."""
        if self.clock.budget is None:
            return share
        most = _FEWEST / trained
        if self.clock.left() > _READ * self.clock.spent():
            with self.steps("a look ahead"):
                seconds = seconds_per_row(train, self.n_classes if self.classify else 0, self._encode, self.clock)
            encoded = _ENCODE * self.clock.left() / max(seconds, 1e-12)
            searched = SEARCH * self.clock.left() * self.effort.pace / max(1, first_block(train).X.shape[1])
            most = max(most, min(encoded, searched) / trained)
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
        return split_by_position(source, holdout, self.seed)

    def learn(self, source: Source, clock: Clock):
        """Encoder, encoded rows and model of a source, within the time of a clock."""
        with self.steps("encode"):
            encoder, rows = learned_rows(
                source, self.roles, self.classify, self.seed, self.effort.most_features, clock.part(0.6)
            )
        clock = clock.rest()
        if sparse.issparse(rows.X):
            with self.steps("penalty of the terms"):
                return encoder, rows, learn_terms(rows, self.classify, self.seed, clock=clock)
        return encoder, rows, learn(rows, self.classify, self.effort, clock, self.seed, self.steps)

    def weights_from(self, rest: Source, encoder, rows, predictor: Predictor) -> Predictor:
        """The model with weights that the rest of the rows have had a say in."""
        with self.steps("weights from all rows"):
            every = AllRows(predictor, encoder, rows, rest, self.n_rows, self.seed, self.clock.part(_ALMOST))
            return weights_from_all(every, repeated_seconds(self.steps.log, {"final weights": 0.3}), self.notes)

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
