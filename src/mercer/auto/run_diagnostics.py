"""Sections of the report that need rows the model has not seen, within a part of the time of a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.auto.budget.clock import Clock
from mercer.auto.budget.probe import gathered
from mercer.auto.budget.progress import Steps
from mercer.auto.budget.time_model import MARGIN, TimeUp
from mercer.auto.conformal.holdout import coverage_section
from mercer.auto.diagnostics.block_gains import block_gains
from mercer.auto.diagnostics.diagnose import diagnose
from mercer.auto.diagnostics.evaluation import HoldoutEvaluation
from mercer.auto.diagnostics.learning_curve import learning_curve
from mercer.auto.diagnostics.model_checks import model_checks
from mercer.auto.final.all_rows import sample_of
from mercer.auto.final.baselines import EncodedPredictor
from mercer.auto.learned import Learned
from mercer.auto.splits.needed import notes_of, split_checks
from mercer.auto.text.sparse_model import SparsePredictor
from mercer.source import Source

if TYPE_CHECKING:
    from mercer.auto.run import FitRun

#: Fraction of the time so far that diagnostics may take, and the seconds that they may take anyway.
_DIAGNOSTICS, _MIN_DIAGNOSTICS = 0.15, 1.0
#: Fractions of the steps of a search that a refit repeats; random features and terms are no longer searched for.
REFIT = {
    "sample": 1.0, "encode": 1.0, "trees": 1.0, "fourier": 0.4, "landmarks": 0.4, "kernel score": 0.7, "terms": 0.1,
    "final": 0.7,
}  # fmt: skip


@dataclass(frozen=True)
class RunDiagnostics:
    """Diagnostics of a fit: what it learned from `train`, of which a fraction was searched with, and the evaluation."""

    run: FitRun
    found: HoldoutEvaluation
    learned: Learned
    train: Source
    searched: float

    def sections(self) -> dict[str, Any]:
        """Gains of the blocks and coverage of intervals; with a report, all sections that there is time for."""
        run = self.run
        baseline_row = np.asarray(self.learned.rows.X.mean(axis=0)).ravel()
        rows = self.found.rows(baseline_row, run.seed)
        gains: dict[str, Any] = {"block_gains": block_gains(rows)}
        coverage = coverage_section(rows, run.splitting.time is not None)
        gains |= {} if coverage is None else {"intervals": coverage}
        if not run.report:
            return gains
        sections, left_out = diagnose(rows, self.learned.rows, run.report_rows, self._seconds(), run.target)
        sections["model_checks"] = model_checks(rows, self.found.section["n"])
        if run.splits is None:
            checks = split_checks(self.train, self.learned, run.classify, run.seed)
            sections["model_checks"] += checks
            run.notes += notes_of(checks)
        curve = self._learning_curve(rows)
        if curve is None:
            return gains | sections | {"left_out": [*left_out, "learning_curve"]}
        return gains | sections | {"learning_curve": curve, "left_out": left_out}

    def _learning_curve(self, rows: Any) -> Any:
        clock, n_train = Clock(self._seconds()), self.run.n_rows - self.found.section["n"]
        return learning_curve(
            rows,
            self.found.predictions(),
            round(self.searched * n_train),
            lambda fraction: self._fitted_part(fraction * self.searched),
            lambda fraction: MARGIN * fraction * self.run.steps.seconds_of(REFIT) < clock.left(),
        )

    def _seconds(self) -> float:
        """Seconds for the sections of the report, and once more for the learning curve."""
        clock = self.run.clock
        if clock.budget is not None:  # the first section takes about as long as the evaluation
            return min(_DIAGNOSTICS * clock.budget, clock.left() - self.run.steps.seconds_of({"holdout": 1.0}))
        return max(_MIN_DIAGNOSTICS, _DIAGNOSTICS * clock.spent())

    def _fitted_part(self, fraction: float) -> EncodedPredictor | None:
        """The configuration of the model fitted to about a fraction of the training rows; None if that has no model."""
        learned, run = self.learned, self.run
        if learned.predictor.result is None and not isinstance(learned.predictor, SparsePredictor):
            return None
        roles = {name: role.role for name, role in learned.encoder.roles_.items()}
        other = replace(run, roles=roles, notes=[], sections={}, steps=Steps(), report=False)
        part = gathered(sample_of(self.train, fraction, run.seed)[0])
        if run.classify and len(np.unique(np.asarray(part.collect().y))) < 2:
            return None
        try:
            again = other.learned_again(part, learned)
        except TimeUp:
            return None
        return EncodedPredictor(again.encoder, run.decided(again).predictor)
