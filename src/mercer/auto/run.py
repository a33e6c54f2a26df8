"""One fit from rows to a linear model: sample, encode, search, evaluate on the holdout, refit, weights of all rows.

`mercer.fit` and the estimators run the same steps; the estimators have no holdout.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from mercer._runtime.errors import MercerError, Setting
from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import Effort
from mercer.auto.budget.held_out import held_out_in_time
from mercer.auto.budget.probe import gathered, seconds_per_row, some_of
from mercer.auto.budget.progress import Steps
from mercer.auto.budget.sample_size import (
    fraction_of_rows,
    held_out_rows,
    likely_roles,
    many_scores,
    roles_beyond_sample,
    search_rows,
    short_of_time,
)
from mercer.auto.budget.time_model import MARGIN, TimeUp
from mercer.auto.conformal.holdout import calibrated_on_holdout
from mercer.auto.constants import TIME_FOR_SAMPLE, TIME_FOR_SEARCH, TIME_FOR_SEARCH_ALONE
from mercer.auto.decisions.choosing import ClassDecisions
from mercer.auto.diagnostics.evaluation import HoldoutEvaluation, evaluate_holdout, shared
from mercer.auto.final.all_rows import StreamedRows, sample_of, weights_from_all
from mercer.auto.final.baselines import EncodedPredictor, baseline
from mercer.auto.final.linear_of_all import LINEAR_IS_BETTER, LinearOfAll, columns_alone, linear_of_all
from mercer.auto.final.response import Response
from mercer.auto.glass.learning import learn_glass, learn_glass_again
from mercer.auto.glass.texts import left_out, text_columns
from mercer.auto.learned import Learned
from mercer.auto.options import ModelShape, Objective, Splitting
from mercer.auto.recorded import recorded_search
from mercer.auto.refitting import refitted
from mercer.auto.rows.encoding import EncodedRows
from mercer.auto.rows.monotone import monotone_rows
from mercer.auto.rows.task import TargetProfile
from mercer.auto.run_diagnostics import REFIT, RunDiagnostics
from mercer.auto.search.learning import learn
from mercer.auto.splits import RowSplits
from mercer.auto.splits.holding_out import hold_out
from mercer.auto.text.sparse_model import encode_training_rows, learn_terms
from mercer.source import MemorySource, Source
from mercer.source.recording import recording, remembered
from mercer.source.table import first_block

#: Fraction of the time left that encoding may take, and the fewest rows to search with.
_ENCODE, _MIN_SEARCH_ROWS = 0.2, 500
#: Encoding takes longer than reading: if less than this multiple is left, no timing probe is needed.
_READ_MULTIPLE = 1.0
#: Fractions of the time budget by which the holdout should have been evaluated, and the last step should have ended.
_EVALUATED, _ENDED = 0.6, 0.95
#: The same for weights from all rows.
_ALL_ROWS = {"final": 0.3}


@dataclass
class FitRun:
    """The settings of one fit, and `notes` and `sections` for its report.

    n_distinct : the number of distinct rows if these are few, else None
    report : whether diagnostics of the model on the holdout are computed
    report_rows : the number of held-out rows of each kind that the report may show
    """

    roles: dict[str, Any] | None
    effort: Effort
    seed: int
    steps: Steps
    clock: Clock
    classify: bool = False
    n_rows: int = 0
    n_classes: int = 0
    n_distinct: int | None = None
    target: str | None = None
    report: bool = False
    report_rows: int = 0
    objective: Objective = field(default_factory=Objective)
    splitting: Splitting = field(default_factory=Splitting)
    shape: ModelShape = field(default_factory=ModelShape)
    splits: RowSplits | None = None
    decisions: ClassDecisions | None = None
    notes: list[str] = field(default_factory=list)
    sections: dict[str, Any] = field(default_factory=dict)
    #: Whether the model is linear in the columns, with weights of all training rows.
    from_all: bool = False
    #: Whether weights come from rows that were not in memory.
    streamed: bool = False
    #: Gigabytes that the search may take; None is no limit.
    memory: float | None = None
    #: The roles of the columns by the first rows.
    _likely: Any = None
    #: Held-out rows that may be evaluated.
    max_held_out: float = np.inf

    def check_options(self) -> None:
        """Refuse options that exclude each other."""
        if self.shape.explainable and self.response is not None:
            both = Setting("explainable", True), " and ", Setting("loss", self.objective.loss)
            raise MercerError(*both, " exclude each other:", remedy="give one of them.")

    def know(self, profile: TargetProfile, source: Source) -> None:
        """Take over what is known about the target."""
        self.objective.check_task(profile.task)
        self.classify, self.n_rows = profile.task == "classification", profile.n_rows
        self.n_classes, self.n_distinct, self.target = profile.n_classes, profile.n_distinct, source.target
        self.notes += [*source.notes, *profile.notes]

    def asked(self) -> dict[str, Any]:
        """The objective and the monotone columns that were asked for, for the report."""
        signs = {name: int(sign) for name, sign in (self.shape.monotone or {}).items()}
        return self.objective.asked() | ({"monotone": signs} if signs else {})

    @property
    def response(self) -> Response | None:
        """What scores stand for, where another loss than the squared error is asked for."""
        asked = self.objective
        return None if asked.loss == "squared" else Response(asked.loss, asked.quantiles)

    def run(self, source: Source, holdout: float, memory: float | None) -> tuple[Learned, dict[str, Any] | None]:
        """The model of a source, and its scores on the holdout, if there is one."""
        if self.shape.monotone:
            self.roles = self.shape.monotone_roles(source.schema or {}, self.roles)
            self.shape.check_task(self.n_classes if self.classify else 0)
        split = hold_out(source, holdout, self.seed, self.n_rows, self.n_distinct, self.splits)
        self.notes += split.notes
        train, held_out = split.train, split.held_out
        self.decisions = ClassDecisions.of(self.objective, source, self.n_classes, self.seed) if self.classify else None
        if self.decisions is not None:
            train, source = self.decisions.weighted(train), self.decisions.weighted(source)
        fraction = self._fraction_in_memory(memory, source, 1 - holdout)
        in_memory = fraction
        fraction = self._fraction_in_time(train, fraction, 1 - holdout)
        if fraction < 1:
            known = (lambda part: sample_of(train, part, self.seed)[0], fraction, self.n_rows * (1 - holdout))
            self.roles = roles_beyond_sample(train, self.roles, *known, self.steps, self.clock)
        # Other folds than those of the hashes, and other losses, are not streamed.
        independent = self.splits is None and self.response is None and not self.shape.monotone
        rest = sample_of(train, fraction, self.seed)[1] if fraction < in_memory and independent else None
        share = self._search_fraction(held_out if rest is None else None, fraction)
        learned = recorded_search(self, lambda: self._learn(self._part(train, fraction), self.clock.part(share), rest))
        excluded, scores = None, None
        if held_out is not None:
            with self.steps("holdout"):
                found = self._evaluated(learned, held_out, holdout)
                known = found.model.predictor.calibration
                learned = replace(learned, predictor=replace(learned.predictor, calibration=known))
            scores = found.section
            diagnosed = partial(self._diagnosed, found, learned, train, fraction)
            self.sections |= diagnosed() if self.clock.budget is None else {}
            again = None if self.from_all else self._refit(lambda: self._part(source, fraction), learned, holdout)
            learned, excluded = (learned, split.excluded) if again is None else (again.calibrated_like(learned), None)
        self.streamed = fraction < 1
        if fraction < 1 and not self.from_all:
            learned = self._weights_from_all(learned, sample_of(source, fraction, self.seed, excluded)[1])
        if held_out is not None and self.clock.budget is not None:
            self.sections |= diagnosed()  # in the time that is left
        return self.decided(learned), scores

    def decided(self, learned: Learned) -> Learned:
        """The model with the decisions that were asked for."""
        return learned if self.decisions is None else self.decisions.decided(learned, self.sections)

    def _search_fraction(self, held_out: Source | None, fraction: float) -> float:
        if held_out is not None:
            return TIME_FOR_SEARCH
        return TIME_FOR_SEARCH_ALONE if fraction == 1 else TIME_FOR_SAMPLE

    def _fraction_in_memory(self, memory: float | None, source: Source, train: float) -> float:
        """The fraction of the rows that the search can keep in memory."""
        self.memory = memory
        if memory is None:
            return 1.0
        classes = self.n_classes if self.classify else 0
        self.max_held_out = held_out_rows(memory, classes)
        known = (self.n_rows * train, lambda: self._likely_roles(source), self.seed)
        most, self.effort = search_rows(memory, source, self.effort, classes, *known)
        fraction, note = fraction_of_rows(most, self.n_rows, train, memory)
        self.notes += note
        return fraction

    def _part(self, source: Source, fraction: float) -> Source:
        """A fraction of the rows of a source, in memory."""
        if fraction >= 1:
            return source
        with self.steps("sample"):
            sample = sample_of(source, fraction, self.seed)[0]
            return MemorySource.of(remembered("sample", lambda: gathered(sample).collect()))

    def _fraction_in_time(self, train: Source, fraction: float, trained: float) -> float:
        """The fraction of the rows that a part of the time is enough to encode, and another part to search with.

        Encoding is timed on the first rows. More rows would leave the search without trees and random features.
        """
        if self.clock.budget is None:
            return fraction
        most = _MIN_SEARCH_ROWS / trained
        if self.clock.left() > _READ_MULTIPLE * self.clock.spent():
            with self.steps("probe"):
                roles = self._likely_roles(train)
                encode = partial(self._encoded, clock=Clock(0.0), roles=roles)  # one penalty for texts, few iterations
                seconds = seconds_per_row(train, self.n_classes if self.classify else 0, encode, self.clock)
            encoded = _ENCODE * self.clock.left() / max(seconds, 1e-12)
            first = None if train.names else first_block(train)
            n_columns = max(1, len(train.names or ()) if first is None else first.X.shape[1])
            speed = self.effort.entries_per_second / self.clock.contention()
            searched = TIME_FOR_SEARCH * self.clock.left() * speed / n_columns
            most = max(most, min(encoded, searched) / trained)
        if most >= fraction * self.n_rows:
            return fraction
        self.notes.append(short_of_time(self.n_rows, most, self.clock.budget, fraction))
        return float(most / self.n_rows)

    def _likely_roles(self, source: Source) -> Any:
        """The roles by the first rows, which are read once."""
        if self._likely is None:
            self._likely = likely_roles(source, self.roles) or {}
        return self._likely

    def _encoded(self, source: Source, clock: Clock, like: Any = None, roles: Any = None) -> tuple[Any, EncodedRows]:
        """The encoder and the encoded rows; `roles` replace those that are known so far."""
        source = source if self.splits is None else self.splits.planned(source)
        # Other losses and monotone columns have no model of sparse terms: texts become scores.
        max_terms = self.effort.max_features if self.response is None and not self.shape.monotone else 0
        options = (self.classify, self.seed, max_terms)
        encoder, rows = encode_training_rows(source, roles or self.roles, *options, clock, like)
        if self.shape.explainable and (texts := text_columns(encoder)):
            self.notes.append(left_out(texts))
            self.roles = {**(self.roles or {}), **dict.fromkeys(texts, "id")}
            encoder, rows = encode_training_rows(source, self.roles, *options, clock, like)
        return encoder, monotone_rows(encoder, replace(rows, response=self.response), self.shape.monotone)

    def _learn(self, source: Source, clock: Clock, rest: Source | None = None) -> Learned:
        """Encoder, encoded rows and model of a source, within the time of a clock.

        `rest` are the rows that there is no time to search with: the linear model of these too may be better.
        """
        with self.steps("encode"):
            encoder, rows = self._encoded(source, clock.part(0.6))
        if self.shape.explainable:
            most, left = self.shape.max_pairs, clock.rest()
            made = learn_glass(encoder, rows, self.classify, self.effort, left, self.seed, self.steps, most)
            return Learned(encoder, rows, made)
        if sparse.issparse(rows.X):
            with self.steps("terms"):
                return Learned(encoder, rows, learn_terms(rows, self.classify, self.seed, clock=clock.rest()))
        plain = None if rest is None else self._linear_of_all(encoder, rows, rest)
        predictor = learn(rows, self.classify, self.effort, clock.rest(), self.seed, self.steps)
        if plain is not None and plain.beats(predictor):
            self.from_all, predictor = True, plain.instead_of(predictor)
            self.notes.append(LINEAR_IS_BETTER)
        return Learned(encoder, rows, predictor)

    def _linear_of_all(self, encoder: Any, rows: EncodedRows, rest: Source) -> LinearOfAll | None:
        with self.steps("linear"):
            plain, clock = columns_alone(rows, self.classify), self.clock.part(_EVALUATED)
            every = StreamedRows(plain, encoder, rows, rest, self.n_rows, self.seed, clock, memory=self.memory)
            return linear_of_all(every)

    def _weights_from_all(self, learned: Learned, rest: Source) -> Learned:
        """The model with linear weights of all rows, of which `rest` took no part in the search."""
        if self.shape.explainable:
            self.notes.append("The points of an explainable model are those of the sample of the search.")
            return learned
        if self.response is not None or self.shape.monotone:
            what = "a monotone model" if self.response is None else f"the {self.response.loss} loss"
            self.notes.append(f"The linear weights of {what} come from the sample of the search.")
            return learned
        clock = self.clock.part(_ENDED)
        with self.steps("all rows"):
            every = StreamedRows(
                learned.predictor, learned.encoder, learned.rows, rest, self.n_rows, self.seed, clock,
                n_classes=self.n_classes, memory=self.memory,
            )  # fmt: skip
            predictor = weights_from_all(every, self.steps.seconds_of(_ALL_ROWS), self.notes)
        return replace(learned, predictor=predictor)

    def _evaluated(self, learned: Learned, held_out: Source, holdout: float) -> HoldoutEvaluation:
        """Scores on the holdout; on a part of it if all rows would take too much of the time left."""
        clock, searched = self.clock.part(_EVALUATED), learned.predictor.result
        name, plain = baseline(learned.encoder, learned.rows, self.classify, self.seed, clock, searched)
        learned = self.decided(learned)
        if self.decisions is not None and isinstance(plain, EncodedPredictor):
            plain = replace(plain, predictor=self.decisions.applied(plain.predictor))
        model, plain = shared(learned.encoder, learned.predictor, plain)
        n_held_out = holdout * self.n_rows
        if n_held_out > self.max_held_out:
            part, n_held_out = self.max_held_out / n_held_out, self.max_held_out
            held_out = some_of(held_out, part, self.seed)
            self.notes.append(many_scores(self.n_classes, part))
        known = (n_held_out, self.clock, _EVALUATED, self.seed)
        held_out, n_held_out, notes = held_out_in_time(held_out, model, *known)
        self.notes += notes
        rows = learned.rows if self.decisions is None else self.decisions.unweighted(learned.rows)
        found = evaluate_holdout(model, plain, name, rows, held_out, n_held_out, self.seed, self.objective)
        outputs = found.outputs
        predictor = calibrated_on_holdout(
            learned.predictor, outputs.scores[0], outputs.y, outputs.weight, outputs.groups
        )
        return replace(found, model=replace(found.model, predictor=predictor))

    def _diagnosed(self, found: HoldoutEvaluation, learned: Learned, train: Source, searched: float) -> dict[str, Any]:
        """Sections of the report that need rows the model has not seen; a fraction of the rows was searched with."""
        with self.steps("diagnostics"), recording(None):  # the clock decides how many there are
            return RunDiagnostics(self, found, learned, train, searched).sections()

    def _refit(self, source: Callable[[], Source], learned: Learned, holdout: float) -> Learned | None:
        """The model of all rows, configured like that of some of them; None, and a note, if time is too short."""
        needed = MARGIN / (1 - holdout) * self.steps.seconds_of(REFIT)
        if needed <= self.clock.left():
            try:
                with self.steps("refit"):
                    return recorded_search(self, lambda: self.learned_again(source(), learned))
            except TimeUp:
                needed = np.inf
        time = "more" if np.isinf(needed) else f"about {needed:.2g} s, more"
        self.notes.append(
            f"A refit on all rows would have taken {time} than the time budget left: the model was fitted to the "
            "training rows without the holdout."
        )
        return None

    def learned_again(self, source: Source, learned: Learned) -> Learned:
        """The configuration of a model on other rows."""
        before = {name: index for index, name in enumerate(learned.encoder.get_feature_names_out())}
        clock = self.clock.part(_ENDED)
        needed = MARGIN * self.steps.seconds_of({"encode": 1.0})
        brief = clock.rest(min(1.0, needed / max(clock.left(), 1e-9)))  # texts would take all the time there is
        encoder, rows = self._encoded(source, brief, learned.encoder)
        if self.shape.explainable:
            made = learn_glass_again(learned.predictor, encoder, rows, self.effort, self.seed, clock)
            return Learned(encoder, rows, made)
        positions = np.array([before.get(name, -1) for name in encoder.get_feature_names_out()])
        return Learned(encoder, rows, refitted(self, learned.predictor, rows, positions, clock))
